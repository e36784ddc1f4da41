//! `conclave replay`: a recorded run, verified and drawn again.

use crate::drawing::Drawing;
use crate::failure::{Exit, Usage};
use crate::output::{self, json};
use crate::subject::Subject;
use crate::{files, output::good};
use conclave_sim::trace::{self, Record, Sealed, Trace};
use serde::Serialize;

/// The largest recording that is read: those that the simulator writes are smaller.
const BYTES_MAX: u64 = 1 << 30;

/// Runs every node of a recording again, and sees whether it does the same
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave replay run.jsonl\n  \
    conclave replay run.jsonl --trace run.svg --frames run-frames")]
pub struct Replay {
    /// A recording, as --trace FILE.jsonl writes it
    #[arg(value_name = "FILE")]
    file: String,
    #[command(flatten)]
    drawing: Drawing,
    /// Print one JSON object
    #[arg(long, help_heading = "Run")]
    json: bool,
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
    let file = &arguments.file;
    let in_file = |reason: String| Usage(format!("{file}: {reason}"));
    let text = files::read_at_most(BYTES_MAX, file).map_err(in_file)?;
    let (trace, sealed) = trace::read(&text).map_err(|error| in_file(error.to_string()))?;
    let subject =
        Subject::of_recording(&trace.header).map_err(|error| in_file(format!("{error:#}")))?;
    let verified = verify(&subject, &trace, sealed);
    let report = report(file, &trace, &verified);
    output::print(&match arguments.json {
        true => json::pretty(&report)?,
        false => told(&report),
    })?;
    match verified {
        Ok(_) => arguments.drawing.write(&trace).map(|()| Exit::Done),
        Err(_) => Ok(Exit::Failed),
    }
}

/// How many steps were run again, or what is wrong.
fn verify(subject: &Subject, trace: &Trace, sealed: Sealed) -> Result<u64, String> {
    let steps = subject.cluster().verify(trace).map_err(|difference| difference.to_string())?;
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
        Some(difference) => text + &format!("{} {difference}\n", output::bad("not as recorded:")),
        None => {
            let steps = output::numbers::of(report.steps, "step");
            text + &format!("{} {steps} run again, all as recorded\n", good("verified:"))
        }
    }
}
