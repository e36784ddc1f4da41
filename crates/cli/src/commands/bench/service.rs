//! `conclave bench service`: real nodes under load, over their API.

mod own;
mod timed;

use crate::failure::{Exit, Usage};
use crate::load::{
    self, Happened, Inside, Kind, Load, Peer, Ran, Row, Servers, TIMED, Timed, Workload,
};
use crate::output::{json, note, print};
use crate::up::Wanted;
use crate::{holding, signals};
use anyhow::Context;
use conclave_algorithms::catalog::{self, Family};
use conclave_net::random;
use conclave_service::REPLICATED;
use own::Own;
use rustix::process::Signal;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, Sender};
use std::time::Duration;

/// Real nodes under load: clients enter locks over the API as often as they can
///
/// Each engine gets a cluster of its own, as 'conclave up' starts it. With the workload 'counter' a
/// client reads a counter, adds one and writes it back; nothing but the lock keeps two of them
/// apart. The floor is what one store alone can sync per second on the same disk. The workloads of
/// a set time can be run on other systems, too: in turns, each with servers of its own that sync
/// what they acknowledge, and medians are compared.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Ends with 3 if two were inside at once, a fence did not rise or the counter lost an entry;\n\
with 1 if not all entries were made.\n\n\
Examples:\n  \
    conclave bench service\n  \
    conclave bench service --engine maekawa,raymond --record ./recordings\n  \
    conclave bench service --engine all --json\n  \
    conclave bench service --workload uncontended,wide,contended\n  \
    conclave bench service --against etcd,zookeeper,redis")]
pub struct Service {
    /// The lock algorithms, 'all' of them, or 'replicated' [default: replicated; central-failover
    /// for 'counter' and 'empty']
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    engine: Vec<String>,
    /// How many nodes [default: 5; 3 for workloads of a set time]
    #[arg(long, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20))]
    nodes: Option<u32>,
    /// How many clients, spread over the nodes
    #[arg(long, value_name = "K", default_value_t = 20)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    clients: u32,
    /// How often each enters
    #[arg(long, value_name = "K", default_value_t = 50)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    entries: u32,
    /// What clients do: 'counter' or 'empty', or workloads of a set time [default: counter; with
    /// --against all of a set time]
    #[arg(long, value_enum, value_name = "WORKLOAD,…", value_delimiter = ',')]
    workload: Vec<Workload>,
    /// How long each run of a workload of a set time takes
    #[arg(long, value_name = "S", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// How often each workload of a set time is run; medians are told
    #[arg(long, value_name = "K", default_value_t = 5)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    runs: u32,
    /// How often the node that leads is killed in a run of 'fail-over'; it is started again
    #[arg(long, value_name = "K", default_value_t = 1)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1000))]
    kills: u32,
    /// How long a client waits for one entry before it gives up
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = holding::span)]
    wait: Duration,
    /// A parameter of the engine; election.KEY and detector.KEY are theirs
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// A directory to write down every event of every node in, for 'conclave replay'
    #[arg(long, value_name = "DIR")]
    record: Option<PathBuf>,
    /// Nodes that run already, instead of new ones
    #[arg(long, value_name = "URL,…", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["engine", "nodes", "set", "record"])]
    server: Vec<String>,
    /// Other systems to run in turns with it; 'scripts/peers' installs them
    #[arg(long, value_enum, value_name = "SYSTEM,…", value_delimiter = ',')]
    #[arg(conflicts_with_all = ["server", "record"])]
    against: Vec<Peer>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The engine of workloads of a set number of entries, if none is named.
const COUNTED: &str = "central-failover";
/// As many nodes as there are in most examples of the catalogue.
const NODES: u32 = 5;
/// As many as a cluster needs to survive the loss of one.
const NODES_TIMED: u32 = 3;

/// What happens meanwhile.
struct News {
    /// For clients that end.
    tell: Sender<Happened>,
    happened: Receiver<Happened>,
    /// While no client runs.
    signals: Receiver<Signal>,
}

impl News {
    fn new() -> anyhow::Result<Self> {
        let ((tell, happened), (signal, signals)) = (mpsc::channel(), mpsc::channel());
        let heard = tell.clone();
        signals::pass_on(move |one| {
            let _ = heard.send(Happened::Signal(one));
            let _ = signal.send(one); // Both have an end somewhere, or nobody cares any more.
        })?;
        Ok(Self { tell, happened, signals })
    }
}

/// What was measured, unless a signal came first.
type Measured = Result<Row, Signal>;

/// Runs it.
pub fn run(arguments: &Service) -> anyhow::Result<Exit> {
    match workloads(arguments)? {
        Asked::Counted(inside) => counted(arguments, inside),
        Asked::Timed(workloads) => timed(arguments, workloads),
    }
}

/// What was asked for: entries or time.
enum Asked {
    Counted(Inside),
    Timed(Vec<Timed>),
}

fn workloads(arguments: &Service) -> Result<Asked, Usage> {
    let kinds: Vec<Kind> = arguments.workload.iter().map(|workload| workload.kind()).collect();
    let timed = kinds.iter().filter_map(|kind| match kind {
        Kind::Timed(workload) => Some(*workload),
        Kind::Counted(_) => None,
    });
    let mut timed: Vec<Timed> = timed.collect();
    let wrong = |takes: &str| Usage(format!("--workload: {takes}"));
    match &*kinds {
        [] if arguments.against.is_empty() => Ok(Asked::Counted(Inside::Counter)),
        [] => Ok(Asked::Timed(TIMED.to_vec())),
        [Kind::Counted(inside)] if arguments.against.is_empty() => Ok(Asked::Counted(*inside)),
        _ if timed.len() < kinds.len() => {
            Err(wrong("'counter' and 'empty' are run alone, and not on other systems"))
        }
        _ if !arguments.server.is_empty() || arguments.record.is_some() => {
            Err(wrong("one of a set time does not go with --server or --record"))
        }
        _ if !arguments.against.is_empty() && !timed.iter().all(|one| one.is_common()) => {
            Err(wrong("'sessions' and 'names' are not run on other systems"))
        }
        _ => {
            // Whoever was killed is missed by what follows.
            timed.sort_by_key(|workload| *workload == Timed::FailOver);
            timed.dedup();
            Ok(Asked::Timed(timed))
        }
    }
}

fn timed(arguments: &Service, workloads: Vec<Timed>) -> anyhow::Result<Exit> {
    let engines = systems(arguments, REPLICATED)?.into_iter().flatten().collect();
    arguments.against.iter().try_for_each(|peer| peer.check())?;
    let news = News::new()?;
    let asked = timed::Asked {
        engines,
        peers: &arguments.against,
        workloads,
        nodes: arguments.nodes.unwrap_or(NODES_TIMED),
        set: &arguments.set,
        lasts: Duration::from_secs(arguments.seconds.into()),
        runs: arguments.runs as usize,
        kills: arguments.kills as usize,
    };
    let rows = match timed::run(&asked, &news.signals)? {
        Ok(rows) => rows,
        Err(signal) => return Ok(Exit::Code(signals::code(signal))),
    };
    let text = match arguments.json {
        true => json::pretty(&serde_json::json!({ "rows": rows }))?,
        false => load::beside_table(&rows, arguments.seconds.into()),
    };
    print(&text)?;
    let failed = rows.iter().any(|row| !row.failures.is_empty());
    Ok(match rows.iter().any(load::Median::is_violated) {
        true => Exit::Violated,
        false if failed => Exit::Failed,
        false => Exit::Done,
    })
}

fn counted(arguments: &Service, inside: Inside) -> anyhow::Result<Exit> {
    let news = News::new()?;
    let mut rows = Vec::new();
    for engine in systems(arguments, COUNTED)? {
        let measured = match engine {
            Some(engine) => own(arguments, inside, &engine, &news),
            None => under_load(arguments, inside, &Servers::named(&arguments.server)?, &news),
        };
        match measured? {
            Ok(row) => rows.push(row),
            Err(signal) => return Ok(Exit::Code(signals::code(signal))),
        }
    }
    beside_the_floor(&mut rows);
    let text = match arguments.json {
        true => json::pretty(&serde_json::json!({ "rows": rows }))?,
        false => load::table(&rows),
    };
    print(&text)?;
    Ok(exit(&rows))
}

/// The floor is the best that was measured: other work on the machine can only slow it down.
fn beside_the_floor(rows: &mut [Row]) {
    let floors = rows.iter().filter_map(|row| row.floor_commits_per_second);
    if let Some(floor) = floors.reduce(f64::max) {
        rows.iter_mut().for_each(|row| row.beside(floor));
    }
}

fn exit(rows: &[Row]) -> Exit {
    if rows.iter().any(Row::is_violated) {
        return Exit::Violated;
    }
    let failed = rows.iter().any(|row| !row.failures.is_empty());
    if failed { Exit::Failed } else { Exit::Done }
}

/// The engines to start a cluster for, in order; nothing stands for one that runs.
fn systems(arguments: &Service, usual: &str) -> anyhow::Result<Vec<Option<String>>> {
    if !arguments.server.is_empty() {
        return Ok(vec![None]);
    }
    let mutexes = catalog::ENTRIES.iter().filter(|entry| entry.family == Family::Mutex);
    let all: Vec<&str> = mutexes.map(|entry| entry.id).collect();
    if arguments.engine.is_empty() {
        return Ok(vec![Some(usual.to_string())]);
    }
    let mut engines = Vec::new();
    for engine in &arguments.engine {
        match engine.as_str() {
            "all" => engines.extend(all.iter().map(|id| Some((*id).to_string()))),
            id if id == REPLICATED || all.contains(&id) => engines.push(Some(id.to_string())),
            id => {
                let takes = format!("takes 'all', {REPLICATED} or ids of {}", all.join(", "));
                return Err(Usage::flag("--engine", id, takes).into());
            }
        }
    }
    Ok(engines)
}

/// A cluster of our own.
fn own(arguments: &Service, inside: Inside, engine: &str, news: &News) -> anyhow::Result<Measured> {
    let record = arguments.record.as_ref().map(|folder| match &*arguments.engine {
        [one] if one != "all" => folder.clone(),
        _ => folder.join(engine),
    });
    let wanted = Wanted {
        nodes: Some(arguments.nodes.unwrap_or(NODES)),
        engine: Some(engine.to_string()),
        election: None,
        detector: None,
        set: arguments.set.clone(),
        http: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
        data: None,
        record: record.as_deref(),
        insecure: false,
        log_format: None,
    };
    let Some((own, servers)) = Own::start(&wanted, &news.signals)? else {
        return Ok(Err(Signal::INT));
    };
    let floor = load::commits_per_second(&own.setup.directory)?;
    let mut measured = under_load(arguments, inside, &servers, news)?;
    own.remove();
    if let Ok(row) = &mut measured {
        row.floor_commits_per_second = Some(floor);
        row.replay = record.map(|folder| format!("conclave replay {}/*.rec", folder.display()));
    }
    Ok(measured)
}

/// Runs the clients, and looks at the nodes before and after.
fn under_load(
    arguments: &Service,
    inside: Inside,
    servers: &Servers,
    news: &News,
) -> anyhow::Result<Measured> {
    let number = random::bits().context("the system has no random numbers")?;
    let load = Load {
        clients: arguments.clients as usize,
        entries: arguments.entries,
        workload: inside,
        wait: arguments.wait,
        name: format!("bench-{:08x}", number as u32),
    };
    let engine = &servers.cluster.engine;
    note(&format!("{engine}: {} clients x {} entries", load.clients, load.entries));
    let before = servers.cpu_seconds();
    let seen = match load::run(&load, &servers.addresses, &news.tell, &news.happened)? {
        Ran::Through(seen) => seen,
        Ran::Stopped(signal) => return Ok(Err(signal)),
    };
    let cpu = servers.cpu_seconds().zip(before).map(|(after, before)| after - before);
    Ok(Ok(Row::new(&load, servers, seen, cpu)))
}
