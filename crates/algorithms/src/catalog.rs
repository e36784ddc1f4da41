//! The single list of algorithms: what each is, promises, costs and takes.
//!
//! Command line, documentation and conformance tests derive from it.

mod adaptive;
mod bully;
mod central;
mod central_failover;
mod chang_roberts;
mod claims;
mod clock_example;
mod council;
pub mod detection;
mod dropped;
mod echo;
mod entry;
mod evidence;
mod facets;
mod flood_max;
mod heartbeat;
mod hirschberg_sinclair;
mod hybrid_clock;
mod lamport;
mod lamport_clock;
mod leadership;
mod limits;
mod maekawa;
mod majority;
mod matrix_clock;
mod naimi_trehel;
mod network;
mod on_a_ring;
mod parameter;
mod peterson;
mod phi_accrual;
mod quorum;
mod raymond;
mod ricart_agrawala;
mod ring;
mod roucairol_carvalho;
mod suzuki_kasami;
mod token_ring;
mod token_ring_regenerating;
mod topology;
mod total_order;
mod vector_clock;
mod voting;
mod wireless;
mod yo_yo;

pub use claims::{Claim, claim, claims};
pub use conclave_core::Cluster;
pub use dropped::{Assumption, Dropped, Finding, Runs};
pub use entry::{Cost, ElectionCost, Entry, Family, Formula, MutexCost, Rejoin, Setting};
pub use evidence::{Arrival, Evidence, Stated};
pub use leadership::{Led, LedLock};
pub use network::{Carries, Lock, Needs, OnNetwork, Part, Set};
pub use parameter::{Kind, Parameter, Params};

use crate::Error;
use crate::election::any::AnyElection;
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::timekeeping::Timekeeping;
use conclave_core::{NodeId, Oracle, Process};
use entry::exactly;

/// Every algorithm, in the order in which they are best met.
pub const ENTRIES: &[&Entry] = &[
    &central::ENTRY,
    &central_failover::ENTRY,
    &voting::ENTRY,
    &quorum::ENTRY,
    &total_order::ENTRY,
    &lamport::ENTRY,
    &ricart_agrawala::ENTRY,
    &roucairol_carvalho::ENTRY,
    &maekawa::ENTRY,
    &token_ring::ENTRY,
    &token_ring_regenerating::ENTRY,
    &suzuki_kasami::ENTRY,
    &raymond::ENTRY,
    &naimi_trehel::ENTRY,
    &bully::ENTRY,
    &ring::ENTRY,
    &chang_roberts::ENTRY,
    &hirschberg_sinclair::ENTRY,
    &peterson::ENTRY,
    &yo_yo::ENTRY,
    &wireless::ENTRY,
    &majority::ENTRY,
    &flood_max::ENTRY,
    &echo::ENTRY,
    &lamport_clock::ENTRY,
    &vector_clock::ENTRY,
    &matrix_clock::ENTRY,
    &hybrid_clock::ENTRY,
    &heartbeat::ENTRY,
    &adaptive::ENTRY,
    &phi_accrual::ENTRY,
];

/// The entry of that id.
pub fn find(id: &str) -> Result<&'static Entry, Error> {
    ENTRIES
        .iter()
        .copied()
        .find(|entry| entry.id == id)
        .ok_or_else(|| Error::UnknownAlgorithm { id: id.to_string(), hint: hint(id) })
}

/// Code that can run any algorithm, whatever its types.
pub trait Visitor: Sized {
    /// What comes of it.
    type Output;
    /// Gets the cluster of a mutual exclusion algorithm.
    fn mutex<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Mutex, Uses: Oracle>;
    /// Gets a lock that stands on an election: [`Self::mutex`] with the chosen one below it, unless
    /// a visitor would rather have the lock alone.
    fn led<U: Led>(self, lock: LedLock<'_, U>) -> Result<Self::Output, Error> {
        lock.stacked(self)
    }
    /// Gets the cluster of an election.
    fn election<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Election, Uses: Oracle>;
    /// Gets the cluster of a failure detector.
    fn detector<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Detector, Uses: Oracle>;
    /// Gets the cluster of a clock.
    fn clock<P>(self, cluster: Cluster<P>) -> Self::Output
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>;
}

/// Builds the cluster of a setting and hands it to the visitor.
pub fn visit<V: Visitor>(setting: &Setting, visitor: V) -> Result<V::Output, Error> {
    match setting.entry.id {
        "central" => Ok(visitor.mutex(central::cluster(setting)?)),
        "central-failover" => visitor.led(central_failover::lock(setting)?),
        "voting" => Ok(visitor.mutex(voting::cluster(setting)?)),
        "quorum" => Ok(visitor.mutex(quorum::cluster(setting)?)),
        "total-order" => Ok(visitor.mutex(total_order::cluster(setting)?)),
        "lamport" => Ok(visitor.mutex(lamport::cluster(setting)?)),
        "ricart-agrawala" => Ok(visitor.mutex(ricart_agrawala::cluster(setting)?)),
        "roucairol-carvalho" => Ok(visitor.mutex(roucairol_carvalho::cluster(setting)?)),
        "maekawa" => Ok(visitor.mutex(maekawa::cluster(setting)?)),
        "token-ring" if token_ring::detects_loss(setting) => {
            Ok(visitor.mutex(token_ring::ping_pong(setting)?))
        }
        "token-ring" => Ok(visitor.mutex(token_ring::cluster(setting)?)),
        "token-ring-regenerating" => visitor.led(token_ring_regenerating::lock(setting)?),
        "suzuki-kasami" => Ok(visitor.mutex(suzuki_kasami::cluster(setting)?)),
        "raymond" => Ok(visitor.mutex(raymond::cluster(setting)?)),
        "naimi-trehel" => Ok(visitor.mutex(naimi_trehel::cluster(setting)?)),
        "chang-roberts" => Ok(visitor.election(chang_roberts::cluster(setting)?)),
        "hirschberg-sinclair" => Ok(visitor.election(hirschberg_sinclair::cluster(setting)?)),
        "peterson" => Ok(visitor.election(peterson::cluster(setting)?)),
        "bully" => Ok(visitor.election(bully::cluster(setting)?)),
        "ring" => Ok(visitor.election(ring::cluster(setting)?)),
        "majority" => Ok(visitor.election(majority::cluster(setting)?)),
        "yo-yo" => Ok(visitor.election(yo_yo::cluster(setting)?)),
        "wireless" => Ok(visitor.election(wireless::cluster(setting)?)),
        "flood-max" => Ok(visitor.election(flood_max::cluster(setting)?)),
        "echo" => Ok(visitor.election(echo::cluster(setting)?)),
        "heartbeat" => Ok(visitor.detector(heartbeat::cluster(setting)?)),
        "adaptive" => Ok(visitor.detector(adaptive::cluster(setting)?)),
        "phi-accrual" => Ok(visitor.detector(phi_accrual::cluster(setting)?)),
        "lamport-clock" => Ok(visitor.clock(lamport_clock::cluster(setting)?)),
        "vector-clock" => Ok(visitor.clock(vector_clock::cluster(setting)?)),
        "matrix-clock" => Ok(visitor.clock(matrix_clock::cluster(setting)?)),
        "hybrid-clock" => Ok(visitor.clock(hybrid_clock::cluster(setting)?)),
        id => Err(Error::NotBuilt { id }),
    }
}

/// Builds the election that a lock of this setting stands on, to serve many of them.
pub fn shared_election(
    setting: &Setting,
) -> Result<impl Fn(NodeId) -> AnyElection + Send + Sync + use<>, Error> {
    leadership::election(setting)
}

/// The ids that look like what was typed, or where to find them all.
fn hint(typed: &str) -> String {
    match alike(typed, ENTRIES.iter().map(|entry| entry.id)).as_slice() {
        [] => "'conclave algorithms' lists them".to_string(),
        alike => format!("did you mean {}?", alike.join(" or ")),
    }
}

/// The names that look like what was typed; not more than a few.
pub fn alike<'a>(typed: &str, names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    // A letter or two are in many names, and say nothing.
    let part = |name: &str| typed.len() > 2 && name.contains(typed) || typed.contains(name);
    let near = |name: &&str| part(name) || distance(name, typed) <= 3;
    names.filter(near).take(4).collect()
}

/// How many letters must be added, dropped or changed to make one word of the other.
pub fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.chars().enumerate() {
            let change = diagonal + usize::from(x != y);
            diagonal = std::mem::replace(&mut row[j + 1], 0);
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.chars().count()]
}

#[cfg(test)]
mod tests;
