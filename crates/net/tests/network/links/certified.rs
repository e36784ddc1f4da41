//! Nodes with certificates, made for a test.

use super::kit::{A, B, Host, config, listener};
use conclave_core::NodeId;
use conclave_net::{Authority, LinkConfig, Tls, TlsFiles, make_authority, make_node};
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

/// Longer than any test.
pub const DAYS: Duration = Duration::from_secs(10 * 24 * 3600);

/// A directory of its own, removed in the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("tls-{name}"));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub fn files(&self, authority: &Authority, node: NodeId) -> TlsFiles {
        self.files_for(authority, node, DAYS)
    }

    /// Files that are valid for so long.
    pub fn files_for(&self, authority: &Authority, node: NodeId, valid: Duration) -> TlsFiles {
        let hosts = ["localhost".into(), "127.0.0.1".into()];
        let made = make_node(authority, node, &hosts, valid).unwrap();
        TlsFiles {
            authority: self.write("authority.pem", &authority.certified().certificate),
            certificate: self.write(&format!("{node}.pem"), &made.certificate),
            key: self.write(&format!("{node}.key"), &made.key),
        }
    }

    pub fn tls(&self, authority: &Authority, node: NodeId) -> Option<Tls> {
        Some(Tls::load(&self.files(authority, node), node).unwrap())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Two nodes, each with certificates or without.
pub async fn pair(a: Option<Tls>, b: Option<Tls>) -> (Host, Host) {
    let first = listener().await;
    let second = listener().await;
    let peers = [first.1, second.1];
    let a = LinkConfig { tls: a, ..config(A, &peers) };
    let b = LinkConfig { tls: b, ..config(B, &peers) };
    (Host::start(first.0, a), Host::start(second.0, b))
}

/// Two nodes that prove to each other who they are.
pub async fn proved_pair(name: &str, change: impl Fn(&mut LinkConfig)) -> (Host, Host) {
    let folder = Folder::new(name);
    let authority = make_authority("demo").unwrap();
    let first = listener().await;
    let second = listener().await;
    let peers = [first.1, second.1];
    let [a, b] = [A, B].map(|me| {
        let mut config = LinkConfig { tls: folder.tls(&authority, me), ..config(me, &peers) };
        change(&mut config);
        config
    });
    (Host::start(first.0, a), Host::start(second.0, b))
}
