//! What people expect, asked before they are told.

use crate::output::scenario::{self, words};
use crate::output::{print, typed};
use crate::texts::tr;
use conclave_lab::scenarios::{Ran, ScenarioFile};
use conclave_sim::Check;
use std::io::{IsTerminal, stdin};

/// A guess for each check, in their order; empty where there was none.
pub fn ask(file: &ScenarioFile, ran: &Ran) -> anyhow::Result<Vec<String>> {
    let command = scenario::command(&ran.experiment, &ran.plan);
    print(&scenario::set_up(file, &[command]))?;
    let invitation = &tr("\nWhat will come of it? An empty line is no guess.\n");
    print(invitation)?;
    let mut guesses = Vec::new();
    for check in &ran.checks {
        let mut guess = answer(check)?;
        while let Some(plea) = words::plea(&check.what, &guess, &check.observed) {
            print(&tr(&format!("  {plea}\n")))?;
            guess = answer(check)?;
        }
        guesses.push(guess);
    }
    Ok(guesses)
}

fn answer(check: &Check) -> anyhow::Result<String> {
    print(&format!("  {} ", typed(words::question(&check.what))))?;
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    let guess = line.trim().to_string();
    if !stdin().is_terminal() {
        print(&format!("{guess}\n"))?; // A terminal shows what is typed; a pipe does not.
    }
    Ok(guess)
}
