//! The checker itself: histories that break one rule each, and what it says of them.

use crate::checker::check;
use crate::history::{Event, History, Logged, Time, Why};
use conclave_table::{
    Acquire, Answer, Applied, Ask, Body, Change, Ended, Fence, Grant, Granted, HoldEnd, Inside,
    Notice, Open, Place, RequestId, Resource, SessionEnd, SessionId, Ticket,
};

fn session(number: u8) -> String {
    format!("{:032x}", u128::from_be_bytes([number; 16]))
}

fn entered(number: u8, fence: u64) -> Event {
    Event::Entered { session: session(number), request: 1, name: "a".into(), fence }
}

fn left(number: u8, fence: u64, why: Why) -> Event {
    Event::Left { session: session(number), name: "a".into(), fence, why }
}

fn ticket(number: u8) -> Ticket {
    Ticket { session: SessionId([number; 16]), request: RequestId(1) }
}

fn granted(number: u8, place: u64, fence: u64) -> Notice {
    let inside = Inside { fence: Fence(fence), slot: 0, holds: 1 };
    let grants = vec![Grant { resource: Resource::lock("a"), inside }];
    Notice::Granted(Granted { ticket: ticket(number), place: Place(place), waited_ms: 0, grants })
}

fn ended(number: u8, fence: u64) -> Notice {
    let (ticket, resource) = (ticket(number), Resource::lock("a"));
    Notice::Ended(Ended {
        ticket,
        resource,
        fence: Fence(fence),
        held_ms: 0,
        why: HoldEnd::Released,
    })
}

/// A history of these events, and a log of these entries.
fn history(
    events: Vec<(Time, usize, Event)>,
    log: Vec<(u64, Change, Answer, Vec<Notice>)>,
) -> History {
    let logged = |(at, change, answer, notices): (u64, Change, Answer, Vec<Notice>)| {
        let applied = Applied { answer, notices };
        (at, Logged { lease: at, change, applied, at })
    };
    let log = log.into_iter().map(logged).collect();
    History { now: 10_000, events, log, ..History::default() }
}

fn tick(index: u64, notices: Vec<Notice>) -> (u64, Change, Answer, Vec<Notice>) {
    (index, Change::Tick, Answer::Done, notices)
}

fn waits(index: u64, number: u8) -> (u64, Change, Answer, Vec<Notice>) {
    let body = Body::Acquire(Acquire::exclusive("a").waiting(5_000));
    let ask = Change::Ask(Ask::new(SessionId([number; 16]), RequestId(1), body));
    (index, ask, Answer::Waiting { position: 1 }, Vec::new())
}

#[track_caller]
fn found(history: &History, words: &str) {
    let wrong = check(history);
    assert!(wrong.iter().any(|line| line.contains(words)), "{words}: {wrong:?}");
}

#[test]
fn a_history_of_one_after_the_other_is_well() {
    let events = vec![
        (10, 1, entered(1, 3)),
        (20, 1, left(1, 3, Why::Done)),
        (30, 2, entered(2, 5)),
        (40, 2, left(2, 5, Why::Done)),
    ];
    let log = vec![
        tick(3, vec![granted(1, 3, 3)]),
        tick(21, vec![ended(1, 3)]),
        tick(25, vec![granted(2, 5, 5)]),
    ];
    assert_eq!(check(&history(events, log)), Vec::<String>::new());
}

#[test]
fn a_grant_of_what_was_withdrawn_is_found() {
    let session = SessionId([1; 16]);
    let cancel = Change::Ask(Ask::new(session, RequestId(2), Body::cancel(RequestId(1))));
    let log = vec![(3, cancel, Answer::Done, Vec::new()), tick(5, vec![granted(1, 5, 5)])];
    found(&history(Vec::new(), log), "which was withdrawn");
}

#[test]
fn two_inside_at_once_and_a_fence_that_falls_are_found() {
    let events = vec![(10, 1, entered(1, 5)), (15, 2, entered(2, 3))];
    let log = vec![tick(3, vec![granted(2, 3, 3)]), tick(5, vec![granted(1, 5, 5)])];
    let history = history(events, log);
    found(&history, "two are inside at once");
    found(&history, "the fence did not rise");
    found(&history, "which");
}

#[test]
fn whoever_stands_still_is_protected_by_its_fence_alone() {
    let events = vec![
        (10, 1, entered(1, 3)),
        (12, 1, Event::Paused(true)),
        (15, 2, entered(2, 5)),
        (20, 1, Event::Paused(false)),
        (22, 1, left(1, 3, Why::Lost)),
    ];
    let log = vec![
        tick(3, vec![granted(1, 3, 3)]),
        tick(13, vec![ended(1, 3)]),
        tick(14, vec![granted(2, 5, 5)]),
    ];
    assert_eq!(check(&history(events, log)), Vec::<String>::new());
}

#[test]
fn what_a_client_was_told_and_the_log_denies_is_found() {
    let renewed = Event::Renewed { session: session(1) };
    found(&history(vec![(10, 1, entered(1, 3))], vec![]), "was told what the log denies: Entered");
    found(&history(vec![(10, 1, renewed)], vec![]), "was told what the log denies: Renewed");
    let code = "timeout".to_string();
    let refused = Event::Refused { session: session(1), request: 1, code };
    let log = vec![tick(3, vec![granted(1, 3, 3)])];
    found(&history(vec![(10, 1, refused)], log), "was told what the log denies: Refused");
}

#[test]
fn a_fence_that_is_called_valid_after_it_was_given_back_is_found() {
    let released = Event::Released { name: "a".into(), fence: 3 };
    let verified = Event::Verified { name: "a".into(), fence: 3, valid: true, asked: 20 };
    let events = vec![(10, 1, released), (30, 2, verified)];
    found(&history(events, vec![]), "it was said otherwise than it was");
}

#[test]
fn what_a_dead_client_holds_for_too_long_is_found() {
    let died = |held| Event::Died { session: session(1), ttl_ms: 1_000, held };
    let log = || vec![tick(3, vec![granted(1, 3, 3)]), tick(4_000, vec![ended(1, 3)])];
    let held = Some(("a".to_string(), 3));
    found(&history(vec![(1_000, 1, died(held.clone()))], log()), "died at 1000");
    let mut troubled = history(vec![(1_000, 1, died(held))], log());
    troubled.troubled.insert(3_000, 2_000);
    assert_eq!(check(&troubled), Vec::<String>::new(), "the cluster could not work meanwhile");
}

#[test]
fn what_is_taken_from_a_running_client_is_found_though_nobody_waits_for_it() {
    let events = vec![(10, 1, entered(1, 3)), (5_000, 1, left(1, 3, Why::Lost))];
    let log = || vec![tick(3, vec![granted(1, 3, 3)]), tick(4_000, vec![ended(1, 3)])];
    found(&history(events, log()), "it was taken from whoever relied on it");
    let events = vec![(10, 1, entered(1, 3)), (3_000, 1, left(1, 3, Why::Lost))];
    assert_eq!(check(&history(events, log())), Vec::<String>::new());
}

#[test]
fn overtaking_is_found() {
    let log = vec![waits(3, 1), waits(4, 2), tick(5, vec![granted(2, 4, 5)])];
    found(&history(vec![], log), "lets Place(4) pass Place(3)");
}

#[test]
fn a_session_that_expires_before_its_time_is_found() {
    let id = SessionId([1; 16]);
    let opened = Answer::Opened { session: id, ttl_ms: 1_000 };
    let why = SessionEnd::Expired;
    let end = Notice::SessionEnded { session: id, principal: "".into(), label: "".into(), why };
    let log = vec![(5, Change::Open(Open::new(id, 1_000)), opened, vec![]), tick(900, vec![end])];
    found(&history(vec![], log), "which was renewed at 5");
}

#[test]
fn two_grants_at_one_index_are_found() {
    let log = vec![tick(3, vec![granted(1, 1, 3), granted(2, 2, 3)])];
    found(&history(vec![], log), "twice");
}
