//! Availability: which nodes a lock cannot do without. The rows of the catalogue say it.

pub use conclave_algorithms::catalog::{Needs, Part};

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_algorithms::catalog::find;
    use conclave_core::NodeId;

    fn needs(id: &str, set: &[(&str, &str)]) -> Needs {
        Needs::of(&find(id).expect("a row").setting(7, set).expect("it can be set"))
    }

    fn missing(needs: Needs, down: &[u32]) -> Option<(Vec<u32>, Part)> {
        let down: Vec<NodeId> = down.iter().copied().map(NodeId).collect();
        let (nodes, part) = needs.missing(&down, 7)?;
        Some((nodes.iter().map(|node| node.0).collect(), part))
    }

    #[test]
    fn each_algorithm_waits_for_whom_it_needs() {
        use Part::{Coordinates, MayHold, Needed, Numbers};
        let five = [("coordinator", "colocated"), ("coordinators", "5")];
        let central = needs("central", &[]);
        assert_eq!(missing(central, &[0, 3]), Some((vec![0], Coordinates)));
        assert_eq!(missing(central, &[3, 4]), Some((vec![3, 4], MayHold)));
        let voting = needs("voting", &five);
        assert_eq!(missing(voting, &[1, 4, 6]), Some((vec![1, 4, 6], MayHold)));
        assert_eq!(missing(voting, &[1, 2, 4, 6]), Some((vec![1, 2, 4], Needed)));
        let total = needs("total-order", &five);
        assert_eq!(missing(total, &[0, 6]), Some((vec![0], Numbers)));
        assert_eq!(missing(total, &[6]), Some((vec![6], MayHold)));
        let failover = needs("central-failover", &[]);
        assert_eq!(missing(failover, &[0, 1, 2]), None);
        assert_eq!(missing(failover, &[0, 1, 2, 3]), Some((vec![0, 1, 2, 3], Needed)));
        for id in ["maekawa", "lamport", "ricart-agrawala", "token-ring", "raymond"] {
            assert_eq!(missing(needs(id, &[]), &[5]), Some((vec![5], Needed)), "{id}");
            assert_eq!(missing(needs(id, &[]), &[]), None, "{id}");
        }
    }

    #[test]
    fn votes_are_as_many_as_were_set() {
        let set = [("coordinators", "5"), ("votes", "4")];
        assert_eq!(needs("quorum", &set), Needs::Votes { of: 5, votes: 4, sequencer: None });
        assert_eq!(missing(needs("quorum", &set), &[1, 2]), Some((vec![1, 2], Part::Needed)));
    }
}
