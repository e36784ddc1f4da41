//! Adapts each algorithm of the catalogue to the network, in its own types.

use conclave_algorithms::Error;
use conclave_algorithms::catalog::{Cluster, Entry, Led, LedLock, Rejoin, Visitor};
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{AnyIndication, NodeId, Oracle, Process};
use conclave_net::{Heard, Survival};

/// What a machine hears of others on its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hears {
    /// Nothing: it stands on nothing.
    Nothing,
    /// Whom the detector suspects and trusts.
    Detector,
    /// All that the election tells.
    Election,
}

/// One kind of machine, in its own types.
pub struct Made<P: Process> {
    /// How its nodes are made.
    pub cluster: Cluster<P>,
    /// How it lives through a crash.
    pub survival: Survival,
    /// What it makes of what it is told.
    pub heard: Heard<P>,
    /// Of whom it is told.
    pub hears: Hears,
}

/// Code that can use any machine of a node, whatever its types.
pub trait MachineVisitor: Sized {
    /// What comes of it.
    type Output;
    /// Gets the machine of a lock.
    fn lock<P: Process<Provides = Mutex>>(self, made: Made<P>) -> Self::Output;
    /// Gets the machine of the election.
    fn election<P: Process<Provides = Election>>(self, made: Made<P>) -> Self::Output;
    /// Gets the machine of the failure detector.
    fn detector<P: Process<Provides = Detector>>(self, made: Made<P>) -> Self::Output;
}

/// Says of what the catalogue builds how it runs on a network.
pub(super) struct OnNetwork<V> {
    pub visitor: V,
    election: Survival,
}

impl<V> OnNetwork<V> {
    /// An election with a rule for nodes that come back knows how to lose messages; one without
    /// must never notice that a node was away.
    pub fn of(entry: &Entry, visitor: V) -> Self {
        let election = match entry.rejoin_without_disk {
            Rejoin::ByProtocol => Survival::Returns,
            Rejoin::AfterAskingAll | Rejoin::AfterLease | Rejoin::Never => Survival::Whole,
        };
        Self { visitor, election }
    }

    /// A machine that stands on nothing, or on a detector.
    pub fn made<P: Process<Uses: Oracle>>(
        &self,
        cluster: Cluster<P>,
        survival: Survival,
    ) -> Made<P> {
        let suspects = <P::Uses as Oracle>::suspect(NodeId(0)).is_some();
        let hears = if suspects { Hears::Detector } else { Hears::Nothing };
        Made { cluster, survival, heard: AnyIndication::to_oracle::<P::Uses>, hears }
    }
}

impl<V: MachineVisitor> Visitor for OnNetwork<V> {
    type Output = V::Output;

    fn mutex<P>(self, cluster: Cluster<P>) -> V::Output
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        let made = self.made(cluster, Survival::Whole);
        self.visitor.lock(made)
    }

    /// On a network the election below is the cluster's, which serves all locks.
    fn led<U: Led>(self, lock: LedLock<'_, U>) -> Result<V::Output, Error> {
        let survival = Survival::Returns;
        let heard: Heard<U> = AnyIndication::to_election;
        let cluster = lock.alone();
        Ok(self.visitor.lock(Made { cluster, survival, heard, hears: Hears::Election }))
    }

    fn election<P>(self, cluster: Cluster<P>) -> V::Output
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        let made = self.made(cluster, self.election);
        self.visitor.election(made)
    }

    fn detector<P>(self, cluster: Cluster<P>) -> V::Output
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        let made = self.made(cluster, Survival::Forgets);
        self.visitor.detector(made)
    }

    fn clock<P>(self, _: Cluster<P>) -> V::Output
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        unreachable!("its family was looked at: a clock is neither lock, election nor detector")
    }
}
