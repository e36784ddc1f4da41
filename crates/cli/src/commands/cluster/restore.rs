//! `conclave cluster restore`: a new cluster of one node, made of a backup.

use crate::failure::{Exit, Usage};
use crate::output::{self, json};
use crate::texts::tr;
use anyhow::Context;
use conclave_client::api::limits;
use conclave_client::api::{NewMember, limits::TTL_MS_MAX};
use conclave_core::NodeId;
use conclave_replica::Founder;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Makes the data directory of a new cluster out of a backup; no node may run on it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The new cluster has this one node; others are added to it with empty disks. Its fences are\n\
above all that the old one can have issued since the backup. For an hour it lets nobody in, since\n\
the old one may have: a client that was granted something after the backup may live for so long.\n\
With --now it does at once, and then only fences protect.\n\n\
Example:\n  \
    conclave cluster restore backup.snap --data /var/lib/conclave --id 1 \
    --peer 10.0.0.1:7100 --api 10.0.0.1:7070")]
pub struct Restore {
    /// The backup
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// The data directory to write, which must be empty
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// The number of the node
    #[arg(long, value_name = "ID", default_value_t = 1)]
    id: u32,
    /// Where other nodes reach it
    #[arg(long, value_name = "HOST:PORT")]
    peer: String,
    /// Where its API is
    #[arg(long, value_name = "HOST:PORT")]
    api: String,
    /// The name of the cluster: nodes of another one are refused [default: conclave]
    #[arg(long, value_name = "NAME", default_value = "conclave", hide_default_value = true)]
    cluster: String,
    /// The fence above which all grants are, if it cannot be worked out from the clock
    #[arg(long, value_name = "N")]
    fence_floor: Option<u64>,
    /// Grant at once, though holders of the old cluster may still believe that they are inside
    #[arg(long)]
    now: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Reads the backup, and writes the directory.
pub fn run(arguments: &Restore) -> anyhow::Result<Exit> {
    let Restore { file, data, id, peer, api, .. } = arguments;
    let member = NewMember { id: *id, peer: peer.clone(), api: api.clone(), disk: None };
    limits::member(&member).map_err(|error| Usage(error.to_string()))?;
    let backup = fs::read(file).with_context(|| format!("{}: cannot be read", file.display()))?;
    let quiet = (!arguments.now).then_some(Duration::from_millis(TTL_MS_MAX));
    let to = conclave_replica::Restore {
        cluster: arguments.cluster.clone(),
        node: Founder { id: NodeId(id - 1), peer: peer.clone(), api: api.clone() },
        data: data.clone(),
        now: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs(),
        fence_floor: arguments.fence_floor,
        quiet,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    let restored = runtime.block_on(conclave_replica::restore(backup, to));
    restored.with_context(|| format!("{}: not restored", file.display()))?;
    output::print(&told(arguments, quiet)?)?;
    Ok(Exit::Done)
}

fn told(arguments: &Restore, quiet: Option<Duration>) -> anyhow::Result<String> {
    let data = arguments.data.display();
    if arguments.json {
        let quiet_ms = quiet.map_or(0, |quiet| quiet.as_millis());
        let safety = if quiet.is_some() { "lease" } else { "fence-only" };
        return json::pretty(&serde_json::json!({
            "data": data.to_string(), "quiet_ms": quiet_ms, "safety": safety,
        }));
    }
    let made = tr(&format!("restored into {data}")).into_owned();
    Ok(match quiet {
        Some(quiet) => {
            let seconds = quiet.as_secs();
            format!("{made}\n{}\n", tr(&format!("nobody is let in for {seconds} s")))
        }
        None => format!("{made}\n{}\n", tr("only fences protect what the old cluster granted")),
    })
}
