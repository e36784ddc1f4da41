//! Lamps say what the monitors say of each prefix of a run.

use super::played;
use conclave_core::{Property, Verdict};
use conclave_lab::player::Played;
use conclave_lab::player::judged::judge;
use conclave_lab::player::lamps::{State, lamps};

/// Longer runs are not judged prefix by prefix.
const EVENTS_MAX: usize = 700;

/// Runs in which promises are kept, broken early, and broken only in the end.
const RUNS: &[(&str, &str)] = &[
    ("ricart-agrawala", "--nodes 5 --latency uniform:1..20"),
    ("ricart-agrawala", "--nodes 4 --loss 0.1 --latency exp:3"),
    ("lamport", "--nodes 4 --no-fifo --latency uniform:1..30 --rounds 2"),
    ("central", "--nodes 4 --set coordinator=separate --crash c1@5 --restart c1@6:amnesia"),
    ("maekawa", "--nodes 7 --set sanders=false --latency exp:2"),
    ("token-ring", "--nodes 4 --duplicate 0.2 --rounds 2 --until 200"),
    ("suzuki-kasami", "--nodes 4 --duplicate 0.2 --latency uniform:1..9"),
    ("raymond", "--nodes 5 --cancel 0.4 --rounds 2"),
    ("bully", "--nodes 5 --dead 5 --start 2 --latency uniform:1..9"),
    ("chang-roberts", "--nodes 5 --start 1,3 --loss 0.1"),
];

#[test]
fn the_lamp_after_every_event_is_the_monitors_verdict_of_that_prefix() {
    let mut broken = 0;
    let mut compared = 0;
    for (id, flags) in RUNS {
        for seed in 1..=5 {
            let played = played(id, &format!("{flags} --seed {seed}"), &[]);
            if played.trace.records.len() <= EVENTS_MAX {
                compared += 1;
                broken += usize::from(agrees(&played));
            }
        }
    }
    assert!(compared >= 40 && broken >= 10, "{broken} of {compared} break anything");
}

/// Holds every lamp against the monitor; whether a promise was broken.
fn agrees(played: &Played) -> bool {
    let family = played.experiment.setting.entry.family;
    let end = played.trace.records.len();
    let command = &played.trace.header.command;
    let lamps = lamps(played);
    for event in 0..=end {
        let judged = judge(&played.trace, family, event);
        for lamp in &lamps {
            let state = lamp.at(event);
            let property = lamp.property;
            // Its bound is the catalogue's, and who should lead is: a recording knows neither.
            if matches!(property, Property::BW | Property::E1 | Property::E2) {
                continue;
            }
            let seen = judged.violations.iter().any(|(known, _)| known.property == property);
            let decided = !matches!(property, Property::V1 | Property::V2) || event == end;
            let expected = match decided {
                _ if seen => State::Broken,
                false => State::Undecided,
                true => of_verdict(&judged.verdicts, property),
            };
            assert_eq!(state, expected, "{command}: {property} after {event} of {end}");
        }
    }
    !played.violations.is_empty()
}

fn of_verdict(verdicts: &[(Property, Verdict)], property: Property) -> State {
    let verdict = verdicts.iter().find(|(known, _)| *known == property).map(|(_, verdict)| verdict);
    match verdict {
        Some(Verdict::Holds) => State::Kept,
        Some(Verdict::Violated) => State::Broken,
        Some(Verdict::Unknown | Verdict::NotChecked) | None => State::Undecided,
    }
}

#[test]
fn a_promise_about_what_is_to_come_is_undecided_until_the_end() {
    let dropped = played("ricart-agrawala", "--nodes 3", &["2>1:OK#1=drop"]);
    let lamps = lamps(&dropped);
    let lamp = |property| lamps.iter().find(|lamp| lamp.property == property).expect("it is there");
    let end = dropped.trace.records.len();
    for event in 0..end {
        assert_eq!(lamp(Property::V1).at(event), State::Undecided, "after {event}");
    }
    assert_eq!(lamp(Property::V1).at(end), State::Broken);
    assert_eq!(lamp(Property::S1).at(end), State::Kept);
    assert!(!lamp(Property::V1).witnesses.is_empty(), "somebody waits");
}

#[test]
fn who_is_inside_besides_is_a_witness() {
    let flags = "--nodes 2 --no-fifo --rule '1>2:REQUEST=10'";
    let run = played("lamport", flags, &[]);
    let lamps = lamps(&run);
    let lamp = lamps.iter().find(|lamp| lamp.property == Property::S1).expect("it is judged");
    let [kept, (event, State::Broken)] = lamp.changes[..] else { panic!("{lamp:?}") };
    assert_eq!(kept, (0, State::Kept));
    assert_eq!(lamp.witnesses.len(), 2, "both entries: {:?}", lamp.witnesses);
    assert_eq!(lamp.witnesses.last(), Some(&event));
}
