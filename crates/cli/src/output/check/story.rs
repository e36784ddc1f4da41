//! How a promise is broken, moment by moment.

use crate::output::numbers::of;
use crate::output::story::in_words;
use crate::output::{bad, beside, dim, odd, strong};
use crate::texts::{sentence, tr};
use conclave_core::{NodeId, Story, Ticks};
use conclave_lab::Experiment;
use conclave_sim::{Line, Names, Retold};

/// A story, and what the simulator saw when it followed it.
pub struct Retelling {
    /// What the checker found.
    pub story: Story,
    /// The same as a run.
    pub retold: Retold,
}

impl Retelling {
    /// Follows a story; that it cannot be followed is the checker's fault, not the user's.
    pub fn of(experiment: &Experiment, story: &Story) -> anyhow::Result<Self> {
        let followed = experiment.follow(story);
        let retold = followed.map_err(|error| anyhow::anyhow!("{}: {error}", story.property))?;
        Ok(Self { story: story.clone(), retold })
    }

    /// Whether the simulator sees the same promise broken.
    pub fn is_seen(&self) -> bool {
        self.retold.violation(self.story.property).is_some()
    }

    /// What is broken, in words.
    pub fn broken(&self, names: &Names) -> String {
        match self.retold.violation(self.story.property) {
            Some(violation) => sentence(&names.tell(&violation.what)).into_owned(),
            None => "the simulator does not see it: this is a bug of the checker".to_string(),
        }
    }

    /// Whether another one is the same but for what it breaks.
    pub(super) fn is_as(&self, other: &Self) -> bool {
        self.story.moments == other.story.moments && self.story.stem == other.story.stem
    }

    /// What is broken by a story that was told already.
    pub(super) fn in_short(&self, names: &Names, promised: bool, earlier: &Self) -> String {
        let title = self.title(promised);
        let text = format!("by the same story as {}:", earlier.story.property);
        beside("", 0, &format!("{title}, {} {}", tr(&text), self.broken(names)))
    }

    fn title(&self, promised: bool) -> String {
        let title = format!("{} is violated", self.story.property);
        if promised { bad(title) } else { odd(title) }
    }

    /// The story with its moments numbered, and what is broken at the end of it.
    pub(super) fn text(&self, names: &Names, promised: bool) -> String {
        let Story { moments, stem, shortest, .. } = &self.story;
        let moments = of(moments.len() as u64, "moment");
        let proven = if *shortest { "shortest" } else { "not proven shortest" };
        let size = format!("in {moments} ({proven}):");
        let mut text = beside("", 0, &format!("{}, {}", self.title(promised), tr(&size)));
        let width = self.number_width();
        let again = stem.map(|stem| Ticks::units(stem as u64 + 1));
        for line in &self.retold.lines {
            if Some(line.at) == again {
                text += &format!("{:width$}  {}\n", "", odd("from here on, again and again:"));
            }
            text += &told(line, names, width);
        }
        let lead = format!("{:>width$}  ", "=>");
        text + &strong(beside(&lead, width + 2, &self.broken(names)).trim_end()) + "\n"
    }

    fn number_width(&self) -> usize {
        self.story.moments.len().to_string().len() + 3
    }
}

fn told(line: &Line, names: &Names, width: usize) -> String {
    let number = (line.at.0 / Ticks::UNIT.0).to_string() + ".";
    let lead = format!("{}  ", dim(format!("{number:>width$}")));
    let name = |node: NodeId| names.name(node) + " ";
    let text = line.node.map(name).unwrap_or_default() + &in_words(&names.tell(&line.text));
    let told = beside(&lead, width + 2, &text);
    ["ENTERS", "CRASHES", "RESTARTS", "is told, wrongly,", "is lost", "once more"]
        .iter()
        .fold(told, |told, word| told.replace(&*tr(word), &strong(word)))
}
