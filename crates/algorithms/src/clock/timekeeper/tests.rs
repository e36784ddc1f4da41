//! One node, event by event.

use super::super::lamport::{LamportClock, Rule, Scalar};
use super::*;
use conclave_core::Effect;
use conclave_core::testkit::{codes, message, run, send, why};

const _: () = assert!(size_of::<Event<LamportClock>>() <= 32);
const HAPPEN: Event<LamportClock> = Event::Request(Request::Happen);

fn node(me: u32, example: Example, ticks: u32) -> LamportClock {
    let gain = u64::from(me) + 1;
    let period = Task::TICK;
    let setup = Setup { nodes: 4, example, gain, period, ticks: Some(ticks) };
    Timekeeper::new(NodeId(me), setup, Scalar::new(0, Rule::Event))
}

fn task(steps: &[u32]) -> Example {
    let steps = steps.iter().copied().map(NodeId).collect();
    Example::Task(Task { steps, application: NodeId(3) })
}

fn stamped(kind: Kind, time: u64) -> Effect<LamportClock> {
    Effect::Indicate(Indication::Stamped { kind, time: Time::Scalar(time) })
}

fn timer(timer: Timer, units: u64) -> Effect<LamportClock> {
    Effect::SetTimer { timer, after: Delay::exactly(Ticks::units(units)) }
}

#[test]
fn every_event_is_counted_and_stamped() {
    let mut node = node(0, Example::Exchange, 0);
    assert_eq!(run(&mut node, Event::Start), []);
    assert_eq!(run(&mut node, HAPPEN), [stamped(Kind::Local, 1)]);
    let to = NodeId(1);
    let told = run(&mut node, Event::Request(Request::Tell(to)));
    let tell = send(1, Message::Tell { time: 2, sent: 2 });
    assert_eq!(told, [stamped(Kind::Send { to }, 2), tell]);
    let received = run(&mut node, message(1, Message::Tell { time: 9, sent: 7 }));
    assert_eq!(received, [stamped(Kind::Receive { from: to, sent: 7 }, 10)]);
}

#[test]
fn what_cannot_be_is_ignored_or_refused() {
    let mut node = node(0, Example::Exchange, 0);
    assert_eq!(run(&mut node, message(9, Message::Tell { time: 1, sent: 1 })), []);
    let absurd = run(&mut node, message(1, Message::Tell { time: u64::MAX, sent: 1 }));
    let refused = Indication::Refused { from: NodeId(1), why: Refusal::Absurd };
    assert_eq!(absurd, [Effect::Indicate(refused)]);
    let stray = run(&mut node, message(1, Message::Task { time: 1, sent: 1, step: 0 }));
    assert_eq!(stray, [stamped(Kind::Receive { from: NodeId(1), sent: 1 }, 2)]);
}

#[test]
fn the_clock_moves_by_itself_as_often_as_it_should() {
    let mut node = node(2, Example::Exchange, 2);
    assert_eq!(run(&mut node, Event::Start), [timer(Timer::Tick, 1_000)]);
    let ticked = |time| Effect::Indicate(Indication::Ticked { time: Time::Scalar(time) });
    let first = run(&mut node, Event::Timer(Timer::Tick));
    assert_eq!(first, [ticked(3), timer(Timer::Tick, 1_000)]);
    assert_eq!(run(&mut node, Event::Timer(Timer::Tick)), [ticked(6)]);
}

#[test]
fn a_task_is_held_and_passed_on_and_the_last_answers() {
    let mut node = node(0, task(&[0, 0]), 0);
    let given = run(&mut node, message(3, Message::Task { time: 1, sent: 1, step: 0 }));
    assert_eq!(given[1], timer(Timer::Act, 2_000));
    let again = run(&mut node.clone(), message(3, Message::Task { time: 1, sent: 1, step: 0 }));
    assert_eq!(again.len(), 1, "a step that comes twice is done once");
    let passed = run(&mut node, Event::Timer(Timer::Act));
    assert_eq!(passed, [stamped(Kind::Send { to: NodeId(0) }, 3), timer(Timer::Loop, 10)]);
    assert_eq!(run(&mut node.clone(), Event::Restart), [timer(Timer::Loop, 10)]);
    let looped = run(&mut node, Event::Timer(Timer::Loop));
    assert_eq!(looped[0], stamped(Kind::Receive { from: NodeId(0), sent: 2 }, 4));
    assert_eq!(run(&mut node.clone(), Event::Restart), [timer(Timer::Act, 2_000)]);
    let answered = run(&mut node, Event::Timer(Timer::Act));
    assert_eq!(answered[1], send(3, Message::Task { time: 5, sent: 4, step: 2 }));
}

#[test]
fn the_application_hands_the_task_out_and_answers_an_empty_one_itself() {
    let mut application = node(3, task(&[1]), 0);
    assert_eq!(run(&mut application, Event::Start), [timer(Timer::Act, 500)]);
    let handed = run(&mut application, Event::Timer(Timer::Act));
    assert_eq!(handed[1], send(1, Message::Task { time: 1, sent: 1, step: 0 }));
    let answer = message(1, Message::Task { time: 4, sent: 2, step: 1 });
    assert_eq!(run(&mut application, answer).len(), 1);
    let mut application = node(3, task(&[]), 0);
    assert_eq!(run(&mut application, Event::Timer(Timer::Act)), [stamped(Kind::Local, 1)]);
}

#[test]
fn every_step_of_a_clock_is_explained_with_its_reading() {
    let mut node = node(0, Example::Exchange, 1);
    assert_eq!(codes(&mut node, Event::Start), ["starts"]);
    assert_eq!(codes(&mut node, HAPPEN), ["moves-on"]);
    let reasons = why(&mut node, message(1, Message::Tell { time: 9, sent: 7 }));
    let told = reasons[0].fill(reasons[0].why.english);
    assert!(told.starts_with("the message carries 9 and the clock reads 1: goes one"), "{told}");
    assert_eq!(codes(&mut node, Event::Timer(Timer::Tick)), ["ticks"]);
    assert_eq!(codes(&mut node, message(9, Message::Tell { time: 9, sent: 7 })), ["stranger"]);
    let absurd = message(1, Message::Tell { time: u64::MAX, sent: 7 });
    assert_eq!(codes(&mut node, absurd), ["goes-beyond", "absurd"]);
}

#[test]
fn a_task_is_taken_and_handed_on_for_a_reason() {
    let mut first = node(0, task(&[0, 1]), 0);
    let step = |step| message(3, Message::Task { time: 1, sent: 1, step });
    assert_eq!(codes(&mut first, step(0)), ["goes-beyond", "takes-task"]);
    assert_eq!(codes(&mut first, Event::Timer(Timer::Act)), ["task-done", "moves-on"]);
    assert_eq!(codes(&mut first, step(1)), ["goes-beyond", "not-my-step"]);
}
