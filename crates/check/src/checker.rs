//! Puts the searches together that it takes to judge every promise.

use crate::explorer::Explorer;
use crate::machine::Machine;
use crate::partial_order;
use crate::report::{Limits, Progress, Reduction, Report};
use crate::retell;
use crate::search::{Ended, Search};
use crate::space::Space;
use crate::symmetry::Symmetry;
use crate::words::{Explored, Family};
use crate::workings::Workings;
use conclave_core::{Bounds, Cluster, Oracle, Process, Property, Story, Verdict};
use std::time::Instant;

/// The cluster of some algorithm, whatever its types, all of whose runs can be looked at.
pub trait Checkable: Send + Sync {
    /// Looks at every run within the bounds, as far as the limits let it.
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
        let machine = Machine::new(self, bounds, false);
        let begun = Instant::now();
        let mut report = Checker { workings: &machine, bounds, limits, progress }.check();
        report.seconds = begun.elapsed().as_secs_f64();
        report
    }
}

struct Checker<'a> {
    workings: &'a dyn Workings,
    bounds: &'a Bounds,
    limits: &'a Limits,
    progress: &'a (dyn Fn(Progress) + Sync),
}

impl Checker<'_> {
    fn check(&self) -> Report {
        let wanted = self.wanted();
        let fences = wanted.contains(&Property::F1) || wanted.contains(&Property::S1Eff);
        let terms = wanted.contains(&Property::E1Term);
        let space = Space::new(self.workings, self.bounds, fences, terms, false);
        let (search, ended) = self.search(&space, &wanted);
        self.report(&search, &ended, &wanted)
    }

    fn wanted(&self) -> Vec<Property> {
        let all: &[Property] = match self.workings.family() {
            Family::Mutex => {
                &[Property::S1, Property::S1Eff, Property::V1, Property::V2, Property::F1]
            }
            Family::Election => &Property::ELECTION,
        };
        let asked = &self.limits.properties;
        all.iter().copied().filter(|known| asked.is_empty() || asked.contains(known)).collect()
    }

    fn search<'s>(&'s self, space: &'s Space<'s>, wanted: &'s [Property]) -> (Search<'s>, Ended) {
        loop {
            let mut search = Search::new(space, self.limits, wanted, self.progress);
            search.partial_order =
                self.limits.partial_order && partial_order::is_possible(self.bounds);
            search.symmetry = self.limits.symmetry && self.workings.has_symmetry();
            let ended = search.run(self.limits.depth);
            if !ended.surprised {
                return (search, ended);
            }
        }
    }

    fn report(&self, search: &Search<'_>, ended: &Ended, wanted: &[Property]) -> Report {
        let complete = ended.stop.is_none();
        let unique = ended.unique_states;
        let mut reductions = Vec::new();
        if search.partial_order {
            reductions.push(Reduction::PartialOrder);
        }
        if search.symmetry {
            reductions.push(Reduction::Symmetry);
        }
        let verdicts: Vec<(Property, Verdict)> = wanted
            .iter()
            .map(|&property| (property, ended.found.verdict(property, complete)))
            .collect();
        let stories = wanted.iter().filter_map(|&property| self.story(search, ended, property));
        Report {
            states: ended.found.states,
            unique_states: unique,
            depth: ended.depth,
            stop: ended.stop,
            reductions,
            verdicts,
            stories: stories.collect(),
            seconds: 0.0,
            bytes: ended.bytes,
            collision_odds: (unique as f64).powi(2) / 2.0_f64.powi(65),
        }
    }

    fn story(&self, search: &Search<'_>, ended: &Ended, property: Property) -> Option<Story> {
        let place = ended.found.place(property)?;
        let mut explorer = Explorer::new(search.space);
        let (n, clients) = (self.workings.nodes(), self.workings.clients());
        let mut symmetry = search.symmetry.then(|| Symmetry::new(clients, n - clients));
        let (begun, strides) =
            retell::way(&mut explorer, &mut symmetry, &search.seen, place.hash, place.depth)?;
        let moments = retell::moments(&explorer, &begun, &strides);
        Some(Story { property, moments, stem: None, shortest: !search.partial_order })
    }
}
