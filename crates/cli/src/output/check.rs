//! What a search through all runs has found, on one screen.

mod bounds;
mod json;
mod story;

pub use story::Retelling;

use super::numbers::{count, decimal, local, of, rate};
use super::{bad, beside, columns, dim, good, labelled, odd, strong};
use crate::invocation::in_same_language;
use crate::texts::tr;
use conclave_algorithms::catalog::{Assumption, Family, Finding, Setting};
use conclave_check::{Limits, Reduction, Report, Stop};
use conclave_core::{Bounds, Property, Verdict};
use conclave_lab::Experiment;
use std::fmt::Write;

/// How far the text stands from the margin.
const COLUMN: usize = 12;

/// All there is to say about a search.
pub struct Checked<'a> {
    /// What was looked at.
    pub experiment: &'a Experiment,
    /// Within which bounds.
    pub bounds: Bounds,
    /// How far, and for what.
    pub limits: Limits,
    /// The assumption that was dropped.
    pub dropped: Option<&'static Assumption>,
    /// What was found.
    pub report: Report,
    /// The stories of what is broken.
    pub stories: Vec<Retelling>,
}

impl Checked<'_> {
    /// The whole report.
    pub fn text(&self) -> String {
        let mut text = self.header();
        text.push('\n');
        text += &self.properties();
        for (index, told) in self.stories.iter().enumerate() {
            let promised = self.promises(told.story.property);
            let names = &self.experiment.names;
            let same = self.stories[..index].iter().find(|earlier| earlier.is_as(told));
            let _ = match same {
                Some(earlier) => write!(text, "\n{}", told.in_short(names, promised, earlier)),
                None => write!(text, "\n{}", told.text(names, promised)),
            };
        }
        text + &self.ending()
    }

    /// The story to look at first: of a promise that was made, if there is one.
    pub fn worst(&self) -> Option<&Retelling> {
        let promised = |told: &&Retelling| self.promises(told.story.property);
        self.stories.iter().find(promised).or(self.stories.first())
    }

    fn promises(&self, property: Property) -> bool {
        let setting = &self.experiment.setting;
        setting.entry.promises(property, &setting.params)
    }

    /// What was looked at, within which bounds, and how much that is.
    fn header(&self) -> String {
        let names = &self.experiment.names;
        let mut nodes = of(u64::from(self.experiment.setting.n), "node");
        if names.coordinators > 0 {
            nodes += &format!(" + {}", of(u64::from(names.coordinators), "coordinator"));
        }
        let id = strong(self.experiment.setting.entry.id);
        let about = format!("{nodes}, every run within bounds");
        let lead = format!("{id}  ");
        let mut text = beside(&lead, columns(&lead), &about);
        if let Some(Assumption { tag, text: assumed, .. }) = self.dropped {
            text += &labelled("without", COLUMN, &format!("{tag}: {}", tr(assumed)));
            let set = self.parameters();
            if !set.is_empty() {
                text += &labelled("set", COLUMN, &set);
            }
        }
        text += &labelled("bounds", COLUMN, &bounds::words(self));
        let name = |reduction: &Reduction| tr(reduction.name()).into_owned();
        let reductions: Vec<String> = self.report.reductions.iter().map(name).collect();
        let reductions =
            if reductions.is_empty() { "none".to_string() } else { reductions.join(", ") };
        text += &labelled("reductions", COLUMN, &reductions);
        text += &labelled("states", COLUMN, &self.figures());
        text
    }

    /// The parameters that are not as usual: not all of them need have been typed.
    fn parameters(&self) -> String {
        let Setting { entry, params, .. } = &self.experiment.setting;
        let unusual = entry.parameters.iter().filter(|p| params.text(p.name) != p.default);
        let words: Vec<String> = unusual
            .map(|p| match p.wants_file(params.text(p.name)) {
                true => p.name.to_string(), // It would have many lines.
                false => format!("{}={}", p.name, params.text(p.name)),
            })
            .collect();
        words.join(" ")
    }

    fn figures(&self) -> String {
        let Report { states, unique_states, depth, seconds, .. } = self.report;
        format!(
            "{} different, {} in all; {} deep; {} s, {} states/s",
            count(unique_states),
            count(states),
            of(u64::from(depth), "move"),
            local(&format!("{seconds:.2}")),
            rate(self.states_per_second()),
        )
    }

    /// The bounds in one line.
    pub fn bounds_in_words(&self) -> String {
        bounds::words(self)
    }

    fn states_per_second(&self) -> f64 {
        self.report.unique_states as f64 / self.report.seconds.max(1e-9)
    }

    /// What became of each promise; of those nobody asked for, nothing is said.
    pub fn verdicts(&self) -> Vec<(Property, Verdict)> {
        let all: &[Property] = match self.experiment.setting.entry.family {
            Family::Mutex => &Property::MUTEX,
            Family::Election => &Property::ELECTION,
            Family::Clock | Family::Detector => &[],
        };
        let asked = &self.limits.properties;
        let wanted = all.iter().filter(|property| asked.is_empty() || asked.contains(property));
        wanted.map(|&property| (property, self.report.verdict(property))).collect()
    }

    fn properties(&self) -> String {
        let mut text = String::new();
        for (property, verdict) in self.verdicts() {
            let word = format!("{verdict:13}");
            let promised = self.promises(property);
            let word = match verdict {
                Verdict::Holds => good(word),
                Verdict::Violated if promised => bad(word),
                Verdict::Violated | Verdict::Unknown => odd(word),
                Verdict::NotChecked => dim(word),
            };
            let beside = match (promised, verdict) {
                (true, _) => String::new(),
                (false, Verdict::Violated) => odd(" (not promised)"),
                (false, _) => dim(" (not promised)"),
            };
            let meaning = tr(property.meaning());
            let lead = format!("{}{word}", strong(format!("{property:8}")));
            text += &super::beside(&lead, columns(&lead), &format!("{meaning}{beside}"));
        }
        text
    }

    /// What was left out, and how sure all this is.
    fn ending(&self) -> String {
        let mut text = String::new();
        if let Some(stop) = self.report.stop {
            text.push('\n');
            text += &beside("", 0, &self.stopped(stop));
        }
        if let Some(known) = self.known_of_dropped() {
            text.push('\n');
            text += &beside("", 0, &in_same_language(&known));
        }
        let odds = odds(self.report.collision_odds);
        let bytes = decimal(self.report.bytes as f64 / f64::from(1 << 20));
        let doubt = format!("the odds that a hash hid a state: {odds}; {bytes} MiB of states");
        text.push('\n');
        text += &beside("", 0, &dim(doubt));
        text
    }

    /// What the catalogue knows of doing without the assumption, where no promise broke.
    pub fn known_of_dropped(&self) -> Option<String> {
        let Assumption { tag, dropped, .. } = self.dropped?;
        let broken = |&(property, verdict): &(Property, Verdict)| {
            verdict == Verdict::Violated && self.promises(property)
        };
        if self.verdicts().iter().any(broken) {
            return None;
        }
        let known = match dropped.finding {
            Finding::Harmless(why) => format!("without {tag} no promise breaks: {why}"),
            Finding::OutOfReach(needed) => format!("without {tag}, out of reach: {needed}"),
            Finding::Breaks(broken) => {
                let tags: Vec<&str> = broken.iter().map(|property| property.tag()).collect();
                let id = self.experiment.setting.entry.id;
                let tags = tags.join(", ");
                format!(
                    "'conclave check {id} --without {tag}' breaks {tags}, nothing else being said"
                )
            }
        };
        Some(tr(&known).into_owned())
    }

    fn stopped(&self, stop: Stop) -> String {
        let states = rate(self.report.unique_states as f64);
        match stop {
            Stop::Depth => {
                let depth = self.limits.depth.unwrap_or(self.report.depth);
                let depth = of(u64::from(depth), "move");
                odd(format!("not complete: runs were cut short after {depth} (raise --depth)"))
            }
            Stop::States => {
                odd(format!("not complete: {states} states, limit reached (raise --max-states)"))
            }
            Stop::Memory => {
                odd(format!("not complete: {states} states, limit reached (raise --memory)"))
            }
            Stop::Interrupted => dim("the search was ended before it was done"),
            Stop::Found => dim("the search ended with what it found; the rest was not looked at"),
        }
    }
}

/// A probability as people say it.
fn odds(probability: f64) -> String {
    match probability {
        p if p <= 0.0 => "none".to_string(),
        p if p < 1e-3 => format!("about 1 in 10^{}", (-p.log10()).round() as u32),
        p => local(&format!("{:.1} %", p * 100.0)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_said_in_words() {
        assert_eq!(odds(0.0), "none");
        assert_eq!(odds(3e-9), "about 1 in 10^9");
        assert_eq!(odds(0.025), "2.5 %");
    }
}
