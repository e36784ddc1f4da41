//! `conclave cert`: certificates for the links of a cluster.

use crate::failure::{Exit, Usage};
use crate::output::{labelled, print};
use anyhow::Context;
use conclave_core::NodeId;
use conclave_net::{make_authority, make_node};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

const COLUMN: usize = 12;

/// Makes certificates for the links between nodes: an authority, and one per node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The key of the authority is not kept: another node needs new certificates for all.\n\n\
Example:\n  conclave cert --out certificates --nodes 3 --hosts a.example,b.example,c.example")]
pub struct Cert {
    /// The directory to write them to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How many nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    nodes: u32,
    /// The host of each node, in order, for whoever else looks at the certificates
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    hosts: Vec<String>,
    /// The name of the cluster, for people
    #[arg(long, value_name = "NAME", default_value = "conclave")]
    cluster: String,
}

/// Makes and writes them.
pub fn run(arguments: &Cert) -> anyhow::Result<Exit> {
    let Cert { out, nodes, hosts, cluster } = arguments;
    if !hosts.is_empty() && hosts.len() != *nodes as usize {
        let takes = format!("takes {nodes} hosts, one per node, in order");
        return Err(Usage::flag("--hosts", hosts.join(","), takes).into());
    }
    fs::create_dir_all(out).with_context(|| format!("--out {}", out.display()))?;
    let authority = make_authority(cluster)?;
    write(&out.join("ca.pem"), 0o644, &authority.certified().certificate)?;
    for id in 1..=*nodes {
        let index = id - 1;
        let host: Vec<String> = hosts.get(index as usize).cloned().into_iter().collect();
        let made = make_node(&authority, NodeId(index), &host)
            .map_err(|error| Usage::flag("--hosts", hosts.join(","), error))?;
        write(&out.join(format!("node-{id}.pem")), 0o644, &made.certificate)?;
        write(&out.join(format!("node-{id}.key")), 0o600, &made.key)?;
    }
    let mut text = labelled("authority", COLUMN, &out.join("ca.pem").display().to_string());
    let each = format!("{}/node-K.pem and node-K.key, K from 1 to {nodes}", out.display());
    text += &labelled("nodes", COLUMN, &each);
    text += &labelled("use", COLUMN, "--tls-authority --tls-certificate --tls-key of each node");
    print(&text)?;
    Ok(Exit::Done)
}

/// Nothing is overwritten: somebody may rely on it.
fn write(path: &Path, mode: u32, text: &str) -> anyhow::Result<()> {
    let options = OpenOptions::new().write(true).create_new(true).mode(mode).clone();
    let mut file =
        options.open(path).with_context(|| format!("{}: cannot write", path.display()))?;
    file.write_all(text.as_bytes())?;
    Ok(())
}
