//! The application above the state machines of a node: it asks them and is told by them.

use crate::{AnyIndication, AnyRequest, Automaton, Input, Key};
use conclave_core::{NodeId, Ticks};

/// The application of a node. It runs between the machines' steps, on their thread; all that one
/// event brings about is on disk before any of it leaves.
pub trait Application: Send + 'static {
    /// What other threads ask of it.
    type Command: Send + 'static;

    /// Makes the machine of that name in its first state, and says what happens to it first if it
    /// is new: [`Input::Start`], as a rule. `None` if there is none such, or there are too many.
    fn machine(&mut self, key: &Key) -> Option<(Box<dyn Automaton>, Input)>;

    /// All machines that the disk knew are back, and this is what it was asked to save.
    fn begin(&mut self, saved: Vec<(String, Vec<u8>)>, host: &mut dyn HostContext);

    /// A machine began to exist just now, because it was asked for something or was sent a message.
    fn created(&mut self, key: &Key, host: &mut dyn HostContext);

    /// Somebody asks.
    fn command(&mut self, command: Self::Command, host: &mut dyn HostContext);

    /// A machine tells.
    fn told(&mut self, key: &Key, told: AnyIndication, host: &mut dyn HostContext);

    /// A machine asks the layer below it.
    fn asked(&mut self, key: &Key, asked: AnyRequest, host: &mut dyn HostContext);

    /// The link to a peer came or went.
    fn link(&mut self, peer: NodeId, connected: bool, host: &mut dyn HostContext);

    /// The time it wanted to be woken at has come.
    fn wake(&mut self, host: &mut dyn HostContext);
}

/// What the application can do.
pub trait HostContext {
    /// This node.
    fn me(&self) -> NodeId;
    /// The time since the node started, by a clock that never jumps.
    fn now(&self) -> Ticks;
    /// Asks a machine, which is made if need be; one without such a request is only made. It acts
    /// after the application has returned, still before anything leaves.
    fn ask(&mut self, key: &Key, asked: AnyRequest);
    /// Tells a machine something as the layer below it; one that does not exist, or hears nothing,
    /// is passed over.
    fn tell(&mut self, key: &Key, told: AnyIndication);
    /// Has all other nodes make the machine of that name too, asked or not: an empty message goes
    /// to each, which is no message of any algorithm.
    fn open(&mut self, key: &Key);
    /// The machines that exist.
    fn machines(&self) -> Vec<Key>;
    /// Has something on disk under a name of the application's own; `None` removes it.
    fn save(&mut self, name: &str, value: Option<Vec<u8>>);
    /// Does this when all that has happened so far is on disk: answers go out this way.
    fn afterwards(&mut self, deed: Box<dyn FnOnce() + Send>);
    /// Wakes the application at this time, instead of any other that it named before.
    fn wake_at(&mut self, at: Option<Ticks>);
    /// The random number that a node made on its first start; `None` of one never met.
    fn identity(&self, node: NodeId) -> Option<u128>;
    /// What is known of the link to a peer.
    fn peer(&self, peer: NodeId) -> Peer;
    /// Messages sent to other nodes by this machine since the node started, by kind.
    fn sent(&self, key: &Key) -> Vec<(String, u64)>;
}

/// What is known of the link to a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peer {
    /// Whether the link stands.
    pub connected: bool,
    /// Since when it stands, or does not.
    pub since: Ticks,
    /// How many durable messages it has yet to acknowledge.
    pub unacknowledged: u64,
    /// Whether there are so many that nobody should ask for more.
    pub full: bool,
}
