//! `conclave status`: the cluster, its locks and its elections.

use crate::cluster_view::{self, State};
use crate::connection::Connection;
use crate::explanation_view;
use crate::failure::{Exit, Usage};
use crate::holding;
use crate::output::{json, print, warn};
use conclave_client::Client;
use conclave_client::api::limits;
use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

/// How often `--watch` looks.
const EVERY: Duration = Duration::from_secs(1);
/// Up to the corner, and nothing below.
const AFRESH: &str = "\x1b[H\x1b[J";

/// The cluster, its locks (who holds, who waits) and its elections
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  conclave status\n  conclave status build --explain\n  \
                        conclave status --watch")]
pub struct Status {
    /// Only this lock or election, with everybody who waits for it
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Say of this lock who is in whose way, and what would let the next one in (not with a classic
    /// engine)
    #[arg(long, requires = "name", conflicts_with_all = ["all", "watch"])]
    explain: bool,
    /// Locks and elections too that nobody holds or waits for
    #[arg(long)]
    all: bool,
    /// Look again every second, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

/// Asks all nodes and puts together what they say.
pub fn run(arguments: &Status) -> anyhow::Result<Exit> {
    if let Some(name) = &arguments.name {
        limits::name(name).map_err(|error| Usage(format!("{}: {error}", limits::shown(name))))?;
    }
    if arguments.watch {
        return watch(arguments);
    }
    if let (true, Some(name)) = (arguments.explain, &arguments.name) {
        return explain(arguments, name);
    }
    let state = state(arguments)?;
    print(&if arguments.json { json::pretty(&state)? } else { text(arguments, &state) })?;
    Ok(Exit::Done)
}

fn explain(arguments: &Status, name: &str) -> anyhow::Result<Exit> {
    let client = arguments.connection.client()?;
    holding::needs_replicated(&client, "--explain")?; // Whether or not the node knows the lock.
    let lock = client.explain(name).map_err(|error| holding::explained_for(name, error))?;
    if lock.holders.is_empty() && lock.waiters.is_empty() && is_election(&client, name) {
        let words = format!("--explain: {name} is an election, and this is for locks");
        return Err(Usage(words).into());
    }
    let Some(explanation) = &lock.explanation else {
        return Err(Usage("--explain: the engine of this cluster does not have this".into()).into());
    };
    match arguments.json {
        true => print(&json::pretty(&lock)?)?,
        false => print(&explanation_view::text(&lock, explanation))?,
    }
    Ok(Exit::Done)
}

/// Whether somebody leads or stands under this name.
fn is_election(client: &Client, name: &str) -> bool {
    client.election(name).is_ok_and(|it| it.leader.is_some() || !it.candidates.is_empty())
}

fn state(arguments: &Status) -> anyhow::Result<State> {
    let client = arguments.connection.client()?;
    let state = cluster_view::gather(&client).map_err(holding::explained)?;
    let Some(name) = &arguments.name else { return Ok(state) };
    let unknown = match state.forgets() {
        true => "nobody has it or waits for it; this cluster forgets names that are free",
        false => "no node knows such a lock or election",
    };
    state.only(name).ok_or_else(|| anyhow::anyhow!("{name}: {unknown}"))
}

fn text(arguments: &Status, state: &State) -> String {
    match arguments.name {
        Some(_) => cluster_view::detail(state),
        None => cluster_view::text(state, arguments.all),
    }
}

/// A cluster that is away for a moment is waited for.
fn watch(arguments: &Status) -> anyhow::Result<Exit> {
    let afresh = if std::io::stdout().is_terminal() { AFRESH } else { "" };
    loop {
        match state(arguments) {
            Ok(state) => print(&format!("{afresh}{}", text(arguments, &state)))?,
            Err(error) => {
                print(afresh)?;
                warn(&format!("{error:#}"));
            }
        }
        thread::sleep(EVERY);
    }
}
