//! Study of mutual exclusion: applications that ask, enter and leave.

use super::application::{Application, is_told};
use super::{Ahead, Exercised, Findings, Judgement, Shared, Users};
use crate::error::Error;
use crate::follow::MutexLaw;
use crate::metrics::Entry;
use crate::outcome::Times;
use crate::plan::{Act, Options, Plan, Workload};
use crate::simulator::Simulation;
use conclave_core::mutex::{Causality, Indication, Monitor, Mutex, Request};
use conclave_core::{Cluster, NodeId, NodeSet, Oracle, Process, Property, Ticks, Violation};

/// The applications of all nodes, and the law they live under.
pub struct Applications {
    pub(super) monitor: Monitor,
    pub(super) application: Application,
    scripted: bool,
}

impl Exercised for Mutex {
    type Users = Applications;
    type Law = MutexLaw;

    fn check<P: Process>(cluster: &Cluster<P>, plan: &Plan) -> Vec<Error> {
        let mut wrong = crate::validate::workload(&plan.workload, cluster);
        if !plan.start.is_empty() {
            wrong.push(Error::value("--start", "…", "nobody leads here; see --workload"));
        }
        wrong
    }

    fn users<P: Process>(cluster: &Cluster<P>, plan: &Plan, options: &Options) -> Applications {
        let mut monitor = Monitor::new(cluster.nodes(), options.bypass_bound);
        if options.order {
            monitor.watch_order();
        }
        Applications {
            monitor,
            application: Application::new(plan, cluster.clients),
            scripted: matches!(plan.workload, Workload::Script(_)),
        }
    }

    fn begin<P: Process<Provides = Self, Uses: Oracle>>(run: &mut Simulation<'_, P>) {
        run.begin_workload();
    }

    #[inline(always)]
    fn acts<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        request: Request,
    ) {
        run.application_acts(node, request);
    }

    #[inline(always)]
    fn told<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
        indication: Indication,
    ) {
        let Indication::Entered { fence } = indication;
        run.entered(node, fence);
    }

    fn returned<P: Process<Provides = Self, Uses: Oracle>>(
        run: &mut Simulation<'_, P>,
        node: NodeId,
    ) {
        if run.users.application.node_up(node) && !run.users.scripted {
            let think = run.think_time(node);
            run.users.application.arrival_again(node);
            run.schedule_request(think, node, Request::Acquire);
        }
    }

    /// The application releases, then cancels, then asks.
    fn rank(request: &Request) -> u8 {
        match request {
            Request::Release => 0,
            Request::Cancel => 1,
            Request::Acquire | Request::Observe(_) => 2,
        }
    }

    fn prompts(act: Act) -> Option<Request> {
        match act {
            Act::Acquire => Some(Request::Acquire),
            Act::Release => Some(Request::Release),
            Act::Cancel => Some(Request::Cancel),
            Act::Campaign | Act::Tell(_) | Act::Event => None,
        }
    }

    fn words(request: &Request) -> String {
        match request {
            Request::Acquire => "asks to enter".to_string(),
            Request::Release => "leaves".to_string(),
            Request::Cancel => "no longer wants to enter".to_string(),
            Request::Observe(clock) => {
                format!("hears from another application; its logical time was {clock}")
            }
        }
    }

    fn is_message(request: &Request) -> bool {
        matches!(request, Request::Observe(clock) if is_told(*clock))
    }
}

impl Users<Mutex> for Applications {
    fn absent(&mut self, node: NodeId) {
        self.application.node_down(node);
    }

    fn crashed(&mut self, node: NodeId, at: Ticks) {
        self.monitor.crashed(node, at);
        self.application.node_down(node);
        self.application.waits_no_longer(self.monitor.waiting());
    }

    fn outlives_crash(&self, node: NodeId, request: &Request) -> bool {
        match request {
            Request::Observe(_) => true,
            Request::Acquire | Request::Release | Request::Cancel => {
                self.scripted && !self.application.is_automatic(node, *request)
            }
        }
    }

    fn prompted(&mut self, node: NodeId, request: &Request) {
        self.application.one_more(node, *request);
    }

    fn violations(&self) -> &[Violation] {
        self.monitor.violations()
    }

    fn missed(&mut self, node: NodeId, request: &Request) {
        self.application.planned_is_over(node, *request);
    }

    fn is_done(&self, ahead: Ahead) -> bool {
        let served = self.monitor.waiting() == 0 && self.monitor.inside() == 0;
        served && self.application.is_done() && !ahead.returns
    }

    fn end<P: Process>(&mut self, _: &Cluster<P>, at: Ticks, complete: bool, patience: Ticks) {
        self.monitor.end(at, complete, patience);
    }

    fn findings(self) -> (Judgement, Findings) {
        let Self { monitor, application, .. } = self;
        let verdicts = Property::MUTEX.map(|property| (property, monitor.verdict(property)));
        let judgement =
            Judgement { verdicts: verdicts.into(), violations: monitor.violations().to_vec() };
        let jain = application.jain(&monitor);
        let entered = application.entered.take();
        let entering = Entering {
            requests: application.requests,
            entries: monitor.entries(),
            jain,
            order: entered.as_ref().map(|list| list.iter().map(|entry| entry.node).collect()),
            entered,
            fences: application.fences,
            bypass_max: monitor.bypass_max(),
            starving: monitor.starving().clone(),
            refused: monitor.refused(),
            shared: application.shared,
            wait: Times(application.waits),
            sync_delay: Times(application.sync_delays),
            client_delay: Times(application.client_delays),
            client_delay_serial: Times(application.client_delays_serial),
        };
        (judgement, Findings::Mutex(Box::new(entering)))
    }

    #[inline]
    fn follows(request: &Request) -> bool {
        matches!(request, Request::Acquire)
    }

    #[inline]
    fn registered(&mut self, node: NodeId) {
        self.monitor.registered(node);
    }

    #[inline]
    fn causality(&mut self) -> Option<&mut Causality> {
        self.monitor.causality()
    }
}

/// Who entered, and how long it took.
#[derive(Clone, Debug)]
pub struct Entering {
    /// How often somebody asked.
    pub requests: u64,
    /// How often somebody entered.
    pub entries: u64,
    /// Who, in order; `None` when the list grew too long.
    pub order: Option<Vec<NodeId>>,
    /// The same with the time and the fence of each.
    pub entered: Option<Vec<Entry>>,
    /// The first and the last fence.
    pub fences: Option<(u64, u64)>,
    /// Jain's index of fairness.
    pub jain: Option<f64>,
    /// The most that entered between the registration of a request and its entry, or the end of
    /// waiting in vain.
    pub bypass_max: u64,
    /// Who was passed over more than ten times as often as there are nodes.
    pub starving: NodeSet,
    /// Last writes that the resource refused because a larger fence had been there.
    pub refused: u64,
    /// What became of the number that the critical section protects, if anybody looked.
    pub shared: Option<Shared>,
    /// From request to entry.
    pub wait: Times,
    /// From one exit to the next entry, when somebody was waiting all the time.
    pub sync_delay: Times,
    /// From request to entry, when nobody else wanted in.
    pub client_delay: Times,
    /// The same, counted as messages one after the other.
    pub client_delay_serial: Times,
}

impl Entering {
    pub(super) fn absorb(&mut self, other: Self) {
        self.jain = match (self.jain, other.jain) {
            (Some(mine), Some(theirs)) => Some(mine.min(theirs)),
            (mine, theirs) => mine.or(theirs),
        };
        self.fences = match (self.fences, other.fences) {
            (Some((a, b)), Some((c, d))) => Some((a.min(c), b.max(d))),
            (mine, theirs) => mine.or(theirs),
        };
        self.requests += other.requests;
        self.entries += other.entries;
        self.order = None;
        self.entered = None;
        self.bypass_max = self.bypass_max.max(other.bypass_max);
        for node in other.starving.iter() {
            self.starving.insert(node);
        }
        self.refused += other.refused;
        if let (Some(mine), Some(theirs)) = (&mut self.shared, other.shared) {
            mine.lost += theirs.lost;
            mine.unfinished += theirs.unfinished;
        }
        self.wait.0.merge(&other.wait.0);
        self.sync_delay.0.merge(&other.sync_delay.0);
        self.client_delay.0.merge(&other.client_delay.0);
        self.client_delay_serial.0.merge(&other.client_delay_serial.0);
    }
}

#[cfg(test)]
mod tests {
    use super::Entering;
    use crate::outcome::Outcome;
    use crate::plan::{Act, Fault, Options, Plan, ScriptLine, Workload};
    use crate::runnable::Runnable;
    use crate::toys::desk;
    use conclave_core::{NodeId, Ticks};

    /// What comes of four nodes that do this.
    fn run(script: &[(u64, u32, Act)], faults: Vec<(Ticks, Fault)>, until: u64) -> Outcome {
        let line = |&(at, node, act): &(u64, u32, Act)| ScriptLine {
            at: Ticks(at),
            node: NodeId(node),
            act,
        };
        let workload = Workload::Script(script.iter().map(line).collect());
        let plan = Plan { workload, faults, until: Ticks(until), ..Plan::default() };
        desk(4).run(&plan, &Options::default()).expect("the plan is sound")
    }

    /// How many hand-overs there are among them.
    fn handovers(script: &[(u64, u32, Act)], faults: Vec<(Ticks, Fault)>) -> u64 {
        run(script, faults, 1_000_000).mutex().sync_delay.count()
    }

    #[test]
    fn who_waits_in_vain_is_bypassed_too() {
        let waits = [(0, 0, Act::Acquire), (0, 1, Act::Acquire), (500, 2, Act::Acquire)];
        let in_vain = |script: &[_], faults, until| run(script, faults, until).mutex().bypass_max;
        assert_eq!(in_vain(&waits, Vec::new(), 15_000), 1, "the second is inside");
        let [first, second, third] = waits;
        let withdraws = [first, second, third, (15_000, 2, Act::Cancel)];
        assert_eq!(in_vain(&withdraws, Vec::new(), 1_000_000), 1);
        let crash = (Ticks(15_000), Fault::Crash(NodeId(2)));
        assert_eq!(in_vain(&waits, vec![crash], 1_000_000), 1);
    }

    #[test]
    fn nothing_is_handed_over_if_the_last_waiter_is_gone() {
        let waits = [(0, 0, Act::Acquire), (5_000, 1, Act::Acquire), (50_000, 2, Act::Acquire)];
        assert_eq!(handovers(&waits, Vec::new()), 1);
        let [first, second, last] = waits;
        let withdraws = [first, second, (10_500, 1, Act::Cancel), last];
        assert_eq!(
            handovers(&withdraws, Vec::new()),
            0,
            "the first left at 10, the last came at 50"
        );
        let crash = (Ticks(10_500), Fault::Crash(NodeId(1)));
        let restart = (Ticks(20_000), Fault::Restart { node: NodeId(1), amnesia: false });
        assert_eq!(handovers(&waits, vec![crash, restart]), 0, "a crash ends the waiting too");
    }

    #[test]
    fn who_has_withdrawn_asks_again_and_stays() {
        let run = |cancel| {
            let plan = Plan { cancel, rounds: 2, ..Plan::default() };
            let outcome = desk(4).run(&plan, &Options::default()).expect("the plan is sound");
            let Entering { entries, requests, .. } = *outcome.mutex();
            (entries, requests)
        };
        assert_eq!(run(0.0), (8, 8));
        let (entries, requests) = run(1.0);
        assert_eq!(entries, 8, "everybody gets in as often as without");
        assert!(requests > 8 && requests <= 16, "{requests}: none withdraws twice in a row");
    }
}
