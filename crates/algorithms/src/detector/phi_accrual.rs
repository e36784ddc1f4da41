//! The phi accrual detector: how suspicious a silence is depends on how regular heartbeats were.
//!
//! Source: N. Hayashibara, X. Défago, R. Yared, T. Katayama, "The phi accrual failure detector",
//! SRDS 2004. The exponential variant is that of Apache Cassandra.
//! Assumes: A1 heartbeats in future come about as regularly as those in the window did.
//!
//! | message     | from, to  | sent when                 | carries                              |
//! |-------------|-----------|---------------------------|--------------------------------------|
//! | `Heartbeat` | all, all  | at once, then each period | its number, the last one of yours    |
//!
//! - R1 every node sends a heartbeat to all others each period;
//! - R2 the gap between two of them goes into a window, which shows how regular they are;
//! - R3 phi is -log10 of the probability that a live node is silent for even longer; who exceeds
//!   the threshold is suspected;
//! - R4 a node that is heard of again after it was suspected is trusted again.
//!
//! Time is counted in ticks of a sampling timer, since a process has no clock, and the window is
//! kept as whole numbers: phi is computed from them when it is needed. A window begins with two
//! gaps, one of nothing and one of two periods, so that the first few heartbeats are not taken for
//! the whole truth.
//!
//! Has: completeness, always: phi rises without end.
//! Lacks: accuracy: the threshold only says how unlikely a mistake is.
//! Cost: n(n-1) messages per period. How soon a crash is noticed depends on the window.
mod why;

pub use why::WHY;

use super::phi;
use super::pulse::{Message, Pulse};
use super::why::{ALONE, CAME_BACK, TRUSTS};
use conclave_core::detector::{Detector, Indication};
use conclave_core::{
    Context, Delay, Event, Never, NodeId, NodeSet, Process, Recovery, Ticks, Written,
};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// A gap longer than this many samples is taken to be this long, so that squares can be summed.
const GAP_MAX: u64 = 1 << 24;

/// What runs out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Timer {
    /// It is time for the next heartbeat.
    Beat,
    /// It is time to look who is silent.
    Sample,
}

/// How gaps between heartbeats are taken to be distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Variant {
    /// Normally, as in the paper.
    Normal,
    /// Exponentially: only the mean counts.
    Exponential,
}

/// How the detector is set up, the same on every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Setup {
    /// How many nodes there are.
    pub n: u32,
    /// The time from one heartbeat to the next.
    pub period: Ticks,
    /// How long a node may be silent before it is first heard of.
    pub grace: Ticks,
    /// From one look at the others to the next.
    pub sampling: Ticks,
    /// The phi above which a node is suspected.
    pub threshold: u32,
    /// How many gaps are remembered, from 2 to 10,000.
    pub window: u32,
    /// The deviation is never taken to be less than this.
    pub min_deviation: Ticks,
    /// How gaps are taken to be distributed.
    pub variant: Variant,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct PhiAccrual {
    me: NodeId,
    setup: Setup,
    pulse: Pulse,
    suspects: NodeSet,
    /// How many samples have been taken.
    now: u64,
    arrivals: Vec<Arrivals>,
}

/// When heartbeats of one node came, in samples.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
struct Arrivals {
    last: Option<u64>,
    gaps: VecDeque<u32>,
    sum: u64,
    sum_of_squares: u64,
}

impl Process for PhiAccrual {
    type Provides = Detector;
    type Uses = Never;
    type Message = Message;
    type Timer = Timer;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.on_start(ctx),
            Event::Restart => {
                ctx.because(&CAME_BACK, ());
                *self = Self::new(self.me, self.setup); // What it believed is out of date.
                self.on_start(ctx);
            }
            Event::Message { from, message } => {
                if self.pulse.hear(from, message, ctx) {
                    self.on_heartbeat(from, ctx);
                }
            }
            Event::Timer(Timer::Beat) => self.on_beat(ctx),
            Event::Timer(Timer::Sample) => self.on_sample(ctx),
        }
    }

    /// Nothing is needed: a window fills again, and for the rest see [`super::pulse`].
    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(Self::new(self.me, self.setup))
    }
}

impl PhiAccrual {
    /// Node `me`, in its first state.
    pub fn new(me: NodeId, setup: Setup) -> Self {
        Self {
            me,
            setup,
            pulse: Pulse::new(me, setup.n),
            suspects: NodeSet::new(setup.n),
            now: 0,
            arrivals: vec![Arrivals::expecting(&setup); setup.n as usize],
        }
    }

    fn on_start(&mut self, ctx: &mut Context<Self>) {
        if self.setup.n == 1 {
            return ctx.because(&ALONE, ());
        }
        self.on_beat(ctx);
        ctx.set_timer(Timer::Sample, Delay::exactly(self.setup.sampling));
    }

    fn on_beat(&mut self, ctx: &mut Context<Self>) {
        self.pulse.beat(ctx);
        ctx.set_timer(Timer::Beat, Delay::exactly(self.setup.period));
    }

    fn on_heartbeat(&mut self, from: NodeId, ctx: &mut Context<Self>) {
        match self.arrivals[from.index()].last {
            Some(last) => ctx.because(&why::REMEMBERS, (from, self.now - last)),
            None => ctx.because(&why::FIRST_HEARD, from),
        }
        self.arrivals[from.index()].arrive(self.now, self.setup.window);
        if self.suspects.remove(from) {
            ctx.because(&TRUSTS, from);
            ctx.indicate(Indication::Trust(from));
        }
    }

    fn on_sample(&mut self, ctx: &mut Context<Self>) {
        self.now += 1;
        ctx.set_timer(Timer::Sample, Delay::exactly(self.setup.sampling));
        for other in self.pulse.others() {
            let arrivals = &self.arrivals[other.index()];
            if arrivals.is_overdue(self.now, &self.setup) && self.suspects.insert(other) {
                arrivals.accuse(other, self.now, &self.setup, ctx);
                ctx.indicate(Indication::Suspect(other));
            }
        }
        ctx.because(&why::SAMPLED, (self.setup.threshold, &self.suspects));
    }
}

impl Arrivals {
    /// No arrival yet, and about one per period expected.
    fn expecting(setup: &Setup) -> Self {
        let mut arrivals = Self::default();
        arrivals.remember(0, setup.window);
        arrivals.remember(2 * setup.period.0 / setup.sampling.0, setup.window);
        arrivals
    }

    fn arrive(&mut self, now: u64, window: u32) {
        if let Some(last) = self.last.replace(now) {
            self.remember(now - last, window);
        }
    }

    fn remember(&mut self, gap: u64, window: u32) {
        if self.gaps.len() >= window as usize
            && let Some(oldest) = self.gaps.pop_front()
        {
            self.sum -= u64::from(oldest);
            self.sum_of_squares -= u64::from(oldest) * u64::from(oldest);
        }
        let gap = gap.min(GAP_MAX);
        self.sum += gap;
        self.sum_of_squares += gap * gap;
        self.gaps.push_back(gap as u32);
    }

    fn is_overdue(&self, now: u64, setup: &Setup) -> bool {
        let silence = now - self.last.unwrap_or(0);
        if self.last.is_none() {
            return silence.saturating_mul(setup.sampling.0) >= setup.grace.0;
        }
        let expected = silence * self.gaps.len() as u64 <= self.sum;
        !expected && self.phi(silence, setup) > f64::from(setup.threshold)
    }

    /// Why this node is suspected.
    fn accuse(&self, node: NodeId, now: u64, setup: &Setup, ctx: &mut Context<PhiAccrual>) {
        let Some(last) = self.last else {
            return ctx.because(&why::NEVER_HEARD, (node, setup.grace));
        };
        let silence = now - last;
        let phi = self.phi(silence, setup);
        let told = (node, silence, Written(format_args!("{phi:.1}")), setup.threshold);
        ctx.because(&why::TOO_SILENT, told);
    }

    fn phi(&self, silence: u64, setup: &Setup) -> f64 {
        let silence = silence as f64;
        let mean = self.sum as f64 / self.gaps.len() as f64;
        match setup.variant {
            Variant::Normal => phi::normal(silence, mean, self.deviation(setup)),
            Variant::Exponential => phi::exponential(silence, mean),
        }
    }

    /// In samples.
    fn deviation(&self, setup: &Setup) -> f64 {
        let count = self.gaps.len() as u128;
        let square = u128::from(self.sum) * u128::from(self.sum);
        let spread = count * u128::from(self.sum_of_squares) - square; // Never below 0.
        let measured = libm::sqrt(spread as f64) / count as f64;
        measured.max(setup.min_deviation.0 as f64 / setup.sampling.0 as f64)
    }
}

#[cfg(test)]
mod tests;
