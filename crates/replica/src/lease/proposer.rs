//! The leader's loop: one task through which all changes of this node go into the log.
//!
//! Entries are submitted in order and not waited for: many are in flight, and the disk syncs
//! whatever has come meanwhile at once (group commit). Whoever proposed an entry waits for it
//! itself. When leadership is lost, all who wait know at once; they are told that nothing is known
//! rather than left waiting.

use super::agenda::{Agenda, AgendaConfig, Origin, Turn};
use super::answers::{Keepalive, answer, committed};
use crate::disk::Disk;
use crate::face::{Committed, NotProposed};
use crate::host::Clock;
use crate::node::Node;
use crate::raft::Raft;
use crate::raft::network::node_id;
use crate::raft_types::{Stamped, TypeConfig};
use crate::state_machine::SharedTable;
use conclave_core::NodeId;
use conclave_table::{Change, Renewal, Renewed};
use openraft::async_runtime::WatchReceiver;
use openraft::errors::{ClientWriteError, ForwardToLeader};
use openraft::impls::ProgressResponder;
use openraft::metrics::RaftServerMetrics;
use openraft::raft::ClientWriteResult;
use openraft::raft::responder::Responder as _;
use openraft::type_config::alias::{CommittedLeaderIdOf, WatchReceiverOf};
use openraft::vote::RaftLeaderId;
use openraft::{Instant as _, RaftMetrics, ServerState};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::yield_now;
use tokio::time::{Instant, sleep, sleep_until};

/// So many commands may wait for the loop.
const QUEUE: usize = 16_384;

/// How long whoever proposes waits for a node that was elected just now.
const RISE: Duration = Duration::from_secs(1);

/// Expiries that were refused are proposed again after so long.
const REFUSED: Duration = Duration::from_millis(50);

/// A leader that heard of no majority for so long does not count as one.
const DEAF: Duration = Duration::from_secs(2);

type Responder = ProgressResponder<TypeConfig, ClientWriteResult<TypeConfig>>;
type Metrics = WatchReceiverOf<TypeConfig, RaftServerMetrics<TypeConfig>>;
type Progress = WatchReceiverOf<TypeConfig, RaftMetrics<TypeConfig>>;
/// What this leader has to do.
type Todo = Agenda<Responder, Keepalive>;
/// One leadership: term and node.
type Reign = CommittedLeaderIdOf<TypeConfig>;

enum Command {
    Propose(Change, Responder),
    Renew(Renewal, Keepalive),
}

/// Who leads, as far as this node knows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Lead {
    /// This node leads, and has applied all that the leaders before it have committed.
    mine: Option<Reign>,
    /// This node was elected, and is about to lead.
    rising: bool,
    /// This node was elected, and a majority is not heard of.
    deaf: Option<Reign>,
    leader: Option<NodeId>,
    stopped: bool,
}

impl Lead {
    fn refusal(&self) -> NotProposed {
        if self.stopped {
            return NotProposed::Stopped;
        }
        NotProposed::NotLeader { leader: self.leader }
    }
}

/// The way to the leader's loop. Cheap to clone.
#[derive(Clone)]
pub struct Proposing {
    commands: mpsc::Sender<Command>,
    lead: watch::Receiver<Lead>,
    metrics: Metrics,
}

impl Proposing {
    /// Waits until this node leads, if it was elected just now.
    pub async fn established(&self) -> Result<(), NotProposed> {
        self.reign(&mut self.lead.clone()).await.map(drop)
    }

    /// Whether a majority is heard of, if this node leads, and whenever that changes.
    pub fn leading(&self) -> Leading {
        Leading(self.lead.clone())
    }

    /// The leadership that this node has now, or is about to have.
    async fn reign(&self, lead: &mut watch::Receiver<Lead>) -> Result<Reign, NotProposed> {
        loop {
            let now = lead.wait_for(|lead| !lead.rising).await;
            let now = now.map_err(|_| NotProposed::Stopped)?.clone();
            let elected = look(&self.metrics).0;
            if let Some(mine) = now.mine {
                return Ok(mine);
            }
            if elected.is_none() || elected == now.deaf || now.stopped {
                return Err(now.refusal());
            }
            // The loop is about to see what the metrics say.
            lead.changed().await.map_err(|_| NotProposed::Stopped)?;
        }
    }

    /// Puts a change into the log and waits until it is applied.
    pub async fn propose(&self, change: Change) -> Result<Committed, NotProposed> {
        let mut lead = self.lead.clone();
        let mine = self.reign(&mut lead).await?;
        let (responder, done) = ProgressResponder::complete_only();
        let sent = self.commands.send(Command::Propose(change, responder)).await;
        sent.map_err(|_| NotProposed::Stopped)?;
        tokio::select! {
            biased;
            result = done => committed(result.map_err(|_| NotProposed::Unknown)?),
            refusal = lost(&mut lead, &mine) => Err(refusal),
        }
    }

    /// Renews a session and waits until the batch that it joined is applied.
    pub async fn renew(&self, renewal: Renewal) -> Result<Renewed, NotProposed> {
        let mut lead = self.lead.clone();
        let mine = self.reign(&mut lead).await?;
        let (answer, done) = oneshot::channel();
        let sent = self.commands.send(Command::Renew(renewal, answer)).await;
        sent.map_err(|_| NotProposed::Stopped)?;
        tokio::select! {
            biased;
            renewed = done => renewed.unwrap_or(Err(NotProposed::Unknown)),
            refusal = lost(&mut lead, &mine) => Err(refusal),
        }
    }
}

/// Whether a majority is heard of, if this node leads.
pub struct Leading(watch::Receiver<Lead>);

impl Leading {
    /// Whether it is; one that was elected just now has some time to hear of it.
    pub fn now(&self) -> bool {
        let lead = self.0.borrow();
        lead.rising || lead.deaf.is_none()
    }

    /// Waits until that may have changed; for ever, once the loop has ended.
    pub async fn changed(&mut self) {
        if self.0.changed().await.is_err() {
            std::future::pending().await
        }
    }
}

/// Ends when that leadership has ended.
async fn lost(lead: &mut watch::Receiver<Lead>, mine: &Reign) -> NotProposed {
    match lead.wait_for(|now| now.stopped || now.mine.as_ref() != Some(mine)).await {
        Ok(_) => NotProposed::Unknown,
        Err(_) => NotProposed::Stopped,
    }
}

/// The leader's loop, which waits for its node to lead.
pub struct Proposer {
    raft: Raft,
    disk: Disk,
    table: SharedTable,
    gather: Duration,
    clock: Arc<dyn Clock>,
    commands: mpsc::Receiver<Command>,
    lead: watch::Sender<Lead>,
}

impl Proposer {
    /// A loop, and the way to it.
    pub fn new(node: &Node) -> (Self, Proposing) {
        let (raft, disk, table) = (node.raft.clone(), node.disk.clone(), node.table.clone());
        let gather = node.config.timing.renewals;
        let clock = Arc::clone(&node.config.host.clock);
        let (sender, commands) = mpsc::channel(QUEUE);
        let lead = watch::Sender::new(Lead::default());
        let metrics = raft.server_metrics();
        let proposing = Proposing { commands: sender, lead: lead.subscribe(), metrics };
        (Self { raft, disk, table, gather, clock, commands, lead }, proposing)
    }

    /// Runs for as long as the consensus engine does.
    pub async fn run(mut self) {
        let mut metrics = self.raft.server_metrics();
        // Fails when the engine has stopped, or nobody can propose any more.
        while self.follow_or_lead(&mut metrics).await.is_ok() {}
        self.lead.send_modify(|lead| *lead = Lead { stopped: true, ..Lead::default() });
        self.commands.close();
        while let Ok(command) = self.commands.try_recv() {
            self.refuse(command);
        }
    }

    async fn follow_or_lead(&mut self, metrics: &mut Metrics) -> Result<(), Over> {
        let (reign, leader) = look(metrics);
        if let Some(reign) = reign {
            if self.rise(&reign, metrics).await? {
                self.tell(Lead { mine: Some(reign), leader, ..Lead::default() });
                self.reign(&reign, metrics).await?;
            }
            return Ok(());
        }
        self.tell(Lead { leader, ..Lead::default() });
        tokio::select! {
            biased;
            changed = metrics.changed() => changed.map_err(|_| Over),
            command = self.commands.recv() => {
                self.refuse(command.ok_or(Over)?);
                Ok(())
            }
        }
    }

    fn tell(&self, now: Lead) {
        self.lead.send_if_modified(|lead| {
            let changed = *lead != now;
            *lead = now;
            changed
        });
    }

    /// Waits until the first entry of this leadership is applied: until then the engine takes no
    /// change, and the table may lack what is committed. Whether this node leads still.
    async fn rise(&self, reign: &Reign, metrics: &mut Metrics) -> Result<bool, Over> {
        let mut progress = self.raft.metrics();
        // One that had led, and heard of no majority any more, is not waited for.
        let patience = if self.lead.borrow().mine.is_some() { Duration::ZERO } else { RISE };
        let until = Instant::now() + patience;
        let deaf = || Lead { deaf: Some(*reign), ..Lead::default() };
        self.tell(if patience.is_zero() { deaf() } else { Lead { rising: true, ..deaf() } });
        while !is_established(&progress, reign) {
            tokio::select! {
                biased;
                changed = metrics.changed() => {
                    changed.map_err(|_| Over)?;
                    if look(metrics).0.as_ref() != Some(reign) {
                        return Ok(false);
                    }
                }
                () = sleep_until(until), if self.lead.borrow().rising => self.tell(deaf()),
                changed = progress.changed() => changed.map_err(|_| Over)?,
            }
        }
        Ok(true)
    }

    /// Leads until this leadership ends.
    async fn reign(&mut self, reign: &Reign, metrics: &mut Metrics) -> Result<(), Over> {
        let largest = self.table.look(|table| table.now()).max(self.disk.last_lease_time());
        let clock = Arc::clone(&self.clock);
        let config = AgendaConfig { gather: self.gather, largest };
        let mut agenda = Agenda::new(config, clock.read());
        let expired = Arc::new(Notify::new());
        let progress = self.raft.metrics();
        let mut taken = Vec::new();
        while has_quorum(&progress) {
            let wake = Instant::now() + agenda.wake().saturating_sub(clock.read().monotonic);
            tokio::select! {
                biased;
                changed = metrics.changed() => {
                    changed.map_err(|_| Over)?;
                    if look(metrics).0.as_ref() != Some(reign) {
                        return Ok(());
                    }
                    continue;
                }
                () = expired.notified() => agenda.on_expired(),
                () = self.table.changed(), if agenda.holds_back() => {}
                count = self.commands.recv_many(&mut taken, QUEUE) => if count == 0 {
                    return Err(Over);
                },
                () = sleep_until(wake) => {}
            }
            self.take_all(&mut taken, &mut agenda).await;
            let turn = self.table.look(|table| agenda.turn(clock.read(), table));
            self.submit(turn, reign, &expired).await?;
        }
        Ok(()) // Whoever waits is not kept waiting until the network is whole again.
    }

    /// Puts what has come on the agenda.
    async fn take_all(&mut self, taken: &mut Vec<Command>, agenda: &mut Todo) {
        if !taken.is_empty() {
            // Whoever sent the first would see this task run next: with it go those that others are
            // about to send.
            yield_now().await;
            while let Ok(command) = self.commands.try_recv() {
                taken.push(command);
            }
        }
        for command in taken.drain(..) {
            match command {
                Command::Propose(change, responder) => agenda.on_propose(change, responder),
                // Whoever asked has given up: its session may be lost to it by now.
                Command::Renew(_, answer) if answer.is_closed() => {}
                Command::Renew(renewal, answer) => {
                    agenda.on_keepalive(renewal, answer, self.clock.read().monotonic);
                }
            }
        }
    }

    async fn submit(
        &self,
        turn: Turn<Responder, Keepalive>,
        reign: &Reign,
        expired: &Arc<Notify>,
    ) -> Result<(), Over> {
        for (change, origin) in turn.entries {
            let stamped = Stamped { lease_time: turn.stamp, change };
            let write = self.raft.write(stamped).with_leader(*reign);
            let written = match origin {
                Origin::Proposal(responder) => write.responder(responder).await,
                Origin::Keepalives(waiting) => {
                    let (responder, done) = ProgressResponder::complete_only();
                    let written = write.responder(responder).await;
                    tokio::spawn(async move { answer(done.await.map_err(|_| ()), waiting) });
                    written
                }
                Origin::Burst => {
                    let (responder, done) = ProgressResponder::complete_only();
                    let expired = Arc::clone(expired);
                    let written = write.responder(responder).await;
                    tokio::spawn(async move {
                        // Whatever became of them: there is room for the next. A leader that is
                        // handing over refuses all: it is not asked again at once.
                        if !done.await.is_ok_and(|written| written.is_ok()) {
                            sleep(REFUSED).await;
                        }
                        expired.notify_one();
                    });
                    written
                }
                Origin::Nobody => write.await,
            };
            written.map_err(|_| Over)?;
        }
        Ok(())
    }

    /// Came too late: it is not in the log.
    fn refuse(&self, command: Command) {
        match command {
            Command::Propose(_, responder) => {
                let forward = ForwardToLeader::empty();
                responder.on_complete(Err(ClientWriteError::ForwardToLeader(forward)));
            }
            Command::Renew(_, answer) => drop(answer.send(Err(self.lead.borrow().refusal()))),
        }
    }
}

/// The consensus engine has stopped, or nobody can propose any more.
struct Over;

/// The leadership of this node, and who leads, as far as it knows.
fn look(metrics: &Metrics) -> (Option<Reign>, Option<NodeId>) {
    let now = metrics.borrow_watched();
    let leads = now.state == ServerState::Leader && now.vote.committed;
    let reign = leads.then(|| now.vote.leader_id.to_committed());
    (reign, now.current_leader.map(node_id))
}

/// Whether the first entry of this leadership is applied, and a quorum follows it.
fn is_established(progress: &Progress, reign: &Reign) -> bool {
    let applied = progress.borrow_watched().last_applied;
    applied.is_some_and(|last| *last.committed_leader_id() == *reign) && has_quorum(progress)
}

/// Whether a majority was heard of not long ago.
fn has_quorum(progress: &Progress) -> bool {
    let now = progress.borrow_watched();
    let heard = now.last_quorum_acked.as_ref().is_some_and(|acked| acked.elapsed() < DEAF);
    heard || now.membership_config.voter_ids().count() == 1
}
