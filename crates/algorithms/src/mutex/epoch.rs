//! Epochs, fencing tokens and leases: what the algorithms share that survive their leader.

use conclave_core::{Argument, FenceLayout, NodeId, Tellable, Ticks};
use serde::{Deserialize, Serialize};

/// The number of a leadership. It only rises; who knows a larger one obeys no smaller one.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub struct Epoch {
    /// The term of the election; no two leaders share one.
    pub term: u32,
    /// Counts the rounds in which the leader of this term gathered its knowledge anew.
    pub round: u32,
}

impl Tellable for Epoch {
    fn argument(self) -> Argument {
        Argument::Text(format!("{}.{}", self.term, self.round))
    }
}

/// What a leader does about those that do not answer it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// Waits until whatever they may hold has lapsed.
    Lease,
    /// Waits for them, unless they are known for certain to have crashed.
    Strict,
    /// Goes on without them; only the fence protects the resource.
    Fence,
}

/// Who decides which epoch a leader may claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Ballot {
    /// The election: its terms are unique, and a majority stands behind each.
    Majority,
    /// The leader itself, as with bully and ring: one more than the greatest counter it has seen,
    /// times n, plus its own number.
    Own,
}

/// The choices that all nodes of a cluster share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// How many nodes.
    pub n: u32,
    /// What a leader does about those that do not answer it.
    pub mode: Mode,
    /// Where epochs come from.
    pub ballot: Ballot,
    /// How long a right to enter lasts without a sign of life.
    pub lease: Ticks,
    /// How long to wait for an answer before saying it again.
    pub retransmit: Ticks,
    /// How long a leader that was replaced may go on before the election tells it.
    pub notice: Ticks,
    /// Whether a suspicion is proof of a crash.
    pub certain: bool,
    /// How fences are laid out. No disk keeps it: only tests have another than the usual one.
    #[serde(skip)]
    pub fences: FenceLayout,
}

impl Setup {
    /// A term of the election as epochs have it; none if it is too large to have fences.
    pub fn term(&self, term: u64) -> Option<u32> {
        u32::try_from(term).ok().filter(|_| self.fences.has_term(term))
    }

    /// The fence of the `counter`th entry of a term; none if the term has not so many.
    pub fn fence(&self, epoch: Epoch, counter: u32) -> Option<u64> {
        self.fences.fence(epoch.term.into(), counter)
    }

    /// The fence after the `counter`th entry of a term; none if the term is used up.
    pub fn next_fence(&self, epoch: Epoch, counter: u32) -> Option<u64> {
        self.fences.next(epoch.term.into(), counter)
    }

    /// How many entries a term may have had, if this is the largest fence known.
    pub fn counter_of(&self, epoch: Epoch, fence: u64) -> u32 {
        self.fences.counter_of(epoch.term.into(), fence)
    }

    /// The epoch with which `me` may lead, having seen `seen` and been elected in `term`; none if
    /// somebody else has been elected since, or all terms are used up.
    pub fn claim(&self, me: NodeId, seen: Epoch, term: u32) -> Option<Epoch> {
        match self.ballot {
            Ballot::Majority if term < seen.term => None,
            Ballot::Majority if term == seen.term => Some(Epoch { term, round: seen.round + 1 }),
            Ballot::Majority => Some(Epoch { term, round: 0 }),
            Ballot::Own => {
                let n = u64::from(self.n);
                let term = (u64::from(seen.term) / n + 1) * n + u64::from(me.0);
                self.term(term).map(|term| Epoch { term, round: 0 })
            }
        }
    }

    /// Whether so many nodes, oneself included, are enough to lead.
    pub fn suffices(&self, nodes: u32) -> bool {
        self.ballot == Ballot::Own || nodes > self.n / 2
    }

    /// Whether nobody need wait for a node that is suspected.
    pub fn excuses_suspects(&self) -> bool {
        match self.mode {
            Mode::Lease => false,
            Mode::Strict => self.certain,
            Mode::Fence => true,
        }
    }

    /// How often a sign of life is due: twice per lease.
    pub fn keepalive(&self) -> Ticks {
        Ticks((self.lease.0 / 2).max(1))
    }

    /// A lease by somebody else's clock, which may be 1 % off, as may one's own.
    pub fn lease_elsewhere(&self) -> Ticks {
        elsewhere(self.lease)
    }

    /// How long a new leader waits for the silent: until a leader that was cut off has noticed,
    /// and then until the last hold that it granted has lapsed.
    pub fn recovery(&self) -> Ticks {
        elsewhere(self.notice) + self.lease_elsewhere()
    }
}

fn elsewhere(span: Ticks) -> Ticks {
    Ticks(span.0 + span.0.div_ceil(50))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(ballot: Ballot) -> Setup {
        let lease = Ticks(100);
        let retransmit = Ticks(50);
        let mode = Mode::Lease;
        let notice = Ticks(10);
        let fences = FenceLayout::default();
        Setup { n: 5, mode, ballot, lease, retransmit, notice, certain: true, fences }
    }

    #[test]
    fn a_term_too_large_for_a_fence_is_never_claimed() {
        let setup = setup(Ballot::Own);
        let end = 1 << 27;
        assert_eq!((setup.term(end), setup.term(u64::MAX)), (None, None));
        assert_eq!(setup.term(end - 1), Some((1 << 27) - 1));
        let claim = |term| setup.claim(NodeId(3), Epoch { term, round: 0 }, 0);
        assert_eq!(claim((1 << 27) - 9).map(|epoch| epoch.term), Some((1 << 27) - 5));
        assert_eq!(claim((1 << 27) - 1), None);
        assert_eq!(claim(u32::MAX), None);
    }

    #[test]
    fn a_disk_has_no_room_for_the_layout_of_fences() {
        let bytes = |fences| {
            let mut bytes = Vec::new();
            conclave_core::encode(&Setup { fences, ..setup(Ballot::Own) }, &mut bytes);
            bytes
        };
        assert_eq!(bytes(FenceLayout::new(2)), bytes(FenceLayout::default()));
    }

    #[test]
    fn a_majority_gives_the_term_and_a_second_round_only_counts_on() {
        let claim = |seen, term| setup(Ballot::Majority).claim(NodeId(3), seen, term);
        let seen = Epoch { term: 4, round: 1 };
        assert_eq!(claim(seen, 5), Some(Epoch { term: 5, round: 0 }));
        assert_eq!(claim(seen, 4), Some(Epoch { term: 4, round: 2 }));
        assert_eq!(claim(seen, 3), None);
    }

    #[test]
    fn without_a_majority_no_two_leaders_claim_the_same_epoch() {
        let claim = |me| setup(Ballot::Own).claim(NodeId(me), Epoch { term: 9, round: 0 }, 0);
        assert_eq!(claim(3), Some(Epoch { term: 13, round: 0 }));
        assert_eq!(claim(4), Some(Epoch { term: 14, round: 0 }));
    }

    #[test]
    fn a_new_leader_waits_for_the_old_one_to_notice_and_for_its_last_lease() {
        assert_eq!(setup(Ballot::Majority).recovery(), Ticks(11 + 102));
    }

    #[test]
    fn only_proof_or_the_fence_excuses_a_suspect() {
        let excused =
            |mode, certain| Setup { mode, certain, ..setup(Ballot::Majority) }.excuses_suspects();
        let modes = [Mode::Lease, Mode::Strict, Mode::Fence];
        assert_eq!(modes.map(|mode| excused(mode, true)), [false, true, true]);
        assert_eq!(modes.map(|mode| excused(mode, false)), [false, false, true]);
    }

    #[test]
    fn only_a_majority_suffices_where_majorities_elect() {
        assert!(!setup(Ballot::Majority).suffices(2) && setup(Ballot::Majority).suffices(3));
        assert!(setup(Ballot::Own).suffices(1));
    }
}
