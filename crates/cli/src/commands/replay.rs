//! `conclave replay`: a recorded run, verified and drawn again.

mod cluster;

use crate::drawing::Drawing;
use crate::failure::{Exit, Usage};
use crate::output::good;
use crate::output::{self, json};
use crate::texts::tr;
use conclave_core::Ticks;
use conclave_lab::Experiment;
use conclave_lab::files;
use conclave_sim::Patience;
use conclave_sim::trace::{self, Record, Sealed, Trace, Window};
use serde::Serialize;

/// The largest recording that is read: those that the simulator writes are smaller.
const BYTES_MAX: u64 = 1 << 30;
/// So many messages of a real run can be told apart in one picture.
const MESSAGES_SHOWN: usize = 60;

/// Runs every node of a recording again, and sees whether it does the same
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave replay run.jsonl\n  \
    conclave replay run.jsonl --trace run.svg --frames run-frames\n  \
    conclave replay a.rec b.rec c.rec --trace run.svg\n  \
    conclave replay a.rec b.rec c.rec --lock build --from 2s --until 2.1s --trace run.svg")]
pub struct Replay {
    /// A recording, as --trace FILE.jsonl writes it; or those of all nodes of a real cluster
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
    #[command(flatten)]
    drawing: Drawing,
    #[command(flatten)]
    stretch: Stretch,
    #[command(flatten)]
    which: cluster::Which,
    /// Print one JSON object
    #[arg(long, help_heading = "Run")]
    json: bool,
}

/// Which stretch of a run is drawn.
#[derive(Clone, Copy, Debug, clap::Args)]
struct Stretch {
    /// Draw from this time on (.svg and .mmd); a real run is drawn from the first request
    #[arg(long, value_name = "T", value_parser = time, help_heading = "Run")]
    from: Option<Ticks>,
    /// Draw up to this time (.svg and .mmd); of a real run, the first 60 messages are drawn
    #[arg(long, value_name = "T", value_parser = time, help_heading = "Run")]
    until: Option<Ticks>,
}

impl Stretch {
    /// What is to be drawn of a trace, if that is not the whole of it.
    fn of(self, trace: &Trace) -> Option<Window> {
        let Self { from, until } = self;
        let real = trace.header.machine.is_some();
        if !real && from.is_none() && until.is_none() {
            return None;
        }
        let first = if real { Window::from_first_request(trace) } else { Ticks::ZERO };
        let messages_max = if real && until.is_none() { MESSAGES_SHOWN } else { usize::MAX };
        let until = until.unwrap_or(trace.end());
        Some(Window { from: from.unwrap_or(first), until, messages_max })
    }
}

fn time(text: &str) -> Result<Ticks, String> {
    Ticks::parse(text).ok_or_else(|| "a time in milliseconds, or such as 250ms, 3s".to_string())
}

/// What came of it.
#[derive(Serialize)]
struct Replayed<'a> {
    file: &'a str,
    algorithm: &'a str,
    nodes: u32,
    command: &'a str,
    records: usize,
    steps: u64,
    verified: bool,
    difference: Option<String>,
    violations: Vec<String>,
}

/// Reads, verifies, draws.
pub fn run(arguments: &Replay) -> anyhow::Result<Exit> {
    arguments.drawing.vet(false)?;
    if arguments.files.iter().any(|file| cluster::is_recording(file)) {
        return cluster::run(arguments);
    }
    arguments.which.vet()?;
    let [file] = arguments.files.as_slice() else {
        let reason = "only recordings of nodes (.rec) are replayed together";
        return Err(Usage(format!("{}: {reason}", arguments.files.join(" "))).into());
    };
    let in_file = |reason: String| Usage(format!("{file}: {reason}"));
    let text = files::read_at_most(BYTES_MAX, file).map_err(in_file)?;
    let (trace, sealed) = trace::read(&text).map_err(|error| in_file(error.to_string()))?;
    let experiment =
        Experiment::of_recording(&trace.header).map_err(|error| in_file(format!("{error:#}")))?;
    let verified = verify(&experiment, &trace, sealed);
    let report = report(file, &trace, &verified);
    output::print(&match arguments.json {
        true => json::pretty(&report)?,
        false => told(&report),
    })?;
    match verified {
        Ok(_) => {
            let window = arguments.stretch.of(&trace);
            let drawn = arguments.drawing.write_within(&experiment, &trace, window.as_ref());
            drawn.map(|()| Exit::Done)
        }
        Err(_) => Ok(Exit::Failed),
    }
}

/// How many steps were run again, or what is wrong.
fn verify(experiment: &Experiment, trace: &Trace, sealed: Sealed) -> Result<u64, String> {
    let steps = experiment.verify(Patience::ENDLESS, trace)?;
    match sealed {
        Sealed::Whole => Ok(steps),
        Sealed::Broken => {
            Err("the file was changed: its checksum does not fit, though every step does".into())
        }
    }
}

fn report<'a>(file: &'a str, trace: &'a Trace, verified: &Result<u64, String>) -> Replayed<'a> {
    let mut violations = Vec::new();
    for record in &trace.records {
        if let Record::Violation(broken) = record {
            let what = trace.header.tell(&broken.what);
            violations.push(format!("{} at {}: {what}", broken.property, broken.at));
        }
    }
    Replayed {
        file,
        algorithm: &trace.header.algorithm,
        nodes: trace.header.nodes,
        command: &trace.header.command,
        records: trace.records.len(),
        steps: verified.as_ref().copied().unwrap_or_default(),
        verified: verified.is_ok(),
        difference: verified.as_ref().err().cloned(),
        violations,
    }
}

fn told(report: &Replayed<'_>) -> String {
    let mut text = format!("{}\n", output::strong(report.algorithm));
    text += &format!("{}\n", output::dim(report.command));
    for broken in &report.violations {
        text += &format!("{}\n", output::odd(format!("violated: {broken}")));
    }
    match &report.difference {
        Some(difference) => {
            let label = output::bad("not as recorded:");
            text + &format!("{label} {}\n", output::story::in_words(difference))
        }
        None => {
            let steps = output::numbers::of(report.steps, "step");
            let told = format!("{steps} run again, all as recorded");
            text + &format!("{} {}\n", good("verified:"), tr(&told))
        }
    }
}
