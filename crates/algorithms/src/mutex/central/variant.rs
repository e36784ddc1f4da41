//! The variants of the centralised algorithm.

use crate::mutex::places::Places;
use conclave_core::Ticks;
use serde::{Deserialize, Serialize};

/// What a client hears when the resource is busy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Busy {
    /// Nothing, until its turn comes.
    Silent,
    /// That it stands in line.
    Queued,
    /// That it is refused; it tries again after a pause of at most this long.
    Try(Ticks),
}

/// Who is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Order {
    /// Whoever came first.
    Fifo,
    /// Anyone, as with a counting semaphore.
    Random,
    /// Whoever came last.
    Lifo,
    /// Whoever asked first by the clients' Lamport clocks, among those in line.
    Timestamp,
}

/// Whose hold a release ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Release {
    /// That of whoever sends it.
    Own,
    /// That of whoever is inside, as where a release names nobody and only frees a semaphore.
    Anybodys,
}

/// The variant of the algorithm that all nodes run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// Who is who; there is one coordinator.
    pub places: Places,
    /// What a client hears when the resource is busy.
    pub busy: Busy,
    /// Who is served next.
    pub order: Order,
    /// Whether a release is acknowledged.
    pub release_ack: bool,
    /// Whose hold a release ends.
    pub release: Release,
}

/// The only timer: the pause after a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// Ask again.
    Backoff,
}
