//! Workloads: per service how it is used, the monitor that judges it, and its metrics.

mod application;
mod arrivals;
mod detector;
mod election;
mod mutex;
mod shared;
mod timekeeping;

pub use detector::Watching;
pub use election::Leading;
pub use mutex::Entering;
pub use shared::Shared;
pub use timekeeping::{Keeping, Reading, Refused};

use crate::error::Error;
use crate::follow::Law;
use crate::plan::{Act, Options, Plan};
use crate::simulator::Simulation;
use conclave_core::mutex::Causality;
use conclave_core::{
    Cluster, IndicationFrom, NodeId, Oracle, Process, Property, RequestTo, Service, Ticks, Verdict,
    Violation,
};

/// A service that the simulator can put to use and judge.
pub trait Exercised: Service {
    /// Those who use it, on all nodes, and the monitor that watches them.
    type Users: Users<Self>;
    /// Its law, for a run that follows a story.
    type Law: Law<Self>;

    /// What makes no sense for this service.
    fn check<P: Process>(cluster: &Cluster<P>, plan: &Plan) -> Vec<Error>;

    /// Those who will use it.
    fn users<P: Process>(cluster: &Cluster<P>, plan: &Plan, options: &Options) -> Self::Users;

    /// Lays out what they will ask, after all nodes were started.
    fn begin<P: Process<Provides = Self, Uses: Oracle>>(run: &mut Simulation<'_, P>);

    /// Something that a user meant to ask at this time, if it still makes sense.
    fn acts<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        request: RequestTo<Self>,
    );

    /// The algorithm tells a user.
    fn told<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        indication: IndicationFrom<Self>,
    );

    /// A node came back; its user may want something.
    fn returned<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
    );

    /// Which of several requests at one time comes first: the smaller.
    fn rank(request: &RequestTo<Self>) -> u8;

    /// What a user asks when somebody has it do this, beside its workload; nothing, if it cannot.
    fn prompts(act: Act) -> Option<RequestTo<Self>>;

    /// A request in words, as what a node does.
    fn words(request: &RequestTo<Self>) -> String;

    /// Whether a request is a message from another user, under way until now.
    fn is_message(request: &RequestTo<Self>) -> bool {
        let _ = request;
        false
    }
}

/// Those who use a service, on all nodes, and the monitor that watches them.
pub trait Users<S: Service> {
    /// A node is dead from the beginning.
    fn absent(&mut self, node: NodeId);

    /// A node crashes.
    fn crashed(&mut self, node: NodeId, at: Ticks);

    /// Whether something that a user of a crashed node meant to ask still stands.
    fn outlives_crash(&self, node: NodeId, request: &RequestTo<S>) -> bool;

    /// This is to be asked now, beside what was planned.
    fn prompted(&mut self, node: NodeId, request: &RequestTo<S>);

    /// The broken promises so far, first first.
    fn violations(&self) -> &[Violation];

    /// What was to be asked will never be: the node is down.
    fn missed(&mut self, node: NodeId, request: &RequestTo<S>);

    /// Whether everybody has what they wanted, and will want nothing more.
    fn is_done(&self, ahead: Ahead) -> bool;

    /// The run is over. If it was cut short, `patience` says how long nothing must have moved for
    /// it to count as stalled.
    fn end<P: Process>(&mut self, cluster: &Cluster<P>, at: Ticks, complete: bool, patience: Ticks);

    /// What became of each property, and what was measured.
    fn findings(self) -> (Judgement, Findings);

    /// Whether the messages of this request are followed.
    fn follows(request: &RequestTo<S>) -> bool {
        let _ = request;
        false
    }

    /// All messages of a followed request have arrived.
    #[inline]
    fn registered(&mut self, node: NodeId) {
        let _ = node;
    }

    /// The causal past of every node, where it is watched.
    #[inline]
    fn causality(&mut self) -> Option<&mut Causality> {
        None
    }
}

/// What is still to happen from outside.
#[derive(Clone, Copy, Debug)]
pub struct Ahead {
    /// Anything at all.
    pub anything: bool,
    /// The return of a node that has crashed or is paused, or what somebody is made to do.
    pub returns: bool,
}

/// What became of the properties.
pub struct Judgement {
    /// Each property that was looked at.
    pub verdicts: Vec<(Property, Verdict)>,
    /// The broken ones, first first.
    pub violations: Vec<Violation>,
}

/// What was measured, by what the algorithm is for.
#[derive(Clone, Debug)]
pub enum Findings {
    /// Of mutual exclusion.
    Mutex(Box<Entering>),
    /// Of an election.
    Election(Box<Leading>),
    /// Of a failure detector.
    Detector(Box<Watching>),
    /// Of a clock.
    Clock(Box<Keeping>),
}

impl Findings {
    /// Adds those of another run of the same algorithm.
    pub(crate) fn absorb(&mut self, other: Self) {
        match (self, other) {
            (Self::Mutex(mine), Self::Mutex(theirs)) => mine.absorb(*theirs),
            (Self::Election(mine), Self::Election(theirs)) => mine.absorb(&theirs),
            (Self::Detector(mine), Self::Detector(theirs)) => mine.absorb(&theirs),
            (Self::Clock(mine), Self::Clock(theirs)) => mine.absorb(&theirs),
            (Self::Mutex(_) | Self::Election(_) | Self::Detector(_) | Self::Clock(_), _) => {
                unreachable!("runs of one algorithm measure the same things")
            }
        }
    }
}
