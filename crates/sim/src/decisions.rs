//! Recorded decisions of chance in a run (which message was lost, who asked when): the raw material
//! of shrinking.

use crate::network::Fate;
use crate::plan::{Act, Action, MessageRule, ScriptLine};
use conclave_core::{NodeId, Ticks};
use std::collections::BTreeMap;

/// Every decision of one run, in a form that a [`crate::Plan`] can repeat.
#[derive(Clone, Debug, Default)]
pub struct Decisions {
    /// What became of each message that was not simply one unit under way.
    pub rules: Vec<MessageRule>,
    /// What the applications did, and when.
    pub script: Vec<ScriptLine>,
    counts: BTreeMap<(NodeId, NodeId, &'static str), u32>,
}

impl Decisions {
    pub(crate) fn message(
        &mut self,
        now: Ticks,
        from: NodeId,
        to: NodeId,
        kind: &'static str,
        fate: Fate,
    ) {
        let nth = self.counts.entry((from, to, kind)).or_default();
        *nth += 1;
        let action = match (fate.arrival, fate.again) {
            (None, _) => Action::Drop,
            (Some(_), Some(_)) => Action::Duplicate,
            (Some(arrival), None) if arrival - now == Ticks::UNIT => return,
            (Some(arrival), None) => Action::Delay(arrival - now),
        };
        self.rules.push(MessageRule {
            from: Some(from),
            to: Some(to),
            kind: Some(kind.to_string()),
            nth: Some(*nth),
            action,
        });
    }

    pub(crate) fn acts(&mut self, at: Ticks, node: NodeId, act: Act) {
        self.script.push(ScriptLine { at, node, act });
    }
}
