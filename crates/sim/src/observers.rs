//! Observers of a run: its trace hash, its story, its recording. They change nothing of it.

use crate::network::Fate;
use crate::plan::{Options, Plan};
use crate::random::{PerNode, Purpose};
use crate::simulator::Simulation;
use crate::trace::erased::{describe, describe_briefly, value};
use crate::trace::{Record, Recorder};
use crate::workload::{Exercised, Users};
use conclave_core::{
    Choices, Context, Event, IndicationFrom, NodeId, Oracle, Process, RequestTo, Ticks, encode,
};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

impl<P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'_, P> {
    /// Keeps what a step begins with, for whoever asked for it.
    #[cold]
    pub(crate) fn observe_step(&mut self, node: NodeId, event: &Event<P>) {
        self.multicast.clear();
        self.hash_step(node, event);
        if let Some(story) = &mut self.story {
            story.begins(self.now, node, event);
        }
        if let Some(recorder) = &mut self.recorder {
            let described = match self.asked {
                Some(_) => describe_briefly(event),
                None => describe(event),
            };
            recorder.begins(self.now, node, described);
        }
    }

    /// Takes a step into the trace hash. What a message says was taken in when it was sent.
    fn hash_step(&mut self, node: NodeId, event: &Event<P>) {
        let Some((hasher, bytes)) = &mut self.hash else { return };
        hasher.write_u64(self.now.0);
        hasher.write_u64(u64::from(node.0));
        if let Event::Message { from, .. } = event {
            hasher.write_u64(u64::from(from.0));
        } else {
            bytes.clear();
            encode(event, bytes);
            hasher.write(bytes);
        }
    }

    /// Takes a message that is sent, and what becomes of it, into the trace hash.
    pub(crate) fn hash_send(&mut self, to: NodeId, message: &impl Serialize, fate: Fate) {
        let Some((hasher, bytes)) = &mut self.hash else { return };
        let arrival = |at: Option<Ticks>| at.map_or(u64::MAX, |at| at.0);
        bytes.clear();
        encode(message, bytes);
        hasher.write_u64(u64::from(to.0));
        hasher.write_u64(arrival(fate.arrival));
        hasher.write_u64(arrival(fate.again));
        hasher.write(bytes);
    }

    /// Keeps why a step does what it does, for whoever listens.
    #[cold]
    pub(crate) fn note_reasons(&mut self) {
        let reasons = self.ctx.reasons();
        if let Some(asked) = &mut self.asked {
            asked.hears(&reasons);
        }
        if let Some(story) = &mut self.story {
            reasons.into_iter().for_each(|why| story.explains(why));
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
        self.note_violations();
    }

    /// Keeps after how many records each broken promise was seen to be broken.
    pub(crate) fn note_violations(&mut self) {
        if let Some(recorder) = &self.recorder {
            self.seen.resize(self.users.violations().len(), recorder.written());
        }
    }

    /// Writes down something that is no step.
    pub(crate) fn note(&mut self, record: Record) {
        self.look();
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

/// The context of all steps; reasons are for the story.
pub(crate) fn context<P: Process>(choices: Choices, options: &Options) -> Context<P> {
    let mut ctx = Context::new(choices);
    ctx.listen(options.story);
    ctx
}

/// The node that acts, for whoever answers its choices.
#[derive(Clone, Default)]
pub(crate) struct Acting(Arc<AtomicU32>);

impl Acting {
    #[inline(always)]
    pub fn set(&self, node: NodeId) {
        self.0.store(node.0, Ordering::Relaxed);
    }

    fn get(&self) -> NodeId {
        NodeId(self.0.load(Ordering::Relaxed))
    }
}

/// Each node's choices are drawn from the seed, and written down if the run is; and whom to tell
/// whose turn it is.
pub(crate) fn choices(plan: &Plan, recorder: Option<&Recorder>) -> (Choices, Acting) {
    let mut streams = PerNode::new(plan.seed, Purpose::Choices);
    let acting = Acting::default();
    let told = acting.clone();
    let mut draw = move |bound: u32| streams.of(told.get()).below(u64::from(bound)) as u32;
    let choices = match recorder.map(Recorder::answers) {
        None => Choices::Drawn(Box::new(draw)),
        Some(answers) => Choices::Drawn(Box::new(move |bound| {
            let answer = draw(bound);
            if let Ok(mut answers) = answers.lock() {
                answers.push(answer);
            }
            answer
        })),
    };
    (choices, acting)
}
