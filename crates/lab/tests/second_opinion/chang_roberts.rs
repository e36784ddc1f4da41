//! Chang and Roberts' election once more, written from the textbook for stateright.
//!
//! What follows from the rest is left out: how far an id has come is the distance from its owner.

use stateright::{Model, Property};
use std::collections::VecDeque;

/// So many nodes in a ring, their ids rising along it. Every set of them may want an election, and
/// each of those calls for one, once, at any moment at which it follows nobody.
pub struct ChangRoberts {
    pub nodes: usize,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    nodes: Vec<Node>,
    /// What is under way from each node to the next.
    links: Vec<VecDeque<Message>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    calls: Calls,
    phase: Phase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Calls {
    /// Nor did it ever, but maybe in vain, when others had done so before.
    NoMore,
    Later,
    /// It did, and so began an election.
    Began,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Phase {
    Unaware,
    Passive,
    Candidate,
    /// It follows this one.
    Settled(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Message {
    /// Who is the greatest.
    node: usize,
    /// Whether this is a result, or still a question.
    is_result: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Call(usize),
    /// The oldest message from this node reaches the next.
    Receive(usize),
}

impl Model for ChangRoberts {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let node = |wants| Node {
            calls: if wants { Calls::Later } else { Calls::NoMore },
            phase: Phase::Unaware,
        };
        let state = |set| State {
            nodes: (0..self.nodes).map(|at| node(set >> at & 1 == 1)).collect(),
            links: vec![VecDeque::new(); self.nodes],
        };
        (1..1 << self.nodes).map(state).collect()
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (at, node) in state.nodes.iter().enumerate() {
            if node.calls == Calls::Later && !matches!(node.phase, Phase::Settled(_)) {
                actions.push(Action::Call(at));
            }
            if !state.links[at].is_empty() {
                actions.push(Action::Receive(at));
            }
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Call(at) => state.call(at),
            Action::Receive(from) => {
                let message = state.links[from].pop_front()?;
                state.receive((from + 1) % self.nodes, message);
            }
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("only the greatest is followed", |model, state: &State| {
            let wrong =
                |node: &Node| matches!(node.phase, Phase::Settled(at) if at + 1 < model.nodes);
            !state.nodes.iter().any(wrong)
        })]
    }
}

impl State {
    fn call(&mut self, at: usize) {
        if self.nodes[at].phase == Phase::Unaware {
            self.nodes[at].calls = Calls::Began;
            self.run(at);
        } else {
            self.nodes[at].calls = Calls::NoMore; // An election is being held already.
        }
    }

    /// Sends the own id round the ring.
    fn run(&mut self, at: usize) {
        self.nodes[at].phase = Phase::Candidate;
        self.send(at, at, false);
    }

    fn send(&mut self, at: usize, node: usize, is_result: bool) {
        self.links[at].push_back(Message { node, is_result });
    }

    fn receive(&mut self, at: usize, message: Message) {
        let node = &mut self.nodes[at];
        if matches!(node.phase, Phase::Settled(_)) {
            return; // The rest of an election that is over.
        }
        if message.is_result {
            self.settle(at, message.node);
        } else if message.node > at {
            if node.phase == Phase::Unaware {
                node.phase = Phase::Passive;
            }
            self.send(at, message.node, false);
        } else if message.node < at && node.phase == Phase::Unaware {
            self.run(at);
        } else if message.node == at && node.phase == Phase::Candidate {
            self.settle(at, at);
        }
    }

    /// The election is over for this node, and the next one is told.
    fn settle(&mut self, at: usize, leader: usize) {
        self.nodes[at].phase = Phase::Settled(leader);
        self.send(at, leader, true);
    }
}
