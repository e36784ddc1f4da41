//! Flags and file as one plan for a node, with all that is wrong with it.

use super::access::AccessFlags;
use super::algorithms::{self, Named};
use super::file::{File, Node};
use super::log::{FORMATS, Format};
use super::made_with::made_with;
use super::peers;
use super::warnings::warnings;
use crate::failure::Mistakes;
use conclave_lab::files;
use conclave_service::{Address, Config, Engine};
use std::fmt::Display;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use tracing::Level;

const CLUSTER: &str = "conclave";
const LEVELS: [(&str, Level); 5] = [
    ("error", Level::ERROR),
    ("warn", Level::WARN),
    ("info", Level::INFO),
    ("debug", Level::DEBUG),
    ("trace", Level::TRACE),
];

/// What was typed.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Flags {
    /// A file that says the same as the flags; flags win
    #[arg(long, value_name = "FILE")]
    pub config: Option<String>,
    /// The number of this node, from 1
    #[arg(long, value_name = "K")]
    pub id: Option<String>,
    /// The name of the cluster: nodes of another one are refused [default: conclave]
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// A node, this one included: ID=HOST:PORT,api=HOST:PORT (once per node)
    #[arg(long = "peer", value_name = "NODE")]
    pub peers: Vec<String>,
    /// Where to listen for other nodes [default: this node's own address among the peers]
    #[arg(long, value_name = "ADDR")]
    pub listen: Option<String>,
    /// Where to serve the API [default: this node's own address among the peers]
    #[arg(long, value_name = "ADDR")]
    pub http: Option<String>,
    /// The directory that is this node's disk
    #[arg(long, value_name = "DIR")]
    pub data: Option<String>,
    /// What grants the locks: replicated, or an algorithm of the catalogue [default: that of the
    /// data directory, else replicated]
    #[arg(long, value_name = "ALG")]
    pub engine: Option<String>,
    /// A classic engine's election [default: majority]
    #[arg(long, value_name = "ALG")]
    pub election: Option<String>,
    /// A classic engine's failure detector [default: phi-accrual]
    #[arg(long, value_name = "ALG")]
    pub detector: Option<String>,
    /// A parameter of a classic engine; election.KEY and detector.KEY are theirs
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The certificate of the authority that signed those of all nodes
    #[arg(long, value_name = "FILE")]
    pub tls_authority: Option<String>,
    /// The certificate of this node
    #[arg(long, value_name = "FILE")]
    pub tls_certificate: Option<String>,
    /// The key that belongs to it
    #[arg(long, value_name = "FILE")]
    pub tls_key: Option<String>,
    /// The SHA-256 fingerprint of a certificate or its public key that is refused though signed
    #[arg(long, value_name = "FINGERPRINT")]
    pub deny: Vec<String>,
    #[command(flatten)]
    pub access: AccessFlags,
    /// Have the lab on the node's page, too; its questions take some of the node's time
    #[arg(long)]
    pub lab: bool,
    /// Write down every event, for 'conclave replay'
    #[arg(long, value_name = "FILE")]
    pub record: Option<String>,
    /// How much to log: error, warn, info, debug or trace [default: info]
    #[arg(long, value_name = "LEVEL")]
    pub log: Option<String>,
    /// How to log: text, or json, which is one object per line [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<String>,
}

/// A node that can be started.
#[derive(Debug)]
pub struct Plan {
    /// For the service.
    pub config: Config,
    /// How much to log.
    pub level: Level,
    /// How.
    pub format: Format,
    /// What to mind.
    pub warnings: Vec<String>,
}

/// Reads and checks everything.
pub fn plan(flags: &Flags) -> Result<Plan, Mistakes> {
    let mut mistakes = Mistakes::default();
    let (file, whole) = read(flags.config.as_deref(), &mut mistakes);
    let typed = peers::typed(&flags.peers, &mut mistakes);
    let mut set = file.set();
    for typed in &flags.set {
        match typed.split_once('=') {
            Some((name, value)) => set.push((name.to_string(), value.to_string())),
            None => mistakes.add(format!("--set {typed}: takes KEY=VALUE")),
        }
    }
    let complete = whole && typed.is_some();
    let typed = typed.unwrap_or_default();
    let checked = Checked { flags, file: &file, complete, mistakes: &mut mistakes };
    let made = checked.plan(&typed, &set);
    mistakes.or(made)
}

/// The file as far as it can be read, and whether that is all of it.
fn read(path: Option<&str>, mistakes: &mut Mistakes) -> (File, bool) {
    let Some(path) = path else { return (File::default(), true) };
    let (file, wrong) = match files::read(path) {
        Ok(text) => File::parse(&text),
        Err(reason) => (File::default(), vec![reason]),
    };
    wrong.iter().for_each(|reason| mistakes.add(format!("--config {path}: {reason}")));
    (file, wrong.is_empty())
}

/// The algorithms as they were typed, or else written.
fn named<'a>(flags: &'a Flags, file: &'a File) -> Named<'a> {
    Named {
        engine: flags.engine.as_deref().or(file.engine.as_deref()),
        election: flags.election.as_deref().or(file.election.as_deref()),
        detector: flags.detector.as_deref().or(file.detector.as_deref()),
    }
}

pub(super) struct Checked<'a> {
    pub flags: &'a Flags,
    pub file: &'a File,
    /// Whether all that was typed and written could be read: else it need not be missing.
    complete: bool,
    pub mistakes: &'a mut Mistakes,
}

impl<'a> Checked<'a> {
    fn plan(mut self, typed: &[Node], set: &[(String, String)]) -> Option<Plan> {
        let flags = self.flags;
        let file = self.file;
        let nodes = if typed.is_empty() { &file.nodes } else { typed };
        let count = u32::try_from(nodes.len()).unwrap_or(u32::MAX);
        let known = self.complete || !nodes.is_empty();
        let addresses = known.then(|| peers::addresses(nodes, self.mistakes)).flatten();
        let id = self.id(count);
        let own = addresses.as_ref().zip(id).and_then(|(all, id)| all.get(id as usize - 1));
        let listen = self.listen(own);
        let http = self.http(own);
        let cluster = self.cluster();
        let data = self.data();
        let engine = self.engine(data.as_deref(), set, count);
        let tls = self.tls();
        let access = self.access(tls.as_ref(), http);
        let level = self.level()?;
        let format = self.format()?;
        let record = flags.record.as_ref().or(file.record.as_ref()).map(PathBuf::from);
        let config = Config {
            cluster,
            id: id?,
            nodes: addresses?,
            listen: listen?,
            http: http?,
            data: data?,
            engine,
            tls,
            record,
            access,
            lab: flags.lab || file.lab,
        };
        if self.mistakes.0.is_empty()
            && let Err(error) = config.check()
        {
            self.mistakes.add(error); // What goes wrong only with all of it together.
        }
        let token = self.token_file().map(Path::new);
        Some(Plan { warnings: warnings(&config, token), config, level, format })
    }

    pub(super) fn missing(&mut self, words: impl Display) {
        if self.complete {
            self.mistakes.add(words);
        }
    }

    fn id(&mut self, count: u32) -> Option<u32> {
        let typed = self.flags.id.as_ref().map(|text| text.parse().map_err(|_| text));
        let id = match typed.or(self.file.id.map(Ok)) {
            Some(Ok(id)) => id,
            Some(Err(text)) => {
                self.mistakes.add(format!("--id {text}: takes a number from 1"));
                return None;
            }
            None => {
                self.missing("--id: is missing; takes the number of this node, from 1");
                return None;
            }
        };
        if count > 0 && !(1..=count).contains(&id) {
            self.mistakes.add(format!("--id {id}: takes a number from 1 to {count}, as --peer"));
            return None;
        }
        (id > 0).then_some(id)
    }

    fn listen(&mut self, own: Option<&Address>) -> Option<SocketAddr> {
        match self.flags.listen.clone().or(self.file.listen.clone()) {
            Some(text) => self.socket("--listen", &text),
            None => self.own_address("--listen", &own?.peer),
        }
    }

    fn http(&mut self, own: Option<&Address>) -> Option<SocketAddr> {
        match self.flags.http.clone().or(self.file.http.clone()) {
            Some(text) => self.socket("--http", &text),
            None => self.own_address("--http", &own?.api),
        }
    }

    /// Where others reach this node is where it listens, unless that is a name.
    fn own_address(&mut self, flag: &str, address: &str) -> Option<SocketAddr> {
        let numeric = address.parse().ok();
        if numeric.is_none() {
            let why = format!("{address} is a name, so say which address to listen at");
            self.mistakes.add(format!("{flag}: is missing: {why}: 0.0.0.0:PORT"));
        }
        numeric
    }

    fn socket(&mut self, flag: &str, text: &str) -> Option<SocketAddr> {
        let address = text.parse().ok();
        if address.is_none() {
            self.mistakes.add(format!("{flag} {text}: takes IP:PORT"));
        }
        address
    }

    fn cluster(&mut self) -> String {
        let named = self.flags.cluster.as_ref().or(self.file.cluster.as_ref());
        let name = named.cloned().unwrap_or_else(|| CLUSTER.to_string());
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if !(1..=64).contains(&name.len()) || !name.chars().all(plain) {
            let takes = "takes 1 to 64 letters, digits and . _ -";
            self.mistakes.add(format!("--cluster {name}: {takes}"));
        }
        name
    }

    fn data(&mut self) -> Option<PathBuf> {
        let data = self.flags.data.as_ref().or(self.file.data.as_ref()).filter(|d| !d.is_empty());
        if data.is_none() {
            self.missing("--data: is missing; takes the directory that is this node's disk");
        }
        data.map(PathBuf::from)
    }

    /// The engine that is named, or else the one that the directory was made with.
    fn engine(&mut self, data: Option<&Path>, set: &[(String, String)], nodes: u32) -> Engine {
        let named = named(self.flags, self.file);
        match data.and_then(|data| self.made_with(data, named)) {
            Some(made) if named == Named::default() && set.is_empty() => made,
            Some(made) => {
                let engine = named.engine.unwrap_or(made.name());
                let named = Named { engine: Some(engine), ..named };
                algorithms::choose(named, set, nodes, self.mistakes)
            }
            None => algorithms::choose(named, set, nodes, self.mistakes),
        }
    }

    /// The engine that this directory was made with, if it has one. Another must not be named.
    fn made_with(&mut self, data: &Path, named: Named<'_>) -> Option<Engine> {
        let made = match made_with(data) {
            Ok(made) => made?,
            Err(_) if named.engine.is_some() => return None, // It will be told when it is opened.
            Err(reason) => {
                self.mistakes.add(format!("--data {}: {reason}", data.display()));
                return None;
            }
        };
        if let Some(engine) = named.engine.filter(|engine| *engine != made.name()) {
            let takes = format!("{} was made with {}", data.display(), made.name());
            let advice = "take that, or another directory";
            self.mistakes.add(format!("--engine {engine}: {takes}; {advice}"));
        }
        Some(made)
    }

    fn level(&mut self) -> Option<Level> {
        let name = self.flags.log.as_deref().or(self.file.log.as_deref()).unwrap_or("info");
        let level = LEVELS.iter().find(|(known, _)| *known == name);
        if level.is_none() {
            let takes = "takes error, warn, info, debug or trace";
            self.mistakes.add(format!("--log {name}: {takes}"));
        }
        level.map(|(_, level)| *level)
    }

    fn format(&mut self) -> Option<Format> {
        let name = self.flags.log_format.as_deref().or(self.file.log_format.as_deref());
        let name = name.unwrap_or("text");
        let format = FORMATS.iter().find(|(known, _)| *known == name);
        if format.is_none() {
            self.mistakes.add(format!("--log-format {name}: takes text or json"));
        }
        format.map(|(_, format)| *format)
    }
}
