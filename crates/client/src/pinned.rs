//! The pinned cluster: fencing tokens of different clusters do not compare, so a client keeps to
//! the first cluster that it met, and to its latest generation.

use crate::Error;
use std::sync::{Mutex, PoisonError};

/// The cluster that a client and its clones keep to, once they know it.
#[derive(Debug, Default)]
pub(crate) struct Pinned(Mutex<Option<(String, u64)>>);

impl Pinned {
    /// Keeps to this cluster from now on, unless it keeps to another. A node that does not know
    /// its cluster yet says nothing of it.
    pub fn pin(&self, server: &str, id: &str, generation: Option<u64>) -> Result<(), Error> {
        if id.is_empty() {
            return Ok(());
        }
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .get_or_insert_with(|| (id.to_string(), generation.unwrap_or(0)));
        self.check(server, id, generation)
    }

    /// Refuses an answer of another cluster, or of one that a backup has replaced.
    pub fn check(&self, server: &str, id: &str, generation: Option<u64>) -> Result<(), Error> {
        let mut pinned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some((known, latest)) = pinned.as_mut().filter(|_| !id.is_empty()) else {
            return Ok(());
        };
        let generation = generation.unwrap_or(0);
        if known != id || generation < *latest {
            let server = server.to_string();
            return Err(Error::OtherCluster {
                server,
                pinned: known.clone(),
                found: id.to_string(),
            });
        }
        *latest = generation;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_keeps_to_one_cluster_and_to_its_latest_generation() {
        let pinned = Pinned::default();
        assert!(pinned.check("a", "c9", None).is_ok(), "nothing is pinned yet");
        assert!(pinned.pin("a", "c1", Some(2)).is_ok());
        assert!(pinned.pin("b", "c2", Some(2)).is_err());
        let all = [("c1", Some(2), true), ("c1", Some(3), true), ("c1", Some(2), false)];
        for (id, generation, taken) in all {
            assert_eq!(pinned.check("b", id, generation).is_ok(), taken, "{id} {generation:?}");
        }
        assert!(pinned.check("b", "c1", None).is_err());
        assert!(pinned.check("b", "", None).is_ok(), "it does not know its cluster yet");
    }
}
