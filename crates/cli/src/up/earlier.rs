//! A directory that an earlier `up` may have left, or that another one uses.

use crate::failure::Usage;
use crate::node::{self, AccessFlags, Flags};
use anyhow::Context;
use conclave_service::{Config, Engine, REPLICATED};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use std::fs::{self, File, OpenOptions};
use std::path::Path;

/// Takes the directory for as long as the file is kept; the system gives it back, however this
/// process ends.
pub fn take(directory: &Path) -> anyhow::Result<File> {
    let path = directory.join("up.lock");
    let options = OpenOptions::new().write(true).create(true).truncate(false).clone();
    let file = options.open(&path).with_context(|| path.display().to_string())?;
    match flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(file),
        Err(Errno::WOULDBLOCK) => {
            let takes = "another 'conclave up' uses it; takes a directory of its own";
            Err(Usage::flag("--data", directory.display(), takes).into())
        }
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// The settings of the cluster that this directory has, if it has one.
pub fn settings(directory: &Path) -> Option<node::File> {
    let file = directory.join("node-1.toml");
    let text = fs::read_to_string(&file).ok().filter(|_| directory.join("node-1").exists())?;
    Some(node::File::parse(&text).0)
}

/// Refuses settings under which the nodes could not read their disks, before anything is changed.
pub fn check(directory: &Path, config: &Config) -> anyhow::Result<()> {
    let Some(settings) = settings(directory) else { return Ok(()) };
    let Ok(earlier) = node::plan(&algorithms(&settings)) else { return Ok(()) };
    let text = |config: &Config| config.machines().map(|machines| machines.text().to_string());
    let same = match (&earlier.config.engine, &config.engine) {
        (Engine::Replicated, Engine::Replicated) => {
            earlier.config.nodes.len() == config.nodes.len()
        }
        (Engine::Classic { .. }, Engine::Classic { .. }) => text(&earlier.config)? == text(config)?,
        (Engine::Replicated, _) | (_, Engine::Replicated) => false,
    };
    if same {
        return Ok(());
    }
    let then = summary(&earlier.config);
    let now = summary(config);
    let differs = if then == now { "with other parameters".to_string() } else { then };
    let takes = format!("it is that of a cluster {differs}; take the same, or another directory");
    Err(Usage::flag("--data", directory.display(), takes).into())
}

/// Of the settings of a node, what its disk depends on. Certificates may have to be made anew.
fn algorithms(file: &node::File) -> Flags {
    let set = file.set().into_iter().map(|(name, value)| format!("{name}={value}"));
    Flags {
        id: Some("1".to_string()),
        data: Some("unused".to_string()),
        engine: file.engine.clone(),
        election: file.election.clone(),
        detector: file.detector.clone(),
        set: set.collect(),
        peers: file.nodes.iter().map(ToString::to_string).collect(),
        // Who was served then says nothing about the disk.
        access: AccessFlags { insecure: true, ..AccessFlags::default() },
        ..Flags::default()
    }
}

fn summary(config: &Config) -> String {
    let count = config.nodes.len();
    match &config.engine {
        Engine::Replicated => format!("of {count} nodes, engine {REPLICATED}"),
        Engine::Classic { engine, election, detector } => {
            let engine = &engine.id;
            let election = &election.id;
            let detector = &detector.id;
            format!("of {count} nodes, engine {engine}, election {election}, detector {detector}")
        }
    }
}
