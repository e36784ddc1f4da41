//! `conclave cert`: certificates for the links of a cluster.

use crate::failure::{Exit, Usage};
use crate::output::{labelled, print};
use anyhow::{Context, bail};
use conclave_core::NodeId;
use conclave_net::{Authority, Certified, Fingerprint, make_authority, make_node};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const COLUMN: usize = 12;
const AUTHORITY: (&str, &str) = ("ca.pem", "ca.key");

/// Makes certificates for the links between nodes: an authority, and one per node
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What is there is kept: run it again with a larger --nodes for certificates of more nodes by the\n\
same authority. Keep ca.key where no node is: whoever has it can pose as any node.\n\n\
Examples:\n  conclave cert --out certificates --nodes 3 --hosts a.example,b.example,c.example\n  \
conclave cert --out certificates --nodes 5")]
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
    /// How long the certificates of nodes are valid
    #[arg(long, value_name = "N", default_value = "365")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=36_500))]
    days: u32,
    /// Make everything anew, the authority included: all nodes need the new files then
    #[arg(long)]
    force: bool,
}

/// Makes and writes them.
pub fn run(arguments: &Cert) -> anyhow::Result<Exit> {
    let Cert { out, nodes, hosts, days, .. } = arguments;
    if !hosts.is_empty() && hosts.len() != *nodes as usize {
        let takes = format!("takes {nodes} hosts, one per node, in order");
        return Err(Usage::flag("--hosts", hosts.join(","), takes).into());
    }
    fs::create_dir_all(out).with_context(|| format!("--out {}", out.display()))?;
    let authority = authority(arguments)?;
    let mut made = Vec::new();
    let mut kept = Vec::new();
    for id in 1..=*nodes {
        let (certificate, key) =
            (out.join(format!("node-{id}.pem")), out.join(format!("node-{id}.key")));
        if !arguments.force && certificate.exists() && key.exists() {
            kept.push(id);
            continue;
        }
        let host: Vec<String> = hosts.get(id as usize - 1).cloned().into_iter().collect();
        let valid = Duration::from_secs(u64::from(*days) * 24 * 3600);
        let node = make_node(&authority, NodeId(id - 1), &host, valid)
            .map_err(|error| Usage::flag("--hosts", hosts.join(","), error))?;
        write(&certificate, &key, &node, arguments.force)?;
        made.push(id);
    }
    print(&(report(out, &made, &kept) + &fingerprints(out, *nodes)))?;
    Ok(Exit::Done)
}

/// The authority that is there, or a new one.
fn authority(arguments: &Cert) -> anyhow::Result<Authority> {
    let Cert { out, cluster, force, .. } = arguments;
    let certificate = out.join(AUTHORITY.0);
    let key = out.join(AUTHORITY.1);
    if *force || !(certificate.exists() || key.exists()) {
        let authority = make_authority(cluster)?;
        write(&certificate, &key, &authority.certified(), *force)?;
        return Ok(authority);
    }
    for (one, other) in [(&certificate, &key), (&key, &certificate)] {
        if !one.exists() {
            let there = other.display();
            let missing = one.display();
            bail!(
                "{there} is there, but not {missing}: bring it back, or make all anew by --force"
            );
        }
    }
    let read = |path: &Path| {
        fs::read_to_string(path).with_context(|| format!("{}: cannot read", path.display()))
    };
    let saved = Certified { certificate: read(&certificate)?, key: read(&key)? };
    let authority = Authority::restore(cluster, &saved);
    authority.with_context(|| format!("{} (--cluster {cluster})", certificate.display()))
}

fn report(out: &Path, made: &[u32], kept: &[u32]) -> String {
    let files = |ids: &[u32]| {
        let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
        format!("node-K.pem and node-K.key in {}, K = {}", out.display(), ids.join(", "))
    };
    let mut text = labelled("authority", COLUMN, &out.join(AUTHORITY.0).display().to_string());
    if !made.is_empty() {
        text += &labelled("made", COLUMN, &files(made));
    }
    if !kept.is_empty() {
        text += &labelled("kept", COLUMN, &files(kept));
    }
    let each = "--tls-authority ca.pem --tls-certificate node-K.pem --tls-key node-K.key";
    text += &labelled("use", COLUMN, each);
    text + &labelled("keep safe", COLUMN, "ca.key: no node needs it, more nodes do")
}

/// What the key of a certificate is known by, should it get lost and have to be denied.
fn fingerprints(out: &Path, nodes: u32) -> String {
    let mut text = String::new();
    for id in 1..=nodes {
        let name = format!("node-{id}.pem");
        let pem = fs::read_to_string(out.join(&name)).unwrap_or_default();
        if let Some(print) = Fingerprint::of_key_in_pem(&pem) {
            let label = if text.is_empty() { "key SHA-256" } else { "" };
            text += &labelled(label, COLUMN, &format!("{name} {print}"));
        }
    }
    text + &labelled("key lost", COLUMN, "--deny SHA-256 at all nodes, until that certificate ends")
}

/// Nothing is overwritten unless by force: somebody may rely on it. A key is nobody else's to read.
fn write(certificate: &Path, key: &Path, made: &Certified, force: bool) -> anyhow::Result<()> {
    for (path, mode, text) in [(certificate, 0o644, &made.certificate), (key, 0o600, &made.key)] {
        let failed = || format!("{}: cannot write", path.display());
        let mut options = OpenOptions::new();
        options.write(true).mode(mode);
        match force {
            true => options.create(true).truncate(true),
            false => options.create_new(true),
        };
        let mut file = options.open(path).with_context(failed)?;
        file.set_permissions(fs::Permissions::from_mode(mode)).with_context(failed)?;
        file.write_all(text.as_bytes()).with_context(failed)?;
    }
    Ok(())
}
