//! Where everything of a local cluster is: addresses, directory, files.

use super::certificates::Certificates;
use super::earlier;
use super::ports::{self, Ports};
use crate::failure::Mistakes;
use crate::node::{self, AccessFlags, File, Flags, Node};
use anyhow::Context;
use conclave_service::{Config, REPLICATED};
use rustix::process::getuid;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// What was asked for.
#[derive(Clone)]
pub struct Wanted<'a> {
    pub nodes: Option<u32>,
    pub engine: Option<String>,
    pub election: Option<String>,
    pub detector: Option<String>,
    pub set: Vec<String>,
    pub http: SocketAddr,
    pub data: Option<&'a Path>,
    pub record: Option<&'a Path>,
    /// Whether the APIs may be served beyond this machine.
    pub insecure: bool,
    pub log_format: Option<String>,
}

impl Wanted<'_> {
    /// What was not said is as it was when the directory was made.
    fn completed(mut self) -> Self {
        let made = self.data.and_then(earlier::settings).filter(|_| self.engine.is_none());
        let Some(made) = made else { return self };
        if self.set.is_empty() {
            let set = made.set();
            self.set = set.iter().map(|(name, value)| format!("{name}={value}")).collect();
        }
        self.engine = made.engine;
        self.election = self.election.or(made.election);
        self.detector = self.detector.or(made.detector);
        self.nodes = self.nodes.or(u32::try_from(made.nodes.len()).ok());
        self
    }

    /// Of a replicated cluster three survive the loss of one.
    fn count(&self) -> u32 {
        let classic = self.engine.as_ref().is_some_and(|engine| engine != REPLICATED);
        self.nodes.unwrap_or(if classic { CLASSIC_NODES } else { REPLICATED_NODES })
    }
}

const REPLICATED_NODES: u32 = 3;
const CLASSIC_NODES: u32 = 5;

/// Nodes at addresses that nobody is asked for.
fn stand_ins(count: u32) -> Vec<Node> {
    let node =
        |id| Node { id, peer: format!("127.0.0.1:{id}"), api: format!("127.0.0.1:{}", id + 100) };
    (1..=count).map(node).collect()
}

/// What was made of it: each node has a file to be started from.
#[derive(Debug)]
pub struct Setup {
    /// Has everything.
    pub directory: PathBuf,
    /// Whether it goes away at the end.
    temporary: bool,
    /// Where `up` itself serves.
    pub http: TcpListener,
    /// Where the nodes are.
    pub nodes: Vec<Node>,
    /// For the use of force.
    pub token: String,
    /// What to mind about the nodes, though they can be started.
    pub warnings: Vec<String>,
    /// Nobody else uses the directory.
    _lock: fs::File,
}

impl Setup {
    /// Chooses addresses and writes the files.
    pub fn new(wanted: Wanted<'_>) -> anyhow::Result<Self> {
        let wanted = &wanted.completed();
        check(wanted, &stand_ins(wanted.count()))?; // What was typed comes before what is free.
        let Ports { http, apis, peers } = ports::choose(wanted.http, wanted.count())?;
        let places = (1..).zip(peers.iter().zip(&apis));
        let node = |(id, (peer, api)): (u32, (&SocketAddr, &SocketAddr))| Node {
            id,
            peer: peer.to_string(),
            api: api.to_string(),
        };
        let nodes: Vec<Node> = places.map(node).collect();
        let config = check(wanted, &nodes)?;
        let (directory, temporary) = directory(wanted.data)?;
        let lock = earlier::take(&directory)?;
        earlier::check(&directory, &config)?;
        let token = token()?;
        let warnings = Vec::new();
        let mut setup = Self { directory, temporary, http, nodes, token, warnings, _lock: lock };
        match setup.write(wanted).and_then(|()| setup.warned()) {
            Ok(warnings) => setup.warnings = warnings,
            Err(error) => {
                setup.clean_up();
                return Err(error);
            }
        }
        Ok(setup)
    }

    /// What the nodes will say in their logs, where nobody looks. They differ in their ports only,
    /// so the first one speaks for all.
    fn warned(&self) -> anyhow::Result<Vec<String>> {
        let config = Some(self.file(1).display().to_string());
        let warnings = node::plan(&Flags { config, ..Flags::default() })?.warnings;
        let others = match self.nodes.len() {
            1 => String::new(),
            count => format!(" (and so at nodes 2 to {count})"),
        };
        Ok(warnings.into_iter().map(|warning| warning + &others).collect())
    }

    /// The file that a node is started from.
    pub fn file(&self, id: u32) -> PathBuf {
        self.directory.join(format!("node-{id}.toml"))
    }

    /// The file that a node logs to.
    pub fn log(&self, id: u32) -> PathBuf {
        self.directory.join(format!("node-{id}.log"))
    }

    /// Whether nothing of it will be left.
    pub fn is_temporary(&self) -> bool {
        self.temporary
    }

    /// Removes what is of no use any more.
    pub fn clean_up(&self) {
        if self.temporary {
            let _ = fs::remove_dir_all(&self.directory); // It is in the system's own place for it.
        }
    }

    fn write(&self, wanted: &Wanted<'_>) -> anyhow::Result<()> {
        let certificates = Certificates::take(&self.directory, wanted.count())?;
        let token = self.directory.join("admin-token");
        secret(&token, &self.token)?;
        if let Some(record) = wanted.record {
            fs::create_dir_all(record).with_context(|| format!("--record {}", record.display()))?;
        }
        let set = wanted.set.iter().filter_map(|set| set.split_once('='));
        let file = File {
            engine: Some(wanted.engine.clone().unwrap_or_else(|| REPLICATED.to_string())),
            election: wanted.election.clone(),
            detector: wanted.detector.clone(),
            admin_token_file: Some(absolute(&token)?),
            log_format: wanted.log_format.clone(),
            set: set.map(|(name, value)| (name.to_string(), value.into())).collect(),
            nodes: self.nodes.clone(),
            insecure: wanted.insecure,
            ..File::default()
        };
        for node in &self.nodes {
            let record = wanted.record.map(|folder| folder.join(format!("node-{}.rec", node.id)));
            let file = File {
                id: Some(node.id),
                data: Some(absolute(&self.directory.join(format!("node-{}", node.id)))?),
                record: record.as_deref().map(absolute).transpose()?,
                tls: Some(certificates.files(node.id)?),
                ..file.clone()
            };
            fs::write(self.file(node.id), toml::to_string(&file)?)?;
        }
        Ok(())
    }
}

/// What a node would complain about in its log is better said here, before anything is made.
fn check(wanted: &Wanted<'_>, nodes: &[Node]) -> Result<Config, Mistakes> {
    if !wanted.http.ip().is_loopback() && !wanted.insecure {
        let mut mistakes = Mistakes::default();
        mistakes.add(format!(
            "--http {}: 'up' serves its APIs without certificates and tokens, so beyond this \
             machine it takes --insecure; 'conclave node' has both",
            wanted.http
        ));
        return mistakes.or(None);
    }
    let flags = Flags {
        id: Some("1".to_string()),
        data: Some("unused".to_string()),
        engine: wanted.engine.clone(),
        election: wanted.election.clone(),
        detector: wanted.detector.clone(),
        set: wanted.set.clone(),
        peers: nodes.iter().map(ToString::to_string).collect(),
        access: AccessFlags { insecure: wanted.insecure, ..AccessFlags::default() },
        log_format: wanted.log_format.clone(),
        ..Flags::default()
    };
    Ok(node::plan(&flags)?.config)
}

fn directory(data: Option<&Path>) -> anyhow::Result<(PathBuf, bool)> {
    if let Some(data) = data {
        fs::create_dir_all(data).with_context(|| format!("--data {}", data.display()))?;
        return Ok((data.to_path_buf(), false));
    }
    let name = format!("conclave-up-{}-{}", getuid().as_raw(), &token()?[..12]);
    let path = std::env::temp_dir().join(name);
    DirBuilder::new().mode(0o700).create(&path).with_context(|| path.display().to_string())?;
    Ok((path, true))
}

/// 128 random bits, for this run alone.
fn token() -> anyhow::Result<String> {
    let mut bytes = [0; 16];
    let filled = getrandom(&mut bytes[..], GetRandomFlags::empty())?;
    anyhow::ensure!(filled == bytes.len(), "the system has no random numbers");
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes what only this user may read.
pub(super) fn secret(path: &Path, text: &str) -> anyhow::Result<()> {
    let options = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).clone();
    let mut file = options.open(path).with_context(|| path.display().to_string())?;
    file.write_all(text.as_bytes())?;
    Ok(())
}

/// A node may be started again from any directory.
pub(super) fn absolute(path: &Path) -> anyhow::Result<String> {
    let path = std::path::absolute(path)?;
    path.into_os_string().into_string().map_err(|_| anyhow::anyhow!("a path that is no text"))
}
