//! Ricart and Agrawala's mutual exclusion once more, written from the paper for stateright.
//!
//! What follows from the rest is left out: the number of a request, who was heard of last, and,
//! there being no crashes and no withdrawals, which request an answer is for.

use stateright::{Model, Property};
use std::collections::VecDeque;

/// So many nodes, each of which asks so many times, on links that keep the order.
pub struct RicartAgrawala {
    pub nodes: usize,
    pub requests: u8,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    nodes: Vec<Node>,
    /// By sender, then by receiver.
    links: Vec<Vec<VecDeque<Message>>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// Requests still to be made.
    left: u8,
    wants: bool,
    inside: bool,
    clock: u8,
    /// The time of the latest request, also when it is over.
    asked: u8,
    /// Whose answer is there, one bit each.
    agreed: u8,
    /// Who is to be answered on leaving, one bit each.
    deferred: u8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Message {
    Request(u8),
    Reply(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Ask(usize),
    Leave(usize),
    Receive { from: usize, to: usize },
}

impl Model for RicartAgrawala {
    type State = State;
    type Action = Action;

    fn init_states(&self) -> Vec<State> {
        let node = Node {
            left: self.requests,
            wants: false,
            inside: false,
            clock: 0,
            asked: 0,
            agreed: 0,
            deferred: 0,
        };
        let links = vec![vec![VecDeque::new(); self.nodes]; self.nodes];
        vec![State { nodes: vec![node; self.nodes], links }]
    }

    fn actions(&self, state: &State, actions: &mut Vec<Action>) {
        for (me, node) in state.nodes.iter().enumerate() {
            if node.inside {
                actions.push(Action::Leave(me));
            } else if !node.wants && node.left > 0 {
                actions.push(Action::Ask(me));
            }
        }
        for (from, links) in state.links.iter().enumerate() {
            let busy = links.iter().enumerate().filter(|(_, link)| !link.is_empty());
            actions.extend(busy.map(|(to, _)| Action::Receive { from, to }));
        }
    }

    fn next_state(&self, last: &State, action: Action) -> Option<State> {
        let mut state = last.clone();
        match action {
            Action::Ask(me) => self.ask(&mut state, me),
            Action::Leave(me) => self.leave(&mut state, me),
            Action::Receive { from, to } => match state.links[from][to].pop_front()? {
                Message::Request(time) => state.on_request(from, to, time),
                Message::Reply(time) => self.on_reply(&mut state, from, to, time),
            },
        }
        Some(state)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![Property::always("at most one is inside", |_, state: &State| {
            state.nodes.iter().filter(|node| node.inside).count() <= 1
        })]
    }
}

impl RicartAgrawala {
    fn ask(&self, state: &mut State, me: usize) {
        let node = &mut state.nodes[me];
        node.left -= 1;
        node.wants = true;
        node.clock += 1;
        node.asked = node.clock;
        let time = node.asked;
        for other in (0..self.nodes).filter(|&other| other != me) {
            state.links[me][other].push_back(Message::Request(time));
        }
    }

    fn leave(&self, state: &mut State, me: usize) {
        let node = &mut state.nodes[me];
        let (deferred, time) = (node.deferred, node.clock);
        *node = Node { wants: false, inside: false, agreed: 0, deferred: 0, ..node.clone() };
        for other in (0..self.nodes).filter(|other| deferred >> other & 1 == 1) {
            state.links[me][other].push_back(Message::Reply(time));
        }
    }

    fn on_reply(&self, state: &mut State, from: usize, me: usize, time: u8) {
        let node = &mut state.nodes[me];
        node.clock = node.clock.max(time);
        node.agreed |= 1 << from;
        node.inside = node.agreed.count_ones() as usize == self.nodes - 1;
    }
}

impl State {
    fn on_request(&mut self, from: usize, me: usize, time: u8) {
        let node = &mut self.nodes[me];
        node.clock = node.clock.max(time);
        if node.inside || node.wants && (node.asked, me) < (time, from) {
            node.deferred |= 1 << from;
        } else {
            self.links[me][from].push_back(Message::Reply(node.clock));
        }
    }
}
