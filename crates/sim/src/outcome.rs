//! What came of a run.

use crate::decisions::Decisions;
use crate::floor::Shape;
use crate::metrics::{Entry, Samples, Summary};
use crate::simulator::Simulation;
use crate::story::Line;
use conclave_core::mutex::Mutex;
use conclave_core::{NodeId, Process, Property, Ticks, Verdict, Violation};

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The same by kind, in the order in which the kinds first appeared.
    pub messages_by_kind: Vec<(&'static str, u64)>,
    /// The hash of everything that happened, if asked for.
    pub hash: Option<u64>,
    /// What became of each promise.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones, first first.
    pub violations: Vec<Violation>,
    /// How often somebody asked.
    pub requests: u64,
    /// How often somebody entered.
    pub entries: u64,
    /// Who, in order; `None` when the list grew too long.
    pub order: Option<Vec<NodeId>>,
    /// The same with the time and the fence of each.
    pub entered: Option<Vec<Entry>>,
    /// The first and the last fence.
    pub fences: Option<(u64, u64)>,
    /// Jain's index of fairness.
    pub jain: Option<f64>,
    /// The most that entered between the registration of a request and its entry.
    pub bypass_max: u64,
    /// Last writes that the resource refused because a larger fence had been there.
    pub refused: u64,
    /// From request to entry.
    pub wait: Times,
    /// From one exit to the next entry, when somebody was waiting.
    pub sync_delay: Times,
    /// From request to entry, when nobody else wanted in.
    pub client_delay: Times,
    /// The same, counted as messages one after the other.
    pub client_delay_serial: Times,
    /// The run in words, if asked for.
    pub story: Vec<Line>,
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
}

impl Outcome {
    pub(crate) fn of<P: Process<Provides = Mutex>>(
        simulation: Simulation<'_, P>,
        ending: Ending,
        end: Ticks,
        hash: Option<u64>,
    ) -> Self {
        let Simulation { monitor, application, kinds, events, story, decisions, wheel, .. } =
            simulation;
        let jain = application.jain();
        let entered = application.entered.take();
        Self {
            ending,
            end,
            events,
            messages: kinds.total(),
            messages_by_kind: kinds.0,
            hash,
            verdicts: Property::MUTEX.map(|property| (property, monitor.verdict(property))).into(),
            violations: monitor.violations().to_vec(),
            requests: application.requests,
            entries: monitor.entries(),
            jain,
            order: entered.as_ref().map(|list| list.iter().map(|entry| entry.node).collect()),
            entered,
            fences: application.fences,
            bypass_max: monitor.bypass_max(),
            refused: monitor.refused(),
            wait: Times(application.waits),
            sync_delay: Times(application.sync_delays),
            client_delay: Times(application.client_delays),
            client_delay_serial: Times(application.client_delays_serial),
            story: story.map(|story| story.lines).unwrap_or_default(),
            decisions,
            shape: wheel.into_shape(),
        }
    }

    /// What became of a promise.
    pub fn verdict(&self, property: Property) -> Verdict {
        let known = self.verdicts.iter().find(|(known, _)| *known == property);
        known.map_or(Verdict::NotChecked, |(_, verdict)| *verdict)
    }

    /// Messages per entry, if anybody entered.
    pub fn messages_per_entry(&self) -> Option<f64> {
        (self.entries > 0).then(|| self.messages as f64 / self.entries as f64)
    }
}
