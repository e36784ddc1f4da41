//! The workload of mutual exclusion: what the application on each node wants, and the waiting times
//! it measures.

use crate::metrics::{Entries, Entry, Kinds, Samples, jain};
use crate::plan::{Act, Plan, ScriptLine, Workload};
use crate::random::{PerNode, Purpose};
use crate::simulator::{Simulation, Status};
use crate::wheel::Lane;
use crate::workload::arrivals::Arrivals;
use crate::workload::mutex::Applications;
use crate::workload::{Shared, Users};
use conclave_core::mutex::{Monitor, Mutex, Request};
use conclave_core::{Event, NodeId, NodeSet, Oracle, Process, Ticks};
use std::collections::BTreeMap;
use std::ops::Range;

/// The applications of all nodes.
pub(crate) struct Application {
    competitors: u32,
    /// Who enters by itself, and how often each of them does in all.
    by_itself: Range<u32>,
    rounds: u32,
    /// How often each node still wants to enter.
    left: Vec<u32>,
    left_total: u64,
    /// Where requests arrive by a Poisson process.
    arrivals: Option<Arrivals>,
    /// Who has withdrawn the request it makes now: once is enough.
    withdrew: NodeSet,
    /// Who leaves only when the script says so.
    scripted_exit: NodeSet,
    script_left: usize,
    /// How often each node of a script has entered.
    scripted_entries: BTreeMap<NodeId, u64>,
    random: PerNode,
    pub requests: u64,
    pub waits: Samples,
    pub sync_delays: Samples,
    pub client_delays: Samples,
    pub client_delays_serial: Samples,
    /// Jain's index when the first had its last turn: as long as that, all compete.
    jain: Option<f64>,
    pub entered: Entries,
    /// The first fence and the last.
    pub fences: Option<(u64, u64)>,
    /// What the critical section protects, if anybody looks.
    pub shared: Option<Shared>,
    /// The last exit, if somebody has been waiting since.
    handover: Option<Ticks>,
    /// A request made while nobody else was waiting or inside, and what had been counted by then.
    alone: Option<Alone>,
}

#[derive(Clone, Copy)]
struct Alone {
    node: NodeId,
    messages: u64,
}

impl Application {
    pub fn new(plan: &Plan, clients: u32) -> Self {
        let script = plan.workload.script();
        let poisson = matches!(plan.workload, Workload::Poisson(_));
        let who = |act| script.iter().filter(move |line| line.act == act).map(|line| line.node);
        let by_itself = match plan.workload {
            Workload::Single(NodeId(only)) => only..only + 1,
            Workload::Script(_) => 0..0,
            Workload::AllAtOnce | Workload::Closed(_) | Workload::Poisson(_) => 0..clients,
        };
        let by_script = who(Act::Acquire).collect::<NodeSet>();
        let rounds_of = |node| if by_itself.contains(&node) { plan.rounds } else { 0 };
        let left: Vec<u32> = (0..clients).map(rounds_of).collect();
        Self {
            competitors: by_itself.len() as u32 + by_script.len(),
            by_itself,
            rounds: plan.rounds,
            left_total: left.iter().map(|&left| u64::from(left)).sum(),
            arrivals: poisson.then(|| Arrivals::new(left.clone())),
            left,
            withdrew: NodeSet::default(),
            scripted_exit: who(Act::Release).collect(),
            script_left: script.len(),
            scripted_entries: BTreeMap::new(),
            random: PerNode::new(plan.seed, Purpose::Workload),
            requests: 0,
            waits: Samples::default(),
            sync_delays: Samples::default(),
            client_delays: Samples::default(),
            client_delays_serial: Samples::default(),
            jain: None,
            entered: Entries::default(),
            fences: None,
            shared: plan.value.map(Shared::new),
            handover: None,
            alone: None,
        }
    }

    /// Whether nobody will ask any more.
    pub fn is_done(&self) -> bool {
        self.left_total == 0 && self.script_left == 0
    }

    pub fn node_down(&mut self, node: NodeId) {
        self.left_total -= u64::from(self.left.get(node.index()).copied().unwrap_or(0));
        self.alone = self.alone.filter(|alone| alone.node != node);
        if let Some(shared) = &mut self.shared {
            shared.crashed(node);
        }
    }

    /// Somebody no longer waits: if nobody does, there is nobody to hand over to.
    pub fn waits_no_longer(&mut self, still_waiting: u32) {
        if still_waiting == 0 {
            self.handover = None;
        }
    }

    /// Whether a node that came back still wants to enter.
    pub fn node_up(&mut self, node: NodeId) -> bool {
        let left = self.left.get(node.index()).copied().unwrap_or(0);
        self.left_total += u64::from(left);
        left > 0
    }

    /// A request that a crash interrupted will be made once more.
    pub fn arrival_again(&mut self, node: NodeId) {
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.interrupted(node, self.left[node.index()]);
        }
    }

    /// Jain's index over those that compete, by their turns that are over or under way; a turn that
    /// a crash cut short is none. Where they enter more than once it is the one of the moment when
    /// the first had entered for the last time.
    pub fn jain(&self, monitor: &Monitor) -> Option<f64> {
        let entries = |node: NodeId| {
            u64::from(self.rounds - self.left[node.index()]) + u64::from(monitor.is_inside(node))
        };
        let entries = self.by_itself.clone().map(NodeId).map(entries);
        let now = || jain(self.competitors, entries.chain(self.scripted_entries.values().copied()));
        self.jain.or_else(now)
    }

    /// Whether the application does this by itself, or a line of a script says so.
    pub fn is_automatic(&self, node: NodeId, request: Request) -> bool {
        match request {
            Request::Release => !self.scripted_exit.contains(node),
            Request::Observe(clock) => is_told(clock),
            Request::Acquire | Request::Cancel => false,
        }
    }

    /// One thing more is planned than was.
    pub fn one_more(&mut self, node: NodeId, request: Request) {
        self.script_left += usize::from(!self.is_automatic(node, request));
    }

    /// What was planned is done, or will never be: its node is down.
    pub fn planned_is_over(&mut self, node: NodeId, request: Request) {
        if self.script_left > 0 && !self.is_automatic(node, request) {
            self.script_left -= 1;
        }
    }
}

impl<P: Process<Provides = Mutex, Uses: Oracle>> Simulation<'_, P> {
    pub(crate) fn begin_workload(&mut self) {
        let plan = self.plan;
        if let Workload::Script(lines) = &plan.workload {
            for line in lines {
                self.schedule_line(*line);
            }
            return;
        }
        for node in (0..self.cluster.clients).map(NodeId) {
            if self.users.application.left[node.index()] > 0 && self.up[node.index()] == Status::Up
            {
                let think = self.think_time(node);
                self.schedule_request(think, node, Request::Acquire);
            }
        }
    }

    /// How long a node thinks before it asks again.
    pub(crate) fn think_time(&mut self, node: NodeId) -> Ticks {
        match self.plan.workload {
            Workload::Closed(mean) if mean > Ticks::ZERO => {
                self.users.application.random.of(node).exponential(mean)
            }
            Workload::Poisson(rate) => {
                let mean = Ticks((Ticks::UNIT.0 as f64 / rate).round() as u64);
                self.users.application.random.of(node).exponential(mean)
            }
            Workload::AllAtOnce
            | Workload::Single(_)
            | Workload::Closed(_)
            | Workload::Script(_) => Ticks::ZERO,
        }
    }

    pub(crate) fn schedule_request(&mut self, after: Ticks, node: NodeId, request: Request) {
        self.wheel.schedule(self.now + after, Lane::Application, node, Event::Request(request));
    }

    fn schedule_line(&mut self, line: ScriptLine) {
        let request = match line.act {
            // Refused before the run.
            Act::Campaign | Act::Event => return,
            Act::Acquire => Request::Acquire,
            Act::Release => Request::Release,
            Act::Cancel => Request::Cancel,
            // Who is told travels in the place of the clock until the message leaves.
            Act::Tell(to) => Request::Observe(TELL | u64::from(to.0)),
        };
        self.wheel.schedule(line.at, Lane::Application, line.node, Event::Request(request));
    }

    /// Something the application meant to do at this time, if it still makes sense.
    #[inline(always)]
    pub(crate) fn application_acts(&mut self, node: NodeId, request: Request) {
        self.users.application.planned_is_over(node, request);
        match request {
            Request::Acquire => self.arrives(node),
            Request::Release if self.users.monitor.is_inside(node) => self.leaves(node),
            Request::Cancel if self.users.monitor.is_waiting(node) => self.withdraws(node),
            Request::Release | Request::Cancel => {}
            Request::Observe(clock) if is_told(clock) => {
                self.step(node, Event::Request(Request::Observe(clock)));
            }
            Request::Observe(clock) => self.tells(node, NodeId(clock as u32)),
        }
    }

    /// The wish to enter arises; it becomes a request when the last one is over.
    #[inline(always)]
    fn arrives(&mut self, node: NodeId) {
        if let Some(arrivals) = &mut self.users.application.arrivals
            && arrivals.arrives(node, self.now)
        {
            let after = self.think_time(node);
            self.schedule_request(after, node, Request::Acquire);
        }
        if !self.users.monitor.is_waiting(node) && !self.users.monitor.is_inside(node) {
            self.asks(node);
        } else if let Some(arrivals) = &mut self.users.application.arrivals {
            arrivals.queue(node);
        }
    }

    fn asks(&mut self, node: NodeId) {
        self.users.application.requests += 1;
        let alone = self.users.monitor.waiting() == 0 && self.users.monitor.inside() == 0;
        self.users.application.alone = alone.then(|| Alone { node, messages: self.counted() });
        self.users.monitor.requested(node, self.now);
        if let Some(decisions) = &mut self.decisions {
            decisions.acts(self.now, node, Act::Acquire);
        }
        if self.plan.cancel > 0.0
            && !self.users.application.withdrew.remove(node)
            && self.users.application.random.of(node).chance(self.plan.cancel)
        {
            let patience = self.plan.critical_section.0 * 2 + 4 * Ticks::UNIT.0;
            let after = Ticks(self.users.application.random.of(node).below(patience));
            self.schedule_request(after, node, Request::Cancel);
        }
        if self.plan.unprotected {
            self.enters_unasked(node);
        } else {
            self.step_here(node, Event::Request(Request::Acquire), true);
        }
    }

    /// What happens without any algorithm: everybody just goes in.
    #[cold]
    fn enters_unasked(&mut self, node: NodeId) {
        if let Some(story) = &mut self.story {
            story.goes_in(self.now, node);
        }
        self.entered(node, 0);
    }

    fn leaves(&mut self, node: NodeId) {
        self.users.monitor.released(node, self.now);
        self.users.application.handover = (self.users.monitor.waiting() > 0).then_some(self.now);
        if let Some(shared) = &mut self.users.application.shared {
            shared.left(node);
        }
        if !self.plan.unprotected {
            self.step_here(node, Event::Request(Request::Release), false);
        }
        let Some(left) = self.users.application.left.get_mut(node.index()) else { return };
        if *left == 0 {
            return;
        }
        *left -= 1;
        self.users.application.left_total -= 1;
        if *left == 0 {
            if self.plan.rounds > 1 {
                let Applications { application, monitor, .. } = &mut self.users;
                application.jain = application.jain(monitor);
            }
        } else if let Some(arrivals) = &mut self.users.application.arrivals {
            if arrivals.next_is_queued(node) {
                self.asks(node);
            }
        } else {
            let think = self.think_time(node);
            self.schedule_request(think, node, Request::Acquire);
        }
    }

    #[cold]
    fn withdraws(&mut self, node: NodeId) {
        self.users.monitor.cancelled(node, self.now);
        self.users.application.waits_no_longer(self.users.monitor.waiting());
        self.users.application.alone =
            self.users.application.alone.filter(|alone| alone.node != node);
        if let Some(decisions) = &mut self.decisions {
            decisions.acts(self.now, node, Act::Cancel);
        }
        self.step(node, Event::Request(Request::Cancel));
        if !matches!(self.plan.workload, Workload::Script(_)) {
            self.users.application.withdrew.insert(node);
            let after = Ticks(self.users.application.random.of(node).below(3 * Ticks::UNIT.0));
            if let Some(arrivals) = &mut self.users.application.arrivals {
                arrivals.withdrawn(node, self.now + after);
            }
            self.schedule_request(after, node, Request::Acquire);
        }
    }

    #[cold]
    fn tells(&mut self, node: NodeId, to: NodeId) {
        let clock = self.nodes[node.index()].clock();
        let fate = self.network.carry(self.now, node, to, "TELL");
        self.hash_send(to, &clock, fate);
        if let Some(story) = &mut self.story {
            story.tells(self.now, node, to);
        }
        self.look();
        if let Some(recorder) = &mut self.recorder {
            let asked = Request::Observe(clock);
            recorder.tells(self.now, node, to, &asked, fate.arrival);
        }
        if let Some(arrival) = fate.arrival {
            let event = Event::Request(Request::Observe(clock));
            let slot = self.wheel.schedule(arrival, Lane::Message, to, event);
            self.stamps.sent(self.users.causality(), slot, node);
        }
    }

    /// Messages so far, without those that would have been sent anyway.
    fn counted(&self) -> u64 {
        counted(&self.kinds, self.cluster.upkeep)
    }

    /// The algorithm lets a node in.
    #[inline]
    pub(crate) fn entered(&mut self, node: NodeId, fence: u64) {
        let wait = self.now.since(self.users.monitor.waiting_since(node));
        self.users.monitor.entered(node, fence, self.now);
        let application = &mut self.users.application;
        application.waits.add(wait);
        application.entered.push(Entry { node, at: self.now, fence });
        if let Some(shared) = &mut application.shared {
            shared.entered(node, fence);
        }
        application.fences.get_or_insert((fence, fence)).1 = fence;
        if let Some(exit) = application.handover.take() {
            application.sync_delays.add(self.now.since(exit));
        }
        if application.by_itself.is_empty() {
            *application.scripted_entries.entry(node).or_default() += 1;
        }
        if let Some(alone) = application.alone.take_if(|alone| alone.node == node) {
            application.client_delays.add(wait);
            let messages = counted(&self.kinds, self.cluster.upkeep) - alone.messages;
            application.client_delays_serial.add(Ticks::units(messages));
        }
        if let Some(story) = &mut self.story {
            story.indicates(format!("ENTERS with fence {fence}"));
        }
        if !self.users.application.scripted_exit.contains(node) {
            self.schedule_request(self.plan.critical_section, node, Request::Release);
        }
    }
}

fn counted(kinds: &Kinds, upkeep: &[&str]) -> u64 {
    kinds.total() - if upkeep.is_empty() { 0 } else { kinds.of(upkeep) }
}

/// Marks a line of a script that tells another node, as opposed to a clock that was told.
const TELL: u64 = 1 << 63;

/// Whether this is the clock of a message that has arrived.
pub(crate) fn is_told(clock: u64) -> bool {
    clock & TELL == 0
}
