//! Whoever uses the clusters in these tests: what they may do, and what they remember.

use super::naive::User;
use conclave_core::{NodeId, election, mutex};

/// The user of a lock: asks a number of times, and always leaves again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Locker {
    phase: Phase,
    left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Idle,
    Waiting,
    Inside,
}

impl Locker {
    /// Somebody who will ask so many times.
    pub fn new(requests: u32) -> Self {
        Self { phase: Phase::Idle, left: requests }
    }
}

impl User<mutex::Mutex> for Locker {
    fn asks(&self) -> Vec<(mutex::Request, Self)> {
        match self.phase {
            Phase::Idle if self.left > 0 => {
                let waiting = Self { phase: Phase::Waiting, left: self.left - 1 };
                vec![(mutex::Request::Acquire, waiting)]
            }
            Phase::Inside => {
                let idle = Self { phase: Phase::Idle, left: self.left };
                vec![(mutex::Request::Release, idle)]
            }
            Phase::Idle | Phase::Waiting => Vec::new(),
        }
    }

    fn hears(&mut self, told: &mutex::Indication) {
        let mutex::Indication::Entered { .. } = told;
        self.phase = Phase::Inside;
    }
}

/// The user of an election: campaigns once, or never, and follows whom it is told to. Who follows
/// somebody has no reason to campaign.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Citizen {
    follows: Option<NodeId>,
    /// Whether it campaigned, and not in vain.
    begun: bool,
    campaigns: bool,
}

impl Citizen {
    /// The citizens at first, once for every set of them that campaigns and is not empty.
    pub fn every_set(n: u32) -> Vec<Vec<Self>> {
        let citizen = |campaigns| Self { follows: None, begun: false, campaigns };
        let set = |bits: u32| (0..n).map(|node| citizen(bits >> node & 1 == 1)).collect();
        (1..1 << n).map(set).collect()
    }
}

impl User<election::Election> for Citizen {
    fn asks(&self) -> Vec<(election::Request, Self)> {
        let asked = Self { campaigns: false, ..self.clone() };
        let able = self.campaigns && self.follows.is_none();
        able.then_some((election::Request::Campaign, asked)).into_iter().collect()
    }

    fn stirred(&mut self) {
        self.begun = true;
    }

    fn hears(&mut self, told: &election::Indication) {
        match told {
            election::Indication::Elected { leader, .. } => self.follows = Some(*leader),
            election::Indication::Deposed { .. } => self.follows = None,
            election::Indication::Suspect(_) | election::Indication::Trust(_) => {}
        }
    }
}
