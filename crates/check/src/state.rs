//! A state of the whole system (a configuration) as a list of numbers, and its packed form.

use crate::space::{ContentId, GlobalId, Slot};
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

    #[inline]
    pub fn link(&self, slot: Slot) -> ContentId {
        self.links.get(usize::from(slot)).copied().unwrap_or(0)
    }

    /// Appends the compact form: the hash, then a word for each number that fits.
    pub fn pack(&self, out: &mut Packed) {
        out.extend([0, 16, 32, 48].map(|shift| (self.hash >> shift) as u16));
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
    pub fn unpack(&mut self, n: usize, packed: &mut &[u16]) {
        let mut words = packed.iter().copied();
        self.hash =
            (0..4).fold(0, |hash, place| hash | u64::from(next(&mut words)) << (16 * place));
        self.global = get(&mut words);
        self.nodes.clear();
        self.nodes.extend((0..n).map(|_| get(&mut words)));
        let used = get(&mut words);
        self.links.clear();
        self.links.extend((0..used).map(|_| get(&mut words)));
        *packed = &packed[packed.len() - words.len()..];
    }
}

/// States in their compact form, one behind the other.
pub type Packed = Vec<u16>;

/// How much memory they take.
pub fn bytes(packed: &Packed) -> u64 {
    (packed.capacity() * size_of::<u16>()) as u64
}

/// Says that two more words are needed for a number. Most are smaller.
const WIDE: u16 = u16::MAX;

fn put(number: u32, out: &mut Packed) {
    match u16::try_from(number) {
        Ok(word) if word != WIDE => out.push(word),
        Ok(_) | Err(_) => out.extend([WIDE, number as u16, (number >> 16) as u16]),
    }
}

fn get(words: &mut impl Iterator<Item = u16>) -> u32 {
    match next(words) {
        WIDE => u32::from(next(words)) | u32::from(next(words)) << 16,
        word => u32::from(word),
    }
}

fn next(words: &mut impl Iterator<Item = u16>) -> u16 {
    words.next().expect("a packed state is whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_state_comes_back_whole() {
        let state = State {
            nodes: vec![0, 65_534, 65_535],
            links: vec![5, 0, 70_000, 0],
            global: 3,
            hash: 1 << 63,
        };
        let mut packed = Vec::new();
        state.pack(&mut packed);
        state.pack(&mut packed);
        let mut rest = packed.as_slice();
        let mut again = State::default();
        for _ in 0..2 {
            again.unpack(3, &mut rest);
            let trimmed = State { links: vec![5, 0, 70_000], ..state.clone() };
            assert_eq!(again, trimmed, "links at the end that are empty need no place");
        }
        assert!(rest.is_empty());
    }
}
