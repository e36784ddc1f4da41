//! The outcome of a run: its end, its verdicts, its metrics, its trace hash.

use crate::decisions::Decisions;
use crate::floor::Shape;
use crate::metrics::{Samples, Summary};
use crate::simulator::Simulation;
use crate::story::Line;
use crate::trace::{Record, Recorder, Survey};
use crate::workload::{
    Entering, Exercised, Findings, Judgement, Keeping, Leading, Users, Watching,
};
use conclave_core::{Process, Property, Ticks, Verdict, Violation};
use serde::{Deserialize, Serialize};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// Nothing more can happen.
    Quiet,
    /// The last request has left; the algorithm would go on talking.
    Done,
    /// Time was up.
    CutShort,
}

/// What came of a run.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub ending: Ending,
    /// When it ended.
    pub end: Ticks,
    /// How many events the nodes handled.
    pub events: u64,
    /// How many messages were sent to other nodes, lost ones included.
    pub messages: u64,
    /// How many of these were upkeep: sent whether or not anybody asked for anything.
    pub upkeep: u64,
    /// All by kind, in the order in which the kinds first appeared.
    pub messages_by_kind: Vec<(&'static str, u64)>,
    /// The hash of everything that happened, if asked for.
    pub hash: Option<u64>,
    /// What became of each property.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones, first first.
    pub violations: Vec<Violation>,
    /// Of a run that is written down: after how many of its records each of these was seen. Those
    /// that only the end shows are not in this list.
    pub seen: Vec<usize>,
    /// What was measured.
    pub findings: Findings,
    /// The run in words, if asked for.
    pub story: Vec<Line>,
    /// The run written down, if asked for: all of a trace but its header.
    pub records: Vec<Record>,
    /// What its nodes said, if somebody looked at them.
    pub survey: Option<Survey>,
    /// What chance decided, if asked for.
    pub decisions: Option<Decisions>,
    /// The shape of its schedule, if asked for.
    pub shape: Option<Shape>,
}

/// A measured time, over one run or many.
#[derive(Clone, Debug, Default)]
pub struct Times(pub(crate) Samples);

impl Times {
    /// Mean, median, tail and maximum in units; `None` if nothing was measured.
    pub fn summary(&self) -> Option<Summary> {
        self.0.summary()
    }

    /// How often it was measured.
    pub fn count(&self) -> u64 {
        self.0.count
    }
}

impl Outcome {
    pub(crate) fn of<P: Process<Provides: Exercised>>(
        simulation: Simulation<'_, P>,
        ending: Ending,
        end: Ticks,
        hash: Option<u64>,
    ) -> Self {
        let Simulation { cluster, users, kinds, events, story, recorder, .. } = simulation;
        let Simulation { decisions, wheel, seen, asked, nodes, .. } = simulation;
        let (Judgement { verdicts, violations }, findings) = users.findings();
        let finish = |recorder: Recorder| recorder.finish(end, ending, &violations);
        let mut records = recorder.map(finish).unwrap_or_default();
        let survey = asked.map(|asked| asked.finish(&nodes, &mut records));
        Self {
            ending,
            end,
            events,
            messages: kinds.total(),
            upkeep: kinds.of(cluster.upkeep),
            messages_by_kind: kinds.0,
            hash,
            verdicts,
            violations,
            seen,
            findings,
            story: story.map(|story| story.lines).unwrap_or_default(),
            records,
            survey,
            decisions,
            shape: wheel.into_shape(),
        }
    }

    /// What was measured of mutual exclusion.
    ///
    /// # Panics
    ///
    /// If the run was of something else.
    #[track_caller]
    pub fn mutex(&self) -> &Entering {
        let Findings::Mutex(entering) = &self.findings else { something_else() };
        entering
    }

    /// What was measured of an election.
    ///
    /// # Panics
    ///
    /// If the run was of something else.
    #[track_caller]
    pub fn election(&self) -> &Leading {
        let Findings::Election(leading) = &self.findings else { something_else() };
        leading
    }

    /// What was measured of a failure detector.
    ///
    /// # Panics
    ///
    /// If the run was of something else.
    #[track_caller]
    pub fn detector(&self) -> &Watching {
        let Findings::Detector(watching) = &self.findings else { something_else() };
        watching
    }

    /// What was measured of a clock.
    ///
    /// # Panics
    ///
    /// If the run was of something else.
    #[track_caller]
    pub fn clock(&self) -> &Keeping {
        let Findings::Clock(keeping) = &self.findings else { something_else() };
        keeping
    }

    /// What became of a property.
    pub fn verdict(&self, property: Property) -> Verdict {
        let known = self.verdicts.iter().find(|(known, _)| *known == property);
        known.map_or(Verdict::NotChecked, |(_, verdict)| *verdict)
    }

    /// Messages per entry, upkeep left out, if anybody entered.
    pub fn messages_per_entry(&self) -> Option<f64> {
        match &self.findings {
            Findings::Mutex(entering) if entering.entries > 0 => {
                Some((self.messages - self.upkeep) as f64 / entering.entries as f64)
            }
            Findings::Mutex(_)
            | Findings::Election(_)
            | Findings::Detector(_)
            | Findings::Clock(_) => None,
        }
    }
}

/// A caller asks for what its run cannot have measured: its own mistake, never a user's.
#[track_caller]
fn something_else() -> ! {
    panic!("this was a run of something else")
}
