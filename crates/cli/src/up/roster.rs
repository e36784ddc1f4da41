//! The roster: what `up` knows of its nodes at any moment, shared between those who look after the
//! processes, ask them how they are, and serve the page.

use serde::Serialize;
use serde_json::Value;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::watch;

/// One node.
#[derive(Clone, Debug)]
pub struct NodeSeen {
    /// Its number.
    pub id: u32,
    /// Where its API is.
    pub api: String,
    /// What was done to its process.
    pub process: Process,
    /// What is heard of it.
    pub health: Health,
}

/// The process that was started for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Process {
    /// Its number.
    pub pid: u32,
    /// How it ended, if it did.
    pub ended: Option<Ended>,
    /// Whether it was stopped (SIGSTOP).
    pub paused: bool,
    /// Whether it was cut off from the others.
    pub isolated: bool,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or because it was asked to.
    Stopped,
    /// By a signal that it could not hear.
    Killed,
}

/// What is heard of a node.
#[derive(Clone, Debug)]
pub struct Health {
    /// When it last answered.
    pub heard: Instant,
    /// Whether it answers now: it was heard of a moment ago, and its system refuses nobody.
    pub answers: bool,
    /// Whether it then could serve.
    pub ready: bool,
    /// How it then saw the cluster (`GET /v1/cluster`).
    pub view: Option<Arc<Value>>,
    /// What was asked before this was asked of another process.
    pub since: Instant,
}

/// What can be done to a node's process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Ends it at once (SIGKILL): as if its host lost power.
    Kill,
    /// Stops it (SIGSTOP): as if its host hung.
    Pause,
    /// Lets it go on (SIGCONT).
    Resume,
    /// Starts it again, on the same disk.
    Restart,
    /// Cuts it off from the other nodes: as if its cable were pulled.
    Isolate,
    /// Undoes that.
    Heal,
}

impl Action {
    /// All.
    pub const ALL: [Self; 6] =
        [Self::Kill, Self::Pause, Self::Resume, Self::Restart, Self::Isolate, Self::Heal];

    /// As it is named in an address.
    pub fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::Restart => "restart",
            Self::Isolate => "isolate",
            Self::Heal => "heal",
        }
    }

    /// By its name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.name() == name)
    }
}

impl NodeSeen {
    /// A node that was just started.
    pub fn new(id: u32, api: &str, pid: u32) -> Self {
        let process = Process { pid, ended: None, paused: false, isolated: false };
        let now = Instant::now();
        let health = Health { heard: now, answers: true, ready: true, view: None, since: now };
        Self { id, api: api.to_string(), process, health }
    }

    /// Its state in one word. One that ended here and answers was started again by somebody else.
    pub fn state(&self) -> &'static str {
        match self.process {
            Process { ended: Some(_), .. } if self.health.answers => "running",
            Process { ended: Some(Ended::Stopped), .. } => "stopped",
            Process { ended: Some(Ended::Killed), .. } => "killed",
            Process { paused: true, .. } => "paused",
            Process { isolated: true, .. } => "isolated",
            Process { .. } => "running",
        }
    }

    /// Why this cannot be done to it now, if it cannot.
    pub fn objection(&self, action: Action) -> Option<&'static str> {
        let Process { ended, paused, isolated, .. } = self.process;
        let runs = ended.is_none();
        match action {
            Action::Restart if runs => Some("it runs; kill it first"),
            Action::Restart if self.health.answers => Some("somebody started it again by hand"),
            Action::Restart => None,
            _ if !runs && self.health.answers => Some("it was started by hand: end it there"),
            _ if !runs => Some("it does not run"),
            Action::Kill => None,
            Action::Pause => paused.then_some("it is paused already"),
            Action::Resume => (!paused).then_some("it is not paused"),
            Action::Isolate => isolated.then_some("it is isolated already"),
            Action::Heal => (!isolated).then_some("it is not isolated"),
        }
    }
}

/// All nodes, in order. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Roster(Arc<watch::Sender<Vec<NodeSeen>>>);

impl Roster {
    /// These nodes.
    pub fn new(nodes: Vec<NodeSeen>) -> Self {
        Self(Arc::new(watch::Sender::new(nodes)))
    }

    /// All of it, as it is now.
    pub fn nodes(&self) -> Vec<NodeSeen> {
        self.0.borrow().clone()
    }

    /// One node, as it is now.
    pub fn node(&self, id: u32) -> Option<NodeSeen> {
        self.0.borrow().iter().find(|node| node.id == id).cloned()
    }

    /// Changes what is known of a node.
    pub fn change(&self, id: u32, change: impl FnOnce(&mut NodeSeen)) {
        self.0.send_modify(|nodes| {
            if let Some(node) = nodes.iter_mut().find(|node| node.id == id) {
                change(node);
            }
        });
    }

    /// Notes what became of the process of a node. One that has ended, or has only just begun,
    /// does not answer.
    pub fn set_process(&self, id: u32, process: Process) {
        self.change(id, |node| {
            let before = std::mem::replace(&mut node.process, process);
            if (before.pid, before.ended) != (process.pid, process.ended) {
                node.health.answers = false;
                node.health.ready = false;
                node.health.since = Instant::now();
            }
        });
    }

    /// Returns when this node does not answer.
    pub async fn silence(&self, id: u32) {
        let mut coming = self.0.subscribe();
        let silent =
            |nodes: &Vec<NodeSeen>| !nodes.iter().any(|node| node.id == id && node.health.answers);
        let _ = coming.wait_for(silent).await; // Without a sender nobody is left to ask.
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn possible(node: &NodeSeen) -> Vec<&'static str> {
        let possible = Action::ALL.into_iter().filter(|action| node.objection(*action).is_none());
        possible.map(Action::name).collect()
    }

    #[test]
    fn only_what_makes_sense_now_can_be_done() {
        let mut node = NodeSeen::new(1, "127.0.0.1:7071", 42);
        assert_eq!((node.state(), possible(&node)), ("running", vec!["kill", "pause", "isolate"]));
        node.process.isolated = true;
        assert_eq!((node.state(), possible(&node)), ("isolated", vec!["kill", "pause", "heal"]));
        node.process.paused = true;
        assert_eq!((node.state(), possible(&node)), ("paused", vec!["kill", "resume", "heal"]));
        node.process.ended = Some(Ended::Killed);
        assert_eq!((node.state(), possible(&node)), ("running", vec![]), "by hand");
        node.health.answers = false;
        assert_eq!((node.state(), possible(&node)), ("killed", vec!["restart"]));
        node.process.ended = Some(Ended::Stopped);
        assert_eq!(node.state(), "stopped");
    }

    #[test]
    fn an_action_is_known_by_its_name() {
        for action in Action::ALL {
            assert_eq!(Action::named(action.name()), Some(action));
        }
        assert_eq!(Action::named("Kill"), None);
    }
}
