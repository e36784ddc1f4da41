//! Certificates for the links of a local cluster, by an authority that signs them and is forgotten:
//! nobody can ever pose as one of these nodes without reading their files.

use super::setup::{absolute, secret};
use crate::node::TlsFiles;
use anyhow::{Context, bail, ensure};
use conclave_core::NodeId;
use conclave_net::{Tls, make_authority, make_node};
use std::fs::{self, DirBuilder};
use std::io::ErrorKind;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// No local cluster runs for longer.
const VALID: Duration = Duration::from_secs(5 * 365 * 24 * 3600);
/// What is left of it when a new start makes all anew.
const LEFT_MIN: Duration = Duration::from_secs(365 * 24 * 3600);

/// Not `tls`, where people keep certificates of their own.
const DIRECTORY: &str = "up-tls";

/// Where they are.
#[derive(Debug)]
pub struct Certificates {
    directory: PathBuf,
}

impl Certificates {
    /// Those of an earlier run if they are all there and good for long, or else new ones.
    pub fn take(data: &Path, nodes: u32) -> anyhow::Result<Self> {
        let certificates = Self { directory: data.join(DIRECTORY) };
        if !(1..=nodes).all(|id| certificates.is_good(id)) {
            certificates.remove(nodes)?;
            let path = certificates.directory.display();
            certificates.make(nodes).with_context(|| format!("{path}: cannot write"))?;
        }
        Ok(certificates)
    }

    /// As the settings of this node name them.
    pub fn files(&self, id: u32) -> anyhow::Result<TlsFiles> {
        let conclave_net::TlsFiles { authority, certificate, key } = self.paths(id);
        Ok(TlsFiles {
            authority: Some(absolute(&authority)?),
            certificate: Some(absolute(&certificate)?),
            key: Some(absolute(&key)?),
        })
    }

    fn paths(&self, id: u32) -> conclave_net::TlsFiles {
        conclave_net::TlsFiles {
            authority: self.directory.join("ca.pem"),
            certificate: self.directory.join(format!("node-{id}.pem")),
            key: self.directory.join(format!("node-{id}.key")),
        }
    }

    fn is_good(&self, id: u32) -> bool {
        let soon = SystemTime::now() + LEFT_MIN;
        Tls::load(&self.paths(id), NodeId(id - 1)).is_ok_and(|tls| tls.end() > soon)
    }

    /// Makes room for new ones. Somebody's only key may lie in a directory of that name, so nothing
    /// goes unless all of it is from here.
    fn remove(&self, nodes: u32) -> anyhow::Result<()> {
        let path = self.directory.display();
        match fs::symlink_metadata(&self.directory) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(error).with_context(|| path.to_string()),
            Ok(found) => ensure!(found.is_dir(), "{path}: is no directory; move it away"),
        }
        let ours = self.all(nodes);
        let mut old = Vec::new();
        for entry in fs::read_dir(&self.directory).with_context(|| path.to_string())? {
            let entry = entry.with_context(|| path.to_string())?;
            let file = entry.path();
            if !ours.contains(&file) || entry.file_type()?.is_dir() {
                bail!("{}: 'conclave up' has not made it; move it away", file.display());
            }
            old.push(file);
        }
        let removed = old.iter().try_for_each(fs::remove_file);
        removed.and_then(|()| fs::remove_dir(&self.directory)).with_context(|| path.to_string())
    }

    /// The very files that are made for so many nodes.
    fn all(&self, nodes: u32) -> Vec<PathBuf> {
        let files = (1..=nodes).map(|id| self.paths(id));
        files.flat_map(|files| [files.authority, files.certificate, files.key]).collect()
    }

    /// All at once, for the key of the authority that could sign one more is written nowhere.
    fn make(&self, nodes: u32) -> anyhow::Result<()> {
        DirBuilder::new().mode(0o700).create(&self.directory)?;
        let authority = make_authority("a local cluster")?;
        for id in 1..=nodes {
            let conclave_net::TlsFiles { authority: ca, certificate, key } = self.paths(id);
            let node = make_node(&authority, NodeId(id - 1), &[], VALID)?;
            secret(&ca, &authority.certified().certificate)?;
            secret(&certificate, &node.certificate)?;
            secret(&key, &node.key)?;
        }
        Ok(())
    }
}
