//! `conclave node`: runs one node, as one per host in production.

use crate::failure::Exit;
use crate::node::{self, Flags};

/// Runs one node of a cluster, from flags or a file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave node --config /etc/conclave/conclave.toml\n  \
    conclave node --id 1 --data node-1 --peer 1=127.0.0.1:7101,api=127.0.0.1:7071 \
    --peer 2=127.0.0.1:7102,api=127.0.0.1:7072 --peer 3=127.0.0.1:7103,api=127.0.0.1:7073")]
pub struct Node {
    #[command(flatten)]
    flags: Flags,
    /// Stop when standard input ends, and with the parent process
    #[arg(long, hide = true)]
    die_with_parent: bool,
}

/// Checks everything, then runs until told to stop.
pub fn run(arguments: &Node) -> anyhow::Result<Exit> {
    let plan = node::plan(&arguments.flags)?;
    node::start(plan, arguments.die_with_parent)?;
    Ok(Exit::Done)
}
