//! Any algorithm, whatever its types, ready to be run.

use crate::error::Error;
use crate::follow::Retold;
use crate::outcome::Outcome;
use crate::patience::Patience;
use crate::plan::{Options, Plan};
use crate::simulator::Simulation;
use crate::trace::{Difference, Explained, Focus, Question, Survey, Trace};
use crate::workload::Exercised;
use conclave_core::{Cluster, Event, Links, Oracle, Play, Process, Story};

/// The cluster of some algorithm.
pub trait Runnable: Send + Sync {
    /// How many nodes its users are on.
    fn clients(&self) -> u32;
    /// How many nodes only coordinate.
    fn coordinators(&self) -> u32;
    /// The example that they play, if they play one.
    fn play(&self) -> Option<Play>;
    /// Which nodes have a link between them.
    fn links(&self) -> &Links;
    /// The kinds of messages that are sent whether or not anybody asks for anything.
    fn upkeep(&self) -> &'static [&'static str];
    /// How large an event is in memory.
    fn event_size(&self) -> usize;
    /// All that is wrong with a plan for it.
    fn vet(&self, plan: &Plan) -> Vec<Error>;
    /// Everything up to the first event: the nodes built and started, the workload laid out.
    fn prepare<'a>(&'a self, plan: &'a Plan, options: &Options) -> Result<Prepared<'a>, Error>;

    /// Runs the nodes of a recording again: how many steps were as recorded, or the first that is
    /// not.
    fn verify(&self, trace: &Trace) -> Result<u64, Box<Difference>> {
        self.verify_within(Patience::ENDLESS, trace)
    }

    /// The same, as long as somebody waits for it.
    fn verify_within(&self, patience: Patience, trace: &Trace) -> Result<u64, Box<Difference>>;

    /// Runs the nodes of a recording again, and asks them all that is to be seen.
    fn survey(&self, trace: &Trace, focus: &Focus) -> Result<Survey, Box<Difference>>;

    /// Runs the nodes of a recording again, and asks them why they do what they do.
    fn explain(&self, trace: &Trace, question: &Question) -> Result<Explained, Box<Difference>> {
        Ok(self.survey(trace, &question.focus(trace))?.into())
    }

    /// Goes through a story, one unit of time for each of its moments.
    fn follow(&self, story: &Story) -> Result<Retold, Error> {
        self.follow_within(Patience::ENDLESS, story)
    }

    /// The same, as long as somebody waits for it.
    fn follow_within(&self, patience: Patience, story: &Story) -> Result<Retold, Error>;

    /// Runs it by a plan, to the end.
    fn run(&self, plan: &Plan, options: &Options) -> Result<Outcome, Error> {
        Ok(self.prepare(plan, options)?.run())
    }
}

impl<P: Process<Provides: Exercised, Uses: Oracle>> Runnable for Cluster<P> {
    fn clients(&self) -> u32 {
        self.clients
    }

    fn coordinators(&self) -> u32 {
        self.coordinators
    }

    fn play(&self) -> Option<Play> {
        self.play
    }

    fn links(&self) -> &Links {
        &self.links
    }

    fn upkeep(&self) -> &'static [&'static str] {
        self.upkeep
    }

    fn event_size(&self) -> usize {
        size_of::<Event<P>>()
    }

    fn vet(&self, plan: &Plan) -> Vec<Error> {
        crate::validate::all(self, plan)
    }

    fn verify_within(&self, patience: Patience, trace: &Trace) -> Result<u64, Box<Difference>> {
        crate::trace::verify(trace, &*self.fresh, patience)
    }

    fn survey(&self, trace: &Trace, focus: &Focus) -> Result<Survey, Box<Difference>> {
        crate::trace::survey(trace, focus, &*self.fresh)
    }

    fn follow_within(&self, patience: Patience, story: &Story) -> Result<Retold, Error> {
        crate::follow::follow(self, story, patience)
    }

    fn prepare<'a>(&'a self, plan: &'a Plan, options: &Options) -> Result<Prepared<'a>, Error> {
        let mut simulation = Simulation::new(self, plan, options)?;
        simulation.start();
        let events = simulation.events;
        let run = move || {
            let ending = simulation.run_to_end();
            simulation.finish(ending)
        };
        Ok(Prepared { events, run: Box::new(run) })
    }
}

/// A run about to begin.
pub struct Prepared<'a> {
    events: u64,
    run: Box<dyn FnOnce() -> Outcome + 'a>,
}

impl Prepared<'_> {
    /// How many events have been handled already: every node was started.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Runs to the end.
    pub fn run(self) -> Outcome {
        (self.run)()
    }
}
