//! Replays a counterexample of the checker (a story, in which only the order counts) as a run in
//! simulated time: one unit for each moment.
//!
//! A recording says of a message, where it is sent, when it will arrive. So a story is gone through
//! twice: once to learn what becomes of everything, once to write it down.

mod law;
mod moves;
mod telling;

pub use law::{ElectionLaw, Law, Lawless, MutexLaw};

use crate::error::Error;
use crate::outcome::Ending;
use crate::patience::Patience;
use crate::story::Line;
use crate::trace::erased::{AnyProcess, AnyTimer, Erased, value};
use crate::trace::{Record, Recorder};
use crate::workload::{Exercised, Judgement};
use conclave_core::clock::Vector;
use conclave_core::{
    Cluster, NodeId, Oracle, Process, Property, Story, Ticks, Verdict, Violation, Winner,
};
use law::Close;
use serde_json::Value;
use std::collections::BTreeMap;

/// A story as a run.
#[derive(Clone, Debug)]
pub struct Retold {
    /// The run written down: all of a trace but its header.
    pub records: Vec<Record>,
    /// The run in words: the starts that led to anything, at time 0, then one line for each moment.
    pub lines: Vec<Line>,
    /// What became of each promise.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones, first first.
    pub violations: Vec<Violation>,
}

impl Retold {
    /// How a promise was broken, if it was.
    pub fn violation(&self, property: Property) -> Option<&Violation> {
        self.violations.iter().find(|violation| violation.property == property)
    }
}

/// Goes through a story; an error if it cannot have happened to this cluster, or nobody waits for
/// it any longer.
pub(crate) fn follow<P>(
    cluster: &Cluster<P>,
    story: &Story,
    patience: Patience,
) -> Result<Retold, Error>
where
    P: Process<Provides: Exercised, Uses: Oracle>,
{
    let scene = Scene {
        clients: cluster.clients,
        nodes: cluster.nodes(),
        winner: cluster.winner.as_ref(),
        process: &|node| Box::new(Erased::new(node, &*cluster.fresh)),
        suspicion: |node| <P::Uses as Oracle>::suspect(node).as_ref().map(value),
        patience,
        trust: |node| <P::Uses as Oracle>::trust(node).as_ref().map(value),
    };
    go_through::<P::Provides>(&scene, story)
}

fn go_through<S: Exercised>(scene: &Scene<'_>, story: &Story) -> Result<Retold, Error> {
    let learnt = Follower::<'_, '_, S>::new(scene, story, Fates::default()).run()?.learnt();
    Ok(Follower::<'_, '_, S>::new(scene, story, learnt).run()?.finish())
}

/// The cluster that a story is about, without its types.
struct Scene<'a> {
    clients: u32,
    nodes: u32,
    winner: Option<&'a Winner>,
    process: &'a dyn Fn(NodeId) -> Box<dyn AnyProcess + 'a>,
    /// How long somebody waits for it.
    patience: Patience,
    /// How a node is told that another seems to have crashed, if it listens.
    suspicion: fn(NodeId) -> Option<Value>,
    /// How it is told that this was wrong.
    trust: fn(NodeId) -> Option<Value>,
}

/// What becomes of everything that is sent and set, in order.
#[derive(Default)]
struct Fates {
    /// When each message arrives: never, once, or more often.
    messages: Vec<Vec<Ticks>>,
    /// When each timer fires, if it does.
    timers: Vec<Option<Ticks>>,
}

struct Follower<'a, 's, S: Exercised> {
    scene: &'a Scene<'s>,
    story: &'a Story,
    now: Ticks,
    nodes: Vec<Node<'s>>,
    /// By sender and receiver: what is under way, the oldest first.
    links: BTreeMap<(NodeId, NodeId), Vec<UnderWay>>,
    law: S::Law,
    /// What is known from going through it before.
    known: Fates,
    /// What was learnt so far.
    fates: Fates,
    /// The messages that were lost on the way, by when.
    lost: BTreeMap<Ticks, u64>,
    recorder: Recorder,
}

struct Node<'a> {
    process: Box<dyn AnyProcess + 'a>,
    up: bool,
    /// The running timers, each with its place among all that are set.
    timers: Vec<(AnyTimer, usize)>,
}

#[derive(Clone)]
struct UnderWay {
    /// Its place among all messages.
    place: usize,
    message: Value,
    /// The sender's past, where `HB` is judged.
    stamp: Option<Vector>,
}

impl<'a, 's, S: Exercised> Follower<'a, 's, S> {
    fn new(scene: &'a Scene<'s>, story: &'a Story, known: Fates) -> Self {
        let fresh = |node| Node { process: (scene.process)(node), up: true, timers: Vec::new() };
        Self {
            scene,
            story,
            now: Ticks::ZERO,
            nodes: (0..scene.nodes).map(NodeId).map(fresh).collect(),
            links: BTreeMap::new(),
            law: Law::new(scene.nodes, story.property),
            known,
            fates: Fates::default(),
            lost: BTreeMap::new(),
            recorder: Recorder::default(),
        }
    }

    fn run(mut self) -> Result<Self, Error> {
        if self.story.stem.is_some_and(|stem| stem > self.story.moments.len()) {
            return Err(Error::BadStory("it goes round after its end".to_string()));
        }
        self.start().map_err(|what| Error::BadStory(format!("at the start: {what}")))?;
        for (number, moment) in (1..).zip(&self.story.moments) {
            self.now = Ticks::units(number);
            let misfit = |what| Error::BadStory(format!("moment {number}: {what}"));
            if self.scene.patience.is_over() {
                return Err(misfit("this takes too long to follow".to_string()));
            }
            self.happens(moment).map_err(misfit)?;
        }
        Ok(self)
    }

    /// Whatever is still under way arrives when the story is over.
    fn learnt(mut self) -> Fates {
        let after = self.after();
        for message in self.links.values().flatten() {
            self.fates.messages[message.place].push(after);
        }
        self.fates
    }

    fn after(&self) -> Ticks {
        Ticks::units(self.story.moments.len() as u64 + 1)
    }

    fn finish(mut self) -> Retold {
        let close = match (self.story.stem, self.story.property) {
            (Some(stem), _) => Close::Loop(Ticks::units(stem as u64)),
            (None, Property::V1 | Property::V2 | Property::E1 | Property::E2) => Close::DeadEnd,
            (
                None,
                Property::S1
                | Property::S1Eff
                | Property::BW
                | Property::HB
                | Property::HBExact
                | Property::F1
                | Property::E1Term
                | Property::D1
                | Property::D2,
            ) => Close::Midway,
        };
        let Judgement { verdicts, violations } = self.law.end(self.scene.winner, self.now, close);
        let ending = match close {
            Close::DeadEnd => Ending::Quiet,
            Close::Midway | Close::Loop(_) => Ending::CutShort,
        };
        let records = self.recorder.finish(self.now, ending, &violations);
        let lines = telling::lines(self.story, &records, &self.lost);
        Retold { records, lines, verdicts, violations }
    }
}
