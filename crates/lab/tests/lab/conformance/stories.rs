//! Stories told by hand and by chance: the simulator goes through each, and its recording of that
//! is found true.

use super::support::setting;
use crate::cluster;
use conclave_algorithms::catalog::{ENTRIES, Family, Setting};
use conclave_core::{Moment, Move, NodeId, Property, Story, Verdict};
use conclave_sim::trace::{Effect, FORMAT, Header, Record, Trace, VERSION};
use conclave_sim::{Ending, Error, Retold, Stream};
use serde_json::Value;

const A: NodeId = NodeId(0);
const B: NodeId = NodeId(1);
const C: NodeId = NodeId(2);

fn deliver(from: NodeId, to: NodeId) -> Move {
    Move::Deliver { from, to, place: 0 }
}

fn overtake(from: NodeId, to: NodeId) -> Move {
    Move::Deliver { from, to, place: 1 }
}

fn acquire(node: NodeId) -> Move {
    Move::Acquire { node }
}

fn release(node: NodeId) -> Move {
    Move::Release { node }
}

fn story(property: Property, moves: &[Move]) -> Story {
    let moment = |act: &Move| Moment { act: act.clone(), choices: Vec::new() };
    Story { property, moments: moves.iter().map(moment).collect(), stem: None, shortest: false }
}

fn follow(setting: &Setting, story: &Story) -> Result<Retold, Error> {
    cluster(setting).unwrap_or_else(|error| panic!("{error}")).follow(story)
}

/// Goes through a story, and sees whether every node would do so again.
#[track_caller]
fn retell(setting: &Setting, story: &Story) -> Retold {
    let retold = follow(setting, story).unwrap_or_else(|error| panic!("{error}"));
    let cluster = cluster(setting).unwrap_or_else(|error| panic!("{error}"));
    let nodes = (0..cluster.clients() + cluster.coordinators()).map(NodeId);
    let header = Header {
        format: FORMAT.to_string(),
        version: VERSION,
        algorithm: setting.entry.id.to_string(),
        nodes: setting.n,
        names: nodes.map(|node| node.to_string()).collect(),
        ..Header::default()
    };
    let trace = Trace { header, records: retold.records.clone() };
    let steps = trace.steps().count() as u64;
    assert_eq!(cluster.verify(&trace).map_err(|difference| difference.to_string()), Ok(steps));
    retold
}

/// What became of a promise, and the words for it if it was broken.
fn verdict(retold: &Retold, property: Property) -> (Verdict, Option<&str>) {
    let known = retold.verdicts.iter().find(|(known, _)| *known == property);
    let what = retold.violation(property).map(|violation| violation.what.as_str());
    (known.expect("it was judged").1, what)
}

fn texts(retold: &Retold) -> Vec<String> {
    let text = |line: &conclave_sim::Line| match line.node {
        Some(node) => format!("{} {}", node.mark(), line.text),
        None => line.text.clone(),
    };
    retold.lines.iter().map(text).collect()
}

#[test]
fn two_ask_and_the_one_with_the_smaller_name_enters() {
    let setting = setting("ricart-agrawala", 2, &[]);
    let moves = [acquire(A), acquire(B), deliver(A, B), deliver(B, A), deliver(B, A)];
    let retold = retell(&setting, &story(Property::S1, &moves));
    assert_eq!(
        texts(&retold),
        [
            "{0} asks to enter; sends REQUEST (time: 1, seq: 1) to {1}",
            "{1} asks to enter; sends REQUEST (time: 1, seq: 1) to {0}",
            "{1} receives REQUEST (time: 1, seq: 1) from {0}; sends OK (time: 1, seq: 1) to {0}",
            "{0} receives REQUEST (time: 1, seq: 1) from {1}",
            "{0} receives OK (time: 1, seq: 1) from {1}; ENTERS with fence 2",
        ]
    );
    assert_eq!(verdict(&retold, Property::S1), (Verdict::Holds, None));
    assert_eq!(verdict(&retold, Property::V1), (Verdict::Unknown, None));
}

#[test]
fn a_reply_that_overtakes_a_request_lets_two_in() {
    let moves = [acquire(A), acquire(B), deliver(B, A), overtake(A, B)];
    let retold = retell(&setting("lamport", 2, &[]), &story(Property::S1, &moves));
    let broken = (Verdict::Violated, Some("{1} entered while {0} was inside"));
    assert_eq!(verdict(&retold, Property::S1), broken);
}

#[test]
fn a_node_that_forgets_its_clock_goes_before_whom_it_let_in() {
    let moves = [
        acquire(B),
        deliver(B, A),
        Move::Restart { node: A, amnesia: true },
        acquire(A),
        overtake(A, B),
        deliver(A, B),
        deliver(B, A),
    ];
    let retold = retell(&setting("ricart-agrawala", 2, &[]), &story(Property::S1, &moves));
    assert_eq!(texts(&retold)[2], "{0} CRASHES; RESTARTS and remembers nothing");
    assert_eq!(verdict(&retold, Property::S1).0, Verdict::Violated);
}

#[test]
fn what_reaches_a_node_that_is_down_is_lost_and_a_disk_remembers() {
    let moves = [
        acquire(A),
        Move::Crash { node: B },
        deliver(A, B),
        Move::Restart { node: B, amnesia: false },
        acquire(B),
    ];
    let retold = retell(&setting("ricart-agrawala", 2, &[]), &story(Property::V1, &moves));
    let told = texts(&retold);
    assert_eq!(told[2], "REQUEST (time: 1, seq: 1) from {0} reaches {1}, which is down");
    assert_eq!(told[3], "{1} RESTARTS with its disk");
    let broken = (Verdict::Violated, Some("{0}, {1} wait for ever, and nobody enters"));
    assert_eq!(verdict(&retold, Property::V1), broken);
    let ending = retold.records.last();
    assert!(matches!(ending, Some(Record::End { ending: Ending::Quiet, .. })));
}

#[test]
fn a_token_circles_and_is_lost() {
    let lose = Move::Lose { from: B, to: C, place: 0 };
    let departs = Move::Fire { node: A, timer: "Departure".to_string() };
    let moves = [acquire(B), departs, deliver(A, B), release(B), acquire(C), lose];
    let retold = retell(&setting("token-ring", 3, &[]), &story(Property::V1, &moves));
    let told = texts(&retold);
    assert_eq!(told[0], "{0} starts; sets timer Departure");
    assert!(told[2].starts_with("{0} is woken by timer Departure; sends TOKEN"), "{}", told[2]);
    assert!(told[6].starts_with("TOKEN") && told[6].ends_with("from {1} to {2} is lost"));
    let broken = (Verdict::Violated, Some("{2} waits for ever, and nobody enters"));
    assert_eq!(verdict(&retold, Property::V1), broken);
}

#[test]
fn a_message_may_come_a_third_time() {
    let repeat = Move::Repeat { from: A, to: B, place: 0 };
    let moves = [acquire(A), repeat.clone(), repeat, deliver(A, B)];
    let retold = retell(&setting("ricart-agrawala", 2, &[]), &story(Property::S1, &moves));
    assert!(texts(&retold)[1].ends_with("to {0}; the message will arrive once more"));
    let sent = retold.records.iter().filter_map(Record::step).flat_map(|step| step.sends());
    assert_eq!(sent.map(|sending| sending.arrivals().count()).max(), Some(3));
}

#[test]
fn who_waits_through_a_whole_loop_starves() {
    let setting = setting("central", 3, &[]);
    let others = [acquire(B), deliver(B, A), deliver(A, B), release(B), deliver(B, A)];
    let waits = [&[acquire(C)], &others[..]].concat();
    let retold = retell(&setting, &Story { stem: Some(1), ..story(Property::V2, &waits) });
    let broken = (Verdict::Violated, Some("{2} waits for ever, while others enter"));
    assert_eq!(verdict(&retold, Property::V2), broken);
    assert_eq!(verdict(&retold, Property::V1).0, Verdict::Unknown);
    let enters = [deliver(C, A), deliver(A, C), release(C), deliver(C, A), acquire(C)];
    let fair = [&waits[..], &enters].concat();
    let retold = retell(&setting, &Story { stem: Some(1), ..story(Property::V2, &fair) });
    assert_eq!(verdict(&retold, Property::V2), (Verdict::Unknown, None));
}

#[test]
fn a_wrong_suspicion_is_told_and_judged() {
    let moves = [Move::Suspect { by: B, of: C }, Move::Campaign { node: B }];
    let retold = retell(&setting("bully", 3, &[]), &story(Property::E1, &moves));
    assert!(texts(&retold)[0].starts_with("{1} is told, wrongly, that {2} crashed"));
}

#[test]
fn a_story_that_cannot_have_happened_is_refused_in_one_line() {
    let refused =
        |id, moves: &[Move]| match follow(&setting(id, 2, &[]), &story(Property::S1, moves)) {
            Ok(_) => panic!("{moves:?} cannot happen"),
            Err(error) => error.to_string(),
        };
    let is_told = |what: &str, id, moves: &[Move]| {
        assert_eq!(refused(id, moves), format!("the story does not fit: {what}"));
    };
    let id = "ricart-agrawala";
    let nothing = "moment 2: message 0 from 2 to 1 is wanted, but 0 are under way";
    is_told(nothing, id, &[acquire(A), deliver(B, A)]);
    is_told("moment 1: there is no node 8", id, &[acquire(NodeId(7))]);
    is_told("moment 1: 1 is told of itself", "ring", &[Move::Suspect { by: A, of: A }]);
    is_told("moment 1: 1 is told of itself", "wireless", &[Move::Trust { by: A, of: A }]);
    is_told("moment 1: the user of 1 cannot do this now", id, &[release(A)]);
    is_told("moment 1: the user of 1 cannot do this now", id, &[Move::Campaign { node: A }]);
    is_told("moment 2: 1 is down", id, &[Move::Crash { node: A }, acquire(A)]);
    is_told("moment 1: 1 listens to no detector", id, &[Move::Suspect { by: A, of: B }]);
    let fire = Move::Fire { node: A, timer: "Retry".to_string() };
    is_told("moment 1: timer Retry of 1 does not run", id, &[fire]);
    let mut chosen = story(Property::S1, &[acquire(A)]);
    chosen.moments[0].choices = vec![1];
    let error = follow(&setting(id, 2, &[]), &chosen).expect_err("nothing is chosen").to_string();
    assert_eq!(error, "the story does not fit: moment 1: 1 makes other choices than [1]");
}

/// Any move that might be possible, or not.
fn any_move(random: &mut Stream, n: u64, timers: &[String]) -> Move {
    let mut node = || NodeId(random.below(n) as u32);
    let (from, to) = (node(), node());
    let place = random.below(2) as usize;
    match random.below(24) {
        0..=9 => Move::Deliver { from, to, place: 0 },
        10 => Move::Deliver { from, to, place },
        11 => Move::Repeat { from, to, place },
        12 => Move::Lose { from, to, place },
        13 | 14 if !timers.is_empty() => {
            let timer = timers[random.below(timers.len() as u64) as usize].clone();
            Move::Fire { node: to, timer }
        }
        13..=15 => Move::Acquire { node: to },
        16 => Move::Campaign { node: to },
        17 | 18 => Move::Release { node: to },
        19 => Move::Cancel { node: to },
        20 => Move::Crash { node: to },
        21 => Move::Restart { node: to, amnesia: place == 1 },
        22 => Move::Suspect { by: from, of: to },
        _ => Move::Trust { by: from, of: to },
    }
}

/// The names of all timers that were ever set, as they are written for debugging.
fn timers(retold: &Retold) -> Vec<String> {
    fn name(timer: &Value) -> String {
        match timer.as_object().and_then(|layers| layers.iter().next()) {
            Some((layer, inner)) => format!("{layer}({})", name(inner)),
            None => timer.as_str().unwrap_or_default().to_string(),
        }
    }
    let steps = retold.records.iter().filter_map(Record::step);
    let set = steps.flat_map(|step| &step.effects).filter_map(|effect| match effect {
        Effect::SetTimer { effect, .. } => Some(effect),
        Effect::Send(_)
        | Effect::CancelTimer { .. }
        | Effect::Indicate { .. }
        | Effect::Request { .. } => None,
    });
    set.map(|effect| name(&effect["SetTimer"]["timer"])).collect()
}

#[test]
fn whatever_happens_by_chance_can_be_run_again() {
    let judged = |family| matches!(family, Family::Mutex | Family::Election);
    for entry in ENTRIES.iter().filter(|entry| judged(entry.family)) {
        let setting = setting(entry.id, 3, &[]);
        let cluster = cluster(&setting).unwrap_or_else(|error| panic!("{error}"));
        let n = u64::from(cluster.clients() + cluster.coordinators());
        let mut random = Stream::new(7, 7);
        let mut story = story(Property::HB, &[]);
        let mut known = cluster.follow(&story).expect("nothing happens");
        for _ in 0..400 {
            let act = any_move(&mut random, n, &timers(&known));
            story.moments.push(Moment { act, choices: Vec::new() });
            match cluster.follow(&story) {
                Ok(retold) => known = retold,
                Err(_) => story.moments.truncate(story.moments.len() - 1),
            }
        }
        assert!(story.moments.len() > 20, "{}: {}", entry.id, story.moments.len());
        let retold = retell(&setting, &story);
        assert!(retold.lines.iter().all(|line| !line.text.is_empty()), "{}", entry.id);
    }
}
