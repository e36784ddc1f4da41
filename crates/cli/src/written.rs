//! Files that the lab writes: traces, frames and plots. Never through a link, which somebody else
//! may have put there.

use conclave_net::recording::create_file;
use conclave_sim::trace::Trace;
use std::io::{self, Write};
use std::path::Path;

/// Who may read a file that is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Readers {
    /// Whomever the umask lets: what was simulated or computed is no secret.
    Anybody,
    /// Its owner alone, as the recordings of real nodes: names of locks are in it.
    Owner,
}

impl Readers {
    /// Those of a run: whether real nodes made it, its header says.
    pub fn of(trace: &Trace) -> Self {
        if trace.header.machine.is_some() { Self::Owner } else { Self::Anybody }
    }

    fn mode(self) -> u32 {
        match self {
            Self::Anybody => 0o666,
            Self::Owner => 0o600,
        }
    }
}

/// Writes a file, over what was there.
pub fn write(path: &Path, text: &str, readers: Readers) -> io::Result<()> {
    create_file(path, readers.mode())?.write_all(text.as_bytes())
}
