//! What a run cost, beside what textbooks say.

use super::played::Played;
use conclave_algorithms::catalog::{Formula, Setting};
use conclave_sim::trace::Language;
use conclave_sim::{Findings, Outcome, Plan, Times, Workload};
use serde::Serialize;

/// One number, measured, beside its formula.
#[derive(Clone, Debug, Serialize)]
pub struct CostShown {
    pub name: &'static str,
    pub label: &'static str,
    pub measured: Option<f64>,
    pub formula: Option<String>,
    pub expected: Option<f64>,
    pub range: Option<(f64, f64)>,
}

/// The costs of a run.
pub fn costs(played: &Played, language: Language) -> Vec<CostShown> {
    let (Some(outcome), Some(plan)) = (&played.outcome, &played.plan) else { return Vec::new() };
    let setting = &played.experiment.setting;
    let teller = Teller { setting, standard: is_standard(plan), language };
    match &outcome.findings {
        Findings::Mutex(_) => teller.mutex(outcome, plan),
        Findings::Election(_) => teller.election(outcome, plan),
        Findings::Detector(_) | Findings::Clock(_) => Vec::new(),
    }
}

/// Whether a run is of the kind that formulas speak of.
fn is_standard(plan: &Plan) -> bool {
    let mut standard = Plan { seed: plan.seed, until: plan.until, ..Plan::default() };
    standard.workload.clone_from(&plan.workload);
    standard.start.clone_from(&plan.start);
    standard.dead.clone_from(&plan.dead);
    *plan == standard
}

struct Teller<'a> {
    setting: &'a Setting,
    standard: bool,
    language: Language,
}

impl Teller<'_> {
    fn mutex(&self, outcome: &Outcome, plan: &Plan) -> Vec<CostShown> {
        let entering = outcome.mutex();
        let cost = self.setting.entry.cost.mutex();
        let messages = match plan.workload {
            Workload::AllAtOnce => cost.map(|cost| &cost.heavy),
            Workload::Single(_) => cost.map(|cost| &cost.light),
            Workload::Closed(_) | Workload::Poisson(_) | Workload::Script(_) => None,
        };
        vec![
            self.cost(
                "messages_per_entry",
                ["messages per entry", "mensagens por entrada"],
                outcome.messages_per_entry(),
                messages,
            ),
            self.cost(
                "client_delay",
                ["client delay", "atraso do cliente"],
                mean(&entering.client_delay),
                cost.map(|cost| &cost.client_delay),
            ),
            self.cost(
                "sync_delay",
                ["synchronization delay", "atraso de sincronização"],
                mean(&entering.sync_delay),
                cost.map(|cost| &cost.sync_delay),
            ),
        ]
    }

    fn election(&self, outcome: &Outcome, plan: &Plan) -> Vec<CostShown> {
        let leading = outcome.election();
        let cost = self.setting.entry.cost.election();
        let all = plan.start.len() as u32 == self.setting.n;
        let alone = plan.start.len() <= 1;
        let last_died = |without_last: bool| match plan.dead.as_slice() {
            [] => !without_last,
            [one] => without_last && one.0 + 1 == self.setting.n,
            _ => false,
        };
        let cost = cost.filter(|cost| last_died(cost.without_last));
        let messages = match (alone, all) {
            (true, _) => cost.map(|cost| &cost.one),
            (false, true) => cost.map(|cost| &cost.all),
            (false, false) => None,
        };
        let time = cost.filter(|_| alone).map(|cost| &cost.time);
        let sent = (outcome.messages - outcome.upkeep) as f64;
        vec![
            self.cost("messages", ["messages", "mensagens"], Some(sent), messages),
            self.cost(
                "time_to_leader",
                ["time until all know the leader", "tempo até todos conhecerem o líder"],
                mean(&leading.time_to_leader),
                time,
            ),
        ]
    }

    fn cost(
        &self,
        name: &'static str,
        [english, portuguese]: [&'static str; 2],
        measured: Option<f64>,
        formula: Option<&Formula>,
    ) -> CostShown {
        let range = formula.filter(|_| self.standard).map(|formula| (formula.range)(self.setting));
        CostShown {
            name,
            label: self.language.pick(english, portuguese),
            measured,
            formula: formula.map(|formula| formula.text.to_string()),
            expected: range.filter(|(least, most)| least == most).map(|(least, _)| least),
            range,
        }
    }
}

fn mean(times: &Times) -> Option<f64> {
    times.summary().map(|summary| summary.mean)
}
