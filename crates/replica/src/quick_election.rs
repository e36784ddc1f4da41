//! Quick elections: a leader whose process died is replaced before its time-out.
//!
//! A voter refuses all candidates while it may still hear from the leader, unless a vote is marked
//! as a leadership transfer: that mark is the leader's permission to be deposed. When a process
//! dies, its system closes its connections at once and refuses new ones. Followers that saw both
//! may use the mark themselves. They tell each other their last entries; the one with the greater
//! campaigns, the other after [`SECOND`], should the first have failed. Once for each leadership:
//! whoever is elected next has to die, too, before another.
//!
//! The mark passes only where this node's own link to that leader is dead too and its host refused
//! a new one, or where the leader itself asked for the transfer. That may still depose a living
//! leader, as any election may; nothing but time is lost by it, for reads never rely on a leader's
//! lease.

use crate::node::Node;
use crate::raft::message::{Question, Reply, Suspected, Suspicion};
use crate::raft::network::node_id;
use crate::raft::{LogId, Vote};
use crate::raft_types::TypeConfig;
use conclave_core::NodeId;
use conclave_net::rpc::{Ending, LinkEvent, PeerAddress, Probe};
use futures_util::future::join_all;
use openraft::async_runtime::WatchReceiver;
use openraft::raft::{TransferLeaderRequest, VoteRequest};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{broadcast, watch};
use tokio::time::{Instant, sleep, timeout};

/// How long the one with the lesser log waits before it campaigns too.
const SECOND: Duration = Duration::from_millis(50);

/// How long an election may take before it is tried again, and how often it is tried.
const RETRY: Duration = Duration::from_millis(250);
const ATTEMPTS: u32 = 4;

/// How long a voter waits to learn that the mark is right: the candidate may have been quicker.
const PATIENCE: Duration = Duration::from_millis(100);

/// Which votes may pass before their time.
pub struct Permits {
    known: Mutex<Known>,
    /// Counts what the leader asked for.
    asked: watch::Sender<u64>,
}

#[derive(Default)]
struct Known {
    /// The leader itself asked for a transfer.
    asked: Option<Vote>,
    /// The process of this leader is dead.
    dead: Option<Vote>,
    /// This node leads, and wants this one to lead.
    handing_to: Option<u64>,
    /// For whom this node looks whether the leader is dead. That takes a connection: one for each.
    looking_for: BTreeSet<u64>,
    /// The leadership that this node has tried to replace.
    replaced: Option<Vote>,
}

impl Default for Permits {
    fn default() -> Self {
        Self { known: Mutex::default(), asked: watch::Sender::new(0) }
    }
}

impl Permits {
    /// This node leads, and wants that one to lead.
    pub fn hand_to(&self, to: u64) {
        self.known().handing_to = Some(to);
    }

    /// The leader of this vote asked for a transfer.
    pub fn on_transfer(&self, vote: &Vote) {
        self.known().asked = Some(*vote);
        self.asked.send_modify(|count| *count += 1);
    }

    /// Begins to look for this node whether the leader is dead, unless that is under way.
    fn look_for(&self, from: u64) -> Option<Looking<'_>> {
        let begins = self.known().looking_for.insert(from);
        begins.then(|| Looking { permits: self, from })
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether this leadership may be replaced in this way: once. If that fails, its time-out is
    /// waited for, so that a wrong suspicion is not repeated over and over.
    fn may_replace(&self, leadership: &Vote) -> bool {
        self.known().replaced.replace(*leadership) != Some(*leadership)
    }
}

/// For one other node it is looked whether the leader is dead.
struct Looking<'a> {
    permits: &'a Permits,
    from: u64,
}

impl Drop for Looking<'_> {
    fn drop(&mut self) {
        self.permits.known().looking_for.remove(&self.from);
    }
}

/// Takes the mark from a vote that has no right to it.
pub async fn vet(node: &Node, mut request: VoteRequest<TypeConfig>) -> VoteRequest<TypeConfig> {
    if request.leadership_transfer {
        let candidate = request.vote.leader_id.node_id;
        let looking = node.permits.look_for(candidate);
        request.leadership_transfer = looking.is_some() && is_permitted(node, candidate).await;
    }
    request
}

async fn is_permitted(node: &Node, candidate: u64) -> bool {
    let Some((vote, _)) = node.log_end().await else { return false };
    if !vote.committed {
        return true; // Nobody leads: the mark changes nothing.
    }
    if vote.leader_id.node_id == node.me() {
        return node.permits.known().handing_to == Some(candidate);
    }
    let mut asked = node.permits.asked.subscribe();
    let for_this = |node: &Node| node.permits.known().asked.as_ref() == Some(&vote);
    let by_leader = async {
        while !for_this(node) {
            if asked.changed().await.is_err() {
                return false;
            }
        }
        true
    };
    tokio::select! {
        biased;
        asked = timeout(PATIENCE, by_leader) => asked.unwrap_or(false),
        true = is_dead(node, &vote) => true,
    }
}

/// Whether the leader of this vote is dead: the own link to it has ended, and its host says that
/// nobody listens.
pub async fn is_dead(node: &Node, vote: &Vote) -> bool {
    if node.permits.known().dead.as_ref() == Some(vote) {
        return true;
    }
    let id = node_id(vote.leader_id.node_id);
    let (Some(to), Some(rpc)) = (node.address(id), node.peers.rpc()) else { return false };
    if rpc.probe(&to).await != Probe::RefusedConnection {
        return false;
    }
    // The links learn of it a moment later, perhaps.
    let mut links = rpc.links();
    let cut = async { while rpc.connected(id) && links.recv().await.is_ok() {} };
    if timeout(PATIENCE, cut).await.is_err() && rpc.connected(id) {
        return false;
    }
    node.permits.known().dead = Some(*vote);
    true
}

/// Answers another node that has lost the leader. One that agrees campaigns too: it may be the one
/// with the greater log, and have noticed nothing yet.
pub async fn on_suspicion(node: &Arc<Node>, from: NodeId, suspicion: &Suspicion) -> Suspected {
    let looking = node.permits.look_for(from.0.into());
    let (Some(_looking), Some((vote, last))) = (looking, node.log_end().await) else {
        return Suspected { agrees: false, last: None };
    };
    // Of several attempts, the later ones find votes that came to nothing.
    let leaderless = vote == suspicion.vote || !vote.committed;
    let own = suspicion.vote.leader_id.node_id == node.me();
    let agrees = leaderless && !own && is_dead(node, &suspicion.vote).await;
    if agrees {
        let leader = node_id(suspicion.vote.leader_id.node_id);
        let replacing = Arc::clone(node);
        tokio::spawn(async move { replace(&replacing, leader).await });
    }
    Suspected { agrees, last }
}

/// Watches the link to the leader.
pub async fn watch(node: Arc<Node>) {
    let Some(rpc) = node.peers.rpc() else { return };
    let mut links = rpc.links();
    loop {
        let event = match links.recv().await {
            Ok(event) => event,
            Err(broadcast::error::RecvError::Lagged(_)) => continue,
            Err(broadcast::error::RecvError::Closed) => return,
        };
        if let LinkEvent::Down { link, how: Ending::ClosedByPeer } = event
            && leader_of(&node) == Some(link.peer)
        {
            replace(&node, link.peer).await;
        }
    }
}

fn leader_of(node: &Node) -> Option<NodeId> {
    node.metrics().current_leader.map(node_id)
}

/// Campaigns if the leader is dead and enough others agree; again if nobody was elected, for two
/// may have campaigned at once, or one whose log turned out to be the lesser.
async fn replace(node: &Node, leader: NodeId) {
    let Some((vote, _)) = node.log_end().await else { return };
    let voter = node.members().voters.contains(&node.me());
    if !voter || !vote.committed || node_id(vote.leader_id.node_id) != leader {
        return;
    }
    if !is_surely_dead(node, &vote).await || !node.permits.may_replace(&vote) {
        return;
    }
    tracing::info!("the process of node {leader}, which leads, is gone");
    for _ in 0..ATTEMPTS {
        if !campaign(node, leader, &vote).await || elected(node, leader).await {
            return;
        }
    }
}

/// Looks a second time: a process that ends closes its connections before it stops to listen,
/// perhaps.
async fn is_surely_dead(node: &Node, vote: &Vote) -> bool {
    if is_dead(node, vote).await {
        return true;
    }
    sleep(SECOND).await;
    is_dead(node, vote).await
}

/// Campaigns to replace a dead leadership; not if that has been done.
async fn campaign(node: &Node, leader: NodeId, dead: &Vote) -> bool {
    let Some((vote, last)) = node.log_end().await else { return false };
    if vote.committed && vote != *dead {
        return false;
    }
    let agreeing = ask_others(node, leader, Suspicion { vote: *dead, last }).await;
    if 2 * (agreeing.len() + 1) > node.members().voters.len() {
        if !is_first((last, node.me()), &agreeing) {
            sleep(SECOND).await;
        }
        // Refused by itself if anybody else was voted for meanwhile.
        let request = TransferLeaderRequest::new(vote, node.me(), None);
        let _ = timeout(RETRY, node.raft.handle_transfer_leader(request)).await;
    }
    true
}

/// Waits until another leads, or this node; says whether one does.
async fn elected(node: &Node, dead: NodeId) -> bool {
    let mut metrics = node.raft.server_metrics();
    let led = async {
        loop {
            let leader = metrics.borrow_watched().current_leader;
            let replaced = leader.is_some_and(|leader| node_id(leader) != dead);
            if replaced || metrics.changed().await.is_err() {
                return; // Or this node stops.
            }
        }
    };
    timeout(RETRY, led).await.is_ok()
}

/// The last entries of those who have lost the leader too.
async fn ask_others(
    node: &Node,
    leader: NodeId,
    suspicion: Suspicion,
) -> Vec<(Option<LogId>, u64)> {
    let voters = node.members().voters;
    let others = node.others();
    let asked = others.iter().filter(|to| to.id != leader && voters.contains(&u64::from(to.id.0)));
    let deadline = Instant::now() + 3 * PATIENCE;
    let question = Question::Suspect(suspicion);
    let ask = |to: PeerAddress| {
        let question = &question;
        async move {
            match node.peers.ask(&to, question, deadline).await {
                Ok(Reply::Suspect(Suspected { agrees: true, last })) => {
                    Some((last, u64::from(to.id.0)))
                }
                Ok(_) | Err(_) => None,
            }
        }
    };
    join_all(asked.cloned().map(ask)).await.into_iter().flatten().collect()
}

/// Whether no other has a greater log; of equal ones the one with the greater id is first.
fn is_first(mine: (Option<LogId>, u64), others: &[(Option<LogId>, u64)]) -> bool {
    others.iter().all(|other| mine > *other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use openraft::vote::RaftLeaderId;

    fn entry(term: u64, index: u64) -> Option<LogId> {
        let leader = <TypeConfig as openraft::RaftTypeConfig>::LeaderId::new(term, 0);
        Some(LogId::new(leader.to_committed(), index))
    }

    #[test]
    fn the_greater_log_campaigns_first() {
        assert!(is_first((entry(3, 9), 1), &[(entry(3, 8), 2)]));
        assert!(!is_first((entry(3, 9), 1), &[(entry(3, 8), 2), (entry(4, 2), 0)]));
        assert!(is_first((entry(3, 9), 2), &[(entry(3, 9), 1)]), "of equal ones the greater id");
        assert!(!is_first((entry(3, 9), 1), &[(entry(3, 9), 2)]));
        assert!(is_first((None, 1), &[]));
    }

    #[test]
    fn one_look_at_a_time_is_taken_for_each_node() {
        let permits = Permits::default();
        let first = permits.look_for(1);
        assert!(first.is_some() && permits.look_for(1).is_none());
        assert!(permits.look_for(2).is_some(), "another one is not kept waiting");
        drop(first);
        assert!(permits.look_for(1).is_some());
    }

    #[test]
    fn each_leadership_is_replaced_once_however_soon_the_next_one_ends() {
        let permits = Permits::default();
        let leadership = |term, node| Vote::new_committed(term, node);
        assert!(permits.may_replace(&leadership(3, 1)));
        assert!(!permits.may_replace(&leadership(3, 1)));
        assert!(permits.may_replace(&leadership(4, 2)));
        assert!(
            permits.may_replace(&leadership(5, 1)),
            "the same node leads again, and dies again"
        );
        assert!(!permits.may_replace(&leadership(5, 1)));
    }
}
