//! What the rows of the elections on a ring have in common.

use super::Setting;
use crate::Error;
use conclave_core::{NodeSet, Winner};

/// The greatest of those who are up.
pub fn greatest(setting: &Setting) -> Winner {
    let of = setting.clone();
    Box::new(move |up: &NodeSet, _: &NodeSet| up.iter().max_by_key(|&node| of.id(node)))
}

/// The greatest of those who began and are up.
pub fn greatest_that_began(setting: &Setting) -> Winner {
    let of = setting.clone();
    Box::new(move |up: &NodeSet, began: &NodeSet| {
        began.iter().filter(|&node| up.contains(node)).max_by_key(|&node| of.id(node))
    })
}

/// These elections compare the ids of all nodes they meet.
pub fn everybody_is_a_candidate(setting: &Setting) -> Result<(), Error> {
    if setting.candidates.is_empty() || setting.candidates.len() == setting.n {
        return Ok(());
    }
    let id = setting.entry.id;
    let reason = format!("{id} cannot keep a node from winning; bully and majority can");
    Err(Error::Unusable { name: "candidates", reason })
}

/// How often `n` can be halved, rounding up, until 1 is left.
pub fn halvings(n: u32) -> u32 {
    n.next_power_of_two().trailing_zeros()
}
