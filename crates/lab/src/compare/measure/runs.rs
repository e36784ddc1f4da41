//! The runs behind a point: one client alone, all at once, and all again and again.

use super::{CLIENTS_ALL, CLIENTS_SAMPLED};
use crate::compare::Conditions;
use crate::{Error, Experiment};
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Ending, Options, Outcome, Plan, Times, Workload};

/// How often each enters where a workload was asked for that goes on.
const ROUNDS_ASKED: u32 = 5;

/// A kind of run.
#[derive(Clone, Copy, Debug)]
pub enum Job {
    Light,
    Heavy,
    Saturated(u32),
}

/// What one job found.
pub enum Found {
    Light(LightRun),
    Heavy(HeavyRun),
    Saturated(Option<(f64, u64)>),
}

/// Means over all clients.
#[derive(Clone, Copy, Debug)]
pub struct LightRun {
    pub messages: f64,
    pub delay: f64,
    pub delay_serial: f64,
}

/// One run in which all ask.
#[derive(Clone, Copy, Debug)]
pub struct HeavyRun {
    /// Messages per entry, unless time was up.
    pub messages: Option<f64>,
    pub sync_delay: Option<f64>,
    pub wait: Option<f64>,
    /// Whether all that asked got in.
    pub all_got_in: bool,
}

impl Job {
    /// Runs it under one seed.
    pub fn run(
        self,
        experiment: &Experiment,
        conditions: &Conditions,
        seed: u64,
    ) -> Result<Found, Error> {
        let bench = Bench { experiment, conditions, seed };
        match self {
            Self::Light => bench.light().map(Found::Light),
            Self::Heavy => bench.heavy().map(Found::Heavy),
            Self::Saturated(rounds) => bench.saturated(rounds).map(Found::Saturated),
        }
    }
}

/// Whether some must speak for all, and how many clients enter alone.
pub fn clients(n: u32) -> (bool, u32) {
    if n <= CLIENTS_ALL { (false, n) } else { (true, CLIENTS_SAMPLED) }
}

struct Bench<'a> {
    experiment: &'a Experiment,
    conditions: &'a Conditions,
    seed: u64,
}

impl Bench<'_> {
    fn light(&self) -> Result<LightRun, Error> {
        let n = self.experiment.setting.n;
        let (_, asked) = clients(n);
        let mut sum = LightRun { messages: 0.0, delay: 0.0, delay_serial: 0.0 };
        for turn in 0..asked {
            // The first node is the coordinator or has the token: it speaks for itself only.
            let (client, speaks_for) = match turn {
                0 => (0, 1.0),
                _ => {
                    let others = u64::from(n - 2) * u64::from(turn - 1);
                    let client = 1 + others / u64::from((asked - 2).max(1));
                    (client as u32, f64::from(n - 1) / f64::from(asked - 1))
                }
            };
            let plan = self.patient(1, Workload::Single(NodeId(client)))?;
            let outcome = self.experiment.run(&plan, &Options::default())?;
            let of = |times: &Times| times.summary().map_or(0.0, |s| s.mean);
            sum.messages += speaks_for * outcome.messages_per_entry().unwrap_or(0.0);
            sum.delay += speaks_for * of(&outcome.mutex().client_delay);
            sum.delay_serial += speaks_for * of(&outcome.mutex().client_delay_serial);
        }
        let mean = |sum| sum / f64::from(n);
        Ok(LightRun {
            messages: mean(sum.messages),
            delay: mean(sum.delay),
            delay_serial: mean(sum.delay_serial),
        })
    }

    fn heavy(&self) -> Result<HeavyRun, Error> {
        let rounds = if self.conditions.workload.is_some() { ROUNDS_ASKED } else { 1 };
        let outcome = self.together(rounds)?;
        let entering = outcome.mutex();
        let in_time = outcome.ending != Ending::CutShort;
        Ok(HeavyRun {
            messages: outcome.messages_per_entry().filter(|_| in_time),
            sync_delay: entering.sync_delay.summary().map(|s| s.mean).filter(|_| in_time),
            wait: entering.wait.summary().map(|s| s.mean).filter(|_| in_time),
            all_got_in: in_time && entering.entries >= entering.requests,
        })
    }

    fn saturated(&self, rounds: u32) -> Result<Option<(f64, u64)>, Error> {
        let outcome = self.together(rounds)?;
        let entering = outcome.mutex();
        Ok(entering.jain.map(|jain| (jain, entering.bypass_max)))
    }

    fn together(&self, rounds: u32) -> Result<Outcome, Error> {
        let plan = self.patient(rounds, self.conditions.asking(self.experiment)?)?;
        // A bound is all it takes to have it counted who passes whom.
        let options = Options { bypass_bound: Some(u64::MAX), ..Options::default() };
        self.experiment.run(&plan, &options)
    }

    /// A plan with time enough for everybody.
    fn patient(&self, rounds: u32, workload: Workload) -> Result<Plan, Error> {
        let n = u64::from(self.experiment.setting.n);
        let until = Plan::default().until + Ticks::units(200 * n * u64::from(rounds));
        let usual = Plan { workload, rounds, until, ..Plan::default() };
        self.conditions.plan(self.experiment, self.seed, usual)
    }
}
