//! What a judge of real runs makes of those who were out of sight.

use conclave_core::{NodeId, Ticks};
use conclave_lab::recordings::judge::{Entries, Judge};
use conclave_net::AnyIndication::Entered;
use conclave_net::AnyRequest::{Acquire, Release};

const ONE: NodeId = NodeId(0);
const OTHER: NodeId = NodeId(1);

#[test]
fn who_asked_while_nobody_saw_it_did_not_jump_the_queue() {
    let mut judge = Entries::new(2);
    judge.lost_sight(OTHER, Ticks(1));
    judge.asked(ONE, Acquire, Ticks(2)).expect("it may");
    let carried = judge.sent(ONE).expect("causes are followed");
    judge.received(OTHER, &carried);
    judge.told(OTHER, Entered { fence: 1 }, Ticks(3)).expect("it may have waited");
    let (_, violations) = judge.end(Ticks(4));
    assert_eq!(violations, []);
}

#[test]
fn who_is_seen_again_has_to_keep_the_rules_again() {
    for (request, then) in [(Acquire, Release), (Release, Release)] {
        let mut judge = Entries::new(2);
        judge.lost_sight(OTHER, Ticks(1));
        judge.asked(OTHER, request, Ticks(2)).expect("it may");
        assert!(judge.asked(OTHER, then, Ticks(3)).is_err(), "it is not inside");
    }
    let mut judge = Entries::new(2);
    judge.lost_sight(OTHER, Ticks(1));
    judge.told(OTHER, Entered { fence: 1 }, Ticks(2)).expect("it may have waited");
    judge.asked(OTHER, Release, Ticks(3)).expect("it is inside");
    assert!(judge.told(OTHER, Entered { fence: 2 }, Ticks(4)).is_err(), "it did not ask");
}
