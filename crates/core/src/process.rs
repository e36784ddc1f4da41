//! A process: a deterministic state machine (events in, effects out) between a service it provides
//! and one it uses.

use crate::{Context, Delay, NodeId};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::fmt::Debug;
use std::hash::Hash;

/// Whatever crosses a boundary: copied by the checker, hashed, printed, put on the wire.
pub trait Data:
    Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}
impl<T> Data for T where
    T: Clone + Eq + Hash + Debug + Serialize + DeserializeOwned + Send + Sync + 'static
{
}

/// What one layer offers the layer above: requests go down, indications come up.
pub trait Service: Data {
    /// What the layer above may ask.
    type Request: Data;
    /// What it may be told.
    type Indication: Data;
}

/// The requests of a service.
pub type RequestTo<S> = <S as Service>::Request;
/// The indications of a service.
pub type IndicationFrom<S> = <S as Service>::Indication;

/// A message that knows what its paper calls it.
pub trait Named {
    /// The paper's word, in capitals: `REQUEST`, `TOKEN`.
    fn name(&self) -> &'static str;

    /// Whether it answers the one who gets it. Equal answers to several are as many messages, also
    /// where a multicast counts as one.
    fn is_reply(&self) -> bool {
        false
    }
}

/// A distributed algorithm, as one of its nodes runs it.
pub trait Process: Data {
    /// What it is for: mutual exclusion, election, failure detection.
    type Provides: Service;
    /// The layer it stands on; [`Never`] when it stands on nothing.
    type Uses: Service;
    /// What it sends.
    type Message: Data + Named;
    /// Its timers: a few names, at most one of each running; [`Never`] for none.
    type Timer: Data + Copy;

    /// Takes one event and writes what should be done about it into `ctx`. Cannot fail.
    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>);

    /// What a crash at this moment would leave behind.
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::Never
    }

    /// The logical time that a message of the application, sent now, should carry.
    /// Algorithms without a clock have nothing to say.
    fn clock(&self) -> u64 {
        0
    }

    /// Who waits for whom, as far as this node knows: the one that waits comes first. For people,
    /// who see a deadlock as a cycle of these.
    fn waits(&self) -> Vec<(NodeId, NodeId)> {
        Vec::new()
    }
}

/// What a restarted node starts from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Recovery<P> {
    /// Crash-stop: the algorithm has no rule for a return.
    Never,
    /// Forgetting everything is harmless.
    Fresh,
    /// What the disk keeps; it is given [`Event::Restart`] first.
    State(P),
}

/// What can happen to a process.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Event<P: Process> {
    /// The very first event. Only this one may mint a token.
    Start,
    /// The first event after a crash.
    Restart,
    /// The layer above asks.
    Request(RequestTo<P::Provides>),
    /// The layer below tells.
    Indication(IndicationFrom<P::Uses>),
    /// A message arrives.
    Message {
        /// Who sent it.
        from: NodeId,
        /// What it says.
        message: P::Message,
    },
    /// A timer that was set, and neither cancelled nor set again, fires.
    Timer(P::Timer),
}

/// What a process can want done.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(bound = "")]
pub enum Effect<P: Process> {
    /// Send a message.
    Send {
        /// To whom.
        to: NodeId,
        /// What it says.
        message: P::Message,
    },
    /// Start a timer; one of that name already running is replaced.
    SetTimer {
        /// Its name.
        timer: P::Timer,
        /// How long it runs.
        after: Delay,
    },
    /// Stop a timer, running or not.
    CancelTimer(P::Timer),
    /// Tell the layer above.
    Indicate(IndicationFrom<P::Provides>),
    /// Ask the layer below.
    Request(RequestTo<P::Uses>),
}

/// No value at all: "has no timers", "stands on nothing".
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Never {}

impl Named for Never {
    fn name(&self) -> &'static str {
        match *self {}
    }
}

impl Service for Never {
    type Request = Never;
    type Indication = Never;
}

/// A service whose indications an all-knowing driver can play, in place of a real layer below.
pub trait Oracle: Service {
    /// How this service says that a node seems to have crashed.
    fn suspect(node: NodeId) -> Option<Self::Indication>;
    /// How it withdraws that.
    fn trust(node: NodeId) -> Option<Self::Indication>;
}

impl Oracle for Never {
    fn suspect(_: NodeId) -> Option<Never> {
        None
    }
    fn trust(_: NodeId) -> Option<Never> {
        None
    }
}
