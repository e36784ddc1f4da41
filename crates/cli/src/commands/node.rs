//! `conclave node`: runs one node, as one per host in production.

use crate::failure::Exit;
use crate::node::{self, Flags};

/// Runs one node of a cluster, from flags or a file
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave node --config /etc/conclave/conclave.toml\n  \
    conclave node --id 1 --data /var/lib/conclave --peer 1=10.0.0.1:7100,api=10.0.0.1:7070 \
    --peer 2=10.0.0.2:7100,api=10.0.0.2:7070 --peer 3=10.0.0.3:7100,api=10.0.0.3:7070")]
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
