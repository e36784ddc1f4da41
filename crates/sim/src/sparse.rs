//! A map from nodes to values, for what only a few nodes out of millions have.
//!
//! Four bytes for each node up to the last that has a value. A tree would need less, but it is
//! compiled anew for every algorithm: a tenth of the whole build.

use conclave_core::NodeId;

/// A value for each of a few nodes.
pub(crate) struct Sparse<T> {
    /// Where in `values` each node's is, counted from one; zero if it has none.
    places: Vec<u32>,
    values: Vec<T>,
}

impl<T: Default> Sparse<T> {
    pub fn new() -> Self {
        Self { places: Vec::new(), values: Vec::new() }
    }

    /// The value of a node, if it ever had one.
    pub fn get(&self, node: NodeId) -> Option<&T> {
        let place = self.places.get(node.index()).copied().unwrap_or(0).checked_sub(1)?;
        Some(&self.values[place as usize])
    }

    /// The value of a node, if it ever had one, to be changed.
    pub fn get_mut(&mut self, node: NodeId) -> Option<&mut T> {
        let place = self.places.get(node.index()).copied().unwrap_or(0).checked_sub(1)?;
        Some(&mut self.values[place as usize])
    }

    /// The value of a node, by default the default one.
    pub fn entry(&mut self, node: NodeId) -> &mut T {
        if self.places.len() <= node.index() {
            self.places.resize(node.index() + 1, 0);
        }
        let place = &mut self.places[node.index()];
        if *place == 0 {
            self.values.push(T::default());
            *place = self.values.len() as u32;
        }
        &mut self.values[*place as usize - 1]
    }

    /// The value of a node, which then has the default one.
    pub fn take(&mut self, node: NodeId) -> T {
        self.get_mut(node).map(std::mem::take).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_node_has_its_own_value_and_the_others_none() {
        let mut sparse: Sparse<Vec<char>> = Sparse::new();
        sparse.entry(NodeId(7)).push('a');
        sparse.entry(NodeId(2)).push('b');
        sparse.entry(NodeId(7)).push('c');
        assert_eq!(sparse.get(NodeId(7)), Some(&vec!['a', 'c']));
        assert_eq!(sparse.get(NodeId(2)), Some(&vec!['b']));
        assert_eq!(sparse.get(NodeId(3)), None);
        assert_eq!(sparse.get_mut(NodeId(1_000_000)), None);
    }

    #[test]
    fn what_is_taken_is_gone() {
        let mut sparse: Sparse<Option<u8>> = Sparse::new();
        *sparse.entry(NodeId(0)) = Some(5);
        assert_eq!(sparse.take(NodeId(0)), Some(5));
        assert_eq!(sparse.take(NodeId(0)), None);
        assert_eq!(sparse.take(NodeId(9)), None);
    }
}
