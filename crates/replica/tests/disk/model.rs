//! Appends, truncations, purges, votes and restarts at random, against a slow obvious model.

use crate::kit::{LogEntry, LogId, Place, append, blank, entry, log_id, long};
use conclave_replica::disk::Disk;
use conclave_replica::raft_types::TypeConfig;
use conclave_table::{Change, LeaseTime};
use openraft::EntryPayload;
use openraft::storage::{RaftLogReader, RaftLogStorage, RaftSnapshotBuilder, RaftStateMachine};
use openraft::type_config::alias::VoteOf;

#[derive(Default)]
struct Model {
    entries: Vec<LogEntry>,
    purged: Option<LogId>,
    vote: Option<VoteOf<TypeConfig>>,
    committed: Option<LogId>,
    /// Of all entries that ever were before those that are left.
    purged_lease: u64,
    term: u64,
    clock: u64,
}

impl Model {
    fn last(&self) -> Option<LogId> {
        self.entries.last().map(|entry| entry.log_id).or(self.purged)
    }

    fn next(&self) -> u64 {
        self.last().map_or(0, |last| last.index + 1)
    }

    fn lease(&self) -> LeaseTime {
        let leases = self.entries.iter().filter_map(|entry| match &entry.payload {
            EntryPayload::Normal(stamped) => Some(stamped.lease_time.0),
            EntryPayload::Blank | EntryPayload::Membership(_) => None,
        });
        LeaseTime(leases.max().unwrap_or_default().max(self.purged_lease))
    }
}

/// Numbers that follow from a seed.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        conclave_core::hash(&self.0) % bound
    }
}

fn some_entries(model: &mut Model, dice: &mut Dice) -> Vec<LogEntry> {
    let next = model.next();
    let count = 1 + dice.roll(6);
    let one = |index| {
        model.clock += dice.roll(50);
        match dice.roll(4) {
            0 => blank(model.term, index),
            1 => entry(model.term, index, model.clock, Change::Tick),
            _ => {
                let length = dice.roll(900) as usize;
                let mut entry = long(model.term, index, length);
                if let EntryPayload::Normal(stamped) = &mut entry.payload {
                    stamped.lease_time = LeaseTime(model.clock);
                }
                entry
            }
        }
    };
    (next..next + count).map(one).collect()
}

async fn step(disk: &Disk, model: &mut Model, dice: &mut Dice) {
    let mut log = disk.log();
    match dice.roll(10) {
        0 => {
            model.term += 1;
            let vote = VoteOf::<TypeConfig>::new(model.term, 1);
            log.save_vote(&vote).await.unwrap();
            model.vote = Some(vote);
        }
        1 => truncate(disk, model, dice).await,
        2 if !model.entries.is_empty() => purge(disk, model, dice).await,
        3 if !model.entries.is_empty() => {
            let at = dice.roll(model.entries.len() as u64) as usize;
            let id = model.entries[at].log_id;
            if model.committed.as_ref().is_none_or(|before| before.index < id.index) {
                log.save_committed(Some(id)).await.unwrap();
                model.committed = Some(id);
            }
        }
        _ => {
            let entries = some_entries(model, dice);
            model.entries.extend(entries.iter().cloned());
            append(&mut log, entries).await.unwrap();
        }
    }
}

/// Never below what is committed.
async fn truncate(disk: &Disk, model: &mut Model, dice: &mut Dice) {
    let least = model.committed.as_ref().map_or(0, |id| id.index + 1);
    let most = model.next();
    let first = model.purged.as_ref().map_or(0, |id| id.index + 1);
    let from = least.max(first) + dice.roll(most.saturating_sub(least.max(first)) + 1);
    let keep = model.entries.iter().filter(|entry| entry.log_id.index < from).count();
    model.entries.truncate(keep);
    disk.log().truncate_after(model.last()).await.unwrap();
}

/// Up to an entry that a snapshot covers, or beyond all of them, as an installed snapshot does.
async fn purge(disk: &Disk, model: &mut Model, dice: &mut Dice) {
    let at = dice.roll(model.entries.len() as u64) as usize;
    let beyond = dice.roll(6) == 0;
    let id = if beyond {
        log_id(model.term, model.next() + dice.roll(20))
    } else {
        model.entries[at].log_id
    };
    cover(disk, &id).await;
    let gone: Vec<LogEntry> =
        model.entries.extract_if(.., |e| e.log_id.index <= id.index).collect();
    let before = Model { entries: gone, purged_lease: model.purged_lease, ..Model::default() };
    model.purged_lease = before.lease().0;
    if model.committed.as_ref().is_none_or(|before| before.index < id.index) {
        disk.log().save_committed(Some(id)).await.unwrap();
        model.committed = Some(id);
    }
    disk.log().purge(id).await.unwrap();
    model.purged = Some(id);
}

/// Makes a snapshot up to an entry: a log that begins later than all snapshots is refused.
async fn cover(disk: &Disk, id: &LogId) {
    let (mut machine, _) = crate::kit::machine(disk);
    let blank = LogEntry { log_id: *id, payload: EntryPayload::Blank };
    let entries = futures_util::stream::iter([Ok((blank, None))]);
    machine.apply(entries).await.unwrap();
    machine.get_snapshot_builder().await.build_snapshot().await.unwrap();
}

async fn compare(disk: &Disk, model: &Model, dice: &mut Dice, context: &str) {
    let mut log = disk.log();
    let state = log.get_log_state().await.unwrap();
    assert_eq!(state.last_purged_log_id, model.purged, "{context}");
    assert_eq!(state.last_log_id, model.last(), "{context}");
    assert_eq!(log.read_vote().await.unwrap(), model.vote, "{context}");
    assert_eq!(disk.last_lease_time(), model.lease(), "{context}");
    assert_eq!(log.try_get_log_entries(..).await.unwrap(), model.entries, "{context}");
    let from = dice.roll(model.next() + 2);
    let until = from + dice.roll(20);
    let within = |entry: &&LogEntry| (from..until).contains(&entry.log_id.index);
    let wanted: Vec<LogEntry> = model.entries.iter().filter(within).cloned().collect();
    assert_eq!(log.try_get_log_entries(from..until).await.unwrap(), wanted, "{context}");
}

#[tokio::test]
async fn the_log_is_what_a_list_would_be_through_any_restarts() {
    for seed in 0..12 {
        let place = Place::new();
        let mut dice = Dice(seed << 32);
        let mut model = Model { term: 1, ..Model::default() };
        let mut disk = place.open();
        for number in 0..60 {
            step(&disk, &mut model, &mut dice).await;
            let context = format!("seed {seed}, step {number}");
            compare(&disk, &model, &mut dice, &context).await;
            if dice.roll(6) == 0 {
                disk.close().await;
                disk = place.open();
                compare(&disk, &model, &mut dice, &format!("{context}, restarted")).await;
                let committed = disk.log().read_committed().await.unwrap();
                assert_eq!(committed, model.committed, "{context}, restarted");
            }
        }
        disk.close().await;
    }
}

#[tokio::test]
async fn whatever_was_answered_is_in_a_copy_that_a_crash_leaves() {
    for seed in 100..104 {
        let place = Place::new();
        let mut dice = Dice(seed << 32);
        let mut model = Model { term: 1, ..Model::default() };
        let disk = place.open();
        for number in 0..30 {
            step(&disk, &mut model, &mut dice).await;
            // Purges are not waited for: a vote is behind them in the queue.
            let vote = VoteOf::<TypeConfig>::new(model.term, 1);
            disk.log().save_vote(&vote).await.unwrap();
            model.vote = Some(vote);
            let crashed = place.copy();
            let copy = crashed.open();
            compare(&copy, &model, &mut dice, &format!("seed {seed}, step {number}")).await;
            let committed = copy.log().read_committed().await.unwrap();
            assert!(committed <= model.committed, "never more than was said");
            copy.close().await;
        }
        disk.close().await;
    }
}

#[tokio::test]
async fn purged_segments_are_deleted_and_others_are_not() {
    let place = Place::new();
    let disk = place.open();
    let mut log = disk.log();
    for index in 0..40 {
        append(&mut log, vec![long(1, index, 600)]).await.unwrap();
    }
    let before = place.segments().len();
    cover(&disk, &log_id(1, 30)).await;
    log.purge(log_id(1, 30)).await.unwrap();
    disk.close().await;
    let after = place.segments().len();
    assert!(after < before / 2 && after > 1, "{before} segments became {after}");
    let disk = place.open();
    let entries = disk.log().try_get_log_entries(..).await.unwrap();
    assert_eq!(entries.first().unwrap().log_id, log_id(1, 31));
    assert_eq!(entries.len(), 9);
    disk.close().await;
}

#[tokio::test]
async fn a_hole_is_refused() {
    let place = Place::new();
    let disk = place.open();
    append(&mut disk.log(), vec![blank(1, 0)]).await.unwrap();
    let error = append(&mut disk.log(), vec![blank(1, 2)]).await.unwrap_err().to_string();
    assert!(error.contains("entry 2 comes where entry 1 is due"), "{error}");
}

#[tokio::test]
async fn nothing_to_append_is_answered_too() {
    let place = Place::new();
    let disk = place.open();
    append(&mut disk.log(), Vec::new()).await.unwrap();
    disk.close().await;
    append(&mut disk.log(), vec![blank(1, 0)]).await.unwrap_err();
}
