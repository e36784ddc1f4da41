//! Judges a recording of a real cluster: safety and liveness, by the monitors that judge simulated
//! runs.

use conclave_core::clock::Vector;
use conclave_core::{NodeId, Property, Ticks, Verdict, Violation, election, mutex};
use conclave_net::{AnyIndication, AnyRequest};

/// In more nodes than this nobody follows causes.
const ORDER_MAX: u32 = 64;
/// A real run that ends while somebody waits was cut short, and says nothing of what comes.
const NO_PATIENCE: Ticks = Ticks(u64::MAX);

/// What became of each promise, and the broken ones.
pub type Judgement = (Vec<(Property, Verdict)>, Vec<Violation>);

/// Watches one machine on all nodes.
pub trait Judge {
    /// Somebody asks; why not, if it may not.
    fn asked(&mut self, node: NodeId, asked: AnyRequest, at: Ticks) -> Result<(), String>;
    /// Somebody is told; why not, if it cannot be.
    fn told(&mut self, node: NodeId, told: AnyIndication, at: Ticks) -> Result<(), String>;
    /// A node stops, and forgets whatever it wanted.
    fn crashed(&mut self, node: NodeId, at: Ticks);
    /// It is back.
    fn returned(&mut self, node: NodeId);
    /// It did what nobody saw: it may be inside, or wait. What it asks or is told next shows it.
    fn lost_sight(&mut self, node: NodeId, at: Ticks);
    /// A node sends: what the message carries, where causes are followed.
    fn sent(&mut self, node: NodeId) -> Option<Vector> {
        let _ = node;
        None
    }
    /// It arrives.
    fn received(&mut self, node: NodeId, carried: &Vector) {
        let _ = (node, carried);
    }
    /// The run is over.
    fn end(&mut self, at: Ticks) -> Judgement;
}

/// Judges mutual exclusion.
pub struct Entries {
    monitor: mutex::Monitor,
    /// Of whom it is not known whether they wait, or are inside.
    out_of_sight: Vec<bool>,
}

impl Entries {
    /// Nothing has happened yet on any of `n` nodes.
    pub fn new(n: u32) -> Self {
        let mut monitor = mutex::Monitor::new(n, None);
        if n <= ORDER_MAX {
            monitor.watch_order();
        }
        Self { monitor, out_of_sight: vec![false; n as usize] }
    }
}

impl Judge for Entries {
    fn asked(&mut self, node: NodeId, asked: AnyRequest, at: Ticks) -> Result<(), String> {
        let waiting = self.monitor.is_waiting(node);
        let inside = self.monitor.is_inside(node);
        let unknown = self.out_of_sight[node.index()];
        match asked {
            AnyRequest::Observe(_) => return Ok(()),
            AnyRequest::Campaign | AnyRequest::Resign => {
                return Err("asks a lock for an election".to_string());
            }
            AnyRequest::Acquire if !waiting && !inside => self.monitor.requested(node, at),
            AnyRequest::Acquire => return Err("asks to enter though it has".to_string()),
            AnyRequest::Release if inside => self.monitor.released(node, at),
            AnyRequest::Cancel if waiting => self.monitor.cancelled(node, at),
            AnyRequest::Release | AnyRequest::Cancel if unknown => {}
            AnyRequest::Release => return Err("leaves, but it is not inside".to_string()),
            AnyRequest::Cancel => return Err("gives up what it does not want".to_string()),
        }
        self.out_of_sight[node.index()] = false;
        Ok(())
    }

    fn told(&mut self, node: NodeId, told: AnyIndication, at: Ticks) -> Result<(), String> {
        let AnyIndication::Entered { fence } = told else {
            return Err("is told what no lock tells".to_string());
        };
        let unknown = std::mem::take(&mut self.out_of_sight[node.index()]);
        if !self.monitor.is_waiting(node) {
            if !unknown || self.monitor.is_inside(node) {
                return Err("enters, but it does not wait".to_string());
            }
            self.monitor.requested_unseen(node, at);
        }
        self.monitor.entered(node, fence, at);
        Ok(())
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
    }

    fn returned(&mut self, _: NodeId) {}

    fn lost_sight(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
        self.out_of_sight[node.index()] = true;
    }

    fn sent(&mut self, node: NodeId) -> Option<Vector> {
        self.monitor.causality().map(|causality| causality.sent(node).clone())
    }

    fn received(&mut self, node: NodeId, carried: &Vector) {
        if let Some(causality) = self.monitor.causality() {
            causality.received(node, carried);
        }
    }

    fn end(&mut self, at: Ticks) -> Judgement {
        self.monitor.end(at, false, NO_PATIENCE);
        let verdict = |property| (property, self.monitor.verdict(property));
        (Property::MUTEX.map(verdict).into(), self.monitor.violations().to_vec())
    }
}

/// Judges an election.
pub struct Leaders(election::Monitor);

impl Leaders {
    /// Nothing has happened yet on any of `n` nodes.
    pub fn new(n: u32) -> Self {
        Self(election::Monitor::new(n))
    }
}

impl Judge for Leaders {
    fn asked(&mut self, _: NodeId, asked: AnyRequest, _: Ticks) -> Result<(), String> {
        match asked {
            AnyRequest::Campaign | AnyRequest::Resign => Ok(()),
            AnyRequest::Acquire
            | AnyRequest::Release
            | AnyRequest::Cancel
            | AnyRequest::Observe(_) => Err("asks an election for a lock".to_string()),
        }
    }

    fn told(&mut self, node: NodeId, told: AnyIndication, at: Ticks) -> Result<(), String> {
        match told {
            AnyIndication::Elected { leader, term } => self.0.elected(node, leader, term, at),
            AnyIndication::Deposed { .. } => self.0.deposed(node, at),
            AnyIndication::Suspect(_) | AnyIndication::Trust(_) => {}
            AnyIndication::Entered { .. } => {
                return Err("is told what no election tells".to_string());
            }
        }
        Ok(())
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.0.crashed(node, at);
    }

    fn returned(&mut self, node: NodeId) {
        self.0.returned(node);
    }

    fn lost_sight(&mut self, _: NodeId, _: Ticks) {}

    fn end(&mut self, at: Ticks) -> Judgement {
        self.0.end(None, at, false, NO_PATIENCE);
        let verdict = |property| (property, self.0.verdict(property));
        (Property::ELECTION.map(verdict).into(), self.0.violations().to_vec())
    }
}

/// Nobody can say of a real run who was alive and merely slow, so nothing is judged.
pub struct Suspicions;

impl Judge for Suspicions {
    fn asked(&mut self, _: NodeId, _: AnyRequest, _: Ticks) -> Result<(), String> {
        Err("asks a detector, which answers nobody".to_string())
    }

    fn told(&mut self, _: NodeId, told: AnyIndication, _: Ticks) -> Result<(), String> {
        match told {
            AnyIndication::Suspect(_) | AnyIndication::Trust(_) => Ok(()),
            AnyIndication::Entered { .. }
            | AnyIndication::Elected { .. }
            | AnyIndication::Deposed { .. } => Err("is told what no detector tells".to_string()),
        }
    }

    fn crashed(&mut self, _: NodeId, _: Ticks) {}

    fn returned(&mut self, _: NodeId) {}

    fn lost_sight(&mut self, _: NodeId, _: Ticks) {}

    fn end(&mut self, _: Ticks) -> Judgement {
        (Property::DETECTOR.map(|property| (property, Verdict::NotChecked)).into(), Vec::new())
    }
}
