use super::*;
use crate::trace::testkit::{Draft, hand_made};
use crate::trace::{Cause, Effect, Explained, frames};
use conclave_core::{NodeId, Ticks};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[test]
fn everything_that_happened_is_in_the_picture_and_the_legend() {
    let svg = write(&hand_made(), Language::English).expect("small");
    for sign in [
        ">fence 4<",
        "partition 1 / 2",
        "S1 violated",
        ">paused<",
        ">crash<",
        "restart, disk lost",
        ">Retry<",
        ">waits to enter<",
        ">lost<",
        ">REQUEST<",
        "Lamport",
        "conclave sim by-hand",
    ] {
        assert!(svg.contains(sign), "{sign} is not in {svg}");
    }
    assert!(!svg.contains("leader"), "there is none");
}

#[test]
fn it_is_well_formed_and_stands_alone() {
    let mut draft = Draft::new(2);
    draft.ask(0, 0, "Acquire").send(1, "<A&B>", Some(1));
    let mut trace = draft.end(2);
    trace.header.command = "sim --set \"<x>\" & more".to_string();
    let svg = write(&trace, Language::English).expect("small");
    assert!(svg.contains("&lt;A&amp;B&gt;") && svg.contains("&quot;&lt;x&gt;&quot; &amp; more"));
    let mut open: Vec<&str> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let name = tag.split([' ', '>']).next().expect("a tag has a name");
        match name.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop(), Some(name)),
            None if !tag.split('>').next().is_some_and(|tag| tag.ends_with('/')) => open.push(name),
            None => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    assert_eq!(svg.matches("http").count(), 1, "only the name space");
}

#[test]
fn long_silences_are_shortened_and_instants_kept_apart() {
    let mut draft = Draft::new(1);
    draft.ask(0, 0, "Acquire");
    draft.ask(1_000, 0, "Release");
    draft.record(Record::Crash { at: Ticks(1_000_001), node: NodeId(0) });
    let trace = draft.end(1_001);
    let scale = Scale::of(&trace, &Lives::of(&trace), Ticks::ZERO);
    assert_eq!(scale.x(Ticks::units(1_000)), 130.0);
    assert!(scale.x(Ticks(1_000_001)) - scale.x(Ticks(1_000_000)) >= 15.0);
    assert_eq!(scale.breaks().len(), 1);
    assert_eq!(scale.x(Ticks::units(500)), 65.0);
}

#[test]
fn a_long_run_is_cut_and_says_so() {
    let mut draft = Draft::new(2);
    for at in 0..700 {
        draft.ask(at, 0, "Acquire").send(1, "REQUEST", Some(at + 1));
    }
    let svg = write(&draft.end(701), Language::English).expect("two nodes");
    assert!(svg.contains("the first 600 of 700 messages, no more"));
    let arrows = svg.lines().filter(|line| line.starts_with("<path class=\"a0"));
    let begun = arrows.filter(|line| !line.split("d=").next().is_some_and(|c| c.contains(" y")));
    assert_eq!(begun.count(), 600 + 3, "the legend has three");
    assert!(svg.len() < 220_000, "{}", svg.len());
}

#[test]
fn more_nodes_than_fit_are_refused() {
    let error = write(&Draft::new(65).end(1), Language::English).expect_err("too many").to_string();
    assert_eq!(error, "a space-time diagram of 65 nodes: at most 64");
}

/// How wide and how high a picture is.
fn size(svg: &str) -> (f64, f64) {
    let of = |name: &str| {
        let rest = svg.split_once(&format!(" {name}=\"")).map_or("", |(_, rest)| rest);
        rest.split('"').next().and_then(|number| number.parse().ok()).expect("a number")
    };
    (of("width"), of("height"))
}

#[test]
fn a_long_run_goes_on_in_another_strip_with_the_names_once_more() {
    let mut draft = Draft::new(3);
    for at in 0..80 {
        if at >= 3 {
            draft.receive(at, 1, at - 2);
        }
        draft.ask(at, 0, "Acquire").send(1, "REQUEST", Some(at + 3));
    }
    let svg = write(&draft.end(80), Language::English).expect("small");
    let (width, _) = size(&svg);
    assert!(width <= WIDTH_MAX, "{width}");
    let strips = svg.matches(">node 3<").count();
    assert!(strips > 1 && strips < 8, "{strips}");
    assert_eq!(svg.matches(">node 1<").count(), strips);
    let pieces = |class: &str| svg.matches(class).count();
    assert!(pieces("a0 z\"") > 1, "an arrow is cut, and the legend says what that means");
    assert_eq!(pieces("a0 z\""), pieces("a0 y\"") + 1, "and goes on");
    assert!(svg.contains(">goes on below<"));
    let mut draft = Draft::new(3);
    draft.ask(0, 0, "Acquire").send(1, "REQUEST", Some(1));
    draft.receive(1, 1, 1);
    let short = write(&draft.end(1), Language::English).expect("small");
    assert!(!short.contains(">goes on below<") && short.matches(">node 1<").count() == 1);
}

#[test]
fn a_crash_that_lasts_is_dotted_in_every_strip() {
    let mut draft = Draft::new(2);
    draft.record(Record::Crash { at: Ticks::units(1), node: NodeId(1) });
    for at in 2..60 {
        draft.ask(at, 0, "Acquire");
    }
    let svg = write(&draft.end(60), Language::English).expect("small");
    let strips = svg.matches(">node 2<").count();
    assert!(strips > 1);
    assert_eq!(svg.matches("<path class=\"do\"").count(), strips + 1, "and in the legend");
    assert_eq!(svg.matches(">crash<").count(), 2, "once, and in the legend");
}

#[test]
fn everybody_who_learns_of_a_leader_says_so_whatever_is_in_the_way() {
    let n = 7;
    let mut draft = Draft::new(n);
    draft.step(0, 5, Cause::Timer("Answer".into()), Value::Null);
    draft.tell(json!({"Elected": {"leader": 5, "term": 12}}));
    for node in (0..n).filter(|node| *node != 5) {
        draft.send(node, "COORDINATOR", Some(1));
    }
    for (number, node) in (1..).zip((0..n).filter(|node| *node != 5)) {
        draft.receive(1, node, number);
        draft.tell(json!({"Elected": {"leader": 5, "term": 12}}));
    }
    let svg = write(&draft.end(1), Language::English).expect("small");
    assert_eq!(svg.matches(">leader 6<").count(), 6);
    assert_eq!(svg.matches(">leads, term 12<").count(), 1);
}

#[test]
fn a_picture_shows_one_clock() {
    let mut draft = Draft::new(2);
    draft.ask(0, 0, "Acquire").send(1, "REQUEST", Some(1));
    draft.receive(1, 1, 1);
    let mut trace = draft.end(1);
    let svg = write(&trace, Language::English).expect("small");
    assert!(svg.contains("Lamport's time") && svg.contains("class=\"l m\""));
    for record in &mut trace.records {
        if let Record::Step(step) = record
            && let Some(Effect::Send(sending)) = step.effects.first_mut()
        {
            sending.details = "time: 8, seq: 1".to_string();
        }
    }
    let svg = write(&trace, Language::English).expect("small");
    assert!(svg.contains(">REQUEST 8<") && svg.contains(">time that the message carries<"));
    let stamp = ["class=\"l\"", "class=\"l m\"", "class=\"l e\""];
    assert!(!svg.contains("Lamport") && !stamp.iter().any(|class| svg.contains(class)), "{svg}");
}

#[test]
fn long_titles_and_commands_are_broken_and_nothing_covers_them() {
    let mut trace = hand_made();
    let long = "x".repeat(20);
    trace.header.set = (0..6).map(|place| (format!("parameter{place}"), long.clone())).collect();
    trace.header.command = "conclave sim by-hand --set a=b ".repeat(20);
    let svg = write(&trace, Language::English).expect("small");
    let (width, _) = size(&svg);
    let titles: Vec<&str> = svg.lines().filter(|line| line.contains("class=\"h\"")).collect();
    assert!(titles.len() > 1);
    for line in titles {
        let text = line.split('>').nth(1).and_then(|rest| rest.split('<').next()).expect("text");
        assert!(width_of(text, 17.0) < width - 40.0, "{text}");
    }
    let commands = svg.lines().filter(|line| line.contains("class=\"k\"")).count();
    assert_eq!(commands, 3, "and then it is cut");
    assert!(svg.contains("…</text>"));
}

/// The words that people read in a picture, hints included.
fn words_of(text: &str) -> BTreeSet<String> {
    let pieces = text.split('<').filter_map(|tag| tag.split_once('>').map(|(_, text)| text));
    let letters = |c: char| !c.is_alphabetic() && c != '\'';
    let words = pieces.flat_map(|piece| piece.split(letters)).filter(|word| !word.is_empty());
    words.map(str::to_string).collect()
}

/// A long run in which everybody comes to believe a lot.
fn an_election() -> Trace {
    let mut draft = Draft::new(3);
    for at in 0..60 {
        draft.ask(at, 0, "Acquire").send(1, "ELECTION", Some(at + 3));
    }
    draft.tell(json!({"Elected": {"leader": 0, "term": 12}}));
    draft.ask(61, 1, "Acquire").tell(json!({"Elected": {"leader": 0, "term": 12}}));
    draft.ask(62, 0, "Acquire").tell(json!({"Deposed": {"term": 12}}));
    draft.ask(63, 1, "Acquire").tell(json!({"Suspect": 0}));
    draft.ask(64, 1, "Acquire").tell(json!({"Trust": 0}));
    draft.record(Record::Restart { at: Ticks::units(65), node: NodeId(2), amnesia: false });
    draft.record(Record::Dead { node: NodeId(1) });
    draft.end(66)
}

/// All words of some diagrams and films.
fn all_words(language: Language) -> BTreeSet<String> {
    let mut trace = hand_made();
    trace.header.upkeep = vec!["HEARTBEAT".to_string()];
    let long = an_election();
    let window = Window { from: Ticks::units(2), until: Ticks::units(66), messages_max: 40 };
    let pictures =
        [write(&trace, language), write(&long, language), draw(&long, &window, language)];
    let mut words = BTreeSet::new();
    for picture in pictures {
        let picture = picture.expect("small");
        let (_, drawn) = picture.split_once("<rect").expect("a page");
        words.extend(words_of(drawn));
    }
    let films = [&trace, &long].map(|trace| frames::write(trace, &Explained::default(), language));
    for (_, text) in films.into_iter().flat_map(|film| film.expect("small").files) {
        let (_, drawn) = text.split_once("</style>").expect("a style");
        let drawn = drawn.split("<script>").next().expect("a text");
        words.extend(words_of(drawn));
    }
    words
}

#[test]
fn no_english_word_is_left_in_a_portuguese_picture() {
    let english = all_words(Language::English);
    let portuguese = all_words(Language::Portuguese);
    // Names of messages, timers, properties and keys; what is typed; and what is both.
    let same = "REQUEST OK RELEASE ELECTION HEARTBEAT Retry S by hand conclave sim c Home End M \
                to a as";
    let same: Vec<&str> = same.split(' ').collect();
    let both = english.intersection(&portuguese);
    let left: Vec<&String> = both.filter(|word| !same.contains(&word.as_str())).collect();
    assert!(left.is_empty(), "{left:?}");
    for word in ["mandato", "queda", "partição", "violada", "continua", "suspeita", "tempo", "nó"]
    {
        assert!(portuguese.contains(word), "{word} is not in {portuguese:?}");
    }
}
