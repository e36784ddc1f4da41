//! Every run of a cluster, looked at in the plainest way: whole states, copied, in one set.
//!
//! Slow, and so simple that a mistake would be seen. Nothing goes wrong in these runs, and no timer
//! may be set.

use conclave_core::{
    Choices, Cluster, Context, Effect, Event, Network, NodeId, Process, Script, Service, encode,
};
use std::collections::HashSet;
use std::fmt::Debug;
use std::hash::Hash;

/// How many different states there are, the first ones included.
pub fn unique_states<P, U>(cluster: &Cluster<P>, network: Network, first: Vec<Vec<U>>) -> u64
where
    P: Process,
    U: User<P::Provides>,
{
    let search = Search { cluster, network };
    let begun = first.into_iter().flat_map(|users| search.started(users));
    let mut frontier: Vec<State<P, U>> = begun.collect();
    let mut seen: HashSet<State<P, U>> = frontier.iter().cloned().collect();
    while let Some(state) = frontier.pop() {
        for next in search.all_next(&state) {
            if seen.insert(next.clone()) {
                frontier.push(next);
            }
        }
    }
    seen.len() as u64
}

/// Whoever uses a client: what it may ask next, and what it makes of what it is told.
pub trait User<S: Service>: Clone + Debug + Eq + Hash {
    /// Everything it may ask now, and what becomes of it by asking.
    fn asks(&self) -> Vec<(S::Request, Self)>;
    /// What it asked for had an effect.
    fn stirred(&mut self) {}
    /// It is told something.
    fn hears(&mut self, told: &S::Indication);
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State<P: Process, U> {
    nodes: Vec<P>,
    /// What is under way, by sender and then by receiver: the oldest first, or in a bag, where
    /// age says nothing, by what their encodings are.
    links: Vec<Vec<P::Message>>,
    users: Vec<U>,
}

struct Search<'a, P: Process> {
    cluster: &'a Cluster<P>,
    network: Network,
}

impl<P: Process> Search<'_, P> {
    /// All nodes were started, one after the other: the states that can come of it.
    fn started<U: User<P::Provides>>(&self, users: Vec<U>) -> Vec<State<P, U>> {
        let nodes = (0..self.cluster.nodes()).map(NodeId);
        let fresh: Vec<P> = nodes.clone().map(|node| (self.cluster.fresh)(node)).collect();
        let links = vec![Vec::new(); fresh.len() * fresh.len()];
        let mut states = vec![State { nodes: fresh, links, users }];
        for node in nodes {
            let starts = |state: State<P, U>| self.acted(&state, node, &Event::Start);
            states = states.into_iter().flat_map(starts).collect();
        }
        states
    }

    fn all_next<U: User<P::Provides>>(&self, state: &State<P, U>) -> Vec<State<P, U>> {
        let mut found = Vec::new();
        for (index, user) in state.users.iter().enumerate() {
            for (request, user) in user.asks() {
                let mut asked = state.clone();
                asked.users[index] = user;
                found.extend(self.acted(&asked, NodeId(index as u32), &Event::Request(request)));
            }
        }
        for (link, messages) in state.links.iter().enumerate() {
            let reachable = match self.network {
                Network::Fifo => messages.len().min(1),
                Network::Bag => messages.len(), // Alike ones lead to the same state.
            };
            for place in 0..reachable {
                found.extend(self.delivered(state, link, place));
            }
        }
        found
    }

    fn delivered<U>(&self, state: &State<P, U>, link: usize, place: usize) -> Vec<State<P, U>>
    where
        U: User<P::Provides>,
    {
        let n = state.nodes.len();
        let mut taken = state.clone();
        let message = taken.links[link].remove(place);
        let event = Event::Message { from: NodeId((link / n) as u32), message };
        self.acted(&taken, NodeId((link % n) as u32), &event)
    }

    /// One node acts: a state for each way in which its choices may be answered.
    fn acted<U>(&self, state: &State<P, U>, me: NodeId, event: &Event<P>) -> Vec<State<P, U>>
    where
        U: User<P::Provides>,
    {
        let mut ctx = Context::new(Choices::Script(Script::default()));
        let mut found = Vec::new();
        loop {
            let mut next = state.clone();
            ctx.act(me, &mut next.nodes[me.index()], event.clone());
            let effects: Vec<_> = ctx.drain().collect();
            if matches!(event, Event::Request(_)) && !effects.is_empty() {
                next.users[me.index()].stirred();
            }
            for effect in effects {
                self.carry_out(&mut next, me, effect);
            }
            found.push(next);
            let Choices::Script(script) = ctx.choices() else { unreachable!("made so above") };
            if !script.advance() {
                return found;
            }
        }
    }

    fn carry_out<U>(&self, state: &mut State<P, U>, me: NodeId, effect: Effect<P>)
    where
        U: User<P::Provides>,
    {
        match effect {
            Effect::Send { to, message } => {
                let link = &mut state.links[me.index() * state.nodes.len() + to.index()];
                link.push(message);
                if self.network == Network::Bag {
                    link.sort_by_cached_key(|message| {
                        let mut bytes = Vec::new();
                        encode(message, &mut bytes);
                        bytes
                    });
                }
            }
            // Behind the clients there are coordinators, whom nobody uses.
            Effect::Indicate(told) => {
                if let Some(user) = state.users.get_mut(me.index()) {
                    user.hears(&told);
                }
            }
            Effect::SetTimer { .. } | Effect::CancelTimer(_) | Effect::Request(_) => {
                panic!("{effect:?}: only runs without timers and without a layer below")
            }
        }
    }
}
