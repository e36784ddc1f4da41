//! Running a command while holding something: what `lock` and `elect` have in common.

mod child;
mod reaper;
mod supervise;
mod terminal;

pub use child::{exec, wait_for_stop};
pub use reaper::guard;
pub use terminal::give_back;

use crate::failure::Usage;
use crate::{output, signals};
use conclave_client::api::{Blocked, Code, Node, limits};
use conclave_client::{Client, Error, Guard, Loss};
use conclave_core::Ticks;
use conclave_service::REPLICATED;
use rustix::process::Signal;
use std::ffi::OsString;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

/// The lock could not be had in time.
pub const NOT_IN_TIME: u8 = 75;
/// It was lost while the command ran.
pub const LOST: u8 = 76;

/// After so long without an answer it is told what is waited for; then after twice as long, and so
/// on, up to the most.
const LOOK: Duration = Duration::from_secs(2);
const LOOK_MAX: Duration = Duration::from_secs(16);
/// It is freed when nothing is heard of its holder for so long, unless told otherwise.
pub const TTL: Duration = Duration::from_millis(limits::TTL_MS_DEFAULT);
/// A request that is not wanted any more ends sooner than this.
const MOMENT: Duration = Duration::from_secs(1);

/// What can happen meanwhile.
pub enum Happened {
    /// Somebody wants this process to do something.
    Signal(Signal),
    /// The cluster answered.
    Answered(Box<Result<Guard, Error>>),
    /// The command ended.
    Ended,
    /// The node says that it is lost.
    Lost(Loss),
}

/// How it came to an end.
pub enum Outcome {
    /// By the command, with this code.
    Exit(u8),
    /// By a loss: the command was stopped.
    Lost(Loss),
}

/// A client that waits for a lock or a leadership and runs a command while holding it.
pub struct Holding {
    client: Client,
    sender: Sender<Happened>,
    events: Receiver<Happened>,
}

/// What the cluster granted, or why the program should end.
pub enum Answer {
    /// It is held.
    Held(Guard),
    /// It is not.
    Refused(Error),
    /// Somebody did not want to wait any longer.
    Stopped(Signal),
}

impl Holding {
    /// Begins to listen to signals, so that whatever is waited for is given up properly.
    pub fn new(client: Client) -> anyhow::Result<Self> {
        let (sender, events) = mpsc::channel();
        let heard = sender.clone();
        signals::pass_on(move |signal| {
            let _ = heard.send(Happened::Signal(signal)); // Nobody listens at the very end.
        })?;
        Ok(Self { client, sender, events })
    }

    /// Who asks.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// Waits for what `ask` asks for, or for a signal. From time to time `meanwhile` may look what
    /// takes so long.
    pub fn obtain<A>(&self, ask: A, mut meanwhile: impl FnMut(&Client)) -> anyhow::Result<Answer>
    where
        A: FnOnce(&Client) -> Result<Guard, Error> + Send + 'static,
    {
        let client = self.client.clone();
        let sender = self.sender.clone();
        thread::Builder::new().name("asks".into()).spawn(move || {
            let _ = sender.send(Happened::Answered(Box::new(ask(&client))));
        })?;
        let mut pause = LOOK;
        loop {
            match self.events.recv_timeout(pause) {
                Ok(Happened::Signal(signal)) => {
                    self.give_up();
                    return Ok(Answer::Stopped(signal));
                }
                Ok(Happened::Answered(answer)) => {
                    return Ok(answer.map_or_else(Answer::Refused, Answer::Held));
                }
                Ok(Happened::Ended | Happened::Lost(_)) => {} // Of an earlier command.
                Err(RecvTimeoutError::Timeout) => {
                    meanwhile(&self.client);
                    pause = (pause * 2).min(LOOK_MAX);
                }
                Err(error @ RecvTimeoutError::Disconnected) => return Err(error.into()),
            }
        }
    }

    /// Ends the session, and with it whatever is waited for; a request that is under way is given a
    /// moment to end too, so that nothing of it is left behind. Who asks twice does not wait.
    fn give_up(&self) {
        self.client.close();
        let _ = self.events.recv_timeout(MOMENT);
    }

    /// Runs the command until it ends or the guard is lost; not at all if that is lost already.
    pub fn run(
        &self,
        command: &[OsString],
        guard: &Guard,
        environment: &[(String, String)],
    ) -> anyhow::Result<Outcome> {
        let child = child::start(command, environment)?;
        if let Some(loss) = guard.lost() {
            child.kill()?; // This process may have been stopped since the answer came.
            return Ok(Outcome::Lost(loss));
        }
        child.go();
        supervise::supervise(child, guard, &self.sender, &self.events)
    }
}

/// Whether nodes answered, and only the time was too short.
pub fn is_not_in_time(error: &Error) -> bool {
    match error {
        Error::Refused { failure, .. } => failure.error.retry,
        Error::Lost(_) => true,
        Error::BadServer { .. }
        | Error::BadCredentials(_)
        | Error::PlainToken { .. }
        | Error::Untrusted { .. }
        | Error::Unreachable(_)
        | Error::Foreign { .. }
        | Error::OtherCluster { .. } => false,
    }
}

/// The same error, with what to do when nobody answers.
pub fn explained(error: Error) -> anyhow::Error {
    match &error {
        Error::Unreachable(_) => {
            anyhow::anyhow!("{error}; 'conclave up' starts a cluster on this machine")
        }
        Error::Refused { .. } | Error::PlainToken { .. } if is_misuse(&error) => {
            Usage(error.to_string()).into()
        }
        Error::Refused { .. } if error.says(Code::Unauthorized) => {
            anyhow::anyhow!("{error}; --token-file FILE or --cert FILE --key FILE say who this is")
        }
        Error::BadServer { .. }
        | Error::BadCredentials(_)
        | Error::PlainToken { .. }
        | Error::Untrusted { .. }
        | Error::Refused { .. }
        | Error::Foreign { .. }
        | Error::OtherCluster { .. }
        | Error::Lost(_) => error.into(),
    }
}

/// The same, with what was asked for; but a mistake in the flags is about the flags.
pub fn explained_for(name: &str, error: Error) -> anyhow::Error {
    if is_misuse(&error) {
        return explained(error);
    }
    anyhow::anyhow!("{name}: {}", explained(error))
}

/// Whether it can never be had like this.
fn is_misuse(error: &Error) -> bool {
    let plain_token = matches!(error, Error::PlainToken { .. });
    let wrong = [Code::Unsupported, Code::BadRequest, Code::TooLarge];
    plain_token || wrong.into_iter().any(|code| error.says(code))
}

/// Refuses at once what only the replicated engine has. `typed` is what asks for it. If no node
/// answers now, the one that does later refuses it.
pub fn needs_replicated(client: &Client, typed: &str) -> Result<(), Usage> {
    match client.cluster() {
        Ok(cluster) if cluster.engine != REPLICATED => {
            let engine = limits::shown(&cluster.engine);
            let why = format!("only the replicated engine has this; this cluster runs {engine}");
            Err(Usage(format!("{typed}: {why}")))
        }
        Ok(_) | Err(_) => Ok(()),
    }
}

/// A node that is well says sooner than this how something is.
pub const GLANCE: Duration = Duration::from_millis(500);

/// Whether no node answers. Whoever waits for ever wants to know.
pub fn is_silent(client: &Client) -> bool {
    matches!(client.glance(GLANCE).cluster(), Err(Error::Unreachable(_)))
}

/// The nodes of a classic engine that seem to be down. What nobody else has, they may hold: an
/// algorithm that goes on without them first waits until they no longer can.
pub fn unheard(client: &Client) -> Option<Blocked> {
    let cluster = client.cluster().ok().filter(|cluster| cluster.engine != REPLICATED)?;
    let seems_down = |node: &&Node| ["unreachable", "suspected"].contains(&&*node.state);
    let down: Vec<&Node> = cluster.nodes.iter().filter(seems_down).collect();
    let for_ms = down.iter().map(|node| node.for_ms).max()?;
    let nodes: Vec<u32> = down.iter().map(|node| node.id).collect();
    let who = match &*nodes {
        [one] => format!("node {one}"),
        [first @ .., last] => {
            let first: Vec<String> = first.iter().map(u32::to_string).collect();
            format!("one of nodes {} and {last}", first.join(", "))
        }
        [] => return None,
    };
    let message = format!("waiting; {who}, down {} s, may hold it", for_ms / 1_000);
    Some(Blocked { nodes, for_ms, message })
}

/// How long to wait, as people type it: with a unit, since a bare number of the simulator's units
/// is a thousandth of what somebody who leaves the unit out expects. The simulator has no minutes.
pub fn span(text: &str) -> Result<Duration, String> {
    let whole = |unit, seconds: u64| {
        let count: u32 = text.strip_suffix(unit)?.parse().ok()?;
        Some(Duration::from_secs(u64::from(count) * seconds))
    };
    let with_unit = |ticks: &Ticks| *ticks == Ticks::ZERO || text.ends_with('s');
    let short = || Ticks::parse(text).filter(with_unit).map(|ticks| Duration::from_micros(ticks.0));
    let span = whole('m', 60).or_else(|| whole('h', 60 * 60)).or_else(short);
    span.ok_or_else(|| "takes a time with its unit: 30s, 500ms, 10m, 1h, or 0".to_string())
}

/// A time to live that a server takes.
pub fn ttl(text: &str) -> Result<Duration, String> {
    let [min, max] = [limits::TTL_MS_MIN, limits::TTL_MS_MAX].map(Duration::from_millis);
    let ttl = span(text).ok().filter(|ttl| (min..=max).contains(ttl));
    let [min, max] = [min, max].map(|limit| limit.as_secs());
    ttl.ok_or_else(|| format!("takes a time with its unit, from {min}s to {max}s"))
}

/// A grace that a server takes.
pub fn grace(text: &str) -> Result<Duration, String> {
    let [min, max] = [limits::GRACE_MS_MIN, limits::GRACE_MS_MAX];
    let accepted = Duration::from_millis(min)..=Duration::from_millis(max);
    let grace = span(text).ok().filter(|grace| accepted.contains(grace));
    grace.ok_or_else(|| format!("takes a time with its unit, from {min}ms to {}s", max / 1_000))
}

/// Says so if the node keeps the session for less than somebody asked for in so many words.
pub fn tell_ttl(name: &str, asked: Option<Duration>, guard: &Guard) {
    let given = guard.watch().ttl();
    if let Some(asked) = asked.filter(|asked| given < *asked) {
        let [asked, given] = [asked, given].map(|ttl| ttl.as_secs_f64());
        output::warn(&format!("{name}: kept for {given} s without a sign of life, not {asked} s"));
    }
}
