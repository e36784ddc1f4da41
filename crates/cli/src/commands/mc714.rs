//! `conclave mc714`: the three HTTP programs of lecture notes 001, on the lab's state machines.

mod application;
mod calling;
mod client;
mod clock;
mod coordinator;
mod log;
mod ring;
mod serving;

use crate::failure::Exit;
use conclave_core::Ticks;
use std::future::Future;
use std::time::Duration;

/// The greatest id of a client; a number above it is a mistake.
const ID_MAX: u32 = 999_999;
/// The longest time that a flag takes.
const SPAN_MAX: Duration = Duration::from_secs(24 * 3_600);

/// The three HTTP programs of lecture notes 001, wire-compatible with the original
///
/// A lock kept by a coordinator (coordinator, client), an election in a ring (ring), and a task
/// that goes from one logical clock to another (clock, application). Each speaks the original's
/// protocol and can stand beside its processes. docs/mc714.md shows how to try them.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    conclave mc714 coordinator --listen 127.0.0.1:5000\n  \
    conclave mc714 client --id 1 --coordinator http://127.0.0.1:5000 --ops r,w17,r")]
pub struct Mc714 {
    #[command(subcommand)]
    role: Role,
}

#[derive(Debug, clap::Subcommand)]
enum Role {
    Coordinator(coordinator::Coordinator),
    Client(client::Client),
    Ring(ring::Ring),
    Clock(clock::Clock),
    Application(application::Application),
}

/// Plays the role that was asked for.
pub fn run(arguments: &Mc714) -> anyhow::Result<Exit> {
    match &arguments.role {
        Role::Coordinator(arguments) => wait_for(coordinator::run(arguments)),
        Role::Client(arguments) => client::run(arguments),
        Role::Ring(arguments) => wait_for(ring::run(arguments)),
        Role::Clock(arguments) => wait_for(clock::run(arguments)),
        Role::Application(arguments) => wait_for(application::run(arguments)),
    }
}

/// Runs a server. Calls that are still under way when it ends are not waited for.
fn wait_for(role: impl Future<Output = anyhow::Result<Exit>>) -> anyhow::Result<Exit> {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let exit = runtime.block_on(role);
    runtime.shutdown_background();
    exit
}

/// The id of a client or process.
fn id(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|id| (1..=ID_MAX).contains(id));
    number.ok_or_else(|| format!("takes a whole number from 1 to {ID_MAX}"))
}

/// A span of time, none included.
fn span(text: &str) -> Result<Duration, String> {
    let parsed = Ticks::parse(text).filter(|_| text.ends_with('s'));
    let span = parsed.map(|ticks| Duration::from_secs_f64(ticks.as_units() / 1_000.0));
    let fits = span.filter(|span| *span <= SPAN_MAX);
    fits.ok_or_else(|| "takes a time like 250ms or 3s, at most a day".to_string())
}

/// A span of time that is not empty.
fn positive_span(text: &str) -> Result<Duration, String> {
    match span(text)? {
        Duration::ZERO => Err("takes a time above 0, like 250ms or 3s".to_string()),
        above => Ok(above),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbers_of_a_sane_size() {
        assert_eq!(id("1"), Ok(1));
        assert_eq!(id("999999"), Ok(999_999));
        for bad in ["", "0", "-1", "1000000", "99999999999999999999", "x", "1 ", "+ 1"] {
            assert!(id(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn times_have_a_unit() {
        assert_eq!(span("250ms"), Ok(Duration::from_millis(250)));
        assert_eq!(span("0s"), Ok(Duration::ZERO));
        for bad in ["3", "s", "-1s", "100000s", "1e9s"] {
            assert!(span(bad).is_err(), "{bad}");
        }
        assert!(positive_span("0ms").is_err() && positive_span("1ms").is_ok());
    }
}
