//! The state machine: what it applies, what stops it, and what a restart gives back.

use crate::kit::{Notes, Place, append, blank, entry, log_id, long, machine, session};
use crate::snapshot::apply;
use conclave_replica::raft_types::TypeConfig;
use conclave_replica::state_hashes::STRIDE;
use conclave_replica::state_machine::StateMachine;
use conclave_table::{Change, Floor, LeaseTime, Open, Table, VERSION};
use openraft::StorageHelper;
use openraft::storage::{RaftLogStorage, RaftSnapshotBuilder, RaftStateMachine};

fn open(number: u64) -> Change {
    Change::Open(Open::new(session(number), 10_000))
}

/// "The table is applied twice after a restart" would be found here: what is in the snapshot is not
/// applied once more, and what is behind it is applied once.
#[tokio::test]
async fn a_restart_applies_what_the_snapshot_lacks_and_nothing_twice() {
    let place = Place::new();
    let disk = place.open();
    let (mut first, _) = machine(&disk);
    let entries: Vec<_> = (0..10).map(|index| entry(1, index + 1, index, open(index))).collect();
    let mut log = disk.log();
    append(&mut log, vec![blank(1, 0)]).await.unwrap();
    append(&mut log, entries.clone()).await.unwrap();
    apply(&mut first, entries[..6].to_vec()).await;
    first.get_snapshot_builder().await.build_snapshot().await.unwrap();
    apply(&mut first, entries[6..9].to_vec()).await;
    log.save_committed(Some(log_id(1, 9))).await.unwrap();
    let hash = first.shared().look(Table::state_hash);
    disk.close().await;

    let disk = place.open();
    let (mut second, notes) = machine(&disk);
    let mut log = disk.log();
    let mut helper = StorageHelper::<TypeConfig, _, _>::new(&mut log, &mut second).with_id(1);
    helper.get_initial_state().await.unwrap();
    assert_eq!(notes.take(), ["installed 6", "applied 7", "applied 8", "applied 9"]);
    assert_eq!(second.shared().look(Table::state_hash), hash);
    assert_eq!(second.shared().applied(), Some(log_id(1, 9)));
    disk.close().await;
}

#[tokio::test]
async fn an_entry_that_was_applied_before_stops_the_node() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, notes) = machine(&disk);
    apply(&mut machine, vec![entry(1, 1, 1, open(1)), blank(1, 2)]).await;
    notes.take();
    for again in [entry(1, 1, 1, open(1)), blank(1, 2), entry(2, 2, 1, open(2))] {
        let again = futures_util::stream::iter([Ok((again, None))]);
        machine.apply(again).await.unwrap_err();
    }
    assert_eq!(notes.take(), [""; 0]);
    assert!(disk.failure().unwrap().contains("entry 1 "), "{:?}", disk.failure());
}

#[tokio::test]
async fn rules_that_this_build_does_not_know_stop_the_node_before_they_are_applied() {
    let place = Place::new();
    let disk = place.open();
    let (mut old, notes) = machine(&disk);
    let raise = entry(1, 1, 1, Change::RaiseVersion(VERSION + 1));
    let entries = futures_util::stream::iter([Ok((raise.clone(), None)), Ok((blank(1, 2), None))]);
    let error = old.apply(entries).await.unwrap_err().to_string();
    assert!(error.contains("use the version that wrote it"), "{error}");
    assert_eq!(disk.failure().as_deref(), Some(error.as_str()));
    assert_eq!(notes.take(), ["installed 0"]);
    assert_eq!(old.shared().look(Table::version), VERSION);
    assert_eq!(old.shared().applied(), None);

    let place = Place::new();
    let disk = place.open();
    let mut newer = StateMachine::open(&disk, Box::new(Notes::default()), VERSION + 1).unwrap();
    apply(&mut newer, vec![raise]).await;
    newer.get_snapshot_builder().await.build_snapshot().await.unwrap();
    let refused = StateMachine::open(&disk, Box::new(Notes::default()), VERSION).err().unwrap();
    assert!(refused.to_string().contains("use the version that wrote it"), "{refused}");
}

#[tokio::test]
async fn hashes_are_taken_at_the_same_indices_whatever_else_differs() {
    let first = Place::new();
    let second = Place::new();
    let disks = [first.open(), second.open()];
    let ticks = |from: u64, until: u64| {
        (from..until).map(|index| entry(1, index, index, Change::Tick)).collect()
    };
    let [mut one, mut two] = [machine(&disks[0]).0, machine(&disks[1]).0];
    apply(&mut one, ticks(1, 2 * STRIDE + 1)).await;
    apply(&mut two, ticks(1, STRIDE / 2)).await;
    apply(&mut two, ticks(STRIDE / 2, 3 * STRIDE)).await;
    let hashes = one.shared().hashes();
    assert_eq!(hashes, two.shared().hashes());
    assert_eq!(hashes.iter().map(|hash| hash.index).collect::<Vec<_>>(), [STRIDE, 2 * STRIDE]);
    let mut table = Table::new(Floor(0));
    (1..=STRIDE).for_each(|index| {
        table.apply(index, LeaseTime(index), &Change::Tick);
    });
    assert_eq!((hashes[0].hash, hashes[0].version), (table.state_hash(), VERSION));
}

#[tokio::test]
async fn the_lease_clock_of_the_log_survives_truncation_purge_and_restart() {
    let place = Place::new();
    let disk = place.open();
    let mut log = disk.log();
    assert_eq!(disk.last_lease_time(), LeaseTime(0));
    let entries = vec![long(1, 0, 10), long(1, 1, 10), blank(1, 2), long(1, 3, 10), blank(1, 4)];
    append(&mut log, entries).await.unwrap();
    assert_eq!(disk.last_lease_time(), LeaseTime(30));
    log.truncate_after(Some(log_id(1, 2))).await.unwrap();
    assert_eq!(disk.last_lease_time(), LeaseTime(10));
    append(&mut log, vec![blank(2, 3)]).await.unwrap();
    let (mut covering, _) = machine(&disk);
    apply(&mut covering, vec![blank(2, 3)]).await;
    covering.get_snapshot_builder().await.build_snapshot().await.unwrap();
    log.purge(log_id(2, 3)).await.unwrap();
    assert_eq!(disk.last_lease_time(), LeaseTime(10));
    disk.close().await;
    let disk = place.open();
    assert_eq!(disk.last_lease_time(), LeaseTime(10));
    disk.close().await;
}
