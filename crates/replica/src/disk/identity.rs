//! The identity of a data directory: whose it is, as a small file that is replaced as a whole
//! (atomic rename).

use super::error::DiskError;
use super::files;
use super::frame::hash;
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};
use std::io::{self, Read};
use std::path::Path;

/// The name of the file.
pub const FILE: &str = "identity";
/// What directories of this engine call it.
pub const ENGINE: &str = "replicated";
/// What the classic engines keep everything in.
const CLASSIC_FILE: &str = "conclave.redb";
const FORMAT: u32 = 1;
const MARK: &[u8; 8] = b"conclave";
const HEADER: usize = 8 + 4 + 8;

/// Which kind of engine made a data directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    /// One of the classic algorithms.
    Classic,
    /// The replicated table.
    Replicated,
}

/// Which engine made a directory; nothing if none did.
pub fn engine_of(directory: &Path) -> Option<Engine> {
    let has = |file: &str| directory.join(file).try_exists().unwrap_or(false);
    if has(CLASSIC_FILE) {
        Some(Engine::Classic)
    } else if has(FILE) {
        Some(Engine::Replicated)
    } else {
        None
    }
}

/// Whose directory it has to be.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// The name of the cluster.
    pub cluster: &'a str,
    /// The node.
    pub node: NodeId,
}

/// The cluster that a node belongs to, once it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClusterId {
    /// Random: fences of other clusters do not compare.
    pub id: u128,
    /// Rises when a backup is restored.
    pub generation: u64,
}

/// What the file holds.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The engine that made the directory.
    pub engine: String,
    /// The name of the cluster.
    pub cluster: String,
    /// The node.
    pub node: u32,
    /// The random number of this disk: a node that comes with another one has lost its memory.
    pub disk: u128,
    /// The cluster, once it is known.
    pub cluster_id: Option<ClusterId>,
    /// What this node has promised when the cluster was founded: opaque here.
    pub founding: Option<Vec<u8>>,
    /// How often this directory was opened.
    pub starts: u64,
    /// Random, and another one each time: a copy of this directory may be opened equally often.
    pub nonce: u32,
}

impl Identity {
    /// That of a new directory.
    pub fn new(expected: &Expected<'_>, disk: u128) -> Self {
        Self {
            engine: ENGINE.to_string(),
            cluster: expected.cluster.to_string(),
            node: expected.node.0,
            disk,
            cluster_id: None,
            founding: None,
            starts: 0,
            nonce: 0,
        }
    }

    /// Reads the file, if there is one.
    pub fn read(directory: &Path) -> Result<Option<Self>, DiskError> {
        let path = directory.join(FILE);
        let mut bytes = Vec::new();
        match files::open(&path).and_then(|mut file| file.read_to_end(&mut bytes)) {
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(DiskError::system(&path, error)),
        };
        decode(&path, &bytes).map(Some)
    }

    /// Replaces the file.
    pub fn write(&self, directory: &Path) -> Result<(), DiskError> {
        let body = postcard::to_stdvec(self).expect("an identity is plain data");
        let mut bytes = MARK.to_vec();
        bytes.extend_from_slice(&FORMAT.to_le_bytes());
        bytes.extend_from_slice(&hash(&body).to_le_bytes());
        bytes.extend_from_slice(&body);
        files::replace(&directory.join(FILE), &bytes)
    }

    /// Refuses a directory of another cluster or node.
    pub fn check(&self, directory: &Path, expected: &Expected<'_>) -> Result<(), DiskError> {
        let node = NodeId(self.node);
        let table = [
            ("engine", self.engine.clone(), ENGINE.to_string()),
            ("cluster", self.cluster.clone(), expected.cluster.to_string()),
            ("node", node.to_string(), expected.node.to_string()),
        ];
        for (what, found, expected) in table {
            if found != expected {
                let path = directory.join(FILE);
                return Err(DiskError::Other { path, what, found, expected });
            }
        }
        Ok(())
    }
}

/// Refuses a directory of a classic engine.
pub fn check_engine(directory: &Path) -> Result<(), DiskError> {
    if engine_of(directory) != Some(Engine::Classic) {
        return Ok(());
    }
    let path = directory.join(CLASSIC_FILE);
    let found = "classic".to_string();
    Err(DiskError::Other { path, what: "engine", found, expected: ENGINE.to_string() })
}

fn decode(path: &Path, bytes: &[u8]) -> Result<Identity, DiskError> {
    let damaged = |what: &str| DiskError::damaged(path, 0, what);
    let (header, body) = bytes.split_at_checked(HEADER).ok_or_else(|| damaged("too short"))?;
    if header[..8] != *MARK {
        return Err(damaged("not a file of conclave"));
    }
    let mut format = [0; 4];
    format.copy_from_slice(&header[8..12]);
    let found = u32::from_le_bytes(format);
    if found != FORMAT {
        return Err(DiskError::Format { path: path.to_path_buf(), found, known: FORMAT });
    }
    if hash(body).to_le_bytes() != header[12..] {
        return Err(damaged("the checksum is wrong"));
    }
    match postcard::take_from_bytes(body) {
        Ok((identity, [])) => Ok(identity),
        Ok(_) | Err(_) => Err(damaged("it cannot be read")),
    }
}
