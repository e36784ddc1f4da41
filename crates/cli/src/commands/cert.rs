//! `conclave cert`: certificates for the links of a cluster, its APIs and their clients.

use crate::failure::{Exit, Usage};
use crate::output::{labelled, print, warn};
use anyhow::{Context, bail};
use conclave_core::NodeId;
use conclave_net::{
    Authority, Certified, Fingerprint, make_authority, make_client, make_node, make_server,
};
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

const COLUMN: usize = 12;
const AUTHORITY: (&str, &str) = ("ca.pem", "ca.key");

/// Makes certificates: an authority, and for each node one for its links and one for its API
#[derive(Debug, clap::Args)]
#[command(after_help = "\
What is there is kept: run it again with a larger --nodes or another --client for more\n\
certificates by the same authority. Keep ca.key where no node is: whoever has it can pose as any\n\
node, and as any client.\n\n\
Examples:\n  conclave cert --out certificates --nodes 3 --hosts a.example,b.example,c.example\n  \
conclave cert --out certificates --nodes 5 --client ci,deploy")]
pub struct Cert {
    /// The directory to write them to
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How many nodes
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=99))]
    nodes: u32,
    /// The host of each node, in order, as clients of its API know it; several names of one with +
    #[arg(long, value_name = "HOST,…", value_delimiter = ',')]
    hosts: Vec<String>,
    /// A client of the API that shows a certificate: its name
    #[arg(long, value_name = "NAME,…", value_delimiter = ',')]
    client: Vec<String>,
    /// The name of the cluster, for people
    #[arg(long, value_name = "NAME", default_value = "conclave")]
    cluster: String,
    /// How long the certificates of nodes and clients are valid
    #[arg(long, value_name = "N", default_value = "365")]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=36_500))]
    days: u32,
    /// Make everything anew, the authority included: all nodes need the new files then
    #[arg(long)]
    force: bool,
}

/// Makes and writes them.
pub fn run(arguments: &Cert) -> anyhow::Result<Exit> {
    let Cert { out, nodes, hosts, client, days, .. } = arguments;
    if !hosts.is_empty() && hosts.len() != *nodes as usize {
        let takes = format!("takes {nodes} hosts, one per node, in order");
        return Err(Usage::flag("--hosts", hosts.join(","), takes).into());
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "._@-".contains(c);
    if let Some(name) = client.iter().find(|name| name.is_empty() || !name.chars().all(plain)) {
        return Err(Usage::flag("--client", name, "takes letters, digits and . _ @ -").into());
    }
    fs::create_dir_all(out).with_context(|| format!("--out {}", out.display()))?;
    let authority = authority(arguments)?;
    let mut files = Files::new(arguments, &authority);
    let valid = Duration::from_secs(u64::from(*days) * 24 * 3600);
    for id in 1..=*nodes {
        let node = NodeId(id - 1);
        let host = hosts.get(id as usize - 1).into_iter();
        let host: Vec<String> = host.flat_map(|one| one.split('+')).map(str::to_string).collect();
        let wrong = |error| Usage::flag("--hosts", hosts.join(","), error);
        files.take(&format!("node-{id}"), || {
            make_node(&authority, node, &host, valid).map_err(wrong)
        })?;
        files.take(&format!("api-{id}"), || {
            make_server(&authority, node, &host, valid).map_err(wrong)
        })?;
    }
    for name in client {
        let wrong = |error| Usage::flag("--client", name.clone(), error);
        files.take(&format!("client-{name}"), || {
            make_client(&authority, name, valid).map_err(wrong)
        })?;
    }
    let names: Vec<String> = files.made.iter().chain(&files.kept).cloned().collect();
    print(&(report(out, &files) + &fingerprints(out, &names)))?;
    warn_of_expired(&files);
    Ok(Exit::Done)
}

/// Certificates that were made, and those that were there; of these, which are good no more.
struct Files<'a> {
    arguments: &'a Cert,
    authority: &'a Authority,
    made: Vec<String>,
    kept: Vec<String>,
    expired: Vec<String>,
}

impl<'a> Files<'a> {
    fn new(arguments: &'a Cert, authority: &'a Authority) -> Self {
        Self { arguments, authority, made: Vec::new(), kept: Vec::new(), expired: Vec::new() }
    }

    /// The certificate and the key of this name: those that are there, or new ones.
    fn take(
        &mut self,
        name: &str,
        make: impl FnOnce() -> Result<Certified, Usage>,
    ) -> anyhow::Result<()> {
        let Cert { out, force, .. } = self.arguments;
        let certificate = out.join(format!("{name}.pem"));
        let key = out.join(format!("{name}.key"));
        if !force && certificate.exists() && key.exists() {
            self.kept.push(name.to_string());
            // What cannot be read is none of an authority's.
            let pem = fs::read_to_string(&certificate).unwrap_or_default();
            if self.authority.has_expired(&pem) {
                self.expired.push(name.to_string());
            }
            return Ok(());
        }
        write(&certificate, &key, &make()?, *force)?;
        self.made.push(name.to_string());
        Ok(())
    }
}

/// Says what nobody will let in: made as such, or grown old.
fn warn_of_expired(files: &Files<'_>) {
    if files.arguments.days == 0 && !files.made.is_empty() {
        warn("--days 0: what was made has expired already; nobody will let it in");
    }
    if !files.expired.is_empty() {
        let names = files.expired.join(", ");
        let renew = "remove their .pem and .key, and run this again";
        warn(&format!("expired, though kept: {names}; nobody will let them in: {renew}"));
    }
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

fn report(out: &Path, files: &Files<'_>) -> String {
    let told = |names: &[String]| {
        let names = names.join(", ");
        format!("in {}, each NAME.pem and NAME.key: {names}", out.display())
    };
    let mut text = labelled("authority", COLUMN, &out.join(AUTHORITY.0).display().to_string());
    if !files.made.is_empty() {
        text += &labelled("made", COLUMN, &told(&files.made));
    }
    if !files.kept.is_empty() {
        text += &labelled("kept", COLUMN, &told(&files.kept));
    }
    let each = "--tls-authority ca.pem --tls-certificate node-K.pem --tls-key node-K.key";
    text += &labelled("links", COLUMN, each);
    text += &labelled("API", COLUMN, "--api-certificate api-K.pem --api-key api-K.key");
    text + &labelled("keep safe", COLUMN, "ca.key: no node needs it, more certificates do")
}

/// What the key of a certificate is known by, should it get lost and have to be denied.
fn fingerprints(out: &Path, names: &[String]) -> String {
    let mut text = String::new();
    for name in names {
        let name = format!("{name}.pem");
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
