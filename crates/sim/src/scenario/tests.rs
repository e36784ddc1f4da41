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
        ("crash = [\"9@5\"]", "crash = 9: nodes are 1 to 3 and c1 to c2"),
        ("cs = -1", "cs = -1: a time"),
        ("workload = \"all-at-once\"\nscript = []", "a workload or a script, not both"),
        ("rules = [{ from = 1 }]", "rules: each has one of"),
        ("rules = [{ nth = 0, drop = true }]", "rules = nth = 0: the first is 1"),
        ("rules = [{ type = \"a b\", drop = true }]", "rules = a b: the name of a message"),
        ("script = [{ at = 0, node = 1, do = \"tell\" }]", "script = tell: do = acquire"),
        ("script = [{ at = 0, node = 9, do = \"cancel\" }]", "script = 9: nodes are 1 to 3"),
        ("latency = [\"1 2\"]", "latency, entry 1: 1 2: 'from to LATENCY'"),
        ("latency = \"links.txt\"", "latency = links.txt: a scenario cannot name other files"),
        ("ids = \"1,2\"", "ids = with 2 labels"),
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
