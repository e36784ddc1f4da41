//! All that can be simulated and checked by name: the algorithms of the catalogue and, beside them,
//! the lock table of the replicated service.
//!
//! The lock table has no row in the catalogue: that lists algorithms to choose from, with what they
//! cost and how they run on a network, and must not depend on the table.

use crate::lock_table;
use conclave_algorithms::Error;
use conclave_algorithms::catalog::{self, Claim, Entry};

/// The row of that id.
pub fn find(id: &str) -> Result<&'static Entry, Error> {
    match id == lock_table::ENTRY.id {
        true => Ok(&lock_table::ENTRY),
        false => catalog::find(id),
    }
}

/// All claims with the rows they are about: those of the catalogue, then those of the lock table.
pub fn claims() -> impl Iterator<Item = (&'static Entry, &'static Claim)> {
    let of_table = lock_table::ENTRY.evidence.claims.yes().copied().unwrap_or_default();
    catalog::claims().chain(of_table.iter().map(|claim| (&lock_table::ENTRY, claim)))
}
