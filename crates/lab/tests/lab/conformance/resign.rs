//! Leaders that resign at any moment: what their hand-over may not break, by chance and by a search
//! through all runs of a small cluster.
//!
//! No driver asks anybody to resign, as nobody leaves of its own accord there. So the election of
//! these tests has a timer more: when it fires, the node resigns.

use super::support::{crash, restart, seeds};
use conclave_algorithms::election::majority::{self, Majority, Message};
use conclave_algorithms::mutex::central_failover::CentralFailover;
use conclave_algorithms::mutex::epoch::{Ballot, Mode, Setup};
use conclave_check::{Checkable, Limits};
use conclave_core::Property::{E1Term, E2, F1, S1, S1Eff, V1, V2};
use conclave_core::detector::Detector;
use conclave_core::election::{Election, Request};
use conclave_core::{
    Bounds, Cluster, Context, Delay, Event, FenceLayout, NodeId, Process, Property, Recovery,
    Stack, Start, Ticks, Timing, Verdict,
};
use conclave_sim::{Latency, Options, Outcome, Plan, Runnable, Stream, Workload};
use serde::{Deserialize, Serialize};

/// A node of an election by majority that is told to leave now and then, and stays all the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Leaving {
    election: Majority,
    /// How often it will be told so.
    left: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
enum Timer {
    Own(majority::Timer),
    Leave,
}

impl Process for Leaving {
    type Provides = Election;
    type Uses = Detector;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        let event = match event {
            Event::Start => Event::Start,
            Event::Restart => Event::Restart,
            Event::Request(request) => Event::Request(request),
            Event::Indication(told) => Event::Indication(told),
            Event::Message { from, message } => Event::Message { from, message },
            Event::Timer(Timer::Own(timer)) => Event::Timer(timer),
            Event::Timer(Timer::Leave) => Event::Request(Request::Resign),
        };
        let begins = matches!(event, Event::Start | Event::Restart);
        let told = matches!(event, Event::Request(Request::Resign));
        ctx.delegate(&mut self.election, event, |message| message, Timer::Own);
        if (begins || told) && self.left > 0 {
            self.left -= 1;
            let moment = Delay::between(Ticks::units(2), Ticks::units(40));
            ctx.set_timer(Timer::Leave, moment);
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        match self.election.after_crash() {
            Recovery::State(election) => Recovery::State(Self { election, left: self.left }),
            Recovery::Fresh | Recovery::Never => Recovery::Never,
        }
    }
}

/// The last node leads from the start, as it does beneath a lock.
fn leaving(me: NodeId, n: u32, prevote: bool, left: u32) -> Leaving {
    let timeout = Ticks::units(10);
    let heartbeat = Ticks::units(2);
    let setup = majority::Setup { n, timeout, heartbeat, prevote };
    Leaving { election: Majority::new(me, setup, Some(NodeId(n - 1))), left }
}

fn elections(n: u32, prevote: bool, left: u32) -> Cluster<Leaving> {
    let cluster = Cluster::of_equals(n, move |me| leaving(me, n, prevote, left));
    Cluster { silent: false, ..cluster }
}

fn locks(n: u32, mode: Mode, left: u32) -> Cluster<Stack<CentralFailover, Leaving>> {
    let setup = Setup {
        n,
        mode,
        ballot: Ballot::Majority,
        lease: Ticks::units(50),
        retransmit: Ticks::units(25),
        notice: Ticks::units(10),
        certain: false,
        fences: FenceLayout::default(),
    };
    let cluster = Cluster::of_equals(n, move |me| Stack {
        upper: CentralFailover::new(me, setup),
        lower: leaving(me, n, true, left),
    });
    Cluster { silent: false, ..cluster }
}

/// Messages are late, lost and doubled, and at most a minority is down at a time, with its disk.
fn storm(seed: u64, n: u32) -> Plan {
    let mut random = Stream::new(seed, 9);
    let mut plan = Plan {
        seed,
        latency: Latency::Uniform(Ticks(1), Ticks(1_500)),
        loss: [0.0, 0.05][random.below(2) as usize],
        duplicate: [0.0, 0.05][random.below(2) as usize],
        until: Ticks::units(20_000),
        ..Plan::default()
    };
    let mut at = 5;
    for _ in 0..random.below(4) {
        let node = random.below(n.into()) as u32;
        let away = 1 + random.below(40);
        plan.faults.extend([crash(node, at), restart(node, at + away, false)]);
        at += away + random.below(30);
    }
    plan
}

#[track_caller]
fn assert_kept(outcome: &Outcome, properties: &[Property], seed: u64) {
    for &property in properties {
        let verdict = outcome.verdict(property);
        assert_eq!(verdict, Verdict::Holds, "seed {seed}, {property}: {:?}", outcome.violations);
    }
}

/// How often a leader of this run handed over.
fn handed_over(outcome: &Outcome) -> u64 {
    let kind = outcome.messages_by_kind.iter().find(|(kind, _)| *kind == "TIMEOUT_NOW");
    kind.map_or(0, |(_, count)| *count)
}

#[test]
fn leaders_that_resign_in_a_storm_are_one_per_term_and_in_the_end_all_follow_one() {
    let mut times = 0;
    for seed in 0..seeds() {
        let n = 3 + (seed % 3) as u32;
        let options = Options { hash: true, ..Options::default() };
        let outcome = elections(n, seed % 2 == 0, 4).run(&storm(seed, n), &options).expect("runs");
        assert_kept(&outcome, &[E1Term, E2], seed);
        times += handed_over(&outcome);
    }
    assert!(times > seeds(), "somebody hands over in most runs: {times}");
}

#[test]
fn leaders_that_resign_in_a_storm_let_in_one_at_a_time_and_everybody_gets_in() {
    let mut times = 0;
    for seed in 0..seeds() {
        let n = 3 + (seed % 3) as u32;
        let options = Options { hash: true, ..Options::default() };
        let plan = Plan {
            workload: Workload::Closed(Ticks::units(5)),
            rounds: 4,
            critical_section: Ticks::units(2),
            ..storm(seed, n)
        };
        let outcome = locks(n, Mode::Lease, 4).run(&plan, &options).expect("runs");
        assert_kept(&outcome, &[S1, S1Eff, F1, V1, V2], seed);
        times += handed_over(&outcome);
    }
    assert!(times > seeds(), "somebody hands over in most runs: {times}");
}

/// Every node may be told to leave once, at any moment, and one timer more fires on each.
fn all_runs<C: Checkable>(cluster: &C, bounds: &Bounds, kept: &[Property]) -> u64 {
    let limits = Limits { properties: kept.to_vec(), ..Limits::default() };
    let report = cluster.check(bounds, &limits, &|_| {});
    assert_eq!(report.stop, None, "{} states", report.unique_states);
    for property in kept {
        let verdict = report.verdicts.iter().find(|(known, _)| known == property);
        assert_eq!(verdict, Some(&(*property, Verdict::Holds)), "{:?}", report.stories);
    }
    report.unique_states
}

#[test]
fn whenever_leaders_resign_no_term_has_two_leaders() {
    let bounds = Bounds {
        timeouts: Some(1),
        timing: Timing::AnyMoment,
        start: Start::These(std::iter::empty().collect()),
        ..Bounds::default()
    };
    let states = all_runs(&elections(3, true, 1), &bounds, &[E1Term]);
    assert!(states > 10_000, "{states} states");
}

#[test]
fn whenever_leaders_resign_one_is_inside_at_a_time() {
    let bounds = Bounds { timeouts: Some(1), timing: Timing::AnyMoment, ..Bounds::default() };
    let states = all_runs(&locks(2, Mode::Strict, 1), &bounds, &[S1, F1]);
    assert!(states > 10_000, "{states} states");
}
