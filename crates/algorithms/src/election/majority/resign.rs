//! Hand-over: a leader that is about to leave has another stand at once, so that nobody needs to
//! miss it first.
//!
//! The leader steps down, and tells the follower that has answered its latest heartbeat to stand in
//! the next term (`TimeoutNow`; leadership transfer in the thesis, 3.10). That one does not ask
//! first, even with prevote=on: those who would say no, since they hear of a leader, vote all the
//! same.
//!
//! - What is safe rests on the votes alone, as ever. The old leader leads no longer when anybody
//!   hears of this, so there are no more leaders at a time than otherwise.
//! - A `TimeoutNow` that is lost, or comes to a node that has crashed, costs time: the others miss
//!   the leader after `timeout`, as if it had crashed. So does the one who stepped down, and stands
//!   again should it still be there.
//! - One that comes late names a past term, and one that comes twice the term before its own
//!   candidacy: both are ignored.
//! - It may go to a node that only votes. That one does nothing, as if it had been lost.
//! - A node that is alone, or does not lead, has nothing to hand over.

use super::{Majority, Message, Role, why};
use conclave_core::{Context, NodeId};

impl Majority {
    pub(super) fn on_resign(&mut self, ctx: &mut Context<Self>) {
        if self.role != Role::Leader {
            return ctx.because(&why::DOES_NOT_LEAD, ());
        }
        let Some(next) = self.successor() else {
            return ctx.because(&why::NOBODY_TO_FOLLOW, ());
        };
        ctx.because(&why::HANDS_OVER, next);
        ctx.send(next, Message::TimeoutNow { term: self.term });
        self.step_down(ctx);
    }

    pub(super) fn on_timeout_now(&mut self, from: NodeId, ctx: &mut Context<Self>) {
        match self.role {
            // Only where a vote was forgotten can a term have two leaders. Each goes on.
            Role::Leader => ctx.because(&why::TWO_LEADERS, self.term),
            Role::Follower | Role::Doubter | Role::Asker | Role::Candidate => {
                if self.candidate {
                    ctx.because(&why::TOLD_TO_STAND, from);
                    self.stand(ctx);
                } else {
                    ctx.because(&why::ONLY_VOTES, ());
                }
            }
        }
    }

    /// Who was heard of last; of several, the first after this node.
    fn successor(&self) -> Option<NodeId> {
        let n = self.setup.n;
        let after = |node: &NodeId| (node.0 + n - self.me.0) % n;
        let heard = |node: &NodeId| self.answered.get(node.index()).copied().unwrap_or(0);
        self.me.others(n).max_by_key(|node| (heard(node), n - after(node)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Setup, Timer};
    use super::*;
    use conclave_core::election::{Indication, Request};
    use conclave_core::testkit::{message, run, send};
    use conclave_core::{Effect, Event, Ticks};

    const RESIGN: Event<Majority> = Event::Request(Request::Resign);

    fn node(me: u32, n: u32, first: Option<u32>) -> Majority {
        let timeout = Ticks::units(10);
        let setup = Setup { n, timeout, heartbeat: Ticks::units(3), prevote: true };
        Majority::new(NodeId(me), setup, first.map(NodeId))
    }

    fn now(term: u64) -> Message {
        Message::TimeoutNow { term }
    }

    /// To whom it says what; timers have tests of their own.
    fn said(effects: Vec<Effect<Majority>>) -> Vec<Effect<Majority>> {
        let said = |effect: &Effect<_>| matches!(effect, Effect::Send { .. } | Effect::Indicate(_));
        effects.into_iter().filter(said).collect()
    }

    #[test]
    fn a_leader_that_resigns_leads_no_longer_and_has_the_one_heard_last_stand() {
        let mut leader = node(0, 4, Some(0));
        run(&mut leader, Event::Start);
        run(&mut leader, Event::Timer(Timer::Heartbeat));
        run(&mut leader, message(1, Message::HeartbeatAck { term: 1, number: 1 }));
        run(&mut leader, message(2, Message::HeartbeatAck { term: 1, number: 2 }));
        let deposed = Effect::Indicate(Indication::Deposed { term: 1 });
        assert_eq!(said(run(&mut leader, RESIGN)), [send(2, now(1)), deposed]);
        assert_eq!((leader.role, leader.leader()), (Role::Follower, None));
        assert_eq!(run(&mut leader, RESIGN), [], "it has");
    }

    #[test]
    fn of_those_heard_last_the_next_one_is_asked() {
        for (me, next) in [(0, 1), (1, 2), (2, 0)] {
            let mut leader = node(me, 3, Some(me));
            run(&mut leader, Event::Start);
            assert_eq!(said(run(&mut leader, RESIGN))[..1], [send(next, now(1))]);
        }
    }

    #[test]
    fn who_does_not_lead_or_is_alone_has_nothing_to_hand_over() {
        assert_eq!(run(&mut node(0, 3, Some(2)), RESIGN), []);
        assert_eq!(run(&mut node(0, 3, None), RESIGN), []);
        let mut alone = node(0, 1, Some(0));
        run(&mut alone, Event::Start);
        assert_eq!((run(&mut alone, RESIGN), alone.role), (vec![], Role::Leader));
    }

    #[test]
    fn who_is_told_to_stands_at_once_though_it_hears_of_a_leader_and_is_elected() {
        let mut next = node(1, 3, Some(2));
        run(&mut next, message(2, Message::Heartbeat { term: 1, number: 7 }));
        let ask = Message::RequestVote { term: 2 };
        assert_eq!(said(run(&mut next, message(2, now(1)))), [send(0, ask), send(2, ask)]);
        let mut other = node(0, 3, Some(2));
        run(&mut other, message(2, Message::Heartbeat { term: 1, number: 7 }));
        let yes = send(1, Message::Vote { term: 2, granted: true });
        assert_eq!(run(&mut other, message(1, ask)).last(), Some(&yes));
    }

    #[test]
    fn a_call_that_comes_late_or_twice_is_passed_over() {
        let mut next = node(1, 3, Some(2));
        run(&mut next, message(2, now(1)));
        assert_eq!(run(&mut next, message(2, now(1))), [], "twice");
        let mut follower = node(1, 3, Some(2));
        run(&mut follower, message(0, Message::Heartbeat { term: 5, number: 1 }));
        assert_eq!(run(&mut follower, message(2, now(1))), [], "late");
        assert_eq!(follower.leader(), Some((NodeId(0), 5)));
    }

    #[test]
    fn a_call_of_a_term_not_heard_of_yet_counts() {
        let mut next = node(1, 3, Some(2));
        let ask = Message::RequestVote { term: 5 };
        assert_eq!(said(run(&mut next, message(0, now(4)))), [send(0, ask), send(2, ask)]);
    }

    #[test]
    fn who_only_votes_does_not_stand_and_two_leaders_of_a_term_go_on() {
        let mut voter = node(1, 3, Some(2)).standing(false);
        assert_eq!(run(&mut voter, message(2, now(1))), []);
        let mut leader = node(0, 3, Some(0));
        run(&mut leader, Event::Start);
        assert_eq!((run(&mut leader, message(2, now(1))), leader.role), (vec![], Role::Leader));
    }

    #[test]
    fn if_nobody_stands_the_one_who_stepped_down_misses_a_leader_like_all_others() {
        let mut leader = node(0, 3, Some(0));
        run(&mut leader, Event::Start);
        let effects = run(&mut leader, RESIGN);
        let waits =
            |effect: &Effect<_>| matches!(effect, Effect::SetTimer { timer: Timer::Election, .. });
        assert!(effects.iter().any(waits));
        run(&mut leader, Event::Timer(Timer::Election));
        assert_eq!(leader.role, Role::Doubter);
    }
}
