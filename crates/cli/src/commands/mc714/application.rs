//! `conclave mc714 application`: hands in a task, and waits for the answer.

use super::calling::{self, Answer, Base, Bases, Caller};
use super::clock::{PROCESSES_MAX, patience};
use super::log::Log;
use super::serving;
use crate::failure::{Exit, Usage, ip_port};
use crate::mc714::digits;
use crate::output::{json, print};
use anyhow::anyhow;
use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::routing::post;
use serde::Serialize;
use std::net::SocketAddr;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;

/// In which our last clock says what it reads. The original's says nothing and needs nothing.
pub const CLOCK: &str = "conclave-clock";
/// How long to stay after the answer, so that the last process sees it taken.
const FAREWELL: Duration = Duration::from_secs(2);
/// The time that the first message carries.
const FIRST_TIME: &str = "1";

/// Hand a task to the clocks, and wait for the answer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    conclave mc714 application --listen 127.0.0.1:5000 --task 2132121 \\\n    \
    --peers http://127.0.0.1:5001,http://127.0.0.1:5002,http://127.0.0.1:5003")]
pub struct Application {
    /// Where to listen for the answer
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5000", value_parser = ip_port)]
    listen: SocketAddr,
    /// Which processes it goes through, one digit each
    #[arg(long, value_name = "DIGITS")]
    task: String,
    /// All processes in the order of their ids
    #[arg(long, value_name = "URL,URL,...", value_parser = Base::parse_all)]
    peers: Bases,
    /// How long to wait for the answer; if not given, as long as the task may take
    #[arg(long, value_name = "TIME", value_parser = super::positive_span)]
    wait: Option<Duration>,
    /// How long to wait for the first process to be there
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = super::span)]
    patience: Duration,
    /// Print one JSON object at the end instead of lines
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report<'a> {
    task: &'a str,
    seconds: f64,
    /// What the last clock read, if it says so.
    clock: Option<u64>,
}

/// Hands in the task and waits.
pub async fn run(arguments: &Application) -> anyhow::Result<Exit> {
    let task = &arguments.task;
    let n = arguments.peers.n();
    if n > PROCESSES_MAX {
        let takes = format!("takes at most {PROCESSES_MAX}, one for each digit");
        return Err(Usage::flag("--peers", format!("of {n}"), takes).into());
    }
    digits::check(task, n).map_err(|takes| Usage::flag("--task", task, takes))?;
    let log = Log::new("application");
    let begun = Instant::now();
    let Some(first) = digits::first(task) else {
        // Nothing is to be done, so it is done.
        return tell(arguments, &log, begun, FIRST_TIME.parse().ok());
    };
    let (listener, address) = serving::listen(arguments.listen).await?;
    if !arguments.json {
        log.say(format!("listens on http://{address}"));
        log.say(format!("hands {task} to process {first} at {FIRST_TIME}"));
    }
    let (answered, answer) = mpsc::channel(1);
    let router = Router::new().route("/receive_answer", post(receive_answer)).with_state(answered);
    let wait = arguments.wait.unwrap_or_else(|| patience(task, Duration::ZERO));
    let limit = arguments.patience.saturating_add(wait);
    let handed_in = hand_in(arguments, first, wait, answer);
    let work = async { tokio::time::timeout(limit, handed_in).await };
    match serving::serve_while(listener, router, work).await? {
        None => Err(anyhow!("stopped before the answer came")),
        Some(Err(_)) => Err(anyhow!("no answer within {:.1} s", wait.as_secs_f64())),
        Some(Ok(Err(why))) => Err(anyhow!(why)),
        Some(Ok(Ok(clock))) => tell(arguments, &log, begun, clock),
    }
}

/// Hands in the task. The answer comes by itself; what comes back before it matters only if it
/// says that something went wrong.
async fn hand_in(
    arguments: &Application,
    first: u32,
    wait: Duration,
    mut answer: mpsc::Receiver<Option<u64>>,
) -> Result<Option<u64>, String> {
    let base = arguments.peers.of(first).cloned().ok_or("there is no such process")?;
    let task = arguments.task.clone();
    let until_it_is_there = arguments.patience;
    let mut call = tokio::task::spawn_blocking(move || {
        calling::wait_for(&base, until_it_is_there)?;
        let query = [("ts", FIRST_TIME), ("content", &task)];
        let caller = Caller::new(wait);
        let called = caller.post(&base, "/receive_msg", &query, &[]);
        called.and_then(Answer::good).map_err(|why| format!("process {first} {why}"))
    });
    tokio::select! {
        biased;
        Some(clock) = answer.recv() => {
            // Whoever answered is still to be thanked: when the call is over, it was.
            let _ = tokio::time::timeout(FAREWELL, call).await;
            return Ok(clock);
        }
        called = &mut call => called.map_err(|error| error.to_string())??,
    };
    answer.recv().await.ok_or_else(|| "nobody can answer any more".to_string())
}

async fn receive_answer(
    State(answered): State<mpsc::Sender<Option<u64>>>,
    headers: HeaderMap,
) -> StatusCode {
    let clock = headers.get(CLOCK).and_then(|value| value.to_str().ok()?.parse().ok());
    let _ = answered.try_send(clock); // Only the first answer counts.
    StatusCode::OK
}

fn tell(
    arguments: &Application,
    log: &Log,
    begun: Instant,
    clock: Option<u64>,
) -> anyhow::Result<Exit> {
    let seconds = begun.elapsed().as_secs_f64();
    if arguments.json {
        let task = &arguments.task;
        print(&json::pretty(&Report { task, seconds, clock })?)?;
    } else {
        let at = clock.map_or(String::new(), |clock| format!(" at {clock}"));
        log.say(format!("the task is done{at}, after {seconds:.3} s"));
    }
    Ok(Exit::Done)
}
