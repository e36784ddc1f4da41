//! What faults do to each algorithm: every cell of the matrix is the worst of several runs.

pub mod elections;
mod family;
mod verdict;

pub use verdict::{Meanwhile, Verdict};

use super::Conditions;
use crate::parallel::{self, Progress};
use crate::{Error, Experiment, People};
use conclave_algorithms::catalog::Entry;
use conclave_sim::Plan;
use family::Family;
use verdict::judge;

/// What goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mishap {
    /// A coordinator crashes, or as many as a majority can spare.
    CoordinatorCrash,
    /// More coordinators crash than a majority can spare.
    MajorityCrash,
    /// Who is inside crashes.
    HolderCrash,
    /// A node crashes that neither waits nor is inside.
    BystanderCrash,
    /// One message is lost.
    MessageLost,
    /// The nodes fall into two groups for a while.
    Partition,
    /// A coordinator comes back without its memory, or a majority of them.
    CoordinatorAmnesia,
    /// Who was inside comes back without its memory.
    HolderAmnesia,
    /// A node that neither waited nor was inside comes back without its memory.
    BystanderAmnesia,
}

impl Mishap {
    /// In the order of the matrix.
    pub const ALL: [Self; 9] = [
        Self::CoordinatorCrash,
        Self::MajorityCrash,
        Self::HolderCrash,
        Self::BystanderCrash,
        Self::MessageLost,
        Self::Partition,
        Self::CoordinatorAmnesia,
        Self::HolderAmnesia,
        Self::BystanderAmnesia,
    ];

    /// Its name for programs.
    pub fn id(self) -> &'static str {
        match self {
            Self::CoordinatorCrash => "coordinator-crash",
            Self::MajorityCrash => "majority-crash",
            Self::HolderCrash => "holder-crash",
            Self::BystanderCrash => "bystander-crash",
            Self::MessageLost => "message-lost",
            Self::Partition => "partition",
            Self::CoordinatorAmnesia => "coordinator-amnesia",
            Self::HolderAmnesia => "holder-amnesia",
            Self::BystanderAmnesia => "bystander-amnesia",
        }
    }
}

/// A plan with a fault in it, and what distinguishes it from others of its family.
pub struct Trial {
    /// The plan.
    pub plan: Plan,
    /// The same, with everybody asking more often: whether the others go on for ever shows here.
    pub longer: Plan,
    /// Whom or what the fault hits, as people say it.
    pub hits: String,
}

/// One cell of the matrix.
pub struct Cell {
    /// Whose.
    pub algorithm: &'static str,
    /// With how many nodes.
    pub nodes: u32,
    /// What goes wrong.
    pub mishap: Mishap,
    /// What came of it in the worst run; `None` where it cannot happen.
    pub verdict: Option<Verdict>,
    /// The worst for each that can be hit, where it matters which.
    pub detail: Vec<(String, Verdict)>,
    /// What the nodes did while the network was cut.
    pub meanwhile: Option<Meanwhile>,
    /// The command that shows the worst.
    pub replay: Option<String>,
}

/// The whole matrix, row by row, for each number of nodes.
pub fn all(
    entries: &[&'static Entry],
    nodes: &[u32],
    conditions: &Conditions,
    progress: Progress<'_>,
) -> Result<Vec<Cell>, Error> {
    let experiments = experiments(entries, nodes, conditions)?;
    matrix(&experiments, Mishap::ALL, progress, cell)
}

/// Each algorithm with each number of nodes.
fn experiments(
    entries: &[&'static Entry],
    nodes: &[u32],
    conditions: &Conditions,
) -> Result<Vec<Experiment>, Error> {
    let sizes = nodes.iter().flat_map(|&n| entries.iter().map(move |entry| (*entry, n)));
    sizes.map(|(entry, n)| conditions.experiment(entry, n, &People::default())).collect()
}

/// A cell for each experiment and everything that may go wrong, with a row per experiment.
fn matrix<M: Copy + Sync, C: Send, const N: usize>(
    experiments: &[Experiment],
    mishaps: [M; N],
    progress: Progress<'_>,
    cell: impl Fn(&Experiment, M) -> Result<C, Error> + Sync,
) -> Result<Vec<C>, Error> {
    let row = |experiment| mishaps.map(|mishap| (experiment, mishap));
    let jobs: Vec<(&Experiment, M)> = experiments.iter().flat_map(row).collect();
    let cells = parallel::each(&jobs, progress, |(experiment, mishap)| cell(experiment, *mishap));
    cells.into_iter().collect()
}

fn cell(experiment: &Experiment, mishap: Mishap) -> Result<Cell, Error> {
    let mut cell = Cell {
        algorithm: experiment.setting.entry.id,
        nodes: experiment.setting.n,
        mishap,
        verdict: None,
        detail: Vec::new(),
        meanwhile: None,
        replay: None,
    };
    for trial in Family::new(experiment)?.trials(mishap) {
        let verdict = judge(experiment, &trial)?;
        if cell.verdict.as_ref().is_none_or(|worst| verdict.is_worse_than(worst)) {
            cell.verdict = Some(verdict.clone());
            cell.meanwhile = verdict::meanwhile(experiment, &trial.plan)?;
            cell.replay = Some(experiment.command(&trial.plan));
        }
        match cell.detail.iter_mut().find(|(hits, _)| *hits == trial.hits) {
            Some((_, worst)) if verdict.is_worse_than(worst) => *worst = verdict,
            Some(_) => {}
            None => cell.detail.push((trial.hits, verdict)),
        }
    }
    Ok(cell)
}
