//! The machines of a real cluster, by their names.

use super::post::Difference;
use super::retell::{Retold, Run, retell};
use crate::machines::{self, DETECTOR, ELECTION, Kind, Settings};
use crate::{Error, Experiment, People, Usage};
use conclave_sim::Patience;
use conclave_sim::trace::{Focus, Header, Machine, Survey, Trace};

/// What all nodes of a cluster agreed on.
pub fn settings(text: &str) -> Result<Settings, Usage> {
    text.parse().map_err(|error| Usage(format!("of an unknown kind of cluster: {error}")))
}

/// What the first line of a trace says of a machine.
pub fn header(text: &str, key: &str, command: String) -> Result<(Experiment, Header), Error> {
    let settings = settings(text)?;
    let (chosen, set) = match key {
        // Their rhythm may be that of the locks that stand on them.
        ELECTION => (&settings.election, &[][..]),
        DETECTOR => (&settings.detector, &[][..]),
        _ => (&settings.engine, &settings.engine.set[..]),
    };
    let experiment = Experiment::of_texts(&chosen.id, settings.nodes, set, &People::default())?;
    let machine = Machine { key: key.to_string(), settings: text.to_string() };
    let header = Header { machine: Some(machine), ..experiment.header(command) };
    Ok((experiment, header))
}

/// Runs a machine of all nodes again.
pub fn again(
    settings: &Settings,
    key: &str,
    run: Run<'_>,
) -> Result<Result<Retold, Difference>, Usage> {
    Ok(retell(&machines::kind(settings, key)?, run))
}

/// Runs every node of a trace of real machines again.
pub fn verify(patience: Patience, machine: &Machine, trace: &Trace) -> Result<u64, String> {
    let kind = kind(machine, &trace.header)?;
    (kind.verify)(trace, patience).map_err(|difference| difference.to_string())
}

/// Runs every node of a trace of real machines again, and asks it why it does what it does.
pub fn survey(machine: &Machine, trace: &Trace, focus: &Focus) -> Result<Survey, String> {
    let kind = kind(machine, &trace.header)?;
    (kind.survey)(trace, focus).map_err(|difference| difference.to_string())
}

/// The machine of a trace. Its settings must be those of as many nodes as the trace has: a forged
/// one may say anything, and so many nodes are made.
fn kind(machine: &Machine, header: &Header) -> Result<Kind, String> {
    let settings = settings(&machine.settings).map_err(|error| error.to_string())?;
    let nodes = settings.nodes;
    if nodes != header.nodes || nodes as usize != header.names.len() {
        return Err(format!("a machine of {nodes} nodes in a run of {}", header.names.len()));
    }
    machines::kind(&settings, &machine.key).map_err(|error| error.to_string())
}
