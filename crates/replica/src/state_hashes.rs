//! State hashes: what nodes compare to find out that their tables have come apart.
//!
//! A hash goes through the whole table. So it is taken every 10,000 entries while the table has up
//! to 10,000 elements, and half as often each time it is twice as large: about one element is
//! hashed for each entry applied. Nodes take it at the same indices, for these follow from index
//! and table, and the rarer indices are among the more frequent ones.

use conclave_table::Table;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// How many entries, and elements, one hash is for.
pub const STRIDE: u64 = 10_000;
/// How many are kept for nodes that are behind.
const KEPT: usize = 16;

/// The hash of a table after an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StateHash {
    /// After which entry.
    pub index: u64,
    /// The version of the table's rules: hashes of different ones do not compare.
    pub version: u32,
    /// The hash.
    pub hash: u64,
}

/// The last few.
#[derive(Clone, Debug, Default)]
pub struct StateHashes(VecDeque<StateHash>);

impl StateHashes {
    /// An entry was applied: takes a hash if it is time.
    pub fn applied(&mut self, index: u64, table: &Table) {
        if !index.is_multiple_of(stride(table.size() as u64)) {
            return;
        }
        if self.0.len() == KEPT {
            self.0.pop_front();
        }
        let hash = table.state_hash();
        self.0.push_back(StateHash { index, version: table.version(), hash });
    }

    /// The table was replaced as a whole.
    pub fn installed(&mut self) {
        self.0.clear();
    }

    /// The oldest first.
    pub fn all(&self) -> Vec<StateHash> {
        self.0.iter().copied().collect()
    }
}

fn stride(size: u64) -> u64 {
    STRIDE * size.div_ceil(STRIDE).max(1).next_power_of_two()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_larger_table_is_hashed_more_rarely_and_at_some_of_the_same_indices() {
        let strides: Vec<u64> = [0, 1, 10_000, 10_001, 20_000, 50_000].map(stride).into();
        assert_eq!(strides, [10_000, 10_000, 10_000, 20_000, 20_000, 80_000]);
        assert!(strides.windows(2).all(|pair| pair[1] % pair[0] == 0));
    }
}
