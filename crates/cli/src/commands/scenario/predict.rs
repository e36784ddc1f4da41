//! What people expect, asked before they are told.

use crate::lang::Lang;
use crate::output::scenario::{self, words};
use crate::output::{print, typed};
use conclave_lab::scenarios::{Ran, ScenarioFile};
use conclave_sim::Check;
use std::io::{IsTerminal, stdin};

/// A guess for each check, in their order; empty where there was none.
pub fn ask(file: &ScenarioFile, ran: &Ran, lang: Lang) -> anyhow::Result<Vec<String>> {
    let command = scenario::command(&ran.experiment, &ran.plan);
    print(&scenario::set_up(file, &[command], lang))?;
    let invitation = lang.pick(
        "\nWhat will come of it? An empty line is no guess.\n",
        "\nO que vai acontecer? Uma linha vazia não é palpite.\n",
    );
    print(invitation)?;
    let mut guesses = Vec::new();
    for check in &ran.checks {
        let mut guess = answer(check, lang)?;
        while words::wants_number(&check.what) && !guess.is_empty() && !is_number(&guess) {
            print(lang.pick("  A number, please.\n", "  Um número, por favor.\n"))?;
            guess = answer(check, lang)?;
        }
        guesses.push(guess);
    }
    Ok(guesses)
}

fn answer(check: &Check, lang: Lang) -> anyhow::Result<String> {
    print(&format!("  {} ", typed(words::question(&check.what, lang))))?;
    let mut line = String::new();
    stdin().read_line(&mut line)?;
    let guess = line.trim().to_string();
    if !stdin().is_terminal() {
        print(&format!("{guess}\n"))?; // A terminal shows what is typed; a pipe does not.
    }
    Ok(guess)
}

fn is_number(guess: &str) -> bool {
    guess.parse::<f64>().is_ok()
}
