//! One test for each rule.

use super::{Message::Privilege, *};
use conclave_core::Effect;
use conclave_core::testkit::{message, run, send};

const _: () = assert!(size_of::<Event<Raymond>>() <= 24);
const REQUEST: Message = Message::Request;
const ACQUIRE: Event<Raymond> = Event::Request(Request::Acquire);
const RELEASE: Event<Raymond> = Event::Request(Request::Release);
const CANCEL: Event<Raymond> = Event::Request(Request::Cancel);

fn root() -> Raymond {
    let mut root = Raymond::new(NodeId(0), None);
    assert_eq!(run(&mut root, Event::Start), []);
    root
}
/// Node 1, with the root above and perhaps 3 and 4 below.
fn inner() -> Raymond {
    let mut inner = Raymond::new(NodeId(1), Some(NodeId(0)));
    assert_eq!(run(&mut inner, Event::Start), []);
    inner
}
fn privilege(fence: u64) -> Message {
    Privilege { fence }
}
fn entered(fence: u64) -> Effect<Raymond> {
    Effect::Indicate(Indication::Entered { fence })
}

#[test]
fn who_holds_the_privilege_enters_at_once() {
    let mut root = root();
    assert_eq!(run(&mut root, ACQUIRE), [entered(1)]);
    assert_eq!(run(&mut root, RELEASE), []);
    assert_eq!(run(&mut root, ACQUIRE), [entered(2)]);
}

#[test]
fn a_node_asks_once_however_many_wait_behind_it() {
    let mut inner = inner();
    assert_eq!(run(&mut inner, message(3, REQUEST)), [send(0, REQUEST)]);
    assert_eq!(run(&mut inner, message(4, REQUEST)), []);
    assert_eq!(run(&mut inner, ACQUIRE), []);
    assert_eq!(run(&mut inner, message(3, REQUEST)), [], "a copy");
    let effects = run(&mut inner, message(0, privilege(6)));
    assert_eq!(effects, [send(3, privilege(6)), send(3, REQUEST)], "and asks for it back");
    let effects = run(&mut inner, message(3, privilege(7)));
    assert_eq!(effects, [send(4, privilege(7)), send(4, REQUEST)]);
    assert_eq!(run(&mut inner, message(4, privilege(8))), [entered(9)]);
    assert_eq!(run(&mut inner, RELEASE), []);
}

#[test]
fn an_idle_holder_passes_the_privilege_and_points_after_it() {
    let mut root = root();
    assert_eq!(run(&mut root, message(2, REQUEST)), [send(2, privilege(0))]);
    assert_eq!(run(&mut root, ACQUIRE), [send(2, REQUEST)]);
}

#[test]
fn a_busy_holder_passes_it_on_release() {
    let mut root = root();
    run(&mut root, ACQUIRE);
    assert_eq!(run(&mut root, message(2, REQUEST)), []);
    assert_eq!(run(&mut root, RELEASE), [send(2, privilege(1))]);
}

#[test]
fn a_privilege_that_the_holder_did_not_send_is_ignored() {
    let mut inner = inner();
    run(&mut inner, ACQUIRE);
    assert_eq!(run(&mut inner, message(3, privilege(5))), []);
    assert_eq!(run(&mut inner, message(0, privilege(5))), [entered(6)]);
    assert_eq!(run(&mut inner, message(0, privilege(5))), []);
}

#[test]
fn a_withdrawn_request_is_skipped_when_its_turn_comes() {
    let mut inner = inner();
    run(&mut inner, ACQUIRE);
    run(&mut inner, CANCEL);
    run(&mut inner, message(3, REQUEST));
    assert_eq!(run(&mut inner, message(0, privilege(5))), [send(3, privilege(5))]);
}

#[test]
fn who_asks_again_while_still_queued_has_its_old_place() {
    let mut inner = inner();
    run(&mut inner, ACQUIRE);
    run(&mut inner, CANCEL);
    run(&mut inner, message(3, REQUEST));
    assert_eq!(run(&mut inner, ACQUIRE), []);
    assert_eq!(run(&mut inner, message(0, privilege(5))), [entered(6)]);
    assert_eq!(run(&mut inner, RELEASE), [send(3, privilege(6))]);
}

#[test]
fn a_branch_may_enter_again_until_it_is_asked_for_the_privilege() {
    let mut leaf = Raymond::new(NodeId(3), Some(NodeId(1)));
    run(&mut leaf, ACQUIRE);
    assert_eq!(run(&mut leaf, message(1, privilege(0))), [entered(1)]);
    for fence in 2..9 {
        run(&mut leaf, RELEASE);
        assert_eq!(run(&mut leaf, ACQUIRE), [entered(fence)]); // The REQUEST is on its way.
    }
    run(&mut leaf, message(1, REQUEST));
    assert_eq!(run(&mut leaf, RELEASE), [send(1, privilege(8))]);
}

#[test]
fn a_restarted_node_passes_on_what_it_held_and_mints_nothing() {
    let mut root = root();
    run(&mut root, ACQUIRE);
    run(&mut root, message(2, REQUEST));
    let Recovery::State(mut kept) = root.after_crash() else { panic!("the disk is kept") };
    assert_eq!(run(&mut kept, Event::Restart), [send(2, privilege(1))]);
    let mut amnesiac = Raymond::new(NodeId(0), None);
    run(&mut amnesiac, Event::Restart);
    assert_eq!(run(&mut amnesiac, ACQUIRE), [], "it has nothing to enter with");
}

#[test]
fn who_asked_before_a_crash_waits_in_its_old_place_and_does_not_ask_twice() {
    let mut inner = inner();
    assert_eq!(run(&mut inner, ACQUIRE), [send(0, REQUEST)]);
    let Recovery::State(mut kept) = inner.after_crash() else { panic!("the disk is kept") };
    assert_eq!(run(&mut kept, Event::Restart), []);
    assert_eq!(run(&mut kept, message(3, REQUEST)), [], "one question is under way");
    assert_eq!(run(&mut kept, ACQUIRE), []);
    assert_eq!(run(&mut kept, message(0, privilege(4))), [entered(5)]);
    assert_eq!(run(&mut kept, RELEASE), [send(3, privilege(5))]);
}
