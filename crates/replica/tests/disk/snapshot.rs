//! Snapshots: whole or not there, checked, sent and taken in chunks.

use crate::kit::{LogEntry, Notes, Place, append, ask, blank, entry, log_id, machine, session};
use conclave_replica::disk::snapshot::{CHUNK_BYTES_MAX, Head, NotTaken, Pieces};
use conclave_replica::disk::{ClusterId, Disk};
use conclave_replica::raft_types::TypeConfig;
use conclave_replica::state_machine::StateMachine;
use conclave_table::{Acquire, Answer, Body, Change, Fence, LeaseTime, Open, Table};
use openraft::storage::{RaftLogStorage, RaftSnapshotBuilder, RaftStateMachine};
use openraft::type_config::alias::SnapshotOf;
use std::fs;

type Snapshot = SnapshotOf<TypeConfig, conclave_replica::disk::SnapshotFile>;

pub async fn apply(machine: &mut StateMachine, entries: Vec<LogEntry>) {
    let entries = entries.into_iter().map(|entry| Ok((entry, None)));
    machine.apply(futures_util::stream::iter(entries)).await.unwrap();
}

async fn build(machine: &mut StateMachine) -> Snapshot {
    machine.get_snapshot_builder().await.build_snapshot().await.unwrap()
}

/// Alice holds a lock and bob waits for it.
fn story() -> Vec<LogEntry> {
    let open = |number| Change::Open(Open::new(session(number), 10_000));
    let acquire = || Body::Acquire(Acquire::exclusive("build").waiting(60_000));
    vec![
        blank(1, 0),
        entry(1, 1, 5, open(1)),
        entry(1, 2, 6, open(2)),
        entry(1, 3, 7, ask(session(1), 1, acquire())),
        entry(1, 4, 8, ask(session(2), 1, acquire())),
    ]
}

async fn told(disk: &Disk) -> (StateMachine, Notes) {
    let (mut machine, notes) = machine(disk);
    apply(&mut machine, story()).await;
    (machine, notes)
}

#[tokio::test]
async fn a_table_is_the_same_after_a_restart_from_its_snapshot() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, notes) = told(&disk).await;
    let hash = machine.shared().look(Table::state_hash);
    let snapshot = build(&mut machine).await;
    assert_eq!(snapshot.meta.last_log_id, Some(log_id(1, 4)));
    let seen = ["installed 0", "applied 1", "applied 2", "applied 3", "applied 4"];
    assert_eq!(notes.take(), seen);
    disk.close().await;
    let disk = place.open();
    let (mut machine, notes) = crate::kit::machine(&disk);
    assert_eq!(notes.take(), ["installed 4"]);
    assert_eq!(machine.shared().look(Table::state_hash), hash);
    assert_eq!(machine.applied_state().await.unwrap().0, Some(log_id(1, 4)));
    let latest = machine.get_current_snapshot().await.unwrap().unwrap();
    assert_eq!(latest.meta, snapshot.meta);
    disk.close().await;
}

/// "The request-id table is missing from the snapshot" would be found here: a repeat of what was
/// asked before must be answered as the first was, not carried out again.
#[tokio::test]
async fn a_repeat_after_a_restart_from_a_snapshot_is_answered_not_carried_out() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, _) = told(&disk).await;
    build(&mut machine).await;
    disk.close().await;
    let disk = place.open();
    let (machine, _) = crate::kit::machine(&disk);
    let acquire = Body::Acquire(Acquire::exclusive("build").waiting(60_000));
    let mut table = machine.shared().look(Table::clone);
    let repeated = table.apply(9, LeaseTime(9), &ask(session(1), 1, acquire.clone()));
    assert_eq!(repeated.answer.fence(), Some(Fence(3)), "{:?}", repeated.answer);
    let repeated = table.apply(10, LeaseTime(9), &ask(session(2), 1, acquire));
    assert_eq!(repeated.answer, Answer::Waiting { position: 1 });
    disk.close().await;
}

#[tokio::test]
async fn half_a_snapshot_is_ignored_and_older_ones_are_removed() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, _) = told(&disk).await;
    build(&mut machine).await;
    let older = place.snapshots()[0].clone();
    let bytes = fs::read(&older).unwrap();
    apply(&mut machine, vec![blank(1, 5)]).await;
    build(&mut machine).await;
    assert_eq!(place.snapshots().len(), 1);
    disk.close().await;
    fs::write(&older, bytes).unwrap(); // As if it had not been removed before the crash.
    fs::write(place.data().join("snapshots/half.part"), "half").unwrap();
    let disk = place.open();
    let (mut machine, _) = crate::kit::machine(&disk);
    assert_eq!(machine.applied_state().await.unwrap().0, Some(log_id(1, 5)));
    assert_eq!(place.snapshots().len(), 1);
    disk.close().await;
}

#[tokio::test]
async fn a_snapshot_that_was_changed_or_lost_is_refused() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, _) = told(&disk).await;
    let mut log = disk.log();
    append(&mut log, story()).await.unwrap();
    build(&mut machine).await;
    log.purge(log_id(1, 4)).await.unwrap();
    disk.close().await;
    let path = place.snapshots()[0].clone();
    let good = fs::read(&path).unwrap();
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 16;
        fs::write(&path, &bytes).unwrap();
        let line = place.refusal();
        assert!(line.contains(path.to_str().unwrap()), "{at}: {line}");
        assert!(line.contains("is damaged"), "{at}: {line}");
    }
    for length in 0..good.len() {
        fs::write(&path, &good[..length]).unwrap();
        assert!(place.refusal().contains("is damaged"), "{length}: {}", place.refusal());
    }
    fs::remove_file(&path).unwrap();
    assert!(place.refusal().contains("no snapshot covers"), "{}", place.refusal());
    fs::remove_dir(place.data().join("snapshots")).unwrap();
    assert!(place.refusal().contains("snapshots is missing"), "{}", place.refusal());
}

#[tokio::test]
async fn another_node_takes_it_in_chunks() {
    let place = Place::new();
    let disk = place.open();
    disk.set_cluster_id(ClusterId { id: 7, generation: 1 }).unwrap();
    let (mut machine, _) = told(&disk).await;
    let Snapshot { meta, snapshot } = build(&mut machine).await;
    let other = Place::new();
    let other_disk = other.open();
    let (mut behind, notes) = crate::kit::machine(&other_disk);
    let mut incoming = other_disk.snapshots().receive().unwrap();
    while incoming.length() < snapshot.length() {
        let chunk = snapshot.read_chunk(incoming.length(), 100).await.unwrap();
        incoming.write_chunk(incoming.length(), chunk).await.unwrap();
    }
    let file = incoming.finish(&meta).await.unwrap();
    behind.install_snapshot(&meta, file).await.unwrap();
    assert_eq!(notes.take(), ["installed 0", "installed 4"]);
    let hash = machine.shared().look(Table::state_hash);
    assert_eq!(behind.shared().look(Table::state_hash), hash);
    assert_eq!(other_disk.identity().cluster_id, Some(ClusterId { id: 7, generation: 1 }));
    other_disk.close().await;
    let other_disk = other.open();
    let (behind, _) = crate::kit::machine(&other_disk);
    assert_eq!(behind.shared().look(Table::state_hash), hash);
    assert_eq!(other.snapshots().len(), 1);
    other_disk.close().await;
    disk.close().await;
}

#[tokio::test]
async fn chunks_that_do_not_fit_are_not_taken_and_the_node_lives() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, _) = told(&disk).await;
    let Snapshot { meta, snapshot } = build(&mut machine).await;
    let bytes = snapshot.read_all().await.unwrap();
    let mut incoming = disk.snapshots().receive().unwrap();
    incoming.write_chunk(0, bytes[..50].to_vec()).await.unwrap();
    for offset in [0, 49, 51] {
        let refused = incoming.write_chunk(offset, vec![1]).await;
        assert!(matches!(refused, Err(NotTaken::Gap { expected: 50, .. })), "{refused:?}");
    }
    let large = incoming.write_chunk(50, vec![0; CHUNK_BYTES_MAX + 1]).await;
    assert!(matches!(large, Err(NotTaken::TooLarge)), "{large:?}");
    let half = incoming.finish(&meta).await;
    assert!(matches!(half, Err(NotTaken::Wrong(_))), "{half:?}");
    let mut wrong = disk.snapshots().receive().unwrap();
    wrong.write_chunk(0, bytes).await.unwrap();
    let wrong = wrong.finish(&Default::default()).await;
    assert!(matches!(wrong, Err(NotTaken::Wrong(_))), "{wrong:?}");
    assert_eq!(disk.failure(), None);
    assert_eq!(place.snapshots().len(), 1, "nothing stays behind");
    disk.close().await;
}

#[tokio::test]
async fn one_of_another_cluster_stops_the_node() {
    let place = Place::new();
    let disk = place.open();
    disk.set_cluster_id(ClusterId { id: 7, generation: 1 }).unwrap();
    let (mut machine, _) = told(&disk).await;
    let Snapshot { meta, snapshot } = build(&mut machine).await;
    let other = Place::new();
    let other_disk = other.open();
    other_disk.set_cluster_id(ClusterId { id: 8, generation: 1 }).unwrap();
    let (mut behind, _) = crate::kit::machine(&other_disk);
    let before = behind.shared().look(Table::state_hash);
    let mut incoming = other_disk.snapshots().receive().unwrap();
    incoming.write_chunk(0, snapshot.read_all().await.unwrap()).await.unwrap();
    let file = incoming.finish(&meta).await.unwrap();
    behind.install_snapshot(&meta, file).await.unwrap_err();
    assert!(other_disk.failure().unwrap().contains("another cluster"));
    assert_eq!(behind.shared().look(Table::state_hash), before);
    assert!(other.snapshots().is_empty(), "nothing stays behind");
    other_disk.close().await;
    disk.close().await;
}

/// A snapshot may be built while a later one comes from the leader: the log then begins after what
/// the earlier one covers.
#[tokio::test]
async fn one_that_covers_less_does_not_replace_the_latest() {
    let place = Place::new();
    let disk = place.open();
    let (mut machine, _) = told(&disk).await;
    let older = Head { meta: build(&mut machine).await.meta, cluster_id: None };
    let table = machine.shared().look(Table::clone);
    apply(&mut machine, vec![blank(1, 5)]).await;
    build(&mut machine).await;
    disk.snapshots().write(&older, Pieces::encode(&older, &table)).unwrap();
    let (meta, _) = disk.snapshots().latest().unwrap();
    assert_eq!(meta.last_log_id, Some(log_id(1, 5)));
    assert_eq!(place.snapshots().len(), 1, "nothing stays behind");
    disk.close().await;
    let disk = place.open();
    assert_eq!(disk.snapshots().latest().unwrap().0.last_log_id, Some(log_id(1, 5)));
    disk.close().await;
}
