//! Study of failure detectors: nobody asks anything, and what they say is held against the truth.

use super::{Ahead, Exercised, Findings, Judgement, Users};
use crate::error::Error;
use crate::follow::Lawless;
use crate::outcome::Times;
use crate::plan::{Act, Options, Plan, Workload};
use crate::simulator::Simulation;
use conclave_core::detector::{Detector, Indication, Monitor};
use conclave_core::{Cluster, Never, NodeId, Oracle, Process, Property, Ticks, Violation};

/// Those who listen to a detector, and the law it lives under.
pub struct Listeners {
    monitor: Monitor,
}

impl Exercised for Detector {
    type Users = Listeners;
    type Law = Lawless;

    fn check<P: Process>(_: &Cluster<P>, plan: &Plan) -> Vec<Error> {
        let refused =
            |flag| Error::value(flag, "…", "a detector has none; it watches until the end");
        let start = (!plan.start.is_empty()).then(|| refused("--start"));
        let workload = match plan.workload {
            Workload::AllAtOnce => None,
            Workload::Single(_)
            | Workload::Closed(_)
            | Workload::Poisson(_)
            | Workload::Script(_) => Some(refused("--workload")),
        };
        start.into_iter().chain(workload).collect()
    }

    fn users<P: Process>(cluster: &Cluster<P>, _: &Plan, _: &Options) -> Listeners {
        Listeners { monitor: Monitor::new(cluster.nodes()) }
    }

    fn begin<P: Process<Provides = Self, Uses: Oracle>>(_: &mut Simulation<'_, P>) {}

    fn acts<P: Process<Provides = Self, Uses: Oracle>>(
        _: &mut Simulation<'_, P>,
        _: NodeId,
        request: Never,
    ) {
        match request {}
    }

    fn told<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        indication: Indication,
    ) {
        let words = match indication {
            Indication::Suspect(other) => {
                run.users.monitor.suspected(node, other, run.now);
                "SUSPECTS"
            }
            Indication::Trust(other) => {
                run.users.monitor.trusted(node, other, run.now);
                "trusts again"
            }
        };
        let (Indication::Suspect(other) | Indication::Trust(other)) = indication;
        if let Some(story) = &mut run.story {
            story.indicates(format!("{words} {}", other.mark()));
        }
    }

    fn returned<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
    ) {
        run.users.monitor.returned(node, run.now);
    }

    fn rank(request: &Never) -> u8 {
        match *request {}
    }

    fn prompts(_: Act) -> Option<Never> {
        None
    }

    fn words(request: &Never) -> String {
        match *request {}
    }
}

impl Users<Detector> for Listeners {
    fn absent(&mut self, node: NodeId) {
        self.monitor.crashed(node, Ticks::ZERO);
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
    }

    fn outlives_crash(&self, _: NodeId, request: &Never) -> bool {
        match *request {}
    }

    fn prompted(&mut self, _: NodeId, request: &Never) {
        match *request {}
    }

    fn violations(&self) -> &[Violation] {
        self.monitor.violations()
    }

    fn missed(&mut self, _: NodeId, request: &Never) {
        match *request {}
    }

    fn is_done(&self, _: Ahead) -> bool {
        false // Somebody may always crash.
    }

    fn end<P: Process>(&mut self, _: &Cluster<P>, at: Ticks, complete: bool, patience: Ticks) {
        self.monitor.end(at, complete, patience);
    }

    fn findings(self) -> (Judgement, Findings) {
        let monitor = self.monitor;
        let verdicts = Property::DETECTOR.map(|property| (property, monitor.verdict(property)));
        let judgement =
            Judgement { verdicts: verdicts.into(), violations: monitor.violations().to_vec() };
        let (watched, misjudged) = monitor.watched();
        let watching = Watching {
            detection_time: times(monitor.detections()),
            missed: monitor.missed(),
            mistakes: monitor.mistakes(),
            mistake_duration: times(monitor.mistake_durations()),
            watched,
            misjudged,
        };
        (judgement, Findings::Detector(Box::new(watching)))
    }
}

fn times(all: &[Ticks]) -> Times {
    let mut times = Times::default();
    all.iter().for_each(|&time| times.0.add(time));
    times
}

/// How well crashes were noticed, and how often nobody had crashed.
#[derive(Clone, Debug)]
pub struct Watching {
    /// From a crash to the suspicion, for each crash and each live node that noticed.
    pub detection_time: Times,
    /// How many times a live node did not notice in the end.
    pub missed: u64,
    /// How often a live node was suspected.
    pub mistakes: u64,
    /// How long each of these mistakes lasted, but for those that last to the end.
    pub mistake_duration: Times,
    /// The time in which one live node could suspect another, in ticks over all pairs.
    watched: u128,
    /// The part of it in which it did.
    misjudged: u128,
}

impl Watching {
    /// Mistakes per unit of time and pair of live nodes.
    pub fn mistake_rate(&self) -> f64 {
        let units = self.watched as f64 / Ticks::UNIT.0 as f64;
        if units > 0.0 { self.mistakes as f64 / units } else { 0.0 }
    }

    /// How likely it is that one live node, asked about another at any moment, does not suspect it.
    pub fn query_accuracy(&self) -> f64 {
        if self.watched > 0 { 1.0 - self.misjudged as f64 / self.watched as f64 } else { 1.0 }
    }

    pub(super) fn absorb(&mut self, other: &Self) {
        self.detection_time.0.merge(&other.detection_time.0);
        self.missed += other.missed;
        self.mistakes += other.mistakes;
        self.mistake_duration.0.merge(&other.mistake_duration.0);
        self.watched += other.watched;
        self.misjudged += other.misjudged;
    }
}
