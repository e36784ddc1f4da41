//! The lock of the coordinator, request by request.

use super::*;

fn line() -> Access {
    Access::Line(Line::new())
}

/// Those who were let in since this was last asked.
fn granted(access: &mut Access) -> Vec<Ticket> {
    std::iter::from_fn(|| access.next_granted()).collect()
}

fn ask(access: &mut Access, client: u32) -> Ticket {
    access.request(client).expect("there is room")
}

#[test]
fn whoever_came_first_is_let_in_first() {
    let mut access = line();
    let tickets = [3, 1, 2].map(|client| ask(&mut access, client));
    assert_eq!(granted(&mut access), [tickets[0]]);
    for (client, next) in [(3, vec![tickets[1]]), (1, vec![tickets[2]]), (2, vec![])] {
        assert!(access.holds(client));
        assert_eq!(access.release(client), Release::Freed);
        assert_eq!(granted(&mut access), next);
    }
}

#[test]
fn a_release_by_somebody_else_changes_nothing() {
    let mut access = line();
    assert_eq!(access.release(1), Release::NotYours { holder: None });
    let held = ask(&mut access, 1);
    let _waits = ask(&mut access, 2);
    assert_eq!(granted(&mut access), [held]);
    assert_eq!(access.release(2), Release::NotYours { holder: Some(1) });
    assert_eq!(granted(&mut access), []);
    assert!(access.holds(1) && !access.holds(2));
}

#[test]
fn a_waiter_that_hangs_up_is_passed_over() {
    let mut access = line();
    let [_held, gone, next] = [1, 2, 3].map(|client| ask(&mut access, client));
    granted(&mut access);
    assert_eq!(access.withdraw(gone), Withdrawal::LeftTheLine);
    assert_eq!(access.release(1), Release::Freed);
    assert_eq!(granted(&mut access), [next]);
}

#[test]
fn a_grant_to_somebody_who_is_gone_goes_to_the_next() {
    let mut access = line();
    let [gone, next] = [1, 2].map(|client| ask(&mut access, client));
    assert_eq!(granted(&mut access), [gone]);
    assert_eq!(access.withdraw(gone), Withdrawal::GaveBack);
    assert_eq!(granted(&mut access), [next]);
    assert_eq!(access.withdraw(gone), Withdrawal::Unnoticed);
    assert!(access.holds(2));
}

#[test]
fn a_client_may_ask_twice_and_then_waits_for_itself() {
    let mut access = line();
    let [first, second] = [1, 1].map(|client| ask(&mut access, client));
    assert_eq!(granted(&mut access), [first]);
    assert_eq!(access.release(1), Release::Freed);
    assert_eq!(granted(&mut access), [second]);
}

#[test]
fn only_so_many_may_wait_and_a_place_is_used_again() {
    let mut access = line();
    let tickets: Vec<Ticket> = std::iter::from_fn(|| access.request(7)).take(10_000).collect();
    assert_eq!(tickets.len() as u32, WAITERS_MAX + 1);
    assert_eq!(access.withdraw(tickets[9]), Withdrawal::LeftTheLine);
    let again = ask(&mut access, 8);
    assert_eq!((again.place, again.seq), (tickets[9].place, tickets[9].seq + 1));
    assert_eq!(access.request(9), None);
}
