//! A state of everything, as a list of numbers, and its compact form.

use crate::space::{ContentId, GlobalId};
use crate::workings::LocalId;

/// A state of everything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Of each node, by index.
    pub nodes: Vec<LocalId>,
    /// Of each link, by slot; those that are missing are empty.
    pub links: Vec<ContentId>,
    pub global: GlobalId,
    /// The sum of the hashes of all parts.
    pub hash: u64,
}

impl State {
    pub fn copy_from(&mut self, other: &Self) {
        self.nodes.clone_from(&other.nodes);
        self.links.clone_from(&other.links);
        self.global = other.global;
        self.hash = other.hash;
    }

    pub fn link(&self, slot: usize) -> ContentId {
        self.links.get(slot).copied().unwrap_or(0)
    }

    /// Appends the compact form: seven bits of a number to a byte, low ones first.
    pub fn pack(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.hash.to_le_bytes());
        put(self.global, out);
        for &local in &self.nodes {
            put(local, out);
        }
        let used = self.links.iter().rposition(|&link| link != 0).map_or(0, |last| last + 1);
        put(used as u32, out);
        for &link in &self.links[..used] {
            put(link, out);
        }
    }

    /// Reads the compact form of a state of `n` nodes, and moves on to what is behind it.
    pub fn unpack(&mut self, n: usize, bytes: &mut &[u8]) {
        let (hash, rest) = bytes.split_at(8);
        self.hash = u64::from_le_bytes(hash.try_into().expect("eight bytes"));
        *bytes = rest;
        self.global = get(bytes);
        self.nodes.clear();
        self.nodes.extend((0..n).map(|_| get(bytes)));
        let used = get(bytes);
        self.links.clear();
        self.links.extend((0..used).map(|_| get(bytes)));
    }
}

fn put(mut number: u32, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn get(bytes: &mut &[u8]) -> u32 {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (&byte, rest) = bytes.split_first().expect("a packed state is whole");
        *bytes = rest;
        number |= u32::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return number;
        }
        shift += 7;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_state_comes_back_whole() {
        let state = State {
            nodes: vec![0, 127, 128],
            links: vec![5, 0, 70_000, 0],
            global: 3,
            hash: 1 << 63,
        };
        let mut bytes = Vec::new();
        state.pack(&mut bytes);
        state.pack(&mut bytes);
        let mut rest = bytes.as_slice();
        let mut again = State::default();
        for _ in 0..2 {
            again.unpack(3, &mut rest);
            let trimmed = State { links: vec![5, 0, 70_000], ..state.clone() };
            assert_eq!(again, trimmed, "links at the end that are empty need no place");
        }
        assert!(rest.is_empty());
    }
}
