//! `conclave mc714 clock`: one process with a clock of its own speed.
//!
//! As in the original, the caller is answered when all that follows has been done. So whoever
//! handed in the task learns at once if it got stuck on the way, and where.

use super::calling::{Answer, Base, Bases, Caller};
use super::log::Log;
use super::serving::{self, Parameters, Refused, parameter};
use crate::failure::{Exit, Usage, ip_port};
use crate::mc714::digits::{self, Rule};
use axum::Router;
use axum::extract::{Query, State};
use axum::http::StatusCode;
use axum::routing::post;
use conclave_algorithms::clock::lamport::Scalar;
use conclave_algorithms::clock::timekeeper::Keeper;
use conclave_core::NodeId;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// One digit names a process.
pub const PROCESSES_MAX: u32 = 9;
/// How long a call may take beyond what the pauses of all that follow add up to.
const SLACK: Duration = Duration::from_secs(30);
/// The pause of the original, which may follow in the chain whatever ours is.
const PAUSE: Duration = Duration::from_secs(2);

/// One process with a logical clock, through which a task goes
///
/// POST /receive_msg?ts=T&content=DIGITS sets the clock right, waits, and hands the rest of the
/// digits to the process that the next one names; the last one tells the application.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, one of two processes:\n  \
    conclave mc714 clock --id 1 --listen 127.0.0.1:5001 \\\n    \
    --application http://127.0.0.1:5000 --peers http://127.0.0.1:5001,http://127.0.0.1:5002")]
pub struct Clock {
    /// Its id, from 1; its clock gains as much every second
    #[arg(long, value_name = "K", value_parser = super::id)]
    id: u32,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", value_parser = ip_port)]
    listen: SocketAddr,
    /// All processes in the order of their ids, this one included
    #[arg(long, value_name = "URL,URL,...", value_parser = Base::parse_all)]
    peers: Bases,
    /// Where the application is
    #[arg(long, value_name = "URL", value_parser = Base::parse)]
    application: Base,
    /// What the clock does when it receives a time
    #[arg(long, value_enum, value_name = "RULE", default_value = "code")]
    rule: Rule,
    /// How long to hold the task
    #[arg(long, value_name = "TIME", default_value = "2s", value_parser = super::span)]
    pause: Duration,
    /// From one gain of the clock to the next; 0s for none
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = super::span)]
    tick: Duration,
}

/// Serves until it is stopped.
pub async fn run(arguments: &Clock) -> anyhow::Result<Exit> {
    let n = arguments.peers.n();
    let me = arguments.id;
    if n > PROCESSES_MAX {
        let takes = format!("takes at most {PROCESSES_MAX}, one for each digit");
        return Err(Usage::flag("--peers", format!("of {n}"), takes).into());
    }
    if me > n {
        return Err(Usage::flag("--id", me, format!("--peers names {n} processes")).into());
    }
    let (listener, address) = serving::listen(arguments.listen).await?;
    let node = Node {
        me,
        clock: Arc::new(Mutex::new(arguments.rule.clock())),
        peers: arguments.peers.clone(),
        application: arguments.application.clone(),
        pause: arguments.pause,
        log: Log::new(format!("clock {me}")),
    };
    if !arguments.tick.is_zero() {
        node.clock().passes(u64::from(me)); // The original's first gain is at its very beginning.
    }
    let reading = node.clock().reading();
    node.log.say(format!("listens on http://{address}; its clock reads {reading}"));
    let log = node.log.clone();
    let router = Router::new().route("/receive_msg", post(receive_msg)).with_state(node.clone());
    serving::serve_while(listener, router, node.tick_every(arguments.tick)).await?;
    log.say("stopped");
    Ok(Exit::Done)
}

#[derive(Clone)]
struct Node {
    me: u32,
    clock: Arc<Mutex<Scalar>>,
    peers: Bases,
    application: Base,
    pause: Duration,
    log: Log,
}

impl Node {
    fn clock(&self) -> MutexGuard<'_, Scalar> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets the clock gain the own id, for ever.
    async fn tick_every(self, period: Duration) {
        if period.is_zero() {
            return std::future::pending().await;
        }
        let mut ticks = tokio::time::interval_at(tokio::time::Instant::now() + period, period);
        loop {
            ticks.tick().await;
            self.clock().passes(u64::from(self.me));
        }
    }

    fn receive(&self, time: u64) -> Result<(), Refused> {
        let mut clock = self.clock();
        let before = clock.reading();
        // The wire does not say who sent it, and this clock does not ask.
        let after = clock.receives(NodeId(0), &time).map_err(|_| absurd(&time.to_string()))?;
        let what = match () {
            () if after > before => format!("set to {after}"),
            () if time == before => "left as it is: no later than the sending".to_string(),
            () => "left as it is".to_string(),
        };
        self.log.say(format!("receives time {time} at {before}: {what}"));
        Ok(())
    }

    /// Hands the task on, or tells the application that it is done.
    fn hand_on(&self, digits: &str) -> Result<(), String> {
        let time = self.clock().sends();
        let stamp = time.to_string();
        let Some((next, rest)) = digits::next(digits) else {
            self.log.say(format!("is the last, and tells the application at {time}"));
            let told = Caller::new(SLACK).post(
                &self.application,
                "/receive_answer",
                &[],
                &[(super::application::CLOCK, &stamp)],
            );
            let whom = |why| format!("the application {why}");
            return told.and_then(Answer::good).map(|_| ()).map_err(whom);
        };
        self.log.say(format!("hands {rest} to process {next} at {time}"));
        let base = self.peers.of(next).ok_or_else(|| format!("{next} is no process"))?;
        let caller = Caller::new(patience(rest, self.pause));
        let called = caller.post(base, "/receive_msg", &[("ts", &stamp), ("content", rest)], &[]);
        called.and_then(Answer::good).map(|_| ()).map_err(|why| format!("process {next} {why}"))
    }
}

/// How long all that these digits ask for may take.
pub fn patience(digits: &str, pause: Duration) -> Duration {
    let processes = u32::try_from(digits.len()).unwrap_or(u32::MAX);
    SLACK.saturating_add(pause.max(PAUSE).saturating_mul(processes))
}

async fn receive_msg(
    State(node): State<Node>,
    Query(parameters): Query<Parameters>,
) -> Result<StatusCode, Refused> {
    let time = parameter(&parameters, "ts")?;
    let digits = parameter(&parameters, "content")?.to_string();
    digits::check(&digits, node.peers.n())
        .map_err(|takes| Refused::bad(format!("the content {takes}")))?;
    let time = time.parse().map_err(|_| absurd(time))?;
    node.receive(time)?;
    // A task of its own: it goes on also if the caller hangs up.
    let log = node.log.clone();
    let pause = node.pause;
    let rest = tokio::spawn(async move {
        tokio::time::sleep(pause).await;
        tokio::task::spawn_blocking(move || node.hand_on(&digits)).await
    });
    let handed_on = rest.await.and_then(|done| done).map_err(|error| error.to_string());
    handed_on.and_then(|done| done).map(|()| StatusCode::OK).map_err(|why| {
        log.say(format!("the task got stuck: {why}"));
        Refused(StatusCode::BAD_GATEWAY, why)
    })
}

fn absurd(time: &str) -> Refused {
    let shown = super::log::words(time);
    Refused::bad(format!("the ts {shown} is none: it takes a whole number below 2^62"))
}
