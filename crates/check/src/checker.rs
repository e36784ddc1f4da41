//! The model checker: puts the searches of the state space together that it takes to judge every
//! property, safety as well as liveness.

use crate::acyclic::{Cycles, look_for_cycles};
use crate::counterexample;
use crate::explorer::Explorer;
use crate::machine::Machine;
use crate::partial_order;
use crate::partial_order::reachable_inputs::ReachableInputs;
use crate::report::{Limits, Progress, Reduction, Report, Stop};
use crate::search::{Ended, Search};
use crate::space::{Space, Watch};
use crate::starvation;
use crate::state_graph::StateGraph;
use crate::symmetry::{self, Symmetry};
use crate::violations::{Violations, is_safety};
use crate::vocabulary::{Explored, Family};
use crate::workings::Workings;
use conclave_core::{Bounds, Cluster, Network, Oracle, Process, Property, Story, Timing, Verdict};
use std::time::Instant;

/// Where there are cycles, fair ones are told from unfair ones among at most so many states.
const STATE_GRAPH_MAX: u64 = 10_000_000;
/// The order of requests is judged unasked only where there are no more states than this.
const ORDER_MAX: u64 = 100_000;

/// The cluster of some algorithm, whatever its types, all of whose runs can be looked at.
pub trait Checkable: Send + Sync {
    /// Looks at every run within the bounds, as far as the limits let it. To see what can be left
    /// out, steps are also tried that no run makes: a step must not panic, whatever comes.
    fn check(
        &self,
        bounds: &Bounds,
        limits: &Limits,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Report;
}

impl<P: Process<Provides: Explored, Uses: Oracle>> Checkable for Cluster<P> {
    fn check(
        &self,
        bounds: &Bounds,
        limits: &Limits,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Report {
        let begun = Instant::now();
        let workings = Machine::new(self, bounds, Watch::default());
        let fenced = Machine::new(self, bounds, Watch { fences: true, ..Watch::default() });
        let ordered = Machine::new(self, bounds, Watch { order: true, ..Watch::default() });
        let checker = Checker {
            workings: &workings,
            fenced: &fenced,
            ordered: &ordered,
            bounds,
            limits,
            progress,
        };
        let mut report = checker.check();
        report.timers_ran = [&workings, &fenced, &ordered].iter().any(|nodes| nodes.timers_ran());
        report.seconds = begun.elapsed().as_secs_f64();
        report
    }
}

struct Checker<'a> {
    workings: &'a dyn Workings,
    /// The same, where each user also knows with which fence it is inside.
    fenced: &'a dyn Workings,
    /// The same, where each node also knows which requests happened before which.
    ordered: &'a dyn Workings,
    bounds: &'a Bounds,
    limits: &'a Limits,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Checker<'_> {
    /// Where counters rise for ever, only the normal form of a state can come up again.
    fn check(&self) -> Report {
        let untimed = self.bounds.timeouts.is_some() && self.workings.is_silent_untimed();
        let rises = self.bounds.requests.is_none() || !(self.workings.is_silent() || untimed);
        if rises && self.workings.has_normal() && self.may_set_back() {
            return self.by_normal_form();
        }
        self.by_levels()
    }

    /// Whether counters can be set back: nobody may begin again at 0 among them, or tell from them
    /// how long to wait; and in a bag nothing could be said of a message that is not let through.
    fn may_set_back(&self) -> bool {
        let Bounds { amnesia, timing, timeouts, network, .. } = self.bounds;
        let untimed = *timing == Timing::AnyMoment || *timeouts == Some(0);
        *amnesia == 0 && untimed && *network == Network::Fifo
    }

    /// What is asked for, of what can be told with fences or without.
    fn wanted(&self, fences: bool) -> Vec<Property> {
        let all: &[Property] = match (self.workings.family(), fences) {
            (Family::Mutex, true) => {
                &[Property::S1, Property::S1Eff, Property::V1, Property::V2, Property::F1]
            }
            (Family::Mutex, false) => &[Property::S1, Property::V1, Property::V2],
            (Family::Election, _) => &Property::ELECTION,
        };
        let asked = &self.limits.properties;
        let of_invariant = self.workings.has_invariant().then_some(Property::BW);
        let all = all.iter().copied().chain(of_invariant);
        all.filter(|known| asked.is_empty() || asked.contains(known)).collect()
    }

    fn by_normal_form(&self) -> Report {
        let wanted = self.wanted(false);
        let space = Space::new(self.workings, self.bounds, Watch::default());
        let mut explorer = Explorer::new(&space);
        let graph = StateGraph::build(&mut explorer, true, self.limits, &wanted, self.progress);
        let mut report = Report::of(&graph.found, graph.len() as u64, graph.stop, &wanted);
        report.depth = graph.depth();
        report.bytes = graph.bytes();
        report.reductions.push(Reduction::NormalForm);
        for &property in &wanted {
            report.stories.extend(told(&graph, &mut explorer, property));
        }
        self.judge_starvation(&graph, &mut explorer, &mut report);
        report
    }

    fn by_levels(&self) -> Report {
        let wanted = self.wanted(true);
        if wanted.is_empty() {
            // Nothing but the order of requests was asked for.
            return self.order_up_to(self.limits.states_max);
        }
        let watch = Watch {
            fences: wanted.contains(&Property::F1) || wanted.contains(&Property::S1Eff),
            terms: wanted.contains(&Property::E1Term),
            order: false,
        };
        let workings = if watch.fences { self.fenced } else { self.workings };
        let space = Space::new(workings, self.bounds, watch);
        let (search, ended) = self.search(&space, &wanted);
        let mut report = Report::of(&ended.found, ended.unique_states, ended.stop, &wanted);
        report.depth = ended.depth;
        report.bytes = ended.bytes;
        let used = [
            (search.partial_order, Reduction::PartialOrder),
            (search.symmetry, Reduction::Symmetry),
        ];
        report.reductions.extend(used.iter().filter(|(is, _)| *is).map(|(_, name)| *name));
        for &property in &wanted {
            report.stories.extend(self.shortest(&search, &ended.found, property));
        }
        drop(search); // Its states are needed no more, and to look for cycles takes room.
        // Once safety is lost, nobody asks for more.
        if ended.found.back && ended.stop != Some(Stop::Found) {
            self.look_for_starvation(&mut report);
        }
        self.judge_order(&mut report);
        report
    }

    /// Begins anew whenever a link comes up that was not reckoned with.
    fn search<'s>(&'s self, space: &'s Space<'s>, wanted: &'s [Property]) -> (Search<'s>, Ended) {
        loop {
            let mut search = Search::new(space, self.limits, wanted, self.progress);
            search.symmetry = self.limits.symmetry
                && self.workings.has_symmetry()
                && self.workings.clients() <= symmetry::CLIENTS_MAX;
            // Which of several states alike is looked at is up to the threads, and which moves are
            // put off would be, too.
            search.partial_order = self.limits.partial_order
                && partial_order::is_possible(self.bounds)
                && !search.symmetry;
            search.foresees = search.partial_order && {
                let mut explorer = Explorer::new(space);
                let initial = explorer.initial();
                ReachableInputs::exist(&mut explorer, &initial)
            };
            let ended = search.run(self.limits.depth);
            if !ended.surprised {
                return (search, ended);
            }
        }
    }

    /// A story found by looking at some orders only may have a shorter one among the others.
    fn shortest(
        &self,
        search: &Search<'_>,
        found: &Violations,
        property: Property,
    ) -> Option<Story> {
        let place = found.place(property)?;
        if search.partial_order && is_safety(property) {
            let wanted = [property];
            let full = Search::new(search.space, self.limits, &wanted, self.progress);
            let ended = full.run(Some(place.depth));
            if ended.found.place(property).is_some() {
                return story(&full, &ended.found, property);
            }
        }
        story(search, found, property)
    }

    /// The liveness properties.
    fn liveness(&self) -> [Property; 2] {
        match self.workings.family() {
            Family::Mutex => [Property::V1, Property::V2],
            Family::Election => [Property::E1, Property::E2],
        }
    }

    /// Whether something may go wrong for ever; everything but that is known already.
    fn look_for_starvation(&self, report: &mut Report) {
        let is_open = |verdict| matches!(verdict, Verdict::Holds | Verdict::Unknown);
        if !self.liveness().iter().any(|property| is_open(report.verdict(*property))) {
            return;
        }
        let limits = Limits {
            states_max: self.limits.states_max.min(STATE_GRAPH_MAX),
            ..self.limits.clone()
        };
        let space = Space::new(self.workings, self.bounds, Watch::default());
        let mut explorer = Explorer::new(&space);
        if report.is_complete() {
            let acyclicity = look_for_cycles(&mut explorer, self.limits, self.progress);
            report.looked_again(acyclicity.unique_states, acyclicity.bytes);
            if acyclicity.cycles == Cycles::None {
                return;
            }
        }
        let graph = StateGraph::build(&mut explorer, false, &limits, &[], self.progress);
        report.bytes = report.bytes.max(graph.bytes());
        self.judge_starvation(&graph, &mut explorer, report);
    }

    fn judge_starvation(
        &self,
        graph: &StateGraph,
        explorer: &mut Explorer<'_>,
        report: &mut Report,
    ) {
        for property in self.liveness() {
            if matches!(report.verdict(property), Verdict::Holds | Verdict::Unknown) {
                self.judge_cycles(property, graph, explorer, report);
            }
        }
    }

    /// Whether an endless run violates a property that no finite one does.
    fn judge_cycles(
        &self,
        property: Property,
        graph: &StateGraph,
        explorer: &mut Explorer<'_>,
        report: &mut Report,
    ) {
        let Some(lasso) = starvation::lasso(graph, property, explorer.clients(), false) else {
            let cut = || starvation::lasso(graph, property, explorer.clients(), true).is_some();
            if graph.stop.is_some() || cut() {
                report.amend(property, Verdict::Unknown);
            }
            return;
        };
        report.amend(property, Verdict::Violated);
        let whole: Vec<_> = lasso.stem.iter().chain(&lasso.cycle[1..]).copied().collect();
        let on_the_way = graph.run(explorer, &lasso.stem).map_or(0, |(_, strides)| strides.len());
        if let Some((begun, strides)) = graph.run(explorer, &whole) {
            let moments = counterexample::moments(explorer, &begun, &strides);
            let stem = Some(counterexample::opening(explorer, &begun).len() + on_the_way);
            report.stories.push(Story { property, moments, stem, shortest: false });
        }
    }

    /// A pass of its own: that requests are watched multiplies the states.
    fn judge_order(&self, report: &mut Report) {
        let asked = self.limits.properties.contains(&Property::HB);
        let unasked = self.limits.properties.is_empty()
            && report.stop.is_none()
            && report.unique_states <= ORDER_MAX;
        if self.workings.family() != Family::Mutex || !(asked || unasked) {
            return;
        }
        let most = if asked { u64::MAX } else { 10 * ORDER_MAX };
        let of_order = self.order_up_to(self.limits.states_max.min(most));
        let found = of_order.verdict(Property::HB);
        let verdict = if asked || found != Verdict::Unknown { found } else { Verdict::NotChecked };
        report.verdicts.push((Property::HB, verdict));
        report.stories.extend(of_order.stories);
    }

    /// What a search says of the order of requests that looks at so many states at most.
    fn order_up_to(&self, states_max: u64) -> Report {
        let limits = Limits { states_max, ..self.limits.clone() };
        let watch = Watch { order: true, ..Watch::default() };
        let space = Space::new(self.ordered, self.bounds, watch);
        let wanted = [Property::HB];
        let search = Search::new(&space, &limits, &wanted, self.progress);
        let ended = search.run(limits.depth);
        let mut report = Report::of(&ended.found, ended.unique_states, ended.stop, &wanted);
        report.depth = ended.depth;
        report.bytes = ended.bytes;
        report.stories.extend(story(&search, &ended.found, Property::HB));
        report
    }
}

/// The way to where a property was broken.
fn story(search: &Search<'_>, found: &Violations, property: Property) -> Option<Story> {
    let place = found.place(property)?;
    let mut explorer = Explorer::new(search.space);
    let workings = search.space.workings;
    let coordinators = workings.nodes() - workings.clients();
    let mut symmetry = search.symmetry.then(|| Symmetry::new(workings.clients(), coordinators));
    let (begun, strides) = counterexample::way(
        &mut explorer,
        &mut symmetry,
        &search.visited,
        place.hash,
        place.depth,
    )?;
    let moments = counterexample::moments(&explorer, &begun, &strides);
    Some(Story { property, moments, stem: None, shortest: !search.partial_order })
}

/// The same in a graph.
fn told(graph: &StateGraph, explorer: &mut Explorer<'_>, property: Property) -> Option<Story> {
    let place = graph.found.place(property)?;
    let way = graph.way(graph.node(place.hash)?);
    let (begun, strides) = graph.run(explorer, &way)?;
    let moments = counterexample::moments(explorer, &begun, &strides);
    Some(Story { property, moments, stem: None, shortest: true })
}

#[cfg(test)]
mod tests;
