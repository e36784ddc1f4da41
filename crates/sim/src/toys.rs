//! Small algorithms for the unit tests of this crate.

use conclave_core::detector::Detector;
use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Cluster, Context, Event, Named, Never, NodeId, Process, Recovery};
use serde::{Deserialize, Serialize};

/// A lock that the first node hands out, in the order in which it was asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Desk {
    /// Which of its requests this node wants to enter with.
    wants: Option<u32>,
    seq: u32,
    line: Vec<(NodeId, u32)>,
    granted: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Slip {
    Ask { seq: u32 },
    Grant { seq: u32, fence: u64 },
    Over { seq: u32 },
}

impl Named for Slip {
    fn name(&self) -> &'static str {
        match self {
            Self::Ask { .. } => "ASK",
            Self::Grant { .. } => "GRANT",
            Self::Over { .. } => "OVER",
        }
    }
}

impl Process for Desk {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Slip;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Request(Request::Acquire) => {
                self.seq += 1;
                self.wants = Some(self.seq);
                ctx.send(NodeId(0), Slip::Ask { seq: self.seq });
            }
            Event::Request(Request::Release | Request::Cancel) => {
                self.wants = None;
                ctx.send(NodeId(0), Slip::Over { seq: self.seq });
            }
            Event::Message { from, message: Slip::Ask { seq } } => {
                self.line.push((from, seq));
                if self.line.len() == 1 {
                    self.grant(ctx);
                }
            }
            Event::Message { from, message: Slip::Over { seq } } => {
                let first = self.line.first() == Some(&(from, seq));
                self.line.retain(|place| *place != (from, seq));
                if first {
                    self.grant(ctx);
                }
            }
            Event::Message { message: Slip::Grant { seq, fence }, .. } => {
                if self.wants == Some(seq) {
                    ctx.indicate(Indication::Entered { fence });
                }
            }
            Event::Restart => {
                if self.wants.take().is_some() {
                    ctx.send(NodeId(0), Slip::Over { seq: self.seq });
                }
            }
            Event::Start | Event::Request(Request::Observe(_)) => {}
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

impl Desk {
    fn grant(&mut self, ctx: &mut Context<Self>) {
        if let Some(&(first, seq)) = self.line.first() {
            self.granted += 1;
            ctx.send(first, Slip::Grant { seq, fence: self.granted });
        }
    }
}

/// So many nodes, the first of which hands out the lock.
pub fn desk(n: u32) -> Cluster<Desk> {
    Cluster::of_equals(n, |_| Desk::default())
}

/// Passes on whatever it is told of the others, and does nothing else.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Ear;

impl Process for Ear {
    type Provides = Detector;
    type Uses = Detector;
    type Message = Never;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Indication(told) => ctx.indicate(told),
            Event::Start | Event::Restart => {}
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::Fresh
    }
}

/// So many nodes that listen to the oracle.
pub fn ears(n: u32) -> Cluster<Ear> {
    Cluster::of_equals(n, |_| Ear)
}

/// Says something to others when it starts, and nothing ever after.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Crier(Vec<(NodeId, Word)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Word(u32);

impl Named for Word {
    fn name(&self) -> &'static str {
        "WORD"
    }
}

impl Process for Crier {
    type Provides = Detector;
    type Uses = Never;
    type Message = Word;
    type Timer = Never;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        match event {
            Event::Start => self.0.iter().for_each(|&(to, word)| ctx.send(to, word)),
            Event::Restart | Event::Message { .. } => {}
        }
    }
}

/// So many nodes, the first of which says these words to these nodes.
pub fn crier(n: u32, words: &[(u32, u32)]) -> Cluster<Crier> {
    let words: Vec<_> = words.iter().map(|&(to, word)| (NodeId(to), Word(word))).collect();
    Cluster::of_equals(n, move |me| Crier(if me == NodeId(0) { words.clone() } else { Vec::new() }))
}
