use super::*;
use crate::raft::{LogId, Vote};
use crate::raft_types::Stamped;
use conclave_table::{Change, LeaseTime};
use futures_util::FutureExt;
use futures_util::stream::iter;
use openraft::EntryPayload;
use openraft::entry::RaftEntry;
use openraft::type_config::alias::EntryOf;
use openraft::vote::RaftLeaderId;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use tokio::sync::oneshot;

fn log_id(index: u64) -> LogId {
    let leader = <TypeConfig as openraft::RaftTypeConfig>::LeaderId::new(3, 1);
    LogId::new(leader.to_committed(), index)
}

/// Entries after this one, up to that one.
fn request(after: u64, last: u64) -> Request {
    let entry = |index| {
        let stamped = Stamped { lease_time: LeaseTime(9), change: Change::Tick };
        EntryOf::<TypeConfig>::new(log_id(index), EntryPayload::Normal(stamped))
    };
    Request {
        vote: Vote::new_committed(3, 1),
        prev_log_id: Some(log_id(after)),
        entries: (after + 1..=last).map(entry).collect(),
        leader_commit: None,
    }
}

/// A follower that answers when it is told to.
#[derive(Clone, Default)]
struct Follower(Arc<Mutex<BTreeMap<u64, oneshot::Sender<Said>>>>);

impl Follower {
    fn pipe(&self, requests: Vec<Request>) -> Pin<Box<dyn Stream<Item = Answer> + Send>> {
        let asked = Arc::clone(&self.0);
        piped(iter(requests), move |request| {
            let (tell, told) = oneshot::channel();
            let last = request.entries.last().map_or(0, |entry| entry.log_id.index);
            asked.lock().unwrap().insert(last, tell);
            async move { told.await.unwrap() }
        })
    }

    /// The last entries of all requests that are under way.
    fn asked(&self) -> Vec<u64> {
        self.0.lock().unwrap().keys().copied().collect()
    }

    fn answers(&self, last: u64, said: AppendEntriesResponse<TypeConfig>) {
        let tell = self.0.lock().unwrap().remove(&last).expect("it was asked");
        tell.send(Ok(said)).expect("somebody waits");
    }
}

fn matched(answer: Option<Answer>) -> Option<u64> {
    answer?.unwrap().unwrap().map(|id| id.index)
}

#[tokio::test]
async fn the_next_entry_does_not_wait_for_the_one_before_and_answers_keep_the_order() {
    let follower = Follower::default();
    let mut answers = follower.pipe(vec![request(0, 1), request(1, 2), request(2, 3)]);
    assert!(answers.next().now_or_never().is_none());
    assert_eq!(follower.asked(), [1, 2], "two, and no more");
    follower.answers(2, AppendEntriesResponse::Success);
    assert!(answers.next().now_or_never().is_none(), "the first is not answered");
    follower.answers(1, AppendEntriesResponse::Success);
    assert_eq!(matched(answers.next().await), Some(1));
    assert_eq!(matched(answers.next().await), Some(2));
    assert!(answers.next().now_or_never().is_none());
    follower.answers(3, AppendEntriesResponse::Success);
    assert_eq!(matched(answers.next().await), Some(3));
    assert!(answers.next().await.is_none());
}

#[tokio::test]
async fn where_many_are_under_way_the_next_wait_to_go_together() {
    let follower = Follower::default();
    let mut answers = follower.pipe(vec![request(0, 2), request(2, 3)]);
    assert!(answers.next().now_or_never().is_none());
    assert_eq!(follower.asked(), [2]);
    follower.answers(2, AppendEntriesResponse::Success);
    assert_eq!(matched(answers.next().await), Some(2));
    assert!(answers.next().now_or_never().is_none());
    assert_eq!(follower.asked(), [3]);
}

#[tokio::test]
async fn after_a_refusal_or_half_of_it_nothing_follows() {
    let partly = AppendEntriesResponse::PartialSuccess(Some(log_id(0)));
    for said in [AppendEntriesResponse::Conflict, partly] {
        let follower = Follower::default();
        let mut answers = follower.pipe(vec![request(0, 1), request(1, 2)]);
        assert!(answers.next().now_or_never().is_none());
        follower.answers(1, said);
        assert_eq!(answers.count().await, 1);
    }
}
