//! The transition function of single nodes: runs the processes of one algorithm, one step at a
//! time, and keeps every local state and every message once.

use crate::intern::Interner;
use crate::local::{Local, Order, Phase, Status, User};
use crate::poison::held;
use crate::space::Watch;
use crate::vocabulary::{Ask, Explored, Family, Word};
use crate::workings::{Effects, Face, Input, LocalId, PacketId, Workings};
use conclave_core::{
    Bounds, Choices, Cluster, Context, Effect, Event, NodeId, NodeSet, Oracle, Process, Recovery,
    Renaming, Script, Snapshot, Timing,
};
use serde::Serialize;
use std::sync::Mutex;

/// A message under way, with what its sender knew where the order of requests is watched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(bound = "")]
struct Packet<P: Process> {
    message: P::Message,
    past: Vec<u32>,
}

/// The nodes of one algorithm.
pub struct Machine<'a, P: Process> {
    cluster: &'a Cluster<P>,
    bounds: &'a Bounds,
    /// What its nodes must remember beside themselves.
    watch: Watch,
    locals: Mutex<Kept<Local<P>, Face>>,
    packets: Mutex<Kept<Packet<P>, u64>>,
}

/// Values by number, and of each what can be seen from outside.
struct Kept<T, V> {
    values: Interner<T>,
    views: Vec<V>,
}

impl<T: PartialEq + Serialize, V> Kept<T, V> {
    fn new() -> Mutex<Self> {
        Mutex::new(Self { values: Interner::new(), views: Vec::new() })
    }

    fn keep(&mut self, hash: u64, value: T, view: impl FnOnce(&T, u64) -> V) -> u32 {
        let (number, fresh) = self.values.intern(hash, value);
        if fresh {
            self.views.push(view(self.values.get(number), hash));
        }
        number
    }
}

impl<'a, P> Machine<'a, P>
where
    P: Process<Provides: Explored, Uses: Oracle>,
{
    pub fn new(cluster: &'a Cluster<P>, bounds: &'a Bounds, watch: Watch) -> Self {
        Self { cluster, bounds, watch, locals: Kept::new(), packets: Kept::new() }
    }

    /// Whether a timer runs in any of the states that nodes have been in.
    pub fn timers_ran(&self) -> bool {
        held(self.locals.lock()).views.iter().any(|face| !face.timers.is_empty())
    }

    fn keep(&self, local: Local<P>) -> LocalId {
        let hash = conclave_core::hash(&local);
        held(self.locals.lock()).keep(hash, local, |local, hash| self.face(local, hash))
    }

    fn local(&self, id: LocalId) -> Local<P> {
        held(self.locals.lock()).values.get(id).clone()
    }

    fn pack(&self, message: P::Message, past: Vec<u32>) -> PacketId {
        let packet = Packet { message, past };
        let hash = conclave_core::hash(&packet);
        held(self.packets.lock()).keep(hash, packet, |_, hash| hash)
    }

    fn unpack(&self, id: PacketId) -> Packet<P> {
        held(self.packets.lock()).values.get(id).clone()
    }

    /// What happens outside the process when this happens to its node, and the event that the
    /// process then gets, if it gets one.
    fn prepare(&self, local: &mut Local<P>, input: Input) -> Option<Event<P>> {
        match input {
            Input::Start => Some(Event::Start),
            Input::Deliver { from, packet } => {
                let Packet { message, past } = self.unpack(packet);
                if let Some(order) = &mut local.order {
                    order.heard(&past);
                }
                Some(Event::Message { from: NodeId(u32::from(from)), message })
            }
            Input::Fire(timer) => {
                let fired = local.timers.remove(usize::from(timer));
                local.timeouts = local.timeouts.map(|left| left - 1);
                Some(Event::Timer(fired.timer))
            }
            Input::Ask(ask) => {
                self.user_asks(local, ask);
                P::Provides::request(ask).map(Event::Request)
            }
            Input::Suspect(other) => {
                local.suspects |= 1 << other;
                P::Uses::suspect(NodeId(u32::from(other))).map(Event::Indication)
            }
            Input::Trust(other) => {
                local.suspects &= !(1 << other);
                P::Uses::trust(NodeId(u32::from(other))).map(Event::Indication)
            }
            Input::Crash => self.crash(local),
            Input::Restart { amnesia } => self.restart(local, amnesia),
            Input::Appoint => {
                local.user.to_begin = true;
                None
            }
        }
    }

    fn restart(&self, local: &mut Local<P>, amnesia: bool) -> Option<Event<P>> {
        self.crash(local);
        if amnesia {
            local.process = (self.cluster.fresh)(local.node);
        }
        local.status = Status::Up;
        Some(Event::Restart)
    }

    fn user_asks(&self, local: &mut Local<P>, ask: Ask) {
        match ask {
            Ask::Acquire => {
                local.user.phase = Phase::Waiting;
                local.requests = local.requests.map(|left| left - 1);
                if let Some(order) = &mut local.order {
                    order.requested(local.node);
                }
            }
            Ask::Release | Ask::Cancel => {
                local.user.phase = Phase::Idle;
                local.user.fence = None;
            }
            Ask::Campaign => local.user.to_begin = false,
        }
    }

    /// What is left of a node is what its disk keeps. One that cannot come back leaves nothing, so
    /// that all of those are the same.
    fn crash(&self, local: &mut Local<P>) -> Option<Event<P>> {
        if !local.is_up() {
            return None;
        }
        let gone = self.bounds.restarts == 0 && self.bounds.amnesia == 0;
        let recovery = if gone { Recovery::Never } else { local.process.after_crash() };
        let fresh = || (self.cluster.fresh)(local.node);
        let (process, returns) = match recovery {
            Recovery::State(state) => (state, true),
            Recovery::Fresh => (fresh(), true),
            Recovery::Never => (fresh(), false),
        };
        local.process = process;
        local.status = Status::Down { returns };
        local.user = User { begun: local.user.begun, ..User::default() };
        local.timers.clear();
        local.suspects = 0;
        None
    }

    /// One step, its choices answered by the script.
    fn step(&self, mut local: Local<P>, input: Input, script: &mut Script) -> (LocalId, Effects) {
        let mut done = Effects::default();
        let ran: Vec<P::Timer> = local.timers.iter().map(|running| running.timer).collect();
        if let Some(event) = self.prepare(&mut local, input) {
            let mut ctx = Context::new(Choices::Script(std::mem::take(script)));
            ctx.act(local.node, &mut local.process, event);
            let effects: Vec<Effect<P>> = ctx.drain().collect();
            if let Choices::Script(used) = ctx.choices() {
                *script = std::mem::take(used);
            }
            done.choices = script.answers().collect();
            // A call for an election that is under way already changes nothing, and begins none.
            local.user.begun |= input == Input::Ask(Ask::Campaign) && !effects.is_empty();
            for effect in effects {
                if let Effect::SetTimer { timer, .. } = &effect {
                    done.renewed |= place_of(&ran, timer).map_or(0, |place| 1 << place);
                }
                self.carry_out(&mut local, effect, &mut done);
            }
        }
        (self.keep(local), done)
    }

    fn carry_out(&self, local: &mut Local<P>, effect: Effect<P>, done: &mut Effects) {
        match effect {
            Effect::Send { to, message } => {
                let past = local.order.as_ref().map_or(Vec::new(), |order| order.past.clone());
                done.sends.push((to.0 as u16, self.pack(message, past)));
            }
            Effect::SetTimer { timer, after } => {
                local.set_timer(timer, after, self.bounds.timing == Timing::Synchronous);
            }
            Effect::CancelTimer(timer) => local.cancel_timer(timer),
            Effect::Indicate(told) => {
                let Some(word) = P::Provides::word(told) else { return };
                match word {
                    Word::Entered { fence } => {
                        local.user.phase = Phase::Inside;
                        local.user.fence = self.watch.fences.then_some(fence);
                    }
                    Word::Elected { leader, .. } => local.user.leader = Some(leader),
                    Word::Deposed => local.user.leader = None,
                }
                done.words.push(word);
            }
            Effect::Request(_) => {} // An oracle hears nothing.
        }
    }

    fn face(&self, local: &Local<P>, hash: u64) -> Face {
        let returns = matches!(local.status, Status::Down { returns: true });
        let broken = self.cluster.invariant.and_then(|broken_by| broken_by(&local.process));
        Face {
            hash: crate::intern::mix(hash),
            node: local.node.0 as u16,
            up: local.is_up(),
            returns,
            phase: local.user.phase,
            fence: local.user.fence,
            leader: local.user.leader,
            begun: local.user.begun,
            to_begin: local.user.to_begin,
            may_ask: local.requests != Some(0),
            may_fire: local.timeouts != Some(0),
            timers: local.timers.iter().map(|timer| (timer.earliest, timer.latest)).collect(),
            suspects: local.suspects,
            asked: local.order.as_ref().map_or(Vec::new(), |order| order.asked.clone()),
            broken,
        }
    }

    fn snapshot(
        &self,
        locals: &[LocalId],
        links: &[(NodeId, NodeId, Vec<PacketId>)],
    ) -> Snapshot<P> {
        let nodes = locals.iter().map(|&id| self.local(id).process).collect();
        let messages = |packets: &[PacketId]| {
            packets.iter().map(|&packet| self.unpack(packet).message).collect()
        };
        let links = links.iter().map(|(from, to, packets)| (*from, *to, messages(packets)));
        Snapshot { nodes, links: links.collect() }
    }
}

impl<P> Workings for Machine<'_, P>
where
    P: Process<Provides: Explored, Uses: Oracle>,
{
    fn family(&self) -> Family {
        P::Provides::FAMILY
    }

    fn nodes(&self) -> u32 {
        self.cluster.nodes()
    }

    fn clients(&self) -> u32 {
        self.cluster.clients
    }

    fn is_silent(&self) -> bool {
        self.cluster.silent
    }

    fn is_silent_untimed(&self) -> bool {
        self.cluster.silent_untimed
    }

    fn has_invariant(&self) -> bool {
        self.cluster.invariant.is_some()
    }

    fn listens(&self) -> bool {
        P::Uses::suspect(NodeId(0)).is_some()
    }

    fn winner(&self, up: &NodeSet, begun: &NodeSet) -> Option<Option<NodeId>> {
        self.cluster.winner.as_ref().map(|rule| rule(up, begun))
    }

    fn fresh(&self) -> Vec<LocalId> {
        let n = self.cluster.nodes();
        let local = |node: NodeId| Local {
            node,
            status: Status::Up,
            process: (self.cluster.fresh)(node),
            timers: Vec::new(),
            user: User::default(),
            requests: self.bounds.requests,
            timeouts: self.bounds.timeouts,
            suspects: 0,
            order: self.watch.order.then(|| Order::new(n)),
        };
        (0..n).map(|node| self.keep(local(NodeId(node)))).collect()
    }

    fn take(&self, local: LocalId, input: Input) -> Vec<(LocalId, Effects)> {
        let mut script = Script::default();
        let mut outcomes = Vec::with_capacity(1);
        loop {
            outcomes.push(self.step(self.local(local), input, &mut script));
            if !script.advance() {
                return outcomes;
            }
        }
    }

    fn later(&self, local: LocalId, least: u64, most: u64) -> LocalId {
        let mut local = self.local(local);
        local.elapse(least, most);
        self.keep(local)
    }

    fn faces(&self, from: usize) -> Vec<Face> {
        held(self.locals.lock()).views[from..].to_vec()
    }

    fn packets(&self, from: usize) -> Vec<u64> {
        held(self.packets.lock()).views[from..].to_vec()
    }

    fn timer(&self, local: LocalId, timer: u8) -> String {
        format!("{:?}", self.local(local).timers[usize::from(timer)].timer)
    }

    fn has_normal(&self) -> bool {
        self.cluster.normal.is_some()
    }

    fn normalise(&self, locals: &mut [LocalId], links: &mut [(NodeId, NodeId, Vec<PacketId>)]) {
        let Some(normal) = self.cluster.normal else { return };
        let mut snapshot = self.snapshot(locals, links);
        normal(&mut snapshot);
        for (id, process) in locals.iter_mut().zip(snapshot.nodes) {
            *id = self.keep(Local { process, ..self.local(*id) });
        }
        for ((_, _, packets), (_, _, messages)) in links.iter_mut().zip(snapshot.links) {
            *packets = messages.into_iter().map(|said| self.pack(said, Vec::new())).collect();
        }
    }

    fn has_symmetry(&self) -> bool {
        self.cluster.symmetry.is_some()
    }

    fn renamed(&self, local: LocalId, renaming: &Renaming) -> u64 {
        let local = self.local(local);
        let Some(symmetry) = &self.cluster.symmetry else { return conclave_core::hash(&local) };
        let process = (symmetry.renamed)(&local.process, renaming);
        conclave_core::hash(&Local { node: NodeId(0), process, ..local })
    }
}

/// Which of the timers that ran this is.
fn place_of<T: PartialEq>(ran: &[T], timer: &T) -> Option<usize> {
    ran.iter().take(u64::BITS as usize).position(|other| other == timer)
}
