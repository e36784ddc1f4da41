//! A member that says more than it may: what a replica answers to it.

use super::*;
use crate::disk::ClusterId;
use crate::face::{Entry, Founder, Observer, ReplicaConfig, Role, Status, Timing};
use crate::host::Host;
use crate::raft::LogId;
use crate::raft::rollback::Start;
use crate::replica::Replica;
use conclave_net::rpc::{Introduction, PeerAddress, Rpc, RpcConfig, RpcError, RpcLimits};
use conclave_table::{Table, VERSION};
use openraft::raft::{VoteRequest, VoteResponse};
use openraft::vote::RaftLeaderId;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::time::timeout;

struct Deaf;

impl Observer for Deaf {
    fn applied(&mut self, _: &Entry<'_>) {}
    fn installed(&mut self, _: &Table) {}
}

struct Mute;

impl Server for Mute {
    fn serve(&self, _: Call) -> Serving {
        Box::pin(async { Vec::new() })
    }
}

impl RpcServer for Mute {
    fn admit(&self, _: &Introduction) -> Result<(), String> {
        Ok(())
    }

    fn about(&self) -> Vec<u8> {
        Vec::new()
    }

    fn serve(&self, _: NodeId, _: Purpose, _: Vec<u8>, _: Instant) -> Serving {
        Box::pin(async { Vec::new() })
    }
}

/// Three replicas whose elections never come by themselves.
struct Three {
    replicas: Vec<Option<Replica>>,
    founders: Vec<Founder>,
    place: PathBuf,
}

impl Three {
    async fn start() -> Self {
        let random = conclave_net::random::bits().expect("random numbers");
        let place = std::env::temp_dir().join(format!("conclave-serve-{random:032x}"));
        let mut listeners = Vec::new();
        let mut founders = Vec::new();
        for id in 0..3 {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let peer = listener.local_addr().expect("its address").to_string();
            founders.push(Founder { id: NodeId(id), peer, api: String::new() });
            listeners.push(listener);
        }
        let minutes = |n: u64| Duration::from_secs(60 * n);
        let timing = Timing { election: (minutes(2), minutes(3)), ..Timing::default() };
        let mut replicas = Vec::new();
        for (id, listener) in listeners.into_iter().enumerate() {
            let config = ReplicaConfig {
                cluster: "test".into(),
                me: NodeId(id as u32),
                founders: founders.clone(),
                listen: listener.local_addr().expect("its address"),
                data: place.join(id.to_string()),
                tls: None,
                timing,
                host: Host::default(),
            };
            let started =
                Replica::start_on(listener, config, Arc::new(Mute), Box::new(Deaf), VERSION);
            replicas.push(Some(started.await.expect("it starts")));
        }
        Self { replicas, founders, place }
    }

    fn replica(&self, id: u32) -> &Replica {
        self.replicas[id as usize].as_ref().expect("it runs")
    }

    async fn kill(&mut self, id: u32) {
        self.replicas[id as usize].take().expect("it runs").kill().await;
    }

    async fn status(&self, id: u32, wanted: impl FnMut(&Status) -> bool) -> Status {
        let mut status = self.replica(id).status();
        let status = timeout(Duration::from_secs(60), status.wait_for(wanted)).await;
        status.expect("it takes too long").expect("it runs").clone()
    }

    /// Somebody who has the disk of a node, but is another program.
    async fn impostor(&self, status: &Status, id: u32) -> Rpc {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        Rpc::start_on(listener, settings(id, disk(status, id)), Arc::new(Mute)).expect("it starts")
    }

    fn address(&self, status: &Status, id: u32) -> PeerAddress {
        let address = self.founders[id as usize].peer.clone();
        PeerAddress { id: NodeId(id), address, disk: Some(disk(status, id)) }
    }
}

impl Drop for Three {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.place);
    }
}

fn disk(status: &Status, id: u32) -> u128 {
    let member = status.members.iter().find(|member| member.id == NodeId(id));
    member.expect("it is a member").disk
}

fn settings(id: u32, disk: u128) -> RpcConfig {
    RpcConfig {
        cluster: "test".into(),
        me: NodeId(id),
        disk,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        tls: None,
        limits: RpcLimits::default(),
    }
}

/// A vote that claims to be a transfer, of a candidate with the longest of all logs.
fn claim(term: u64, candidate: u32) -> VoteRequest<TypeConfig> {
    let leader = <TypeConfig as openraft::RaftTypeConfig>::LeaderId::new(term, 0);
    VoteRequest {
        vote: Vote::new(term + 1, u64::from(candidate)),
        last_log_id: Some(LogId::new(leader.to_committed(), 1_000_000)),
        leadership_transfer: true,
    }
}

async fn ask(
    rpc: &Rpc,
    to: &PeerAddress,
    cluster: Option<u128>,
    question: Question,
) -> Result<VoteResponse<TypeConfig>, String> {
    let reply = say(rpc, to, cluster, question).await;
    if let Reply::Refused(reason) = reply {
        return Err(reason);
    }
    let Reply::Vote(response) = reply else { panic!("{reply:?}") };
    Ok(response)
}

async fn say(rpc: &Rpc, to: &PeerAddress, cluster: Option<u128>, question: Question) -> Reply {
    let start = Start { number: 9, ..Start::default() };
    let cluster = cluster.map(|id| ClusterId { id, generation: 0 });
    let deadline = Instant::now() + Duration::from_secs(30);
    let request = encode(cluster, &start, &question);
    let bytes = rpc.request(to, Purpose::Raft, request, deadline).await.expect("it answers");
    decode(cluster, &bytes).expect("it can be read").1
}

/// A heartbeat of this node as leader of this term, after this entry.
fn heartbeat(term: u64, by: u32, previous: Option<LogId>) -> Question {
    let vote = Vote::new_committed(term, u64::from(by));
    let (entries, leader_commit) = (vec![], None);
    Question::Append(AppendEntriesRequest { vote, prev_log_id: previous, entries, leader_commit })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_that_lies_ends_no_other_and_leaves_terms_for_later_leaders() {
    let mut three = Three::start().await;
    let status = three.status(0, |status| status.leader.is_some() && status.applied > 0).await;
    let status = three.status(status.leader.expect("one leads").0, |status| {
        status.role == Role::Leader && status.members.len() == 3
    });
    let status = status.await;
    let leader = status.leader.expect("it leads").0;
    let (follower, liar) = ((leader + 1) % 3, (leader + 2) % 3);
    three.status(follower, |status| status.leader == Some(NodeId(leader))).await;
    three.kill(liar).await;
    let rpc = three.impostor(&status, liar).await;
    let to = three.address(&status, follower);
    let cluster = status.cluster_id;
    for question in [
        heartbeat(u64::MAX, liar, None),
        Question::Vote(claim(u64::MAX - 1, liar)),
        Question::PreVote(claim(u64::MAX - 1, liar)),
        Question::Removed,
    ] {
        let reply = say(&rpc, &to, cluster, question).await;
        assert!(matches!(reply, Reply::Refused(_)), "{reply:?}");
    }
    // It may claim to lead, as any node may that was elected. Its word alone removes nobody.
    let reply = say(&rpc, &to, cluster, heartbeat(status.term + 1, liar, None)).await;
    assert!(matches!(reply, Reply::Append(_)), "{reply:?}");
    let known = three.status(follower, |status| status.leader == Some(NodeId(liar))).await;
    assert_eq!(known.term, status.term + 1, "the greatest term of all was not taken over");
    assert!(matches!(say(&rpc, &to, cluster, Question::Removed).await, Reply::Done));
    assert!(matches!(say(&rpc, &to, cluster, Question::Belongs).await, Reply::Done));
    let ended = timeout(Duration::from_secs(2), three.replica(follower).ended()).await;
    assert!(ended.is_err(), "{ended:?}");
    rpc.stop().await;
    three.kill(leader).await;
    three.kill(follower).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_claim_of_a_transfer_passes_only_where_the_leader_is_dead() {
    let mut three = Three::start().await;
    let status = three.status(0, |status| status.leader.is_some()).await;
    let leader = status.leader.expect("one leads").0;
    let status = three.status(leader, |status| {
        status.role == Role::Leader && status.applied > 0 && status.members.len() == 3
    });
    let status = status.await;
    let follower = (leader + 1) % 3;
    let impostor = (leader + 2) % 3;
    three.status(follower, |status| status.leader == Some(NodeId(leader))).await;
    three.kill(impostor).await;
    let rpc = three.impostor(&status, impostor).await;
    let term = status.term;
    for to in [follower, leader] {
        let question = Question::Vote(claim(term, impostor));
        let answer = ask(&rpc, &three.address(&status, to), status.cluster_id, question).await;
        assert!(!answer.expect("a vote").vote_granted, "deposed by somebody's word");
    }
    let question = Question::Vote(claim(term, follower));
    let answer = ask(&rpc, &three.address(&status, follower), status.cluster_id, question).await;
    assert!(answer.is_err_and(|reason| reason.contains("another node")));
    three.kill(leader).await;
    let question = Question::Vote(claim(term + 10, impostor));
    let answer = ask(&rpc, &three.address(&status, follower), status.cluster_id, question).await;
    assert!(answer.expect("a vote").vote_granted, "the leader is dead");
    rpc.stop().await;
    three.kill(follower).await;
}

/// With a disk it could pose as its node, and say that this has started more often than it has: the
/// others would take the real one for an older copy, and it would believe its leader and end.
#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_know_the_disk_of_a_node_is_let_in_for_nothing_and_not_told() {
    let mut three = Three::start().await;
    let status = three.status(0, |status| status.members.len() == 3).await;
    let unnamed = PeerAddress { disk: None, ..three.address(&status, 0) };
    let wrong = PeerAddress { disk: Some(7), ..unnamed.clone() };
    for id in [1, 8] {
        let config = settings(id, if id == 1 { disk(&status, 1) } else { 7 });
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let rpc = Rpc::start_on(listener, config, Arc::new(Mute)).expect("it starts");
        for to in [&unnamed, &wrong] {
            for purpose in [Purpose::Raft, Purpose::Bulk, Purpose::Service] {
                let request = encode(None, &Start::default(), &Question::Hashes);
                let deadline = Instant::now() + Duration::from_secs(30);
                let answer = rpc.request(to, purpose, request, deadline).await;
                assert!(matches!(answer, Err(RpcError::Refused { .. })), "{answer:?}");
                assert_eq!(rpc.about(NodeId(0)), None, "it was greeted");
            }
        }
        rpc.stop().await;
    }
    for id in 0..3 {
        three.kill(id).await;
    }
}
