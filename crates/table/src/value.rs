//! Small values that refuse a write with a stale fencing token.

use crate::answer::{Answer, Quota, Refusal, Senseless};
use crate::lock::Lock;
use crate::table::Table;
use crate::{Fence, Put, Resource, Text};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// All values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Values {
    all: BTreeMap<Text, Value>,
    /// Names and contents together.
    bytes: u64,
}

/// A value, with the largest fence that it was written with.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Value {
    /// The fence.
    pub fence: Fence,
    /// What it is; nothing if it was deleted.
    pub value: Option<Text>,
}

impl Values {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }
}

impl Table {
    /// One value.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.values.all.get(name)
    }

    pub(crate) fn put(&mut self, put: &Put) -> Answer {
        let Put { name, fence, value } = put;
        let fence = *fence;
        let value = value.as_ref();
        if fence > self.fresh_fence() {
            // Once written, it would keep out every writer there will be.
            return Answer::Refused(Refusal::Senseless(Senseless::FutureFence));
        }
        let at_least = self.least_fence(name);
        if fence < at_least && !self.is_first_of_a_holder(name, fence) {
            return Answer::Refused(Refusal::StaleFence { at_least });
        }
        let size = |value: Option<&Text>| value.map_or(0, |text| text.len() as u64);
        let old = self.values.all.get(name);
        let freed = old.map_or(0, |old| name.len() as u64 + size(old.value.as_ref()));
        let bytes = self.values.bytes - freed + name.len() as u64 + size(value);
        if old.is_none() && self.values.all.len() >= self.limits.values as usize {
            return Answer::Refused(Refusal::Full(Quota::Values));
        }
        if bytes > self.limits.values_bytes && value.is_some() {
            return Answer::Refused(Refusal::Full(Quota::ValuesBytes));
        }
        self.values.bytes = bytes;
        self.values.all.insert(name.clone(), Value { fence, value: value.cloned() });
        Answer::Done
    }

    /// The smallest fence that a writer may show. A value that was never written must not take one
    /// of a hold that has ended, of the lock or of the election of its name, even if that is
    /// forgotten: all fences up to the largest one forgotten may be such.
    fn least_fence(&self, name: &Text) -> Fence {
        if let Some(value) = self.values.all.get(name) {
            return value.fence;
        }
        let ended = |guard| self.locks.get(&guard).map_or(self.forgotten, Lock::ended);
        let [lock, election] = guards(name).map(ended);
        Fence(lock.max(election).0 + 1)
    }

    /// Whether a value that was never written gets its first fence from somebody who is inside now.
    /// Others may have left with the same fence, if they shared it, or with a later one.
    fn is_first_of_a_holder(&self, name: &Text, fence: Fence) -> bool {
        let is_held = |guard: Resource| self.verify(&guard, fence, None);
        !self.values.all.contains_key(name) && guards(name).into_iter().any(is_held)
    }
}

/// Whose holders write a value.
fn guards(name: &Text) -> [Resource; 2] {
    [Resource::lock(name), Resource::election(name)]
}
