//! `conclave scenario`: scenarios with a known outcome.

mod changed;
mod predict;

use crate::drawing::Drawing;
use crate::failure::{Exit, Usage};
use crate::lang::Lang;
use crate::output::run::{Broken, Report};
use crate::output::scenario::{self, Row, json};
use crate::output::{self, story::Viewer};
use changed::Changed;
use conclave_core::Property;
use conclave_lab::scenarios::{Ran, ScenarioFile};
use conclave_sim::Options;
use std::time::Instant;

/// Scenarios with a known outcome: list them, look at one, run one or all
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  \
    conclave scenario list\n  \
    conclave scenario show quorum-c4-forgets\n  \
    conclave scenario run quorum-c4-forgets --view all\n  \
    conclave scenario run --all")]
pub struct ScenarioArguments {
    #[command(subcommand)]
    act: Option<Act>,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    List(List),
    Show(Show),
    Run(Box<Run>),
}

/// The scenarios by algorithm; the same as 'conclave scenario' alone
#[derive(Debug, Default, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave scenario list token\n  \
    conclave scenario list --lang pt")]
struct List {
    /// Only those with this word in their name, title or algorithm
    #[arg(value_name = "WORD")]
    word: Option<String>,
    /// By names that give nothing away, for 'run --predict'
    #[arg(long)]
    predict: bool,
    #[command(flatten)]
    style: Style,
}

/// One scenario: its set-up, but nothing that gives away what comes of it
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave scenario show quorum-c4-forgets --answer")]
struct Show {
    /// The scenario, or a file such as my.toml
    name: String,
    /// Show its title and story, and what must come of it
    #[arg(long)]
    answer: bool,
    #[command(flatten)]
    style: Style,
}

/// Runs a scenario and holds it against what is expected
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave scenario run quorum-c4-forgets --predict\n  \
    conclave scenario run my.toml --view all --trace my.svg\n  \
    conclave scenario run token-ring-idle-and-busy --latency exp:1 --crash 3@20\n  \
    conclave scenario run --all --json")]
struct Run {
    /// The scenario, or a file such as my.toml
    #[arg(required_unless_present = "all")]
    name: Option<String>,
    /// Run every scenario
    #[arg(long)]
    all: bool,
    /// Ask first what will come of it
    #[arg(long)]
    predict: bool,
    /// Tell the run in words, as this process saw it
    #[arg(long, value_name = "ID|all")]
    view: Option<String>,
    #[command(flatten)]
    drawing: Drawing,
    #[command(flatten)]
    style: Style,
    #[command(flatten)]
    changed: Changed,
}

/// How it is told.
#[derive(Debug, Default, clap::Args)]
struct Style {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Lists, shows or runs.
pub fn run(arguments: &ScenarioArguments) -> anyhow::Result<Exit> {
    match &arguments.act {
        None => list(&List::default()),
        Some(Act::List(arguments)) => list(arguments),
        Some(Act::Show(arguments)) => show(arguments),
        Some(Act::Run(arguments)) => {
            arguments.vet()?;
            arguments.drawing.vet(arguments.all)?;
            match &arguments.name {
                Some(name) => one(arguments, &ScenarioFile::find(name)?),
                None => all(arguments),
            }
        }
    }
}

impl Run {
    /// Refuses what does not go together.
    fn vet(&self) -> Result<(), Usage> {
        let refused = |flag: &str, reason: &str| Err(Usage(format!("{flag}: {reason}")));
        match (&self.name, &self.view) {
            (Some(name), _) if self.all => {
                Err(Usage::flag("--all", name, "one scenario or all, not both"))
            }
            (_, Some(view)) if self.all || self.style.json => {
                Err(Usage::flag("--view", view, "tells one run in words; no --all, no --json"))
            }
            (_, _) if self.predict && (self.all || self.style.json) => {
                refused("--predict", "asks about one scenario; no --all, no --json")
            }
            (_, _) if self.all && !self.changed.changes().are_none() => {
                refused("--all", "changes are for one scenario; see --help")
            }
            (_, _) => Ok(()),
        }
    }
}

fn list(arguments: &List) -> anyhow::Result<Exit> {
    let mut all = ScenarioFile::all()?;
    let lang = Lang::spoken();
    if let Some(word) = &arguments.word {
        all.retain(|file| has(file, word));
        if all.is_empty() {
            let nothing = "no scenario has this in its name, title or algorithm";
            return Err(Usage(format!("{word}: {nothing}")).into());
        }
    }
    output::print(&match arguments.style.json {
        true => output::json::pretty(&json::list(&all, lang))?,
        false if arguments.predict => scenario::unrevealed(&all),
        false => scenario::list(&all),
    })?;
    Ok(Exit::Done)
}

/// Whether a word is in the name, the algorithm or the title, in whichever language.
fn has(file: &ScenarioFile, word: &str) -> bool {
    let scenario = file.head();
    let word = word.to_lowercase();
    let texts = [&file.name, &scenario.algorithm, &scenario.title.en, &scenario.title.pt];
    texts.iter().any(|text| text.to_lowercase().contains(&word))
}

fn show(arguments: &Show) -> anyhow::Result<Exit> {
    let file = ScenarioFile::find(&arguments.name)?;
    let lang = Lang::spoken();
    let known = file.skipped().is_none();
    let set_up = if known { file.set_up()? } else { Vec::new() };
    let commands: Vec<Option<String>> =
        set_up.iter().map(|(experiment, plan)| scenario::command(experiment, plan)).collect();
    let ran = match arguments.answer && known {
        true => Some(file.run(false)?),
        false => None,
    };
    output::print(&match arguments.style.json {
        true => {
            let shown = json::Shown::of(&file, lang, &commands, ran.as_deref());
            output::json::pretty(&shown)?
        }
        false => {
            let experiment = set_up.first().map(|(experiment, _)| experiment);
            let told = match arguments.answer {
                true => scenario::heading(&file, experiment) + &scenario::text(&file),
                false => scenario::heading_unrevealed(&file, experiment),
            };
            told + &scenario::set_up(&file, &commands)
                + &scenario::answer(&file, ran.as_deref(), arguments.answer)
        }
    })?;
    Ok(Exit::Done)
}

fn one(arguments: &Run, file: &ScenarioFile) -> anyhow::Result<Exit> {
    let begun = Instant::now();
    let runs = file.run_changed(arguments.view.is_some(), &arguments.changed.changes())?;
    let wall_seconds = begun.elapsed().as_secs_f64();
    draw(arguments, file, &runs)?;
    let exit = if runs.iter().all(Ran::ok) { Exit::Done } else { Exit::Failed };
    if arguments.style.json {
        let result = json::Result::of(file, Ok(&runs));
        output::print(&output::json::pretty(&json::Results { results: vec![result] })?)?;
        return Ok(exit);
    }
    let viewer = |ran: &Ran| {
        let view = arguments.view.as_ref();
        view.map(|view| Viewer::new(view, &ran.experiment.names)).transpose()
    };
    let viewers = runs.iter().map(viewer).collect::<Result<Vec<_>, _>>()?;
    let experiment = Some(&runs[0].experiment);
    let heading = scenario::heading(file, experiment);
    match arguments.predict {
        true => output::print(&scenario::heading_unrevealed(file, experiment))?,
        false => output::print(&heading)?,
    }
    for ran in &runs {
        output::print(&guess_or_judge(arguments, file, ran)?)?;
        if arguments.view.is_none() {
            output::print(&scenario::verdicts(&ran.outcome))?; // The story ends with them.
        }
    }
    let heading = if arguments.predict { format!("\n{heading}") } else { String::new() };
    let told = heading + &scenario::text_of(file, &runs);
    output::print(&(told + &scenario::result(file, &runs, arguments.view.is_some())))?;
    for (ran, viewer) in runs.into_iter().zip(viewers) {
        if let Some(viewer) = viewer {
            let part = scenario::part(&ran);
            output::print(&format!("{part}\n{}", view(file, ran, &viewer, wall_seconds)))?;
        }
    }
    Ok(exit)
}

/// One run beside what was guessed, or what was expected.
fn guess_or_judge(arguments: &Run, file: &ScenarioFile, ran: &Ran) -> anyhow::Result<String> {
    let part = scenario::part(ran);
    if !arguments.predict {
        return Ok(part + &scenario::checks(ran));
    }
    let guesses = predict::ask(file, ran)?;
    Ok(part + &scenario::guessed(&ran.checks, &guesses))
}

/// Runs it once more, to write it down: the same plan gives the same run. Several runs make several
/// files.
fn draw(arguments: &Run, file: &ScenarioFile, runs: &[Ran]) -> anyhow::Result<()> {
    if !arguments.drawing.is_wanted() {
        return Ok(());
    }
    let command = || format!("conclave scenario run {}", file.typed);
    for (number, (ran, scenario)) in (1..).zip(runs.iter().zip(&file.runs)) {
        let options = ran.experiment.options(scenario.watches(Property::HB));
        let options = Options { trace: true, ..options };
        let outcome = ran.experiment.run(&ran.plan, &options)?;
        let drawing = match runs.len() {
            1 => arguments.drawing.clone(),
            _ => arguments.drawing.numbered(number),
        };
        drawing.of_run(&ran.experiment, &outcome, command)?;
    }
    Ok(())
}

/// The run in words, as `conclave sim --view` tells it.
fn view(file: &ScenarioFile, ran: Ran, viewer: &Viewer, wall_seconds: f64) -> String {
    let Ran { experiment, plan, bypass_bound, mut outcome, .. } = ran;
    let command = format!("conclave scenario run {}", file.typed);
    let replay = scenario::command(&experiment, &plan).unwrap_or_else(|| command.clone());
    let violations = std::mem::take(&mut outcome.violations).into_iter();
    let broken = violations
        .map(|violation| Broken { seed: plan.seed, violation, replay: replay.clone() })
        .collect();
    viewer.tell(&Report {
        experiment: &experiment,
        plan: &plan,
        typed: vec![command],
        bypass_bound,
        outcome,
        runs: 1,
        many: false,
        broken,
        wall_seconds,
    })
}

fn all(arguments: &Run) -> anyhow::Result<Exit> {
    let mut rows = Vec::new();
    for file in ScenarioFile::all()? {
        let ran = match file.skipped() {
            Some(reason) => Err(reason),
            None => Ok(file.run(false)?),
        };
        rows.push(Row { file, ran });
    }
    let as_expected = rows.iter().all(|row| row.ok() != Some(false));
    output::print(&match arguments.style.json {
        true => output::json::pretty(&json::Results::of(&rows))?,
        false => scenario::table(&rows),
    })?;
    Ok(if as_expected { Exit::Done } else { Exit::Failed })
}
