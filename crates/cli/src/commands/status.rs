//! `conclave status`: the cluster, its locks and its elections.

use crate::failure::Exit;
use crate::output::{json, print, warn};
use crate::{cluster_view, holding};
use std::io::IsTerminal;
use std::thread;
use std::time::Duration;

/// How often `--watch` looks.
const EVERY: Duration = Duration::from_secs(1);
/// Up to the corner, and nothing below.
const AFRESH: &str = "\x1b[H\x1b[J";

/// The cluster, its locks (who holds, who waits) and its elections
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  conclave status\n  conclave status --watch")]
pub struct Status {
    /// Look again every second, until Ctrl-C
    #[arg(long, conflicts_with = "json")]
    watch: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Where the nodes are; without, CONCLAVE_SERVER or the cluster on this machine
    #[arg(long, value_name = "URL,…")]
    server: Option<String>,
}

/// Asks all nodes and puts together what they say.
pub fn run(arguments: &Status) -> anyhow::Result<Exit> {
    if arguments.watch {
        return watch(arguments);
    }
    let client = holding::client(arguments.server.as_deref())?;
    let state = cluster_view::gather(&client).map_err(holding::explained)?;
    print(&if arguments.json { json::pretty(&state)? } else { cluster_view::text(&state) })?;
    Ok(Exit::Done)
}

/// A cluster that is away for a moment is waited for.
fn watch(arguments: &Status) -> anyhow::Result<Exit> {
    let afresh = if std::io::stdout().is_terminal() { AFRESH } else { "" };
    loop {
        let client = holding::client(arguments.server.as_deref());
        match client.and_then(|client| cluster_view::gather(&client).map_err(holding::explained)) {
            Ok(state) => print(&format!("{afresh}{}", cluster_view::text(&state)))?,
            Err(error) => {
                print(afresh)?;
                warn(&format!("{error:#}"));
            }
        }
        thread::sleep(EVERY);
    }
}
