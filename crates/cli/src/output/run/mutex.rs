//! What there is to say about mutual exclusion.

use super::{COLUMN, Report};
use crate::output::numbers::{count, decimal, of, range};
use crate::output::table::Table;
use crate::output::{labelled, width};
use crate::texts::tr;
use conclave_core::NodeId;
use conclave_sim::{Entering, Plan, Times, Workload};

impl Report<'_> {
    /// Who entered, how long it took, and how fair it was.
    pub(super) fn entering(&self, entering: &Entering) -> String {
        let mut text = self.entries(entering);
        text += &self.time();
        text.push('\n');
        text += &Self::times(entering);
        text.push('\n');
        text + &self.fairness(entering)
    }

    /// The catalogue's cost, where the run is of the kind that it speaks of.
    pub(super) fn formula(&self) -> Option<String> {
        let workload = self.plan.workload.clone();
        let standard = Plan { seed: self.plan.seed, workload, ..Plan::default() };
        let cost = self.experiment.setting.entry.cost.mutex()?;
        let (formula, load) = match self.plan.workload {
            Workload::AllAtOnce => (&cost.heavy, "all at once"),
            Workload::Single(_) => (&cost.light, "one alone, mean over all nodes"),
            Workload::Closed(_) | Workload::Poisson(_) | Workload::Script(_) => return None,
        };
        let value = range((formula.range)(&self.experiment.setting));
        let told = labelled("formula", COLUMN, &format!("{value} ({load}): {}", formula.text));
        (*self.plan == standard).then_some(told)
    }

    fn entries(&self, entering: &Entering) -> String {
        let requests = of(entering.requests, "request");
        let order = self.nodes(entering.order.as_deref().unwrap_or_default());
        let order = if order.is_empty() { order } else { format!(": {order}") };
        let told = format!("{} of {requests}{order}", count(entering.entries));
        labelled("entries", COLUMN, &told)
    }

    fn times(entering: &Entering) -> String {
        let rows: [(&str, &str, &Times); 4] = [
            ("client delay", "request to entry, alone", &entering.client_delay),
            ("  serially", "its messages one by one", &entering.client_delay_serial),
            ("sync delay", "exit to next entry", &entering.sync_delay),
            ("wait", "request to entry", &entering.wait),
        ];
        let headings = ["in units", "mean", "p50", "p99", "max", ""];
        let mut table = Table::new(width(), &headings).right(1..5);
        for (name, meaning, times) in rows {
            let numbers = match times.summary() {
                Some(s) => [s.mean, s.p50, s.p99, s.max].map(decimal),
                None => ["-"; 4].map(String::from),
            };
            let [mean, p50, p99, max] = numbers;
            table.row([tr(name).into(), mean, p50, p99, max, tr(meaning).into_owned()]);
        }
        table.render()
    }

    fn fairness(&self, entering: &Entering) -> String {
        let mut text = String::new();
        if let Some(jain) = entering.jain {
            let worst = if self.many { " in the worst run" } else { "" };
            let told = format!("{} by Jain's index{worst}", decimal(jain));
            text += &labelled("fairness", COLUMN, &told);
        }
        if let Some(bound) = self.bypass_bound {
            let most = of(entering.bypass_max, "entry").replace("entrys", "entries");
            let told =
                format!("at most {most} before a registered request; bound {}", count(bound));
            text += &labelled("bypass", COLUMN, &told);
        }
        if !entering.starving.is_empty() {
            text += &self.starving(entering);
        }
        if let Some(shared) = entering.shared.as_ref().filter(|_| !self.many) {
            let mut told = count(shared.value);
            if shared.lost > 0 {
                told += &format!("; {} lost", of(shared.lost, "update"));
            }
            if shared.unfinished > 0 {
                told += "; somebody crashed inside and left it half done";
            }
            text += &labelled("value", COLUMN, &told);
        }
        if let Some((first, last)) = entering.fences {
            let refused = match entering.refused {
                0 => String::new(),
                refused => format!("; {} refused as stale", of(refused, "write")),
            };
            text += &labelled("fences", COLUMN, &format!("{first} to {last}{refused}"));
        }
        text
    }

    fn starving(&self, entering: &Entering) -> String {
        let starving: Vec<NodeId> = entering.starving.iter().collect();
        let who = self.nodes(&starving);
        let times = count(10 * u64::from(self.experiment.setting.n));
        let told = format!("{who} passed over by more than {times} others: perhaps for ever");
        labelled("starving", COLUMN, &told)
    }
}
