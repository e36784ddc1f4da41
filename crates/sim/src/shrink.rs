//! Shrinking by delta debugging: from a run that violates a property to a small one that violates
//! it too.
//!
//! First every decision that chance made is written down (which message was lost or late, who asked
//! and when), so that the run no longer depends on chance. Then decisions are taken away, many at a
//! time and finally one by one, as long as the property is still violated: the delta debugging of
//! A. Zeller and R. Hildebrandt, "Simplifying and isolating failure-inducing input", IEEE TSE 2002.

use crate::error::Error;
use crate::outcome::Outcome;
use crate::plan::{Action, Fault, Latency, MessageRule, Plan, ScriptLine, Workload};
use conclave_core::{Property, Ticks};

/// A run with more decisions than this is not worth taking apart.
const DECISIONS_MAX: usize = 20_000;
/// A plan with more rules than this is harder to read than the seed it came from.
const READABLE_RULES: usize = 40;

/// What shrinking came to.
#[derive(Clone, Debug)]
pub struct Shrunk {
    /// The smallest plan found that still violates the property.
    pub plan: Plan,
    /// How many runs it took to find it.
    pub runs: u32,
}

/// Looks for a small plan that violates the same property, in at most `budget` runs. `run` runs a
/// plan, keeping its decisions if told so.
pub fn shrink(
    plan: &Plan,
    property: Property,
    budget: u32,
    run: impl Fn(&Plan, bool) -> Result<Outcome, Error>,
) -> Shrunk {
    let mut search = Search { run, property, budget, runs: 0 };
    let spelt_out = search.spell_out(plan).map(|spelt_out| search.minimise(spelt_out));
    let plan = match spelt_out {
        Some(small) if small.rules.len() <= READABLE_RULES => small,
        Some(_) | None => search.minimise_faults(plan.clone()),
    };
    Shrunk { plan, runs: search.runs }
}

struct Search<R> {
    run: R,
    property: Property,
    budget: u32,
    runs: u32,
}

impl<R: Fn(&Plan, bool) -> Result<Outcome, Error>> Search<R> {
    fn breaks(&mut self, plan: &Plan) -> bool {
        if self.runs >= self.budget {
            return false;
        }
        self.runs += 1;
        let outcome = (self.run)(plan, false);
        outcome.is_ok_and(|outcome| {
            outcome.violations.iter().any(|violation| violation.property == self.property)
        })
    }

    /// The same run with nothing left to chance, if it still violates the property.
    fn spell_out(&mut self, plan: &Plan) -> Option<Plan> {
        self.runs += 1;
        let decisions = (self.run)(plan, true).ok()?.decisions?;
        if decisions.rules.len() + decisions.script.len() > DECISIONS_MAX {
            return None;
        }
        let spelt_out = Plan {
            latency: Latency::Standard,
            loss: 0.0,
            duplicate: 0.0,
            cancel: 0.0,
            serial: false,
            rounds: 1,
            rules: decisions.rules,
            workload: Workload::Script(decisions.script),
            acts: Vec::new(), // The script has them.
            ..plan.clone()
        };
        self.breaks(&spelt_out).then_some(spelt_out)
    }

    /// Takes away what is not needed, again and again until nothing more can go.
    fn minimise(&mut self, mut plan: Plan) -> Plan {
        loop {
            let before = size(&plan);
            plan = self.minimise_rules(plan);
            plan = self.minimise_script(plan);
            plan = self.minimise_faults(plan);
            plan = self.round_off(plan);
            plan = self.forget_seed(plan);
            if size(&plan) == before || self.runs >= self.budget {
                return plan;
            }
        }
    }

    fn minimise_rules(&mut self, plan: Plan) -> Plan {
        let with = |rules: &[MessageRule]| Plan { rules: rules.to_vec(), ..plan.clone() };
        let rules = fewest(&plan.rules, |rules| self.breaks(&with(rules)));
        with(&rules)
    }

    fn minimise_faults(&mut self, plan: Plan) -> Plan {
        let with = |faults: &[(Ticks, Fault)]| Plan { faults: faults.to_vec(), ..plan.clone() };
        let faults = fewest(&plan.faults, |faults| self.breaks(&with(faults)));
        with(&faults)
    }

    fn minimise_script(&mut self, plan: Plan) -> Plan {
        let Workload::Script(lines) = &plan.workload else { return plan };
        let with = |lines: &[ScriptLine]| Plan {
            workload: Workload::Script(lines.to_vec()),
            ..plan.clone()
        };
        let lines = fewest(lines, |lines| self.breaks(&with(lines)));
        with(&lines)
    }

    /// A run that leaves nothing to chance needs no seed of its own.
    fn forget_seed(&mut self, plan: Plan) -> Plan {
        let seedless = Plan { seed: Plan::default().seed, ..plan.clone() };
        if seedless != plan && self.breaks(&seedless) { seedless } else { plan }
    }

    /// Times become whole units where that changes nothing, for the reader's sake.
    fn round_off(&mut self, mut plan: Plan) -> Plan {
        for index in 0..plan.rules.len() {
            let Action::Delay(delay) = plan.rules[index].action else { continue };
            for round in [Ticks::units(delay.0.div_ceil(1_000)), Ticks::units(delay.0 / 1_000)] {
                let mut rounded = plan.clone();
                rounded.rules[index].action = Action::Delay(round);
                if round != delay && self.breaks(&rounded) {
                    plan = rounded;
                    break;
                }
            }
        }
        let Workload::Script(lines) = &plan.workload else { return plan };
        for index in 0..lines.len() {
            let Workload::Script(lines) = &plan.workload else { return plan };
            let at = lines[index].at;
            for round in
                [Ticks::ZERO, Ticks::units(at.0 / 1_000), Ticks::units(at.0.div_ceil(1_000))]
            {
                let mut rounded = lines.clone();
                rounded[index].at = round;
                let rounded = Plan { workload: Workload::Script(rounded), ..plan.clone() };
                if round != at && self.breaks(&rounded) {
                    plan = rounded;
                    break;
                }
            }
        }
        plan
    }
}

fn size(plan: &Plan) -> usize {
    let lines = match &plan.workload {
        Workload::Script(lines) => lines.len(),
        Workload::AllAtOnce | Workload::Single(_) | Workload::Closed(_) | Workload::Poisson(_) => 0,
    };
    plan.rules.len() + plan.faults.len() + lines
}

/// Items of which none can be taken away without losing what `keeps` sees.
fn fewest<T: Clone>(items: &[T], mut keeps: impl FnMut(&[T]) -> bool) -> Vec<T> {
    let mut items = items.to_vec();
    let mut chunk = items.len();
    while chunk > 0 {
        let mut start = 0;
        while start < items.len() {
            let end = (start + chunk).min(items.len());
            let rest = [&items[..start], &items[end..]].concat();
            if keeps(&rest) {
                items = rest;
            } else {
                start = end;
            }
        }
        chunk /= 2;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Options;
    use crate::runnable::Runnable;
    use crate::toys::desk;

    #[test]
    fn a_run_that_chance_broke_is_told_by_the_one_message_that_was_lost() {
        let run = |plan: &Plan, decisions| {
            desk(3).run(plan, &Options { decisions, ..Options::default() })
        };
        let breaks = |plan: &Plan| {
            let outcome = run(plan, false).expect("the plan is sound");
            outcome.violations.iter().any(|violation| violation.property == Property::V1)
        };
        let lossy = |seed| Plan { seed, loss: 0.2, ..Plan::default() };
        let broken = (0..100).map(lossy).find(breaks).expect("some message that matters is lost");
        let small = shrink(&broken, Property::V1, 1_000, run).plan;
        assert!(breaks(&small));
        assert_eq!(small.loss, 0.0);
        let [rule] = small.rules.as_slice() else { panic!("{:?}", small.rules) };
        assert_eq!(rule.action, Action::Drop);
    }

    #[test]
    fn only_what_is_needed_is_left() {
        let items: Vec<u32> = (0..100).collect();
        let needed = |rest: &[u32]| rest.contains(&7) && rest.contains(&63);
        assert_eq!(fewest(&items, needed), [7, 63]);
    }

    #[test]
    fn what_needs_nothing_shrinks_to_nothing() {
        assert!(fewest(&[1, 2, 3], |_| true).is_empty());
    }
}
