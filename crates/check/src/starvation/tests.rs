//! Planted algorithms, each with one thing that only an endless run shows, and the same without it.

use crate::{Checkable, Limits, Report};
use conclave_core::election::{self, Election};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Bounds, Cluster, Context, Delay, Event, Named, Never, NodeId, Process, Property, Ticks, Verdict,
};
use serde::{Deserialize, Serialize};

const SOON: Delay = Delay::exactly(Ticks(1));

/// More states than there are.
const MANY: u64 = 1_000_000;

fn checked(cluster: &impl Checkable, bounds: &Bounds, limits: &Limits) -> Report {
    cluster.check(bounds, limits, &|_| {})
}

/// What may happen to the waiter of a [`Waiter`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Habit {
    /// Tries again whenever its timer rings, and never gets in.
    TriesForEver,
    /// Gets in when its timer rings, which it sets anew with every message.
    IsInterrupted,
    /// Gets in when its timer rings, whatever comes meanwhile.
    IsPatient,
    /// Chooses between trying for ever and counting for ever.
    CountsPerhaps,
}

/// Node 1 waits as its habit is; node 2 enters as it likes, and sends back whatever it gets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Waiter {
    me: NodeId,
    habit: Habit,
    counts: bool,
    count: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Ball;

impl Named for Ball {
    fn name(&self) -> &'static str {
        "BALL"
    }
}

impl Process for Waiter {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Ball;
    type Timer = ();

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) if self.me == NodeId(1) => {
                ctx.indicate(Indication::Entered { fence: 1 });
            }
            Event::Request(Request::Acquire) => {
                self.counts = self.habit == Habit::CountsPerhaps && ctx.choose(2) == 1;
                if matches!(self.habit, Habit::IsInterrupted | Habit::IsPatient) {
                    ctx.send(self.me.successor(2), Ball);
                }
                ctx.set_timer((), SOON);
            }
            Event::Message { from, .. } => {
                ctx.send(from, Ball);
                if self.me == NodeId(0) && self.habit == Habit::IsInterrupted {
                    ctx.set_timer((), SOON);
                }
            }
            Event::Timer(()) => match self.habit {
                Habit::TriesForEver => ctx.set_timer((), SOON),
                Habit::IsInterrupted | Habit::IsPatient => {
                    ctx.indicate(Indication::Entered { fence: 1 });
                }
                Habit::CountsPerhaps => {
                    self.count += u64::from(self.counts);
                    ctx.set_timer((), SOON);
                }
            },
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

/// What is said of V1 and V2, if at most so many states are looked at.
fn waiting(habit: Habit, states_max: u64) -> [Verdict; 2] {
    let cluster = Cluster::of_equals(2, move |me| Waiter { me, habit, counts: false, count: 0 });
    let properties = vec![Property::V1, Property::V2];
    let limits = Limits { states_max, properties, ..Limits::default() };
    let report = checked(&cluster, &Bounds::default(), &limits);
    [Property::V1, Property::V2].map(|property| report.verdict(property))
}

#[test]
fn who_tries_for_ever_while_nobody_enters_violates_progress_too() {
    assert_eq!(waiting(Habit::TriesForEver, MANY), [Verdict::Violated; 2]);
}

#[test]
fn a_timer_that_is_set_anew_for_ever_need_not_ring() {
    assert_eq!(waiting(Habit::IsInterrupted, MANY), [Verdict::Violated; 2]);
    assert_eq!(waiting(Habit::IsPatient, MANY), [Verdict::Holds; 2]);
}

#[test]
fn a_fair_cycle_is_found_though_there_are_more_states_than_are_looked_at() {
    assert_eq!(waiting(Habit::CountsPerhaps, 500), [Verdict::Violated; 2]);
}

/// Says who leads when it is asked to, and then only lets its timer ring for ever.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Ticker {
    leader: NodeId,
}

impl Process for Ticker {
    type Provides = Election;
    type Uses = Never;
    type Message = Never;
    type Timer = ();

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(_) => {
                let term = u64::from(self.leader.0);
                ctx.indicate(election::Indication::Elected { leader: self.leader, term });
                ctx.set_timer((), SOON);
            }
            Event::Timer(()) => ctx.set_timer((), SOON),
            Event::Start | Event::Restart => {}
        }
    }
}

#[test]
fn lasting_disagreement_violates_agreement_though_the_run_never_ends() {
    let agreement = |leader: fn(NodeId) -> NodeId| {
        let cluster = Cluster::of_equals(2, move |me| Ticker { leader: leader(me) });
        checked(&cluster, &Bounds::default(), &Limits::default()).verdict(Property::E1)
    };
    assert_eq!(agreement(|me| me), Verdict::Violated);
    assert_eq!(agreement(|_| NodeId(1)), Verdict::Holds);
}

/// Keeps nobody out, and never lets in again whoever has met the other inside.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Shy {
    me: NodeId,
    inside: bool,
    met: bool,
}

impl Process for Shy {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Ball;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) if self.met => {}
            Event::Request(Request::Acquire) => {
                self.inside = true;
                ctx.indicate(Indication::Entered { fence: 1 });
                ctx.send(self.me.successor(2), Ball);
            }
            Event::Request(_) => {
                self.inside = false;
                ctx.send(self.me.successor(2), Ball);
            }
            Event::Message { .. } => self.met |= self.inside,
            Event::Start | Event::Restart => {}
        }
    }
}

#[test]
fn a_run_goes_on_after_two_were_inside_if_nobody_asked_for_that() {
    let cluster = Cluster::of_equals(2, |me| Shy { me, inside: false, met: false });
    let bounds = Bounds { requests: Some(2), ..Bounds::default() };
    let limits = Limits { properties: vec![Property::V1], ..Limits::default() };
    assert_eq!(checked(&cluster, &bounds, &limits).verdict(Property::V1), Verdict::Violated);
}

#[test]
fn what_follows_two_that_are_inside_is_not_said_to_go_well_if_it_was_not_looked_at() {
    let cluster = Cluster::of_equals(2, |me| Shy { me, inside: false, met: false });
    let bounds = Bounds { requests: Some(2), ..Bounds::default() };
    let properties = vec![Property::S1, Property::V1];
    let report = checked(&cluster, &bounds, &Limits { properties, ..Limits::default() });
    assert_eq!(report.verdict(Property::S1), Verdict::Violated);
    assert_eq!(report.verdict(Property::V1), Verdict::Unknown);
    assert!(!report.is_complete());
}

/// Node 1 asks once, is answered twice, and then enters. Node 2 enters as it likes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Echoed {
    me: NodeId,
    answers: u32,
}

impl Process for Echoed {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Ball;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) if self.me == NodeId(0) => ctx.send(NodeId(1), Ball),
            Event::Request(Request::Acquire) => ctx.indicate(Indication::Entered { fence: 1 }),
            Event::Message { from, .. } if self.me == NodeId(1) => {
                ctx.send(from, Ball);
                ctx.send(from, Ball);
            }
            Event::Message { .. } => {
                self.answers += 1;
                if self.answers == 2 {
                    ctx.indicate(Indication::Entered { fence: 1 });
                }
            }
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

#[test]
fn who_waits_for_what_the_bounds_keep_from_being_sent_is_not_said_to_get_in() {
    let cluster = Cluster::of_equals(2, |me| Echoed { me, answers: 0 });
    let verdict = |in_flight| {
        let bounds = Bounds { in_flight, ..Bounds::default() };
        let limits = Limits { properties: vec![Property::V1], ..Limits::default() };
        checked(&cluster, &bounds, &limits).verdict(Property::V1)
    };
    assert_eq!(verdict(Some(1)), Verdict::Unknown);
    assert_eq!(verdict(Some(2)), Verdict::Holds);
}

#[test]
fn the_order_of_requests_can_be_asked_for_alone() {
    let cluster = Cluster::of_equals(2, |me| Shy { me, inside: false, met: false });
    let limits = Limits { properties: vec![Property::HB], ..Limits::default() };
    let report = checked(&cluster, &Bounds::default(), &limits);
    assert_eq!(report.verdicts, [(Property::HB, Verdict::Holds)]);
    assert!(report.is_complete() && report.unique_states > 1);
}
