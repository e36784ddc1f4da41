use super::*;
use crate::plan::{Act, Action, Fault, Latency, MessageRule, Plan, ScriptLine, Workload};
use conclave_core::{NodeId, Ticks};

const HEAD: &str = r#"
title = { en = "A", pt = "B" }
text = { en = "a", pt = "b" }
source = "folklore"
algorithm = "quorum"
nodes = 3
"#;

fn scenario(rest: &str) -> Result<Scenario, Error> {
    Scenario::parse(&format!("{HEAD}{rest}"))
}

fn plan(rest: &str) -> Result<Plan, Error> {
    let scenario = scenario(rest)?;
    scenario.plan(&scenario.names(3, 2)?)
}

#[test]
fn a_file_without_flags_is_the_default_plan() {
    assert_eq!(plan(""), Ok(Plan::default()));
}

const EVERYTHING: &str = r#"
seed = 7
cs = 2.5
fifo = false
latency = ["* * const:2", "1 c2 unit"]
crash = "c1@5"
restart = ["c1@5:amnesia"]
backoffs = { "1" = 5, 2 = "7.5" }
rules = [{ from = 1, to = "c2", type = "REQUEST", nth = 1, delay = 2 }, { drop = true }]
script = [
    { at = 1, node = 1, do = "tell", to = 3 },
    { at = 0, node = 2, do = "acquire" },
]
"#;

#[test]
fn flags_rules_and_scripts_become_a_plan() {
    let plan = plan(EVERYTHING).expect("a good file");
    let far = Latency::Constant(Ticks::units(2));
    let near = ((NodeId(0), NodeId(4)), Latency::Constant(Ticks::UNIT));
    let c1 = NodeId(3);
    let all = MessageRule { from: None, to: None, kind: None, nth: None, action: Action::Drop };
    let one = MessageRule {
        from: Some(NodeId(0)),
        to: Some(NodeId(4)),
        kind: Some("REQUEST".into()),
        nth: Some(1),
        action: Action::Delay(Ticks::units(2)),
    };
    let asks = ScriptLine { at: Ticks(0), node: NodeId(1), act: Act::Acquire };
    let tells = ScriptLine { at: Ticks::UNIT, node: NodeId(0), act: Act::Tell(NodeId(2)) };
    let back = Fault::Restart { node: c1, amnesia: true };
    let expected = Plan {
        seed: 7,
        critical_section: Ticks(2_500),
        fifo: false,
        latency: Latency::Links { others: Box::new(far), links: [near].into() },
        faults: vec![(Ticks::units(5), Fault::Crash(c1)), (Ticks::units(5), back)],
        backoffs: vec![(NodeId(0), Ticks::units(5)), (NodeId(1), Ticks(7_500))],
        rules: vec![one, all],
        workload: Workload::Script(vec![asks, tells]),
        ..Plan::default()
    };
    assert_eq!(plan, expected);
}

#[test]
fn wrong_fields_are_told_in_one_line() {
    let wrong = [
        ("colour = 3", "line 7: unknown field `colour`"),
        ("loss = \"much\"", "line 7: invalid type"),
        ("cs = [1]", "line 7: expected a text or a number"),
        ("crash = [\"9@5\"]", "line 7: crash = 9: nodes are 1 to 3 and c1 to c2"),
        ("cs = -1", "line 7: cs = -1: a time"),
        (
            "workload = \"all-at-once\"\nscript = []",
            "line 7: workload: a workload or a script, not both",
        ),
        ("rules = [{ from = 1 }]", "line 7: rules: each has one of"),
        ("rules = [{ nth = 0, drop = true }]", "line 7: rules = nth = 0: the first is 1"),
        ("rules = [{ type = \"a b\", drop = true }]", "line 7: rules = a b: the name of a message"),
        ("script = [{ at = 0, node = 1, do = \"tell\" }]", "line 7: script = tell: do = acquire"),
        (
            "script = [{ at = 0, node = 9, do = \"cancel\" }]",
            "line 7: script = 9: nodes are 1 to 3",
        ),
        ("latency = [\"1 2\"]", "line 7: latency, entry 1: 1 2: 'from to LATENCY'"),
        (
            "latency = \"links.txt\"",
            "line 7: latency = links.txt: a scenario cannot name other files",
        ),
        ("ids = \"1,2\"", "line 7: ids = 1,2: one for each"),
        ("[expect]\nluck = 1", "line 8: unknown field `luck`"),
        ("[expect]\nholds = [\"S9\"]", "line 8: unknown variant `S9`"),
        ("[expect", "line 7: "),
        ("nodes = 4", "line 7: duplicate key"),
    ];
    for (rest, expected) in wrong {
        let error = plan(rest).expect_err(rest).to_string();
        assert!(error.starts_with(&format!("scenario: {expected}")), "{rest}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
}

#[test]
fn what_is_no_scenario_at_all_is_refused_in_one_line() {
    for text in ["", "\u{0}", "[[[", "nodes = 99999999999999999999", "title = 1"] {
        let error = Scenario::parse(text).expect_err(text).to_string();
        assert!(error.starts_with("scenario: ") && !error.contains('\n'), "{error}");
    }
    let nobody = HEAD.replace("nodes = 3", "nodes = 0");
    assert!(Scenario::parse(&nobody).is_err());
}

#[test]
fn properties_that_are_expected_are_watched() {
    let scenario = scenario("[expect]\nholds = [\"S1\"]\nviolated = [\"HB\"]").expect("good");
    assert!(scenario.watches(Property::HB) && !scenario.watches(Property::BW));
}

#[test]
fn one_language_is_enough() {
    let told = |texts: &str| {
        let file = HEAD.replace(r#"{ en = "A", pt = "B" }"#, texts);
        Scenario::parse(&file).map(|scenario| (scenario.title.en, scenario.title.pt))
    };
    let both = |en: &str, pt: &str| Ok((en.to_string(), pt.to_string()));
    assert_eq!(told(r#"{ en = "A" }"#), both("A", "A"));
    assert_eq!(told(r#"{ pt = "B" }"#), both("B", "B"));
    assert_eq!(told(r#"{ en = "A", pt = "B" }"#), both("A", "B"));
    let neither = told("{}").expect_err("no language").to_string();
    assert_eq!(neither, "scenario: line 2: en, pt or both are needed");
    assert!(told(r#"{ fr = "C" }"#).is_err());
}

#[test]
fn all_that_is_wrong_is_told_at_once_with_its_line() {
    let mistakes = |error: Error| error.each();
    let unread = scenario("colour = 3\nloss = \"much\"\n[expect]\nluck = 1\nmessages = 2\n");
    let told = mistakes(unread.expect_err("three mistakes"));
    assert_eq!(told.len(), 3, "{told:?}");
    for (line, word) in [(7, "colour"), (8, "much"), (10, "luck")] {
        let begins = format!("scenario: line {line}: ");
        let told = told.iter().find(|told| told.starts_with(&begins));
        assert!(told.is_some_and(|told| told.contains(word)), "{begins}{word}: {told:?}");
    }
    let unplanned = plan("crash = [\"9@5\", \"1@x\"]\ncs = -1\nstart = [7]\n");
    let told = mistakes(unplanned.expect_err("four mistakes"));
    let begins =
        ["line 7: crash = 9: ", "line 7: crash = ", "line 8: cs = -1: ", "line 9: start = 7: "];
    assert_eq!(told.len(), begins.len(), "{told:?}");
    for (told, begins) in told.iter().zip(begins) {
        assert!(told.starts_with(&format!("scenario: {begins}")), "{told}");
    }
}

#[test]
fn what_a_file_lacks_is_told_beside_what_is_wrong() {
    let error = Scenario::parse("colour = 3\nalgorithm = \"quorum\"\n").expect_err("lacking");
    let told = error.each();
    for expected in ["title is missing", "text is missing", "source is missing", "nodes is missing"]
    {
        assert!(told.contains(&format!("scenario: {expected}")), "{expected}: {told:?}");
    }
    assert!(told.iter().any(|told| told.contains("line 1: unknown field `colour`")), "{told:?}");
}

#[test]
fn a_mistake_in_one_of_several_runs_has_its_line_too() {
    let runs = "loss = 0.1\n[[runs]]\ncs = 5\n[[runs]]\ncs = [1]\nloss = \"much\"\n";
    let error = Scenario::parse_runs(&format!("{HEAD}{runs}")).expect_err("two mistakes");
    let told = error.each();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("scenario: line 11: ")), "{told:?}");
    assert!(told.iter().any(|told| told.starts_with("scenario: line 12: ")), "{told:?}");
}

#[test]
fn what_is_wrong_with_a_field_hides_no_other() {
    let Draft { runs, mistakes } = Scenario::draft(&format!("{HEAD}colour = 3\ncrash = \"9@5\"\n"));
    let mut mistakes = mistakes;
    runs[0].plan_noting(&Names::unsettled(3), &mut mistakes);
    let told = mistakes.or(()).expect_err("two mistakes").each();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("scenario: line 7: unknown field `colour`"), "{told:?}");
    assert_eq!(told[1], "scenario: line 8: crash = 9: nodes are 1 to 3");
}

#[test]
fn nodes_of_an_unknown_algorithm_are_called_by_their_numbers_or_by_any_word() {
    let names = Names::unsettled(3);
    assert_eq!(names.node("--crash", "3"), Ok(NodeId(2)));
    assert!(names.node("--crash", "4").is_err() && names.node("--crash", "0").is_err());
    assert!(["c7", "app", "north"].iter().all(|word| names.node("--crash", word).is_ok()));
}

/// The names of the fields, as the reader itself knows them.
#[test]
fn every_field_is_described_in_the_docs() {
    let docs = std::fs::read_to_string("../../docs/scenarios.md").expect("the docs");
    let named = |table: &str| -> Vec<String> {
        let wrong = format!("{HEAD}{table}");
        let error = Scenario::parse(&wrong).expect_err(table).to_string();
        let (_, expected) = error.split_once("expected ").expect("what would be known");
        expected.split('`').skip(1).step_by(2).map(str::to_string).collect()
    };
    let tables = [
        "zzz = 1",
        "[expect]\nzzz = 1",
        "rules = [{ zzz = 1 }]",
        "script = [{ zzz = 1 }]",
        "expect = { forgetting = { zzz = 1 } }",
        "expect = { patience = { zzz = 1 } }",
    ];
    for table in tables {
        let fields = named(table);
        assert!(fields.len() > 1, "{table}: {fields:?}");
        for field in fields {
            let known = docs.contains(&format!("`{field}`"))
                || docs.contains(&format!("{field} = "))
                || docs.contains(&format!("`{field} = "));
            assert!(known, "docs/scenarios.md does not speak of {field}, as in {table}");
        }
    }
}
