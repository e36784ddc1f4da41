//! The journal of live events: what happened lately, for whoever wants to watch.

use conclave_api::LiveEvent;
use conclave_net::HostContext;
use std::collections::VecDeque;
use std::sync::Arc;
use tokio::sync::broadcast;

/// How many events are kept for those who come late, and how far behind a watcher may fall.
const KEPT: usize = 1_000;

/// An event and its number, which only rises while the node runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered {
    /// From 1.
    pub number: u64,
    /// What happened.
    pub event: Arc<LiveEvent>,
}

/// The latest events of a node.
pub struct Journal {
    node: u32,
    /// The wall clock, in milliseconds, when the node started.
    started_ms: u64,
    number: u64,
    past: VecDeque<Numbered>,
    watchers: broadcast::Sender<Numbered>,
}

impl Journal {
    /// Nothing has happened yet.
    pub fn new(node: u32, started_ms: u64) -> Self {
        let (watchers, _) = broadcast::channel(KEPT);
        Self { node, started_ms, number: 0, past: VecDeque::new(), watchers }
    }

    /// Writes down an event. Watchers see it when it is on disk.
    pub fn note(
        &mut self,
        host: &mut dyn HostContext,
        kind: &str,
        name: Option<&str>,
        words: String,
    ) {
        self.number += 1;
        let at_ms = self.started_ms + super::timing::milliseconds(host.now());
        let event = LiveEvent {
            at_ms,
            node: self.node,
            kind: kind.to_string(),
            name: name.map(str::to_string),
            message: words,
            label: None,
            fence: None,
            position: None,
        };
        let numbered = Numbered { number: self.number, event: Arc::new(event) };
        if self.past.len() == KEPT {
            self.past.pop_front();
        }
        self.past.push_back(numbered.clone());
        let watchers = self.watchers.clone();
        // Without watchers it reaches nobody, which is no error.
        host.afterwards(Box::new(move || drop(watchers.send(numbered))));
    }

    /// The latest events, and those to come.
    pub fn feed(&self) -> super::Feed {
        super::Feed { past: self.past.iter().cloned().collect(), coming: self.watchers.subscribe() }
    }
}
