//! Fault injection on nodes (crash, recovery, pause) and on links (partition): what happens to the
//! nodes and the network from outside.

use crate::oracle::NOTICE;
use crate::plan::{Act, Fault, Plan, ScriptLine};
use crate::simulator::{Simulation, Status};
use crate::trace::Record;
use crate::wheel::Lane;
use crate::workload::{Ahead, Exercised, Users};
use conclave_core::{Event, NodeId, Oracle, Process, Recovery, Ticks};
use std::collections::BTreeMap;

const NEVER: Ticks = Ticks(u64::MAX);

/// What is still to happen, by time and order of planning.
pub(crate) struct Timetable {
    ahead: BTreeMap<(Ticks, u32), Happening>,
    /// When the next thing happens; asked for at every event, so kept at hand.
    next: Ticks,
    planned: u32,
    returns: u32,
}

#[derive(Clone, Debug)]
pub(crate) enum Happening {
    Fault(Fault),
    Resume(NodeId),
    Heal(u32),
    /// Somebody has the application do something.
    Act(ScriptLine),
    /// The oracle looks around.
    Look,
}

impl Happening {
    pub fn describe(&self) -> String {
        format!("{self:?}")
    }
}

impl Timetable {
    pub fn new(plan: &Plan) -> Self {
        let mut table = Self { ahead: BTreeMap::new(), next: NEVER, planned: 0, returns: 0 };
        for (at, fault) in &plan.faults {
            table.add(*at, Happening::Fault(fault.clone()));
        }
        for line in &plan.acts {
            table.add(line.at, Happening::Act(*line));
        }
        table
    }

    pub fn add(&mut self, at: Ticks, happening: Happening) {
        self.returns += u32::from(brings_work(&happening));
        self.ahead.insert((at, self.planned), happening);
        self.next = self.next.min(at);
        self.planned += 1;
    }

    /// When the next thing happens; never, if nothing does.
    pub fn next_time(&self) -> Ticks {
        self.next
    }

    pub fn pop(&mut self) -> Option<(Ticks, Happening)> {
        let ((at, _), happening) = self.ahead.pop_first()?;
        self.next = self.ahead.first_key_value().map_or(NEVER, |((next, _), _)| *next);
        self.returns -= u32::from(brings_work(&happening));
        Some((at, happening))
    }

    pub fn is_empty(&self) -> bool {
        self.ahead.is_empty()
    }

    /// What is still to come.
    pub fn ahead(&self) -> Ahead {
        Ahead { anything: !self.ahead.is_empty(), returns: self.returns > 0 }
    }
}

/// Whether somebody may want something because of it who does not yet.
fn brings_work(happening: &Happening) -> bool {
    match happening {
        Happening::Resume(_) | Happening::Act(_) => true,
        Happening::Fault(fault) => matches!(fault, Fault::Restart { .. }),
        Happening::Heal(_) | Happening::Look => false,
    }
}

impl<P: Process<Provides: Exercised, Uses: Oracle>> Simulation<'_, P> {
    pub(crate) fn carry_out(&mut self, happening: Happening) {
        if let (Some(story), Happening::Fault(fault)) = (&mut self.story, &happening) {
            story.happens(self.now, fault);
        }
        match happening {
            Happening::Fault(Fault::Crash(node)) => self.crash(node),
            Happening::Fault(Fault::Restart { node, amnesia }) => self.restart(node, amnesia),
            Happening::Fault(Fault::Pause { node, span }) => self.pause(node, span),
            Happening::Fault(Fault::Partition { groups, until }) => {
                let number = self.network.cut(&groups);
                self.oracle.cut(&groups, self.now, until);
                self.note(Record::Partition { at: self.now, number, groups });
                if until < Fault::NEVER {
                    self.timetable.add(until, Happening::Heal(number));
                }
                self.look_soon();
            }
            Happening::Fault(Fault::Suspect { by, of, span }) => {
                self.note(Record::Suspect { at: self.now, by, of });
                let until = span.map_or(Ticks(u64::MAX), |span| self.now + span);
                self.oracle.mislead(by, of, until);
                self.consult_oracle();
                if span.is_some() {
                    self.timetable.add(until, Happening::Look);
                }
            }
            Happening::Resume(node) => self.resume(node),
            Happening::Heal(number) => {
                self.note(Record::Heal { at: self.now, number });
                self.network.heal(number);
                self.look_soon();
            }
            Happening::Act(line) => self.prompt(line),
            Happening::Look => self.consult_oracle(),
        }
        self.note_violations();
    }

    /// The application of a node is made to do something, after all else that happens now. Who
    /// leaves early does not leave once more at the time when it would have.
    fn prompt(&mut self, line: ScriptLine) {
        let node = line.node;
        let Some(request) = P::Provides::prompts(line.act) else { return };
        if line.act == Act::Release {
            let users = &self.users;
            self.wheel.cancel_where(|owner, event| {
                owner == node
                    && matches!(event, Event::Request(planned)
                        if *planned == request && !users.outlives_crash(owner, planned))
            });
        }
        self.users.prompted(node, &request);
        self.wheel.schedule(self.now, Lane::Application, node, Event::Request(request));
    }

    /// The oracle needs a moment to notice.
    fn look_soon(&mut self) {
        if self.oracle.speaks() {
            self.timetable.add(self.now + NOTICE, Happening::Look);
        }
    }

    fn crash(&mut self, node: NodeId) {
        if self.up[node.index()] == Status::Down {
            return;
        }
        self.look();
        if let Some(recorder) = &mut self.recorder {
            recorder.crashes(self.now, node);
        }
        *self.disks.entry(node) = Some(self.nodes[node.index()].after_crash());
        self.set_status(node, Status::Down);
        self.backlog.take(node);
        self.paused_until.take(node);
        self.users.crashed(node, self.now);
        self.oracle.crashed(node, self.now);
        self.timers.clear(node);
        let users = &self.users;
        self.wheel.cancel_where(|owner, event| {
            owner == node
                && match event {
                    Event::Timer(_) => true,
                    Event::Request(request) => !users.outlives_crash(owner, request),
                    Event::Start | Event::Restart | Event::Indication(_) => true,
                    Event::Message { .. } => false,
                }
        });
        self.look_soon();
    }

    /// A node that is up goes down first: a restart in one instant.
    fn restart(&mut self, node: NodeId, amnesia: bool) {
        if self.up[node.index()] != Status::Down {
            self.crash(node);
        }
        self.note(Record::Restart { at: self.now, node, amnesia });
        self.set_status(node, Status::Up);
        let fresh = || (self.cluster.fresh)(node);
        self.nodes[node.index()] = match self.disks.take(node) {
            Some(Recovery::State(state)) if !amnesia => state,
            Some(Recovery::State(_) | Recovery::Fresh | Recovery::Never) | None => fresh(),
        };
        self.oracle.forget(node);
        self.step(node, Event::Restart);
        self.consult_oracle();
        P::Provides::returned(self, node);
        self.look_soon();
    }

    /// Pauses may overlap: the node goes on when the last of them ends.
    fn pause(&mut self, node: NodeId, span: Ticks) {
        let until = self.now + span;
        match self.up[node.index()] {
            Status::Down => return,
            Status::Paused if until <= *self.paused_until.entry(node) => return,
            Status::Paused => {}
            Status::Up => {
                self.note(Record::Pause { at: self.now, node });
                self.set_status(node, Status::Paused);
            }
        }
        *self.paused_until.entry(node) = until;
        self.timetable.add(until, Happening::Resume(node));
    }

    /// Everything that waited is handled at once, in the order it came. The end of a pause that
    /// another outlasts, or that a crash has ended before, is none.
    fn resume(&mut self, node: NodeId) {
        let outlasted = self.now < *self.paused_until.entry(node);
        if self.up[node.index()] != Status::Paused || outlasted {
            return;
        }
        self.note(Record::Resume { at: self.now, node });
        self.set_status(node, Status::Up);
        for waiting in self.backlog.take(node) {
            self.deliver_late(node, waiting);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::plan::{Act, Fault, Options, Plan, ScriptLine, Workload};
    use crate::runnable::Runnable;
    use crate::toys::desk;
    use conclave_core::{NodeId, Ticks};

    const NODE: NodeId = NodeId(1);

    fn pause(at: u64, span: u64) -> (Ticks, Fault) {
        (Ticks::units(at), Fault::Pause { node: NODE, span: Ticks::units(span) })
    }

    /// When the node enters that asks at this time, one message before and one after the answer.
    fn enters(asks: u64, faults: Vec<(Ticks, Fault)>) -> Option<Ticks> {
        let line = ScriptLine { at: Ticks::units(asks), node: NODE, act: Act::Acquire };
        let plan = Plan { workload: Workload::Script(vec![line]), faults, ..Plan::default() };
        let outcome = desk(2).run(&plan, &Options::default()).expect("the plan is sound");
        outcome.mutex().entered.as_ref().and_then(|entered| Some(entered.first()?.at))
    }

    #[test]
    fn a_node_is_paused_until_the_last_of_its_pauses_ends() {
        let enters_after = |end: u64| Some(Ticks::units(end + 2));
        assert_eq!(enters(12, vec![pause(10, 20), pause(20, 50)]), enters_after(70));
        assert_eq!(enters(12, vec![pause(10, 50), pause(20, 10)]), enters_after(60));
        assert_eq!(enters(12, vec![pause(10, 10), pause(20, 30)]), enters_after(50));
    }

    /// When the node enters, each time, that is made to do this beside asking once at time 0.
    fn enters_also(acts: &[(u64, Act)]) -> Vec<Ticks> {
        let line = |at, act| ScriptLine { at: Ticks::units(at), node: NODE, act };
        let acts = acts.iter().map(|(at, act)| line(*at, *act)).collect();
        let workload = Workload::Single(NODE);
        let plan = Plan { workload, acts, ..Plan::default() };
        let outcome = desk(2).run(&plan, &Options::default()).expect("the plan is sound");
        let entered = outcome.mutex().entered.clone().unwrap_or_default();
        entered.iter().map(|entry| entry.at).collect()
    }

    #[test]
    fn a_node_can_be_made_to_ask_and_to_leave_beside_its_workload() {
        let once = enters_also(&[]);
        assert_eq!(once, [Ticks::units(2)]);
        assert_eq!(enters_also(&[(50, Act::Acquire)]), [Ticks::units(2), Ticks::units(52)]);
        assert_eq!(enters_also(&[(5, Act::Acquire)]), once, "it is inside already");
        let left = [(4, Act::Release), (6, Act::Acquire), (30, Act::Acquire)];
        let entries = enters_also(&left);
        assert_eq!(entries, [2, 8, 32].map(Ticks::units), "it stays as long as always then");
    }

    #[test]
    fn a_pause_that_a_crash_has_ended_ends_no_later_one() {
        let crash = (Ticks::units(20), Fault::Crash(NODE));
        let restart = (Ticks::units(21), Fault::Restart { node: NODE, amnesia: false });
        let faults = vec![pause(10, 30), crash, restart, pause(30, 50)];
        assert_eq!(enters(35, faults), Some(Ticks::units(82)));
    }

    #[test]
    fn what_waited_for_a_paused_node_is_lost_in_its_crash() {
        let desk = NodeId(0);
        let pause = (Ticks::units(5), Fault::Pause { node: desk, span: Ticks::units(20) });
        let crash = (Ticks::units(10), Fault::Crash(desk));
        let restart = (Ticks::units(11), Fault::Restart { node: desk, amnesia: false });
        assert_eq!(enters(6, vec![pause.clone()]), Some(Ticks::units(26)));
        let crashed = vec![pause, crash, restart];
        assert_eq!(enters(6, crashed.clone()), None, "the question came before the crash");
        assert_eq!(enters(12, crashed), Some(Ticks::units(14)), "the pause is over, too");
    }

    #[test]
    fn a_crashed_node_loses_what_arrives_and_gets_what_arrives_after_its_return() {
        let desk = NodeId(0);
        let crash = (Ticks::units(5), Fault::Crash(desk));
        let restart = (Ticks::units(8), Fault::Restart { node: desk, amnesia: false });
        let pause = (Ticks::units(6), Fault::Pause { node: desk, span: Ticks::units(30) });
        let faults = vec![crash, pause, restart]; // Nobody can pause what is down.
        assert_eq!(enters(4, faults.clone()), None, "it arrives as the node goes down");
        assert_eq!(enters(6, faults.clone()), None);
        assert_eq!(enters(7, faults), Some(Ticks::units(9)), "it arrives as the node comes up");
    }
}
