//! Observers of a run: its trace hash, its story, its recording. They change nothing of it.

use crate::plan::Plan;
use crate::random::Stream;
use crate::simulator::Simulation;
use crate::trace::erased::{describe, value};
use crate::trace::{Record, Recorder};
use crate::workload::Exercised;
use conclave_core::{Choices, Event, IndicationFrom, NodeId, Oracle, Process, RequestTo, encode};

impl<P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'_, P> {
    /// Keeps what a step begins with, for whoever asked for it.
    #[cold]
    pub(crate) fn observe_step(&mut self, node: NodeId, event: &Event<P>) {
        self.multicast.clear();
        if let Some((hasher, bytes)) = &mut self.hash {
            bytes.clear();
            encode(event, bytes);
            hasher.write_u64(self.now.0);
            hasher.write_u64(u64::from(node.0));
            hasher.write(bytes);
        }
        if let Some(story) = &mut self.story {
            story.begins(self.now, node, event);
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.begins(self.now, node, describe(event));
        }
    }

    /// What was kept of a step is complete.
    #[cold]
    pub(crate) fn observed_step(&mut self) {
        if let Some(story) = &mut self.story {
            story.ends();
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.ends();
        }
    }

    /// Writes down something that is no step.
    pub(crate) fn note(&mut self, record: Record) {
        if let Some(recorder) = &mut self.recorder {
            recorder.happens(record);
        }
    }

    /// Writes down what a node tells the layer above.
    #[inline]
    pub(crate) fn note_told(&mut self, told: &IndicationFrom<P::Provides>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.indicates(value(told));
        }
    }

    /// Writes down what a node asks the layer below.
    pub(crate) fn note_asked(&mut self, asked: RequestTo<P::Uses>) {
        if let Some(recorder) = &mut self.recorder {
            recorder.asks(value(&asked));
        }
    }
}

/// Choices are drawn from the seed, and written down if the run is.
pub(crate) fn choices(plan: &Plan, recorder: Option<&Recorder>) -> Choices {
    let mut stream = Stream::new(plan.seed, 2);
    let mut draw = move |bound: u32| stream.below(u64::from(bound)) as u32;
    match recorder.map(Recorder::answers) {
        None => Choices::Drawn(Box::new(draw)),
        Some(answers) => Choices::Drawn(Box::new(move |bound| {
            let answer = draw(bound);
            if let Ok(mut answers) = answers.lock() {
                answers.push(answer);
            }
            answer
        })),
    }
}
