//! `conclave up`: a cluster of real processes on this machine.

use crate::failure::{Exit, ip_port};
use crate::node::Node;
use crate::output::{print, warn};
use crate::up::{self, Desk, Member, Recordings, Roster, Setup, Wanted, Wish};
use crate::{local, signals};
use conclave_client::api::Cluster;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::Semaphore;

/// A cluster on one machine is there sooner than this.
const READY: Duration = Duration::from_secs(30);
/// And stops sooner than this.
const STOP: Duration = Duration::from_secs(5);
const STEP: Duration = Duration::from_millis(50);
/// Somebody may take a port between its choice and its use.
const ATTEMPTS: u32 = 3;

/// Starts a cluster of real processes on this machine; Ctrl-C stops it all
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  conclave up\n  \
    conclave up --nodes 7 --engine maekawa --data ./cluster")]
pub struct Up {
    /// How many nodes [default: 3; 5 with a classic engine]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20))]
    nodes: Option<u32>,
    /// What grants the locks: replicated, or an algorithm of the catalogue [default: that of the
    /// data directory, else replicated]
    #[arg(long, value_name = "ALG")]
    engine: Option<String>,
    /// A classic engine's election [default: majority]
    #[arg(long, value_name = "ALG")]
    election: Option<String>,
    /// A classic engine's failure detector [default: phi-accrual]
    #[arg(long, value_name = "ALG")]
    detector: Option<String>,
    /// Where the page is; the nodes serve their APIs on the ports that follow; port 0: free ones
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:7070", value_parser = ip_port)]
    http: SocketAddr,
    /// The directory for disks, logs and settings [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
    /// A parameter of a classic engine; election.KEY and detector.KEY are theirs
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Serve the APIs beyond this machine, though without certificates or tokens
    #[arg(long)]
    insecure: bool,
    /// A directory to write down every event of every node in, for 'conclave replay'
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// How the nodes log: text, or json, which is one object per line [default: text]
    #[arg(long, value_name = "FORMAT")]
    log_format: Option<String>,
}

/// How a start went.
pub enum Started {
    /// All nodes take requests, and one leads.
    All(Box<Cluster>),
    /// Somebody took a port.
    Clash,
    /// A signal came first.
    Interrupted,
}

/// Starts, shows, follows, stops.
pub fn run(arguments: &Up) -> anyhow::Result<Exit> {
    let (sender, received) = mpsc::channel();
    let wishes = sender.clone();
    signals::pass_on(move |_| {
        let _ = sender.send(Wish::Stop);
    })?;
    for attempt in 1..=ATTEMPTS {
        let setup = Setup::new(wanted(arguments))?;
        let mut members = Vec::new();
        let channel = (&wishes, &received);
        let ended = once(&setup, &mut members, channel, arguments, attempt == ATTEMPTS);
        up::stop(&mut members, STOP);
        if let Some(exit) = ended.transpose() {
            tidy_up(&setup, &members, &exit);
            return exit;
        }
        setup.clean_up();
    }
    Ok(Exit::Failed)
}

/// Removes what was made for this run only, unless somebody needs it: to read why it failed, or
/// for a node that was started again by hand.
fn tidy_up(setup: &Setup, members: &[Member], exit: &anyhow::Result<Exit>) {
    let strangers = up::strangers(members);
    for id in &strangers {
        let words = format!("node {id} was started by hand and runs on; stop it where that was");
        warn(&format!("{words}. Its data stay in {}", setup.directory.display()));
    }
    let told = match exit {
        Ok(exit) => *exit == Exit::Done,
        Err(error) => error.is::<CannotStart>(),
    };
    if told && strangers.is_empty() {
        setup.clean_up();
    }
}

/// A node could not start, and said why.
#[derive(Debug)]
struct CannotStart(String);

impl fmt::Display for CannotStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for CannotStart {}

/// One attempt; nothing if it is worth another.
fn once(
    setup: &Setup,
    members: &mut Vec<Member>,
    (wishes, received): (&Sender<Wish>, &Receiver<Wish>),
    arguments: &Up,
    last: bool,
) -> anyhow::Result<Option<Exit>> {
    for node in &setup.nodes {
        members.push(Member::start(setup, node.id, &node.api)?);
    }
    let cluster = match ready(members, received, last)? {
        Started::All(cluster) => cluster,
        Started::Clash => return Ok(None),
        Started::Interrupted => return Ok(Some(Exit::Done)),
    };
    let servers = setup.nodes.iter().map(|node| format!("http://{}", node.api)).collect();
    let announced = local::announce(servers)
        .inspect_err(|error| warn(&format!("lock, elect and status need --server: {error:#}")));
    let roster = Roster::new(members.iter().map(Member::seen).collect());
    let desk = Desk {
        roster: roster.clone(),
        token: setup.token.as_str().into(),
        wishes: wishes.clone(),
        recordings: recordings(setup, arguments),
    };
    let server = up::serve(setup.http.try_clone()?, setup.http.local_addr()?, desk)?;
    setup.warnings.iter().for_each(|warning| warn(warning));
    print(&up::screen(&cluster, setup, members))?;
    let exit = up::follow(setup, members, &roster, (cluster.leader, cluster.term), received);
    drop(server);
    drop(announced);
    exit.map(Some)
}

/// Where the nodes write down what they do, if they were told to and their engine does.
fn recordings(setup: &Setup, arguments: &Up) -> Option<Recordings> {
    let folder = arguments.record.as_deref()?;
    let file = |node: &Node| folder.join(format!("node-{}.rec", node.id));
    let files = setup.nodes.iter().map(file).collect();
    let into = setup.directory.join("page-recording.jsonl");
    Some(Recordings { files, into, turn: Arc::new(Semaphore::new(1)) })
}

/// Waits until all nodes take requests and know who leads.
pub fn ready<Wish>(
    members: &mut [Member],
    wishes: &Receiver<Wish>,
    last: bool,
) -> anyhow::Result<Started> {
    let end = Instant::now() + READY;
    while Instant::now() < end {
        if !matches!(wishes.try_recv(), Err(TryRecvError::Empty)) {
            return Ok(Started::Interrupted);
        }
        for member in members.iter_mut() {
            if let Some(status) = member.ended() {
                return died(member, &up::in_words(status), last);
            }
        }
        let first = members.first().map(|member| member.client.cluster());
        if members.iter().all(|member| member.client.is_ready())
            && let Some(Ok(cluster)) = first
            && cluster.leader.is_some()
        {
            return Ok(Started::All(Box::new(cluster)));
        }
        thread::sleep(STEP);
    }
    let silent = members.iter().find(|member| !member.client.is_ready());
    let (what, log) = match (silent, members.first()) {
        (Some(member), _) => (format!("node {} takes no requests", member.id), &member.log),
        (None, Some(first)) => ("nobody leads".to_string(), &first.log),
        (None, None) => return Ok(Started::Clash),
    };
    anyhow::bail!("{what} after {} s; see {}", READY.as_secs(), log.display())
}

fn died(member: &Member, how: &str, last: bool) -> anyhow::Result<Started> {
    let id = member.id;
    let Some(reason) = member.reason() else {
        anyhow::bail!("node {id} {how} before it was ready; see {}", member.log.display());
    };
    if !last && reason.to_lowercase().contains("address already in use") {
        return Ok(Started::Clash);
    }
    Err(CannotStart(format!("node {id} cannot start: {reason}")).into())
}

fn wanted(arguments: &Up) -> Wanted<'_> {
    Wanted {
        nodes: arguments.nodes,
        engine: arguments.engine.clone(),
        election: arguments.election.clone(),
        detector: arguments.detector.clone(),
        set: arguments.set.clone(),
        http: arguments.http,
        data: arguments.data.as_deref(),
        record: arguments.record.as_deref(),
        insecure: arguments.insecure,
        log_format: arguments.log_format.clone(),
    }
}
