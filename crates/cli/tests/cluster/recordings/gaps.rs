//! What recordings do not tell, and what nobody may hide there.

use super::lab::Lab;
use super::{busy, folder, forge, replay};
use crate::support::conclave;
use conclave_net::recording::{Entry, Restored};

/// Node 3 is away for a while, and everybody asks for two locks before and after it.
fn away(name: &str, engine: &str, leave: impl Fn(&mut Lab)) -> Lab {
    let mut lab = Lab::new(&folder(name), engine, &[0, 0, 0]);
    for node in 0..3 {
        for at in [400_000, 9_000_000] {
            lab.asks(at + 40_000 * u64::from(node), node, "demo");
            lab.asks(at + 20_000, node, "other");
        }
    }
    leave(&mut lab);
    lab.comes_back(6_000_000, 2);
    lab.run(10_000_000);
    lab
}

fn restored(entries: &mut [Entry]) -> impl Iterator<Item = &mut Restored> {
    entries.iter_mut().filter_map(|entry| match entry {
        Entry::Restored(restored) => Some(restored),
        Entry::Step(_) | Entry::Stopped(_) => None,
    })
}

/// Replays everything; it must not be as recorded.
fn refused(lab: &Lab, says: &str) {
    let done = replay(&lab.files(), &[]);
    assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.contains(says), "{}", done.stdout);
    let place = format!("{}, entry ", lab.file(2, 2));
    assert!(done.stdout.contains(&place), "{}", done.stdout);
}

#[test]
fn a_promise_broken_by_a_machine_that_is_not_shown_is_told() {
    // Node 3's clock is behind, and without the coordinator's recording nothing puts it right: it
    // seems to be inside with node 2.
    let mut lab = Lab::new(&folder("elsewhere"), "central", &[8_000, 8_000, 0]);
    for round in 0..9 {
        lab.asks(400_000 + 10_000 * round, 1, "demo");
    }
    lab.asks(600_000, 1, "other");
    lab.asks(609_000, 2, "other");
    lab.run(700_000);
    let files = &lab.files()[1..];
    let done = replay(files, &[]);
    assert_eq!(done.code, 3, "{}{}", done.stdout, done.stderr);
    assert!(done.stdout.starts_with("lock/demo by central"), "{}", done.stdout);
    assert!(done.stdout.contains("judged      F1 holds"), "all is well in this one");
    assert!(done.stdout.contains("lock/other: S1 violated at "), "{}", done.stdout);
    assert!(done.stdout.contains("(--lock other shows it)"), "{}", done.stdout);
    let violations = &replay(files, &["--json"]).json()["violations"];
    assert_eq!(
        (&violations[0]["machine"], &violations[0]["property"]),
        (&"lock/other".into(), &"S1".into())
    );
    let shown = replay(files, &["--lock", "other"]);
    assert_eq!(shown.code, 3);
    assert!(shown.stdout.contains("\nS1 violated at "), "{}", shown.stdout);
}

#[test]
fn a_node_that_lost_its_disk_is_found_out() {
    let says = "node 3 came back without what it had on disk";
    for engine in ["ricart-agrawala", "central-failover"] {
        let lab = away(&format!("amnesia-{engine}"), engine, |lab| {
            lab.stops(4_000_000, 2);
            lab.forgets(5_000_000, 2);
        });
        refused(&lab, says);
    }
    // What a recording holds was on disk before, so one that is cut off is no excuse.
    let lab = away("amnesia-killed", "ricart-agrawala", |lab| {
        lab.kill(4_000_000, 2);
        lab.forgets(5_000_000, 2);
    });
    refused(&lab, says);
    // Nor is it one that the machine does nothing any more.
    let mut lab = Lab::new(&folder("amnesia-idle"), "ricart-agrawala", &[0, 0, 0]);
    lab.asks(400_000, 0, "demo");
    lab.stops(1_000_000, 2);
    lab.comes_back(2_000_000, 2);
    lab.run(3_000_000);
    forge(&lab.file(2, 2), true, Vec::clear);
    refused(&lab, says);
}

#[test]
fn timers_are_part_of_what_comes_back() {
    // It has just asked, and waits for votes.
    let lab = away("timers", "voting", |lab| lab.stops(480_100, 2));
    let done = replay(&lab.files(), &[]);
    assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
    forge(&lab.file(2, 2), true, |entries| {
        let mut running = restored(entries).filter(|one| !one.timers.is_empty());
        running.next().expect("a timer ran").timers.clear();
    });
    refused(&lab, "node 3 came back with other timers than ran");
}

#[test]
fn nothing_comes_back_from_disk_after_the_first_step() {
    let lab = away("late", "ricart-agrawala", |lab| lab.stops(4_000_000, 2));
    forge(&lab.file(2, 2), true, |entries| entries.rotate_left(1));
    let done = replay(&lab.files(), &[]);
    assert_eq!(done.code, 2, "{}{}", done.stdout, done.stderr);
    assert!(done.stderr.contains("cannot have happened like this"), "{}", done.stderr);
}

#[test]
fn a_later_gap_is_no_excuse_for_what_came_before() {
    let lab = away("later-gap", "ricart-agrawala", |lab| lab.stops(4_000_000, 2));
    forge(&lab.file(2, 2), false, |entries| {
        entries.retain(|entry| matches!(entry, Entry::Restored(_)));
        let other =
            restored(entries).find(|one| &*one.key == "lock/other").map(|one| one.saved.clone());
        let demo = restored(entries).find(|one| &*one.key == "lock/demo").expect("it came back");
        demo.saved = other.expect("so did this one");
    });
    refused(&lab, "node 3 came back with another state than it had");
}

#[test]
fn what_is_missing_is_named_and_all_else_is_verified() {
    let lab = away("missing-start", "ricart-agrawala", |lab| {
        lab.stops(1_000_000, 2);
        lab.comes_back(2_000_000, 2);
        lab.asks(3_000_000, 2, "demo");
        lab.stops(4_000_000, 2);
    });
    let whole = replay(&lab.files(), &[]);
    assert_eq!(whole.code, 0, "{}{}", whole.stdout, whole.stderr);
    assert!(whole.stdout.ends_with("all as recorded\n"), "{}", whole.stdout);

    let mut files = lab.files();
    files.retain(|file| *file != lab.file(2, 2));
    let told = replay(&files, &[]);
    assert_eq!(told.code, 0, "{}{}", told.stdout, told.stderr);
    assert!(told.stdout.contains("node 3      start 2: no recording"), "{}", told.stdout);
    assert!(told.stdout.ends_with("as far as they are recorded\n"), "{}", told.stdout);
    let starts = &replay(&files, &["--json"]).json()["missing_starts"];
    assert_eq!(*starts, serde_json::json!([{ "node": 3, "first": 2, "last": 2 }]));

    let no_node = replay(&busy("missing-node", "maekawa", &[0, 0, 0]).files()[..2], &[]);
    assert_eq!(no_node.code, 0, "{}{}", no_node.stdout, no_node.stderr);
    assert!(no_node.stdout.ends_with("as far as they are recorded\n"), "{}", no_node.stdout);
}

#[test]
fn a_node_that_is_killed_before_it_writes_anything_is_followed() {
    for engine in ["ricart-agrawala", "central-failover"] {
        let lab = away(&format!("killed-twice-{engine}"), engine, |lab| {
            lab.kill(1_000_000, 2);
            lab.comes_back(2_000_000, 2);
            lab.asks(2_500_000, 2, "demo");
            lab.kill(2_600_000, 2);
        });
        forge(&lab.file(2, 2), false, Vec::clear);
        let jsonl = lab.file(9, 1) + ".jsonl";
        let done = replay(&lab.files(), &["--trace", &jsonl]);
        assert_eq!(done.code, 0, "{engine}: {}{}", done.stdout, done.stderr);
        let again = conclave(&["replay", &jsonl]);
        assert_eq!(again.code, 0, "{engine}: {}{}", again.stdout, again.stderr);
    }
}
