//! `conclave mc714 client`: reads and writes the coordinator's value, asking each time.

use super::calling::{self, Answer, Base, Caller};
use super::log::{Log, words};
use crate::failure::Exit;
use crate::mc714::operations::{self, Operation};
use crate::output::{json, print};
use anyhow::anyhow;
use serde::Serialize;
use serde_json::Value;
use std::time::{Duration, Instant};

/// Read and write the coordinator's value, asking for access each time
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    conclave mc714 client --id 1 --coordinator http://127.0.0.1:5000 --ops r,r,w17,w20,r,r")]
pub struct Client {
    /// Its id
    #[arg(long, value_name = "C", value_parser = super::id)]
    id: u32,
    /// Where the coordinator is
    #[arg(long, value_name = "URL", value_parser = Base::parse)]
    coordinator: Base,
    /// What to do: r reads, w17 writes 17; separated by commas
    #[arg(long, value_name = "OPS", value_parser = Operations::parse)]
    ops: Operations,
    /// How long to wait for access, and for each answer
    #[arg(long, value_name = "TIME", default_value = "600s", value_parser = super::positive_span)]
    wait: Duration,
    /// How long to wait for the coordinator to be there
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = super::span)]
    patience: Duration,
    /// Print one JSON object at the end instead of lines
    #[arg(long)]
    json: bool,
}

/// As clap wants it: a list that is one value.
#[derive(Clone, Debug)]
struct Operations(Vec<Operation>);

impl Operations {
    fn parse(text: &str) -> Result<Self, String> {
        operations::parse(text).map(Self)
    }
}

#[derive(Debug, Serialize)]
struct Report {
    client: u32,
    operations: Vec<Done>,
}

/// One operation that was done.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Done {
    Read(Value),
    Wrote(String),
}

/// Does all operations, in order.
pub fn run(arguments: &Client) -> anyhow::Result<Exit> {
    let log = Log::new(format!("client {}", arguments.id));
    let whom = |why: String| anyhow!("the coordinator {why}");
    calling::wait_for(&arguments.coordinator, arguments.patience).map_err(|why| anyhow!(why))?;
    let session = Session {
        caller: Caller::new(arguments.wait),
        coordinator: &arguments.coordinator,
        id: arguments.id.to_string(),
    };
    let mut report = Report { client: arguments.id, operations: Vec::new() };
    for operation in &arguments.ops.0 {
        let begun = Instant::now();
        session.get("/request_access").map_err(whom)?;
        let waited = begun.elapsed().as_secs_f64();
        // What was opened is closed again, also if the operation in between failed.
        let done = session.perform(operation);
        let released = session.get("/release_access");
        let done = done.map_err(whom)?;
        released.map_err(whom)?;
        if !arguments.json {
            log.say(format!("{} after {waited:.3} s of waiting", told(&done)));
        }
        report.operations.push(done);
    }
    if arguments.json {
        print(&json::pretty(&report)?)?;
    }
    Ok(Exit::Done)
}

fn told(done: &Done) -> String {
    match done {
        Done::Read(value) => format!("read  {:<8}", words(&value.to_string())),
        Done::Wrote(value) => format!("wrote {:<8}", words(&format!("{value:?}"))),
    }
}

struct Session<'a> {
    caller: Caller,
    coordinator: &'a Base,
    id: String,
}

impl Session<'_> {
    fn get(&self, path: &str) -> Result<Answer, String> {
        let named = |why| format!("{why} (to {path})");
        let answer = self.caller.get(self.coordinator, path, &[("id", &self.id)]);
        answer.and_then(Answer::good).map_err(named)
    }

    fn perform(&self, operation: &Operation) -> Result<Done, String> {
        match operation {
            Operation::Read => {
                let answer = self.get("/get_resource")?;
                let body: Value = serde_json::from_str(&answer.body).unwrap_or_default();
                let value = body.get("value").cloned();
                Ok(Done::Read(value.ok_or("answers without a value (to /get_resource)")?))
            }
            Operation::Write(value) => {
                let body = serde_json::json!({ "id": self.id, "value": value });
                let answer = self.caller.post_json(self.coordinator, "/change_resource", &body);
                answer.and_then(Answer::good)?;
                Ok(Done::Wrote(value.clone()))
            }
        }
    }
}
