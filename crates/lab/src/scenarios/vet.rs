//! Validation of a scenario file: all that is wrong with it is told at once, also what only its
//! algorithm knows.

use crate::experiment::NODES_MAX;
use crate::{Error, Experiment, rows};
use conclave_algorithms::Error as Refusal;
use conclave_sim::{Draft, Mistakes, Names, Scenario};

/// The runs of a file, if all of them can be run.
pub(super) fn runs(text: &str) -> Result<Vec<Scenario>, conclave_sim::Error> {
    let Draft { runs, mut mistakes } = Scenario::draft(text);
    runs.iter().for_each(|run| vet(run, &mut mistakes));
    mistakes.or(runs)
}

fn vet(run: &Scenario, mistakes: &mut Mistakes) {
    match experiment(run, mistakes) {
        Ok(experiment) => {
            let plan = run.plan_noting(&experiment.names, mistakes);
            experiment.vet(&plan).iter().for_each(|error| run.note(error, mistakes));
        }
        Err(names) => {
            run.plan_noting(&names, mistakes);
        }
    }
}

/// The algorithm without what is wrong with its parameters, which is noted; or, where there is
/// none, what can be said of its nodes.
fn experiment(run: &Scenario, mistakes: &mut Mistakes) -> Result<Experiment, Names> {
    let sized = run.says("nodes") && run.nodes <= NODES_MAX;
    if !run.says("algorithm") {
        return Err(unsettled(run, sized));
    }
    if !run.says("nodes") {
        if let Err(error) = rows::find(&run.algorithm) {
            run.note_field("algorithm", error.to_string(), mistakes);
        }
        return Err(unsettled(run, false));
    }
    let mut left = run.clone();
    loop {
        let error = match Experiment::of_scenario(&left) {
            Ok(experiment) if left.ids == run.ids => return Ok(experiment),
            // Its nodes are not called what the file calls them.
            Ok(_) => return Err(Names::unsettled(NODES_MAX)),
            Err(error) => error,
        };
        note(run, &error, mistakes);
        if !leave_out(&mut left, &error) {
            return Err(unsettled(run, sized));
        }
    }
}

/// The names of nodes of which only the number is known, or not even that.
fn unsettled(run: &Scenario, sized: bool) -> Names {
    Names::unsettled(if sized && run.ids.is_none() { run.nodes } else { NODES_MAX })
}

fn note(run: &Scenario, error: &Error, mistakes: &mut Mistakes) {
    match error {
        Error::Simulation(error) => run.note(error, mistakes),
        Error::Usage(_) | Error::Algorithm(_) | Error::Contradicted(_) | Error::In { .. } => {
            run.note_field(&blamed(error), of_field(&error.to_string()), mistakes);
        }
    }
}

/// The field that has to be mended: that of the flag at the beginning of the message.
fn blamed(error: &Error) -> String {
    if let Error::Algorithm(Refusal::UnknownAlgorithm { .. }) = error {
        return "algorithm".to_string();
    }
    let told = error.to_string();
    let first = told.trim_start_matches("--").split([' ', ':']).next();
    first.unwrap_or_default().to_string()
}

/// What is said of a flag, `--nodes 2: …`, said of the field of that name, `nodes = 2: …`.
fn of_field(told: &str) -> String {
    match told.strip_prefix("--").map(|told| told.split_once(' ').unwrap_or((told, ""))) {
        Some((field, rest)) if !field.ends_with(':') => format!("{field} = {rest}"),
        Some(_) | None => told.trim_start_matches("--").to_string(),
    }
}

/// Takes out what was wrong, to see what else is; says whether it could.
fn leave_out(left: &mut Scenario, error: &Error) -> bool {
    if let Some(parameter) = parameter(error) {
        let before = left.set.len();
        left.set.retain(|(name, _)| name != parameter);
        return left.set.len() < before;
    }
    match blamed(error).as_str() {
        "ids" => {
            left.candidates = None; // They may be called by what is no label now.
            left.ids.take().is_some()
        }
        "candidates" => left.candidates.take().is_some(),
        _ => false,
    }
}

fn parameter(error: &Error) -> Option<&str> {
    match error {
        Error::Algorithm(Refusal::UnknownParameter { name, .. }) => Some(name),
        Error::Algorithm(Refusal::BadValue { name, .. } | Refusal::Unusable { name, .. }) => {
            Some(name)
        }
        Error::Algorithm(_)
        | Error::Usage(_)
        | Error::Simulation(_)
        | Error::Contradicted(_)
        | Error::In { .. } => None,
    }
}
