//! Type-erased factories of state machines: what a node drives, and what a recording is held
//! against.

use super::made::{Hears, MachineVisitor, Made};
use crate::recordings::judge::{Entries, Judge, Leaders, Suspicions};
use conclave_algorithms::catalog::Cluster;
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_core::{AnyService, NodeId, Process};
use conclave_net::{Automaton, Deed, Foreign, Input, Machine, Survival};
use conclave_sim::Patience;
use conclave_sim::trace::erased::{AnyEffect, Described, describe, erase_effect};
use conclave_sim::trace::{self, Difference, Focus, Survey, Trace};
use std::sync::Arc;

/// A machine that can also say what it does in the words of a trace: to run a recording again.
pub trait Player: Automaton {
    /// What happens to it, without its types.
    fn describe(&self, input: &Input) -> Result<Described, Foreign>;
    /// One atomic action with these answers to its choices: what it wants done, and the choices
    /// that it made.
    fn play(&mut self, input: &Input, choices: &[u32]) -> Result<Played, Foreign>;
}

/// One step of a machine that was run again.
pub struct Played {
    /// What it wants done, on the wire and in a trace.
    pub deeds: Vec<(Deed, AnyEffect)>,
    /// The choices that it made.
    pub choices: Vec<u32>,
}

impl<P: Process<Provides: AnyService>> Player for Machine<P> {
    fn describe(&self, input: &Input) -> Result<Described, Foreign> {
        self.event(input).map(|event| describe(&event))
    }

    fn play(&mut self, input: &Input, choices: &[u32]) -> Result<Played, Foreign> {
        let event = self.event(input)?;
        self.script(choices);
        let (effects, choices) = self.act(event);
        let erased = effects.iter().map(erase_effect).collect::<Vec<_>>();
        let deeds = effects.into_iter().map(Self::deed).zip(erased).collect();
        Ok(Played { deeds, choices })
    }
}

/// Runs all nodes of a trace again: how many steps were as recorded, or the first that is not.
pub type Verify = dyn Fn(&Trace, Patience) -> Result<u64, Box<Difference>> + Send + Sync;

/// Runs all nodes of a trace again, and asks them why they do what they do.
pub type Surveyed = dyn Fn(&Trace, &Focus) -> Result<Survey, Box<Difference>> + Send + Sync;

/// One kind of machine.
pub struct Kind {
    /// Makes that of a node, with a seed for its choices.
    pub make: Box<dyn Fn(NodeId, u64) -> Box<dyn Player> + Send + Sync>,
    /// Runs all nodes of a trace of it again.
    pub verify: Box<Verify>,
    /// Explains a trace of it.
    pub survey: Box<Surveyed>,
    /// The law that it is held against, on so many nodes.
    pub judge: fn(u32) -> Box<dyn Judge>,
    /// How it lives through a crash.
    pub survival: Survival,
    /// Of whom it is told.
    pub hears: Hears,
    /// Whether it says nothing unless it is asked.
    pub silent: bool,
}

/// Makes a kind of machine out of any algorithm.
pub struct Build;

impl Build {
    fn kind<P>(made: Made<P>, judge: fn(u32) -> Box<dyn Judge>) -> Kind
    where
        P: Process<Provides: AnyService>,
    {
        let Made { cluster, survival, heard, hears } = made;
        let Cluster { fresh, silent, .. } = cluster;
        let fresh = Arc::new(fresh);
        let verified = Arc::clone(&fresh);
        let explained = Arc::clone(&fresh);
        let make = move |me, seed| -> Box<dyn Player> {
            Box::new(Machine::new(me, fresh(me), survival, heard, seed))
        };
        let verify = move |trace: &Trace, patience| trace::verify(trace, &**verified, patience);
        let survey = move |trace: &Trace, focus: &_| trace::survey(trace, focus, &**explained);
        Kind {
            make: Box::new(make),
            verify: Box::new(verify),
            survey: Box::new(survey),
            judge,
            survival,
            hears,
            silent,
        }
    }
}

impl MachineVisitor for Build {
    type Output = Kind;

    fn lock<P: Process<Provides = Mutex>>(self, made: Made<P>) -> Kind {
        Self::kind(made, |n| Box::new(Entries::new(n)))
    }

    fn election<P: Process<Provides = Election>>(self, made: Made<P>) -> Kind {
        Self::kind(made, |n| Box::new(Leaders::new(n)))
    }

    fn detector<P: Process<Provides = Detector>>(self, made: Made<P>) -> Kind {
        Self::kind(made, |_| Box::new(Suspicions))
    }
}
