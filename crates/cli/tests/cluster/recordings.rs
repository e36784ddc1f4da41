//! `conclave replay a.rec b.rec c.rec`: what the nodes of a real cluster wrote down, put together.

mod gaps;
mod lab;

use crate::support::{Done, conclave};
use conclave_core::Ticks;
use conclave_net::recording::{self, Entry, Recorder};
use conclave_net::{AnyIndication, Deed};
use lab::Lab;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

/// A folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("recordings").join(name);
    let _ = fs::remove_dir_all(&folder); // What an earlier run left behind.
    fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}

fn replay(files: &[String], more: &[&str]) -> Done {
    let mut arguments = vec!["replay"];
    arguments.extend(files.iter().map(String::as_str));
    arguments.extend(more);
    conclave(&arguments)
}

/// Everybody asks twice for one lock, and once for another.
fn busy(name: &str, engine: &str, skews: &[u64]) -> Lab {
    let mut lab = Lab::new(&folder(name), engine, skews);
    for node in 0..skews.len() as u32 {
        lab.asks(400_000 + 150 * u64::from(node), node, "demo");
        lab.asks(440_000, node, "demo");
        lab.asks(480_000 + 9_000 * u64::from(node), node, "other");
    }
    lab.run(600_000);
    lab
}

#[test]
fn every_kind_of_engine_replays_and_verifies() {
    let skews = [0, 250_000, 40];
    for engine in ["central", "ricart-agrawala", "maekawa", "suzuki-kasami", "central-failover"] {
        let lab = busy(engine, engine, &skews);
        let svg = lab.file(0, 1).replace("1.rec", "run.svg");
        let jsonl = svg.replace("svg", "jsonl");
        let done = replay(&lab.files(), &["--trace", &svg, "--trace", &jsonl]);
        assert_eq!(done.code, 0, "{engine}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("run again, all as recorded"), "{}", done.stdout);
        assert!(done.stdout.contains("S1 holds"), "{}", done.stdout);
        let drawn = fs::read_to_string(&svg).expect("drawn");
        assert!(drawn.contains(">fence "), "{engine}");
        assert!(drawn.contains("REQUEST"), "{engine}");
        let again = conclave(&["replay", &jsonl]);
        assert_eq!(again.code, 0, "{engine}: {}{}", again.stdout, again.stderr);
        for file in [&svg, &jsonl] {
            let mode = fs::metadata(file).expect("drawn").permissions().mode();
            assert_eq!(mode & 0o777, 0o600, "{file}: for its owner alone, as what it was made of");
        }
    }
}

/// Writes a recording anew, with other entries; its checks are right again.
fn forge(file: &str, finish: bool, change: impl Fn(&mut Vec<Entry>)) {
    let mut recording = recording::read(&fs::read(file).expect("a file")).expect("a recording");
    change(&mut recording.entries);
    // The recorder adds the number of the start itself.
    let first = file.replace(&format!(".{}.rec", recording.header.incarnation), ".rec");
    let mut recorder = Recorder::create(first.as_ref(), &recording.header).expect("a file");
    recording.entries.iter().for_each(|entry| recorder.write(entry));
    match finish {
        true => recorder.finish(Ticks(600_000)),
        false => recorder.flush(),
    }
}

fn deeds(entries: &mut [Entry]) -> impl Iterator<Item = &mut Deed> {
    let steps = entries.iter_mut().filter_map(|entry| match entry {
        Entry::Step(step) => Some(step),
        Entry::Restored(_) | Entry::Stopped(_) => None,
    });
    steps.flat_map(|step| &mut step.deeds).map(|done| &mut done.deed)
}

#[test]
fn clocks_that_are_apart_are_put_right_and_it_is_said() {
    let lab = busy("skewed", "ricart-agrawala", &[0, 250_000, 40]);
    let json = replay(&lab.files(), &["--json"]).json();
    let forward = |node: usize| json["recordings"][node]["put_forward"].as_f64().expect("a time");
    assert!((249.0..251.0).contains(&forward(0)), "{json}");
    assert_eq!(forward(1), 0.0, "it was ahead");
    assert_eq!((&json["machine"], &json["verified"]), (&"lock/demo".into(), &true.into()));
    assert_eq!(json["properties"]["HB"], "holds");
    assert!(json["put_off"].as_f64().is_some_and(|ms| ms < 1.0), "even clocks: {json}");

    let right = busy("right", "ricart-agrawala", &[0, 0, 0]);
    let told = replay(&right.files(), &[]);
    assert!(!told.stdout.contains("put forward"), "{}", told.stdout);
}

#[test]
fn a_changed_byte_is_found() {
    let lab = busy("changed-byte", "central", &[0, 0, 0]);
    let file = lab.file(1, 1);
    let mut bytes = fs::read(&file).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&file, &bytes).expect("a file");
    let done = replay(&lab.files(), &[]);
    assert_eq!(done.code, 2, "{}", done.stdout);
    let says = "2.rec: changed after it was written, at byte";
    assert!(done.stderr.contains(says), "{}", done.stderr);
}

#[test]
fn what_a_machine_would_not_do_is_told_with_its_place() {
    let lab = busy("forged", "central", &[0, 0, 0]);
    let file = lab.file(1, 1);
    let whole = fs::read(&file).expect("a file");
    let forged = |change: &dyn Fn(&mut Vec<Entry>)| {
        fs::write(&file, &whole).expect("a file");
        forge(&file, true, change);
        let done = replay(&lab.files(), &[]);
        assert_eq!(done.code, 1, "{}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains(".rec, entry "), "{}", done.stdout);
        done.stdout
    };
    let other_fence = forged(&|entries| {
        let fence = deeds(entries).find(|deed| matches!(deed, Deed::Indicate(_)));
        *fence.expect("it enters") = Deed::Indicate(AnyIndication::Entered { fence: 99 });
    });
    assert!(other_fence.contains("not 'tell Entered { fence: 99 }'"), "{other_fence}");
    let other_message = forged(&|entries| {
        let sends = deeds(entries).find_map(|deed| match deed {
            Deed::Send { bytes, .. } => Some(bytes),
            Deed::SetTimer { .. }
            | Deed::CancelTimer { .. }
            | Deed::Indicate(_)
            | Deed::Request(_) => None,
        });
        sends.expect("it sends").push(0);
    });
    assert!(other_message.contains("says something else than was sent"), "{other_message}");
    let left_out = forged(&|entries| {
        entries.remove(1);
    });
    assert!(left_out.contains("not as recorded"), "{left_out}");
}

#[test]
fn a_recording_that_is_cut_off_or_missing_leaves_the_rest() {
    let lab = busy("cut-off", "ricart-agrawala", &[0, 30_000, 0]);
    let (svg, jsonl) = (lab.file(9, 1) + ".svg", lab.file(9, 1) + ".jsonl");
    let drawn = ["--trace", &svg, "--trace", &jsonl];
    forge(&lab.file(2, 1), false, |entries| entries.truncate(6));
    let cut = replay(&lab.files(), &drawn);
    assert_eq!(cut.code, 0, "{}{}", cut.stdout, cut.stderr);
    let words = cut.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("cut off after 6 entries"), "{words}");
    assert!(cut.stdout.contains("all as recorded, as far as they are recorded"), "{}", cut.stdout);
    assert_eq!(conclave(&["replay", &jsonl]).code, 0, "it can be read again");

    let missing = replay(&lab.files()[..2], &drawn);
    assert_eq!(missing.code, 0, "{}{}", missing.stdout, missing.stderr);
    assert!(missing.stdout.contains("node 3      no recording"), "{}", missing.stdout);
    let picture = fs::read_to_string(&svg).expect("drawn");
    assert!(picture.contains("node 3") && picture.contains("OK"), "its answers are drawn");
}

#[test]
fn nodes_that_are_killed_and_come_back_are_followed() {
    for (engine, sign) in [("ricart-agrawala", ">paused<"), ("central-failover", ">restart<")] {
        let name = format!("killed-{engine}");
        let mut lab = Lab::new(&folder(&name), engine, &[0, 0, 0]);
        for node in 0..3 {
            lab.asks(400_000, node, "demo");
            lab.asks(9_000_000 + u64::from(node), node, "demo");
        }
        lab.kill(450_000, 2);
        lab.asks(4_000_000, 0, "demo");
        lab.comes_back(6_000_000, 2);
        lab.run(10_000_000);
        let svg = lab.file(9, 1) + ".svg";
        let jsonl = lab.file(9, 1) + ".jsonl";
        let done = replay(&lab.files(), &["--until", "20s", "--trace", &svg, "--trace", &jsonl]);
        assert_eq!(done.code, 0, "{engine}: {}{}", done.stdout, done.stderr);
        assert!(done.stdout.contains("start 2 of this node"), "{}", done.stdout);
        let picture = fs::read_to_string(&svg).expect("drawn");
        assert!(picture.contains(sign), "{engine}");
        let again = conclave(&["replay", &jsonl]);
        assert_eq!(again.code, 0, "{engine}: {}{}", again.stdout, again.stderr);
    }
}

#[test]
fn the_machine_and_the_stretch_can_be_chosen() {
    let lab = busy("chosen", "central-failover", &[0, 0, 0]);
    let machine = |more: &[&str]| {
        let more = [more, &["--json"]].concat();
        replay(&lab.files(), &more).json()["machine"].clone()
    };
    assert_eq!(machine(&["--lock", "other"]), "lock/other");
    assert_eq!(machine(&["--election"]), "election");
    assert_eq!(machine(&["--detector"]), "detector");
    let none = replay(&lab.files(), &["--lock", "none"]);
    assert_eq!(none.code, 2);
    assert!(none.stderr.contains("nothing of lock/none is recorded; there are: detector ("));

    let svg = lab.file(9, 1) + ".svg";
    let drawn = |more: &[&str]| {
        let done = replay(&lab.files(), &[more, &["--trace", &svg]].concat());
        assert_eq!(done.code, 0, "{}{}", done.stdout, done.stderr);
        fs::read_to_string(&svg).expect("drawn")
    };
    // A hold that goes on in another strip is named there once more.
    let fences = |picture: &str| {
        let named = picture.split(">fence ").skip(1).filter_map(|rest| rest.split('<').next());
        named.collect::<BTreeSet<_>>().len()
    };
    assert_eq!(fences(&drawn(&[])), 6);
    assert_eq!(fences(&drawn(&["--until", "20"])), 3);
    let later = drawn(&["--from", "20"]);
    assert_eq!(fences(&later), 3);
    assert!(later.contains(" messages since 20, no more"), "{later}");
    let wrong = replay(&lab.files(), &["--from", "soon"]);
    assert!(wrong.stderr.contains("--from soon: a time in milliseconds"), "{}", wrong.stderr);
}

#[test]
fn files_that_do_not_belong_together_are_refused() {
    let lab = busy("one", "central", &[0, 0, 0]);
    let other = busy("two", "raymond", &[0, 0, 0]);
    let refused = |files: &[String], says: &str| {
        let done = replay(files, &[]);
        assert_eq!(done.code, 2, "{}", done.stdout);
        assert_eq!(done.stderr.lines().count(), 1, "{}", done.stderr);
        assert!(done.stderr.contains(says), "{}", done.stderr);
    };
    refused(&[lab.file(0, 1), other.file(1, 1)], "of different clusters");
    refused(&[lab.file(0, 1), lab.file(0, 1)], "both are of start 1 of node 1");
    refused(&[lab.file(7, 1)], "8.rec: cannot read: No such file");
    let garbage = lab.file(9, 1);
    fs::write(&garbage, "conclave, but no recording").expect("a file");
    refused(&[garbage], "a recording of version");
    let empty = lab.file(9, 1);
    fs::write(&empty, "").expect("a file");
    refused(&[empty], "not a recording of a conclave node");
}
