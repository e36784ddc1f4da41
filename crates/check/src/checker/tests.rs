//! Planted locks whose verdict turns if the search forgets one thing: that each message of a bag
//! has to arrive, how many faults are left, which timer comes first, or what a disk keeps.

use crate::{Checkable, Limits, Report};
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{
    Bounds, Cluster, Context, Delay, Event, Move, Named, Network, Never, NodeId, Process, Property,
    Recovery, Ticks, Timing, Verdict,
};
use serde::{Deserialize, Serialize};

const FIRST: NodeId = NodeId(0);
const SECOND: NodeId = NodeId(1);

fn checked(cluster: &impl Checkable, bounds: &Bounds, property: Property) -> Report {
    let limits = Limits { properties: vec![property], ..Limits::default() };
    cluster.check(bounds, &limits, &|_| {})
}

fn progress(cluster: &impl Checkable, bounds: &Bounds) -> Verdict {
    checked(cluster, bounds, Property::V1).verdict(Property::V1)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Letter {
    /// Goes to and fro for ever.
    Ball,
    /// Goes to the other and back, and then lets in.
    Wish,
    /// Is sent on while it has hops left.
    Junk { hops: u8 },
}

impl Named for Letter {
    fn name(&self) -> &'static str {
        "LETTER"
    }
}

/// The first node gets in when its wish has come back, however often the ball does. Nobody else
/// gets in at all.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Wisher;

impl Process for Wisher {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Letter;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) => {
                ctx.send(SECOND, Letter::Ball);
                ctx.send(SECOND, Letter::Wish);
            }
            Event::Message { from: SECOND, message: Letter::Wish } => {
                ctx.indicate(Indication::Entered { fence: 1 });
            }
            Event::Message { from, message } => ctx.send(from, message),
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

#[test]
fn each_message_of_a_bag_arrives_though_others_of_its_link_do_for_ever() {
    let cluster = Cluster { clients: 1, coordinators: 1, ..Cluster::of_equals(2, |_| Wisher) };
    for network in [Network::Fifo, Network::Bag] {
        let bounds = Bounds { network, ..Bounds::default() };
        assert_eq!(progress(&cluster, &bounds), Verdict::Holds, "{network:?}");
    }
}

/// The first node sends junk when it asks, of which nothing is left in the end, and enters at once.
/// The second one may ask once it has seen junk, by a wish; it gets in when the wish comes back, or
/// any junk comes to it while it waits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Littering {
    me: NodeId,
    seen: bool,
    waits: bool,
}

impl Process for Littering {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Letter;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) if self.me == FIRST => {
                ctx.send(SECOND, Letter::Junk { hops: 2 });
                ctx.indicate(Indication::Entered { fence: 1 });
            }
            Event::Request(Request::Acquire) if self.seen => {
                self.waits = true;
                ctx.send(FIRST, Letter::Wish);
            }
            // Too early, and nothing is at stake.
            Event::Request(Request::Acquire) => ctx.indicate(Indication::Entered { fence: 1 }),
            Event::Message { from, message: Letter::Wish } if self.me == FIRST => {
                ctx.send(from, Letter::Wish);
            }
            Event::Message { from, message } => {
                self.seen |= self.me == SECOND;
                if std::mem::take(&mut self.waits) {
                    ctx.indicate(Indication::Entered { fence: 1 });
                }
                if let Letter::Junk { hops: hops @ 1.. } = message {
                    ctx.send(from, Letter::Junk { hops: hops - 1 });
                }
            }
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

/// With junk lost on its way back, all is as if it had arrived, one move earlier: but then a wish
/// cannot be lost any more.
#[test]
fn what_can_still_be_lost_tells_two_states_apart() {
    let cluster = Cluster::of_equals(2, |me| Littering { me, seen: false, waits: false });
    let verdict = |losses| progress(&cluster, &Bounds { losses, ..Bounds::default() });
    assert_eq!(verdict(0), Verdict::Holds);
    assert_eq!(verdict(1), Verdict::Violated);
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Alarm {
    Short,
    Long,
    Next,
}

/// Sets a short timer and a long one; when the short one rings, a next one. It gets in by the
/// alarm that is `right`, if no other but the short one has rung before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Clockwork {
    short: (u64, u64),
    next: u64,
    right: Alarm,
    over: bool,
}

const LONG: u64 = 10;

impl Process for Clockwork {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Never;
    type Timer = Alarm;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) => {
                let (min, max) = self.short;
                ctx.set_timer(Alarm::Short, Delay::between(Ticks(min), Ticks(max)));
                ctx.set_timer(Alarm::Long, Delay::exactly(Ticks(LONG)));
            }
            Event::Timer(alarm) => {
                if alarm == self.right && !self.over {
                    ctx.indicate(Indication::Entered { fence: 1 });
                }
                self.over |= alarm != Alarm::Short;
                if alarm == Alarm::Short {
                    ctx.set_timer(Alarm::Next, Delay::exactly(Ticks(self.next)));
                }
            }
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

fn rings(short: (u64, u64), next: u64, right: Alarm, timing: Timing) -> Verdict {
    let clock = Clockwork { short, next, right, over: false };
    let cluster = Cluster::of_equals(1, move |_| clock.clone());
    progress(&cluster, &Bounds { timing, ..Bounds::default() })
}

#[test]
fn timers_fire_in_the_order_of_their_deadlines_where_nothing_is_late() {
    let in_order = |short, next, right| rings(short, next, right, Timing::Synchronous);
    // The long one has five left when the short one rings.
    assert_eq!(in_order((5, 5), 4, Alarm::Next), Verdict::Holds);
    assert_eq!(in_order((5, 5), 6, Alarm::Long), Verdict::Holds);
    assert_eq!(in_order((5, 5), 6, Alarm::Next), Verdict::Violated);
    // At the same time, either may come first.
    assert_eq!(in_order((5, 5), 5, Alarm::Next), Verdict::Violated);
    assert_eq!(in_order((5, 5), 5, Alarm::Long), Verdict::Violated);
    // The short one takes from one to nine: the next may come before the long one, or not.
    assert_eq!(in_order((1, 9), 4, Alarm::Next), Verdict::Violated);
    assert_eq!(in_order((1, 9), 4, Alarm::Long), Verdict::Violated);
    assert_eq!(in_order((1, 9), 0, Alarm::Next), Verdict::Holds);
}

#[test]
fn at_any_moment_any_timer_fires() {
    for right in [Alarm::Next, Alarm::Long] {
        assert_eq!(rings((5, 5), 4, right, Timing::AnyMoment), Verdict::Violated);
    }
}

/// Gets in when it is answered, and not at all if its timer rings before.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Hasty;

impl Process for Hasty {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Letter;
    type Timer = ();

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) => {
                ctx.send(SECOND, Letter::Wish);
                ctx.set_timer((), Delay::exactly(Ticks(1)));
            }
            Event::Message { from: FIRST, message } => ctx.send(FIRST, message),
            Event::Message { .. } => {
                ctx.cancel_timer(());
                ctx.indicate(Indication::Entered { fence: 1 });
            }
            Event::Timer(()) => ctx.send(SECOND, Letter::Ball),
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

#[test]
fn messages_are_faster_than_timers_only_where_these_are_synchronous() {
    let cluster = Cluster { clients: 1, coordinators: 1, ..Cluster::of_equals(2, |_| Hasty) };
    let sent = |timing, timeouts| {
        let bounds = Bounds { timing, timeouts, ..Bounds::default() };
        checked(&cluster, &bounds, Property::V1).unique_states
    };
    let calm = sent(Timing::Synchronous, Some(0));
    assert_eq!(sent(Timing::Synchronous, None), calm, "it is cancelled before it can ring");
    assert!(sent(Timing::AnyMoment, None) > calm);
}

/// Gets in once in its life, by what it remembers.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Once {
    kept: Kept,
    entered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Kept {
    /// The disk has it.
    Entered,
    /// There is a disk, and nothing on it.
    Nothing,
    /// It never comes back by itself.
    Down,
}

impl Process for Once {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Never;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) if !self.entered => {
                self.entered = true;
                ctx.indicate(Indication::Entered { fence: 1 });
            }
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        match self.kept {
            Kept::Entered => Recovery::State(self.clone()),
            Kept::Nothing => Recovery::State(Self { entered: false, ..*self }),
            Kept::Down => Recovery::Never,
        }
    }
}

/// F1 is broken by whoever enters a second time, with the same fence.
#[test]
fn who_comes_back_knows_what_its_disk_kept() {
    let fences = |kept, restarts, amnesia| {
        let cluster = Cluster::of_equals(1, move |_| Once { kept, entered: false });
        let bounds = Bounds { requests: Some(2), restarts, amnesia, ..Bounds::default() };
        checked(&cluster, &bounds, Property::F1).verdict(Property::F1)
    };
    assert_eq!(fences(Kept::Entered, 1, 0), Verdict::Holds);
    assert_eq!(fences(Kept::Entered, 0, 1), Verdict::Violated);
    assert_eq!(fences(Kept::Nothing, 0, 0), Verdict::Holds);
    assert_eq!(fences(Kept::Nothing, 1, 0), Verdict::Violated);
    assert_eq!(fences(Kept::Down, 1, 0), Verdict::Holds, "it does not come back");
    assert_eq!(fences(Kept::Down, 0, 1), Verdict::Violated, "another takes its place");
}

/// Two clients that nobody keeps out, and two coordinators that throw a ball to each other.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Players {
    me: NodeId,
}

impl Process for Players {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Letter;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start if self.me == NodeId(2) => ctx.send(NodeId(3), Letter::Ball),
            Event::Message { from, message } => ctx.send(from, message),
            Event::Request(Request::Acquire) => ctx.indicate(Indication::Entered { fence: 1 }),
            Event::Start | Event::Restart | Event::Request(_) => {}
        }
    }
}

/// To put off what the clients do until the ball has arrived is to put it off for ever (the cycle
/// condition of partial-order reduction).
#[test]
fn what_goes_round_for_ever_does_not_hide_what_others_do() {
    let nodes = Cluster::of_equals(4, |me| Players { me });
    let cluster = Cluster { clients: 2, coordinators: 2, ..nodes };
    let report = checked(&cluster, &Bounds::default(), Property::S1);
    assert_eq!(report.verdict(Property::S1), Verdict::Violated);
    let [story] = report.stories.as_slice() else { panic!("one story") };
    assert!(story.shortest, "{story:?}");
    let balls = story.moments.iter().filter(|moment| matches!(moment.act, Move::Deliver { .. }));
    assert_eq!(balls.count(), 0, "{story:?}");
}
