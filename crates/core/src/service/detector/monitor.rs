//! Monitor of failure detection, for completeness and accuracy: holds what the nodes believe of
//! each other against the truth.

use crate::{NodeId, Property, Ticks, Verdict, Violation};

/// Watches who suspects whom. A suspicion or its withdrawal is O(1); a crash or a return is O(n).
///
/// Whoever is slow, paused or cut off is alive: to suspect it is a mistake. A node that comes back
/// may still be suspected for a while by those who had noticed its crash; that is no mistake of
/// theirs, but their view is wrong for as long.
#[derive(Clone, Debug)]
pub struct Monitor {
    nodes: Vec<Node>,
    /// What each node believes of each other: `by * n + of`.
    views: Vec<View>,
    live: u64,
    /// How many live nodes are suspected now, counted once for every live node that does.
    wrong: u64,
    now: Ticks,
    /// The sum, over every two live nodes, of the time in which one could suspect the other.
    watched: u128,
    /// The part of it in which one did.
    misjudged: u128,
    mistakes: u64,
    mistake_durations: Vec<Ticks>,
    detections: Vec<Ticks>,
    missed: u64,
    violations: Vec<Violation>,
    ended: Option<End>,
}

#[derive(Clone, Copy, Debug)]
struct Node {
    up: bool,
    /// When it last came up or went down.
    since: Ticks,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum View {
    #[default]
    Trusts,
    /// Suspects it, since then; a mistake when that one was alive at the time and still is.
    Suspects { since: Ticks, mistaken: bool },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    /// Every crash was noticed, or would never be.
    Clear,
    /// Some crash was not noticed, but might have been.
    Open,
}

impl Monitor {
    /// A monitor for `n` nodes, all up and trusting each other.
    pub fn new(n: u32) -> Self {
        let places = n as usize;
        Self {
            nodes: vec![Node { up: true, since: Ticks::ZERO }; places],
            views: vec![View::default(); places * places],
            live: u64::from(n),
            wrong: 0,
            now: Ticks::ZERO,
            watched: 0,
            misjudged: 0,
            mistakes: 0,
            mistake_durations: Vec::new(),
            detections: Vec::new(),
            missed: 0,
            violations: Vec::new(),
            ended: None,
        }
    }

    /// A node begins to suspect another.
    pub fn suspected(&mut self, by: NodeId, of: NodeId, at: Ticks) {
        self.advance(at);
        let place = self.place(by, of);
        if !self.nodes[by.index()].up || self.views[place] != View::Trusts {
            return; // The dead have no views, and to say it twice changes nothing.
        }
        let mistaken = self.nodes[of.index()].up;
        self.views[place] = View::Suspects { since: at, mistaken };
        if mistaken {
            self.wrong += 1;
            self.mistakes += 1;
            self.report(Property::D2, at, || {
                format!("{} suspected {}, which was alive", by.mark(), of.mark())
            });
        }
    }

    /// A node no longer suspects another.
    pub fn trusted(&mut self, by: NodeId, of: NodeId, at: Ticks) {
        self.advance(at);
        if self.nodes[by.index()].up {
            self.forget(by, of);
        }
    }

    /// A node crashed: nobody cares for its views any more, and to suspect it is right.
    pub fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.advance(at);
        if !self.nodes[node.index()].up {
            return;
        }
        for other in node.others(self.nodes.len() as u32) {
            self.forget(node, other);
            self.settle(other, node);
        }
        self.nodes[node.index()] = Node { up: false, since: at };
        self.live -= 1;
    }

    /// A node came back; it trusts everybody until it says otherwise.
    pub fn returned(&mut self, node: NodeId, at: Ticks) {
        self.advance(at);
        if self.nodes[node.index()].up {
            return;
        }
        for other in node.others(self.nodes.len() as u32) {
            self.count_detection(other, node);
            self.wrong += u64::from(self.views[self.place(other, node)] != View::Trusts);
        }
        self.nodes[node.index()] = Node { up: true, since: at };
        self.live += 1;
    }

    /// The run is over. `complete` means that nothing more could happen; otherwise it was cut
    /// short, and a view that is wrong is taken to stay so only if it has been for as long as
    /// `patience`.
    pub fn end(&mut self, at: Ticks, complete: bool, patience: Ticks) {
        self.advance(at);
        self.ended = Some(End::Clear);
        let patience = if complete { Ticks::ZERO } else { patience };
        let n = self.nodes.len() as u32;
        for of in (0..n).map(NodeId) {
            for by in of.others(n) {
                if self.nodes[by.index()].up {
                    self.judge(by, of, patience);
                }
            }
        }
    }

    /// What became of a property.
    pub fn verdict(&self, property: Property) -> Verdict {
        if self.violations.iter().any(|violation| violation.property == property) {
            return Verdict::Violated;
        }
        match property {
            Property::D1 if self.ended == Some(End::Clear) => Verdict::Holds,
            Property::D1 => Verdict::Unknown,
            Property::D2 => Verdict::Holds,
            Property::S1
            | Property::S1Eff
            | Property::V1
            | Property::V2
            | Property::BW
            | Property::HB
            | Property::HBExact
            | Property::F1
            | Property::E1
            | Property::E1Term
            | Property::E2 => Verdict::NotChecked,
        }
    }

    /// The first violation of each property, in the order they were seen.
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    /// How long after a crash each live node began to suspect it for good, once per crash and
    /// node. A node that came up after the crash is given time from then on.
    pub fn detections(&self) -> &[Ticks] {
        &self.detections
    }

    /// How often a live node did not suspect a crashed one in the end, or before it came back.
    pub fn missed(&self) -> u64 {
        self.missed
    }

    /// How often a live node was suspected.
    pub fn mistakes(&self) -> u64 {
        self.mistakes
    }

    /// How long each mistake lasted that is over: withdrawn, or come true, or forgotten in a crash.
    pub fn mistake_durations(&self) -> &[Ticks] {
        &self.mistake_durations
    }

    /// The time in which one live node could suspect another, in ticks, over all pairs of them; and
    /// the part of it in which it did.
    pub fn watched(&self) -> (u128, u128) {
        (self.watched, self.misjudged)
    }

    /// Mistakes per unit of time and pair of live nodes.
    pub fn mistake_rate(&self) -> f64 {
        ratio(self.mistakes as f64, self.watched as f64 / Ticks::UNIT.0 as f64)
    }

    /// How likely it is that one live node, asked about another at any moment, does not suspect it.
    pub fn query_accuracy(&self) -> f64 {
        1.0 - ratio(self.misjudged as f64, self.watched as f64)
    }

    /// Whether one node suspects another.
    pub fn suspects(&self, by: NodeId, of: NodeId) -> bool {
        self.views[self.place(by, of)] != View::Trusts
    }

    fn place(&self, by: NodeId, of: NodeId) -> usize {
        by.index() * self.nodes.len() + of.index()
    }

    /// Counts the time that has passed since anything last changed.
    fn advance(&mut self, at: Ticks) {
        let passed = u128::from(at.since(self.now).0);
        let pairs = self.live * self.live.saturating_sub(1);
        self.watched += passed * u128::from(pairs);
        self.misjudged += passed * u128::from(self.wrong);
        self.now = self.now.max(at);
    }

    /// Ends a suspicion.
    fn forget(&mut self, by: NodeId, of: NodeId) {
        if self.suspects(by, of) {
            self.settle(by, of);
            let place = self.place(by, of);
            self.views[place] = View::Trusts;
        }
    }

    /// Ends a mistake, and the time in which a view is wrong.
    fn settle(&mut self, by: NodeId, of: NodeId) {
        let place = self.place(by, of);
        if let View::Suspects { since, mistaken } = &mut self.views[place] {
            if *mistaken {
                *mistaken = false;
                self.mistake_durations.push(self.now.since(*since));
            }
            self.wrong -= u64::from(self.nodes[of.index()].up && self.nodes[by.index()].up);
        }
    }

    /// The moment from which one node could have noticed what became of another.
    fn noticeable_since(&self, by: NodeId, of: NodeId) -> Ticks {
        self.nodes[of.index()].since.max(self.nodes[by.index()].since)
    }

    /// Takes down when a crashed node began to be suspected by a live one.
    fn count_detection(&mut self, by: NodeId, of: NodeId) {
        match self.views[self.place(by, of)] {
            _ if !self.nodes[by.index()].up => {} // The dead notice nothing.
            View::Suspects { since, .. } => {
                self.detections.push(since.since(self.noticeable_since(by, of)));
            }
            View::Trusts => self.missed += 1,
        }
    }

    fn judge(&mut self, by: NodeId, of: NodeId, patience: Ticks) {
        if !self.nodes[of.index()].up {
            self.count_detection(by, of);
        }
        let since = self.noticeable_since(by, of);
        let lasting = self.now.since(since) >= patience;
        let name = by.mark();
        let other = of.mark();
        match (self.nodes[of.index()].up, self.views[self.place(by, of)]) {
            (true, View::Suspects { mistaken: false, .. }) if lasting => {
                let what = || format!("{name} still suspects {other}, which came back");
                self.report(Property::D2, since, what);
            }
            (false, View::Trusts) if lasting => {
                let what = || format!("{name} never suspects {other}, which crashed");
                self.report(Property::D1, since, what);
            }
            (false, View::Trusts) => self.ended = Some(End::Open),
            (false, View::Suspects { .. }) | (true, View::Trusts | View::Suspects { .. }) => {}
        }
    }

    fn report(&mut self, property: Property, at: Ticks, what: impl FnOnce() -> String) {
        if !self.violations.iter().any(|known| known.property == property) {
            self.violations.push(Violation { property, at, what: what() });
        }
    }
}

fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}

#[cfg(test)]
mod tests;
