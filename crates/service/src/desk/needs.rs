//! Availability: which nodes a lock cannot do without.

use conclave_algorithms::catalog::Setting;
use conclave_core::NodeId;

/// Which nodes a lock cannot do without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Needs {
    /// All of them: each is asked for its permission, or may have the token.
    All,
    /// This one, which lets the others in; and whoever is inside.
    Coordinator(NodeId),
    /// So many of the first so many nodes, which vote; and whoever is inside.
    Votes {
        /// How many vote.
        of: u32,
        /// How many votes let in.
        votes: u32,
        /// The node that puts all requests in order, where there is one.
        sequencer: Option<NodeId>,
    },
    /// More than half of them: what a node holds that is down runs out.
    Majority,
}

/// What a node that is down has to do with a lock that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Nothing goes on without it.
    Needed,
    /// It lets the others in.
    Coordinates,
    /// It puts all requests in order.
    Numbers,
    /// If it was inside when it went down, it still is.
    MayHold,
}

impl Needs {
    /// What this algorithm needs, as the catalogue has it.
    pub fn of(locks: &Setting) -> Self {
        let votes = |sequencer| {
            let of = locks.params.text("coordinators").parse().unwrap_or(locks.n);
            let votes = locks.params.text("votes").parse().unwrap_or(of / 2 + 1);
            Self::Votes { of, votes, sequencer }
        };
        match locks.entry.id {
            "central" => Self::Coordinator(NodeId(0)),
            "voting" | "quorum" => votes(None),
            "total-order" => votes(Some(NodeId(0))),
            "central-failover" | "token-ring-regenerating" => Self::Majority,
            _ => Self::All, // An id is no enum; whoever is new is taken for a textbook's.
        }
    }

    /// Which of these nodes, all of them down, a lock waits for, out of so many in all; and what
    /// they have to do with it.
    pub fn missing(self, down: &[NodeId], n: u32) -> Option<(Vec<NodeId>, Part)> {
        let all = |part| (!down.is_empty()).then(|| (down.to_vec(), part));
        match self {
            Self::All => all(Part::Needed),
            Self::Coordinator(one) if down.contains(&one) => Some((vec![one], Part::Coordinates)),
            Self::Coordinator(_) => all(Part::MayHold),
            Self::Votes { sequencer: Some(one), .. } if down.contains(&one) => {
                Some((vec![one], Part::Numbers))
            }
            Self::Votes { of, votes, .. } => {
                let voters: Vec<NodeId> = down.iter().copied().filter(|node| node.0 < of).collect();
                if (voters.len() as u32) + votes > of {
                    return Some((voters, Part::Needed));
                }
                all(Part::MayHold)
            }
            Self::Majority if 2 * (n - down.len() as u32) > n => None,
            Self::Majority => all(Part::Needed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_algorithms::catalog::find;

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
