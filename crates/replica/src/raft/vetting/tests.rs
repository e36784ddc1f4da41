use super::*;
use crate::raft_types::Stamped;
use conclave_table::LeaseTime;
use openraft::entry::RaftEntry;
use openraft::type_config::alias::StoredMembershipOf;
use openraft::vote::RaftLeaderId;
use std::collections::{BTreeMap, BTreeSet};

type Payload = EntryPayload<Stamped, u64, MemberNode>;

fn id(term: u64, index: u64) -> LogId {
    let leader = <TypeConfig as openraft::RaftTypeConfig>::LeaderId::new(term, 1);
    LogId::new(leader.to_committed(), index)
}

fn entry(term: u64, index: u64, payload: Payload) -> EntryOf<TypeConfig> {
    EntryOf::<TypeConfig>::new(id(term, index), payload)
}

/// A follower in term 3 that knows entry 7 to be committed.
fn known() -> Known {
    Known { term: 3, committed: Some(id(3, 7)), version_max: 1 }
}

fn request(entries: Vec<EntryOf<TypeConfig>>) -> AppendEntriesRequest<TypeConfig> {
    let vote = Vote::new_committed(4, 1);
    AppendEntriesRequest { vote, prev_log_id: Some(id(3, 7)), entries, leader_commit: None }
}

fn vetted(entries: Vec<EntryOf<TypeConfig>>) -> Vetted {
    super::entries(&request(entries), &known())
}

fn members_of(voters: &[u64], nodes: &[u64]) -> Membership<u64, MemberNode> {
    // Its own constructor refuses what a message can hold.
    let voters: BTreeSet<u64> = voters.iter().copied().collect();
    let nodes: BTreeMap<u64, MemberNode> =
        nodes.iter().map(|id| (*id, MemberNode::default())).collect();
    let bytes = postcard::to_stdvec(&(vec![voters], nodes)).expect("plain data");
    postcard::from_bytes(&bytes).expect("the same fields")
}

#[test]
fn what_an_honest_leader_sends_passes() {
    let tick = Stamped { lease_time: LeaseTime(9), change: Change::Tick };
    let members = members_of(&[0, 1], &[0, 1, 2]);
    let entries = vec![
        entry(3, 8, Payload::Normal(tick)),
        entry(4, 9, Payload::Blank),
        entry(4, 10, Payload::Membership(members)),
    ];
    assert_eq!(vetted(entries), Ok(()));
    assert_eq!(vetted(vec![]), Ok(()), "a heartbeat");
    let mut earlier = request(vec![entry(2, 3, Payload::Blank)]);
    earlier.prev_log_id = Some(id(1, 2));
    assert_eq!(super::entries(&earlier, &known()), Ok(()), "what is there already");
    let all =
        AppendEntriesRequest { prev_log_id: None, ..request(vec![entry(1, 0, Payload::Blank)]) };
    assert_eq!(super::entries(&all, &Known { committed: None, ..known() }), Ok(()));
}

#[test]
fn terms_that_leave_no_room_for_later_ones_are_refused() {
    assert_eq!(vote(&Vote::new(3 + TERMS_MAX, 2), 3), Ok(()));
    assert!(vote(&Vote::new(4 + TERMS_MAX, 2), 3).is_err());
    assert!(vote(&Vote::new_committed(u64::MAX, 2), 3).is_err());
    assert_eq!(vote(&Vote::new(u64::MAX, 2), u64::MAX), Ok(()), "there is no way back");
    assert!(vote(&Vote::new(4, 1 << 40), 3).is_err(), "no node has such a number");
}

#[test]
fn entries_with_holes_or_out_of_order_are_refused() {
    let blank = |term, index| entry(term, index, Payload::Blank);
    assert!(vetted(vec![blank(4, 9)]).is_err(), "entry 8 is due");
    assert!(vetted(vec![blank(4, u64::MAX)]).is_err());
    assert!(vetted(vec![blank(4, 8), blank(4, 8)]).is_err());
    assert!(vetted(vec![blank(4, 8), blank(3, 9)]).is_err(), "terms never fall");
    assert!(vetted(vec![blank(5, 8)]).is_err(), "of a later leader than the one that sends it");
    let mut last = request(vec![blank(4, 0)]);
    last.prev_log_id = Some(id(4, u64::MAX));
    assert!(entries(&last, &known()).is_err(), "nothing comes after the last of all");
    let uncommitted = AppendEntriesRequest { vote: Vote::new(4, 1), ..request(vec![]) };
    assert!(entries(&uncommitted, &known()).is_err(), "a candidate sends no entries");
}

#[test]
fn what_is_committed_is_not_replaced() {
    let mut request = request(vec![]);
    for (term, index) in [(4, 7), (4, 2)] {
        request.prev_log_id = Some(id(term, index));
        assert!(entries(&request, &known()).is_err(), "{term}, {index}");
    }
    request.prev_log_id = None;
    request.entries = vec![entry(4, 0, Payload::Blank)];
    assert!(entries(&request, &known()).is_err());
}

#[test]
fn members_that_make_no_sense_are_refused() {
    let with = |voters: &[u64], nodes: &[u64]| {
        vetted(vec![entry(4, 8, Payload::Membership(members_of(voters, nodes)))])
    };
    assert_eq!(with(&[0], &[0, 1]), Ok(()));
    assert!(with(&[], &[0, 1]).is_err(), "nobody votes");
    assert!(with(&[0, 2], &[0, 1]).is_err(), "a voter without an address");
    assert!(with(&[0], &[0, 1 << 32]).is_err(), "no node has such a number");
    assert!(with(&[0], &(0..65).collect::<Vec<_>>()).is_err(), "too many");
}

#[test]
fn changes_that_nothing_could_follow_are_refused() {
    let with = |lease_time, change| {
        let stamped = Stamped { lease_time: LeaseTime(lease_time), change };
        vetted(vec![entry(4, 8, Payload::Normal(stamped))])
    };
    assert_eq!(with(LEASE_TIME_MAX - 1, Change::RaiseVersion(1)), Ok(()));
    assert!(with(LEASE_TIME_MAX, Change::Tick).is_err());
    assert!(with(9, Change::RaiseVersion(2)).is_err());
}

#[test]
fn a_snapshot_that_contradicts_what_is_committed_is_refused() {
    let with = |last: Option<LogId>| {
        let members = StoredMembershipOf::<TypeConfig>::new(None, members_of(&[0], &[0]));
        let meta = Meta { last_log_id: last, last_membership: members };
        snapshot(&Vote::new_committed(4, 1), &meta, &known())
    };
    assert_eq!(with(Some(id(4, 100))), Ok(()));
    assert_eq!(with(Some(id(2, 5))), Ok(()), "an older one is not needed, and does no harm");
    assert!(with(None).is_err());
    assert!(with(Some(id(5, 100))).is_err(), "of a later leader than the one that sends it");
    assert!(with(Some(id(4, 7))).is_err());
    assert!(with(Some(id(4, 6))).is_err());
}
