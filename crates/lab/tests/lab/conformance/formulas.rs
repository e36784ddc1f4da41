//! The cost formulas of the catalogue, for many sizes and every choice of parameters.

use super::support::{assert_kept, setting, simulate, single};
use conclave_algorithms::catalog::{ENTRIES, Entry, Family, Formula, Kind, MutexCost, Setting};
use conclave_core::{NodeId, Property, Ticks};
use conclave_sim::{Outcome, Plan, Workload};

const SIZES: [u32; 8] = [1, 2, 3, 5, 7, 13, 31, 100];

/// The defaults, then each parameter on its own set to each of its words.
fn variants(entry: &'static Entry) -> Vec<Vec<(&'static str, &'static str)>> {
    let words = |kind: &Kind| match kind {
        Kind::Choice(words) | Kind::ChoiceOrFile(words) => words.to_vec(),
        Kind::Flag => vec!["false", "true"],
        Kind::Number { .. } | Kind::Time { .. } | Kind::Text { .. } => Vec::new(),
    };
    let mut variants = vec![Vec::new()];
    for parameter in entry.parameters {
        for word in words(&parameter.kind) {
            if word != parameter.default {
                variants.push(vec![(parameter.name, word)]);
            }
        }
    }
    variants
}

fn assert_within(formula: &Formula, measured: f64, setting: &Setting, what: &str) {
    let (low, high) = (formula.range)(setting);
    assert!(
        measured >= low - 1e-9 && measured <= high + 1e-9,
        "{} n={} {:?}: {what} measured {measured}, formula {} says {low}..{high}",
        setting.entry.id,
        setting.n,
        setting.params,
        formula.text,
    );
}

fn each_setting(mut check: impl FnMut(&Setting)) {
    for entry in mutexes() {
        for set in variants(entry) {
            let watched = !entry.upkeep().is_empty(); // Each sends to each, all the time.
            for n in SIZES.into_iter().filter(|&n| !watched || n <= 31) {
                // A co-located coordinator needs a node to live on.
                let colocated = set.contains(&("coordinator", "colocated"));
                if !(colocated && n < 5) {
                    check(&setting(entry.id, n, &set));
                }
            }
        }
    }
}

#[test]
fn heavy_load_costs_what_the_formula_says() {
    each_setting(|setting| {
        let plan = Plan::default();
        let outcome = simulate(setting, &plan);
        assert_kept(setting, &plan, &outcome);
        if !setting.entry.promises(Property::V1, &setting.params) && outcome.mutex().entries == 0 {
            return; // The votes were split, and nothing but a timer would end that.
        }
        let all = u64::from(setting.n);
        assert_eq!(outcome.mutex().entries, all, "{} {:?}", setting.entry.id, setting.params);
        let measured = counted(&outcome) / f64::from(setting.n);
        assert_within(&cost(setting).heavy, measured, setting, "messages, heavy load");
        if let Some(summary) = outcome.mutex().sync_delay.summary() {
            let formula = &cost(setting).sync_delay;
            assert_within(formula, summary.mean, setting, "synchronisation delay");
        }
    });
}

#[test]
fn light_load_costs_what_the_formula_says() {
    each_setting(|setting| {
        let (mut messages, mut delay, mut serial) = (0.0, 0.0, 0.0);
        for node in 0..setting.n {
            let workload = Workload::Single(NodeId(node));
            let outcome = simulate(setting, &Plan { workload, ..Plan::default() });
            messages += counted(&outcome);
            let mean = |times: &conclave_sim::Times| times.summary().expect("it entered").mean;
            delay += mean(&outcome.mutex().client_delay);
            serial += mean(&outcome.mutex().client_delay_serial);
        }
        let n = f64::from(setting.n);
        let cost = cost(setting);
        assert_within(&cost.light, messages / n, setting, "messages, light load");
        assert_within(&cost.client_delay, delay / n, setting, "client delay");
        assert_within(&cost.client_delay_serial, serial / n, setting, "client delay, serial");
    });
}

#[test]
fn totals_of_latency_free_algorithms_do_not_depend_on_the_critical_section() {
    for id in ["central", "total-order", "lamport", "ricart-agrawala", "suzuki-kasami"] {
        let setting = setting(id, 7, &[]);
        let with = |critical_section| {
            simulate(&setting, &Plan { critical_section, ..Plan::default() }).messages
        };
        assert_eq!(with(Ticks::ZERO), with(Ticks::units(10)), "{id}");
        assert_eq!(with(Ticks::units(10)), with(Ticks::units(100)), "{id}");
    }
}

#[test]
fn alone_in_a_cluster_of_one_a_node_enters_at_once_without_a_message() {
    for entry in mutexes() {
        let separate = entry
            .parameters
            .iter()
            .any(|parameter| parameter.name == "coordinator" && parameter.default == "separate");
        if !separate {
            let outcome = single(entry.id, 1, &[], 0);
            assert_eq!((outcome.mutex().entries, outcome.messages), (1, 0), "{}", entry.id);
        }
    }
}

fn mutexes() -> impl Iterator<Item = &'static Entry> {
    ENTRIES.iter().copied().filter(|entry| entry.family == Family::Mutex)
}

/// Messages that formulas count.
fn counted(outcome: &Outcome) -> f64 {
    (outcome.messages - outcome.upkeep) as f64
}

fn cost(setting: &Setting) -> &'static MutexCost {
    setting.entry.cost.mutex().expect("a mutual exclusion algorithm")
}
