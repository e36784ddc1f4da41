//! Records of a trace: what happened in a run, one for each thing.

use crate::outcome::Ending;
use conclave_core::{NodeId, Ticks, Violation};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "kebab-case")]
pub enum Record {
    /// A node did one atomic action.
    Step(Step),
    /// A message reached a node that was down.
    Lost {
        /// When.
        at: Ticks,
        /// Whom it reached.
        node: NodeId,
        /// The number under which it was sent.
        number: u64,
    },
    /// A node was dead from the beginning.
    Dead {
        /// Which.
        node: NodeId,
    },
    /// A node stopped.
    Crash {
        /// When.
        at: Ticks,
        /// Which.
        node: NodeId,
    },
    /// A node came back; one that was up crashed and came back at once.
    Restart {
        /// When.
        at: Ticks,
        /// Which.
        node: NodeId,
        /// Whether its disk was lost.
        amnesia: bool,
    },
    /// A node did nothing from now on.
    Pause {
        /// When.
        at: Ticks,
        /// Which.
        node: NodeId,
    },
    /// It went on, with all that had waited for it.
    Resume {
        /// When.
        at: Ticks,
        /// Which.
        node: NodeId,
    },
    /// Messages between these groups were lost from now on.
    Partition {
        /// When.
        at: Ticks,
        /// Its number, for when it heals.
        number: u32,
        /// The groups.
        groups: Vec<Vec<NodeId>>,
    },
    /// A partition was over.
    Heal {
        /// When.
        at: Ticks,
        /// Its number.
        number: u32,
    },
    /// A node was told, wrongly, that another had crashed.
    Suspect {
        /// When.
        at: Ticks,
        /// Who was told.
        by: NodeId,
        /// Of whom.
        of: NodeId,
    },
    /// A property was violated.
    Violation(Violation),
    /// The run was over.
    End {
        /// When.
        at: Ticks,
        /// How.
        ending: Ending,
        /// How many events more there were than could be kept.
        missing: u64,
    },
}

impl Record {
    /// The step that it is, if it is one.
    pub fn step(&self) -> Option<&Step> {
        match self {
            Self::Step(step) => Some(step),
            Self::Lost { .. }
            | Self::Dead { .. }
            | Self::Crash { .. }
            | Self::Restart { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Partition { .. }
            | Self::Heal { .. }
            | Self::Suspect { .. }
            | Self::Violation(_)
            | Self::End { .. } => None,
        }
    }

    /// The number of the message that comes to its end with it: received, or lost at a node that
    /// is down.
    pub fn landing(&self) -> Option<u64> {
        match self {
            Self::Lost { number, .. } => Some(*number),
            Self::Step(Step { cause: Cause::Message { number, .. }, .. }) => Some(*number),
            Self::Step(_)
            | Self::Dead { .. }
            | Self::Crash { .. }
            | Self::Restart { .. }
            | Self::Pause { .. }
            | Self::Resume { .. }
            | Self::Partition { .. }
            | Self::Heal { .. }
            | Self::Suspect { .. }
            | Self::Violation(_)
            | Self::End { .. } => None,
        }
    }

    /// When it happened.
    pub fn at(&self) -> Ticks {
        match self {
            Self::Step(step) => step.at,
            Self::Dead { .. } => Ticks::ZERO,
            Self::Violation(violation) => violation.at,
            Self::Lost { at, .. }
            | Self::Crash { at, .. }
            | Self::Restart { at, .. }
            | Self::Pause { at, .. }
            | Self::Resume { at, .. }
            | Self::Partition { at, .. }
            | Self::Heal { at, .. }
            | Self::Suspect { at, .. }
            | Self::End { at, .. } => *at,
        }
    }
}

/// One atomic action of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// When.
    pub at: Ticks,
    /// Who.
    pub node: NodeId,
    /// What made it act.
    pub cause: Cause,
    /// The event, as the algorithm's own types have it; null if the algorithm had no part in it.
    pub event: Value,
    /// The answers to `Context::choose`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<u32>,
    /// What it did about it, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

impl Step {
    /// Whether nothing happened but that the node was started: no event worth a sign or a time.
    pub fn is_quiet_start(&self) -> bool {
        self.cause == Cause::Start && self.effects.is_empty()
    }

    /// The messages it sent.
    pub fn sends(&self) -> impl Iterator<Item = &Sending> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Send(send) => Some(send),
            Effect::SetTimer { .. }
            | Effect::CancelTimer { .. }
            | Effect::Indicate { .. }
            | Effect::Request { .. } => None,
        })
    }

    /// What it told the layer above.
    pub fn told(&self) -> impl Iterator<Item = Told> {
        self.effects.iter().filter_map(|effect| match effect {
            Effect::Indicate { effect } => Some(Told::of(effect)),
            Effect::Send(_)
            | Effect::SetTimer { .. }
            | Effect::CancelTimer { .. }
            | Effect::Request { .. } => None,
        })
    }
}

/// What makes a node act, as people say it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// It was started.
    Start,
    /// It came back.
    Restart,
    /// The application asked this.
    Request(String),
    /// The layer below told it this.
    Indication(String),
    /// A message arrived.
    Message {
        /// The number under which it was sent.
        number: u64,
        /// Who sent it.
        from: NodeId,
        /// The paper's word for it.
        label: String,
    },
    /// This timer fired.
    Timer(String),
    /// The application sent a message of its own. The algorithm has no part in it.
    Tell,
    /// Nobody knows: it was not recorded, and is seen only in what others received of it.
    Unseen,
}

/// What a node wanted done, as its own types have it (`effect`), and what became of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Effect {
    /// It sent a message.
    Send(Sending),
    /// It set a timer.
    SetTimer {
        /// Its name.
        label: String,
        /// When it would fire.
        until: Ticks,
        /// The effect.
        effect: Value,
    },
    /// It cancelled a timer, running or not.
    CancelTimer {
        /// Its name.
        label: String,
        /// The effect.
        effect: Value,
    },
    /// It told the layer above.
    Indicate {
        /// The effect.
        effect: Value,
    },
    /// It asked the layer below.
    Request {
        /// The effect.
        effect: Value,
    },
}

impl Effect {
    /// The effect, as the node's own types have it.
    pub(crate) fn typed(&self) -> &Value {
        match self {
            Self::Send(sending) => &sending.effect,
            Self::SetTimer { effect, .. }
            | Self::CancelTimer { effect, .. }
            | Self::Indicate { effect }
            | Self::Request { effect } => effect,
        }
    }
}

/// A message that was sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sending {
    /// Its number: from 1, in the order of sending.
    pub number: u64,
    /// To whom.
    pub to: NodeId,
    /// The paper's word for it.
    pub label: String,
    /// What it carries, in words; nodes appear as marks.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub details: String,
    /// When it would arrive; never, if it was lost on the way.
    pub arrival: Option<Ticks>,
    /// When it would arrive once more, each time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub again: Vec<Ticks>,
    /// The effect; null if the application sent it.
    pub effect: Value,
}

impl Sending {
    /// When it would arrive, each time.
    pub fn arrivals(&self) -> impl Iterator<Item = Ticks> {
        self.arrival.into_iter().chain(self.again.iter().copied())
    }
}

/// What a node told the layer above, as far as a drawing has a sign for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// It is inside.
    Entered {
        /// The fence of this entry.
        fence: u64,
    },
    /// It takes this node for the leader.
    Elected {
        /// Whom.
        leader: NodeId,
        /// In which term.
        term: u64,
    },
    /// It leads no longer.
    Deposed,
    /// It thinks that this node has crashed.
    Suspect(NodeId),
    /// It thinks so no more.
    Trust(NodeId),
    /// Something else.
    Other(String),
}

impl Told {
    /// What an indication, as its own type has it, says.
    pub fn of(effect: &Value) -> Self {
        let told = effect.get("Indicate").unwrap_or(effect);
        let number = |field: &str, name: &str| told.get(field)?.get(name)?.as_u64();
        let named = |index: u64| NodeId(u32::try_from(index).unwrap_or(u32::MAX));
        let node = |field: &str| told.get(field)?.as_u64().map(named);
        if let Some(fence) = number("Entered", "fence") {
            Self::Entered { fence }
        } else if let (Some(leader), Some(term)) =
            (number("Elected", "leader"), number("Elected", "term"))
        {
            Self::Elected { leader: named(leader), term }
        } else if told.get("Deposed").is_some() {
            Self::Deposed
        } else if let Some(node) = node("Suspect") {
            Self::Suspect(node)
        } else if let Some(node) = node("Trust") {
            Self::Trust(node)
        } else {
            Self::Other(told.to_string())
        }
    }
}
