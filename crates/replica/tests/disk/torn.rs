//! Torn tails are cut, and nothing else is: damage anywhere is refused, and nothing is skipped.

use crate::kit::{Place, append, blank, entry, log_id, long};
use conclave_core::Hasher;
use conclave_replica::raft_types::TypeConfig;
use conclave_table::Change;
use openraft::storage::{RaftLogReader, RaftLogStorage};
use openraft::type_config::alias::VoteOf;
use std::fs::{self, OpenOptions};
use std::os::unix::fs::FileExt;

/// A log with three batches in one segment, closed; the lengths of the file after each.
async fn three() -> (Place, Vec<usize>) {
    let place = Place::new();
    let disk = place.open();
    let mut log = disk.log();
    let mut ends = Vec::new();
    for index in 0..3 {
        append(&mut log, vec![long(1, index, 100)]).await.unwrap();
        ends.push(used(&fs::read(&place.segments()[0]).unwrap()));
    }
    disk.close().await;
    (place, ends)
}

/// Up to the last byte that is not zero.
fn used(bytes: &[u8]) -> usize {
    bytes.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1)
}

/// The indices that are there after a restart.
async fn indices(place: &Place) -> Vec<u64> {
    let disk = place.open();
    let entries = disk.log().try_get_log_entries(..).await.unwrap();
    disk.close().await;
    entries.iter().map(|entry| entry.log_id.index).collect()
}

#[tokio::test]
async fn a_tail_that_is_torn_at_any_byte_is_cut_and_the_log_goes_on() {
    let (place, ends) = three().await;
    let whole = fs::read(&place.segments()[0]).unwrap();
    for cut in ends[1]..ends[2] {
        let copy = place.copy();
        let mut bytes = whole.clone();
        bytes[cut..].fill(0);
        fs::write(&copy.segments()[0], &bytes).unwrap();
        assert_eq!(indices(&copy).await, [0, 1], "torn at {cut}");
        assert!(used(&fs::read(&copy.segments()[0]).unwrap()) <= ends[1], "nothing is left of it");
        let disk = copy.open();
        append(&mut disk.log(), vec![blank(2, 2)]).await.unwrap();
        disk.close().await;
        assert_eq!(indices(&copy).await, [0, 1, 2], "torn at {cut}");
    }
}

/// A write that a crash interrupts leaves a file as long as it was: all its room had been taken
/// before. Whoever cuts it may have cut off what was acknowledged.
#[tokio::test]
async fn a_file_that_is_shorter_than_it_was_made_is_refused_wherever_it_was_cut() {
    let (place, ends) = three().await;
    let path = &place.segments()[0];
    let whole = fs::read(path).unwrap();
    for cut in (0..=ends[2]).chain([whole.len() - 1]) {
        fs::write(path, &whole[..cut]).unwrap();
        let line = place.refusal();
        assert!(
            line.contains(&format!("is damaged at byte {cut} (it was cut off there")),
            "{line}"
        );
        assert!(line.contains("bring the file back"), "{line}");
        assert_eq!(fs::read(path).unwrap(), whole[..cut], "it was changed");
    }
    fs::write(path, &whole).unwrap();
    assert_eq!(indices(&place).await, [0, 1, 2]);
}

#[tokio::test]
async fn a_long_file_that_was_cut_within_its_long_batch_is_refused() {
    let place = Place::new();
    let disk = place.open();
    append(&mut disk.log(), vec![long(1, 0, 20_000)]).await.unwrap();
    disk.close().await;
    let path = &place.segments()[1];
    let whole = fs::read(path).unwrap();
    for cut in [4_096, 10_000, used(&whole) - 1] {
        fs::write(path, &whole[..cut]).unwrap();
        let line = place.refusal();
        assert!(
            line.contains(&format!("is damaged at byte {cut} (it was cut off there")),
            "{line}"
        );
    }
    // As long as it was, it is a write that was cut short.
    let mut bytes = whole.clone();
    bytes[10_000..].fill(0);
    fs::write(path, &bytes).unwrap();
    assert_eq!(indices(&place).await, [0; 0]);
}

/// Or a torn tail that was being cleared when the next crash came.
#[tokio::test]
async fn sectors_that_arrive_in_another_order_are_a_torn_tail() {
    let place = Place::new();
    let disk = place.open();
    let mut log = disk.log();
    append(&mut log, vec![blank(1, 0)]).await.unwrap();
    let begin = used(&fs::read(&place.segments()[0]).unwrap()).next_multiple_of(32);
    append(&mut log, vec![long(1, 1, 2_000)]).await.unwrap();
    disk.close().await;
    let whole = fs::read(&place.segments()[0]).unwrap();
    let sectors: Vec<usize> = (begin / 512..used(&whole).div_ceil(512)).collect();
    for lacking in 1u32..1 << sectors.len() {
        let copy = place.copy();
        let mut bytes = whole.clone();
        for (number, sector) in sectors.iter().enumerate() {
            if lacking & 1 << number != 0 {
                bytes[(sector * 512).max(begin)..(sector + 1) * 512].fill(0);
            }
        }
        fs::write(&copy.segments()[0], &bytes).unwrap();
        assert_eq!(indices(&copy).await, [0], "without sectors {lacking:b} of {sectors:?}");
    }
}

#[tokio::test]
async fn a_flipped_bit_anywhere_is_refused() {
    let (place, ends) = three().await;
    let path = &place.segments()[0];
    let whole = fs::read(path).unwrap();
    for at in 0..ends[2] {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(path, &bytes).unwrap();
        let line = place.refusal();
        assert!(line.contains(path.to_str().unwrap()), "{at}: {line}");
        assert!(
            line.contains("is damaged at byte") && line.contains("bring the file back"),
            "{line}"
        );
        assert_eq!(fs::read(path).unwrap(), bytes, "it was changed");
    }
}

#[tokio::test]
async fn a_batch_that_vanished_in_the_middle_is_refused() {
    let (place, ends) = three().await;
    let path = &place.segments()[0];
    let mut bytes = fs::read(path).unwrap();
    let from = ends[0].next_multiple_of(32);
    bytes[from..ends[1]].fill(0);
    fs::write(path, &bytes).unwrap();
    let line = place.refusal();
    assert!(line.contains(&format!("is damaged at byte {from}")), "{line}");
}

#[tokio::test]
async fn bytes_behind_the_end_are_refused() {
    let (place, ends) = three().await;
    let path = &place.segments()[0];
    let file = OpenOptions::new().write(true).open(path).unwrap();
    let at = ends[2].next_multiple_of(32) as u64;
    file.write_all_at(b"this is not a write that was cut short, is it?", at).unwrap();
    assert!(place.refusal().contains(&format!("is damaged at byte {at}")), "{}", place.refusal());
}

/// A log of several segments, closed.
async fn several() -> Place {
    let place = Place::new();
    let disk = place.open();
    let mut log = disk.log();
    for index in 0..20 {
        append(&mut log, vec![long(1, index, 600)]).await.unwrap();
    }
    let vote = VoteOf::<TypeConfig>::new_committed(1, 1);
    log.save_vote(&vote).await.unwrap();
    disk.close().await;
    assert!(place.segments().len() >= 4, "{:?}", place.segments());
    place
}

#[tokio::test]
async fn a_missing_segment_is_refused_whichever_it_is() {
    let place = several().await;
    for at in 0..place.segments().len() {
        let copy = place.copy();
        let lost = copy.segments()[at].clone();
        fs::remove_file(&lost).unwrap();
        let line = copy.refusal();
        // Of the first one only its number is unknown.
        let named = if at == 0 { "the entries from 0 on" } else { lost.to_str().unwrap() };
        assert!(line.contains("is missing") && line.contains(named), "{at}: {line}");
    }
    let copy = place.copy();
    copy.segments().iter().for_each(|path| fs::remove_file(path).unwrap());
    assert!(copy.refusal().contains("the log has no file at all"));
    fs::remove_dir(copy.data().join("log")).unwrap();
    assert!(copy.refusal().contains("is missing"), "{}", copy.refusal());
}

#[tokio::test]
async fn a_torn_tail_is_torn_only_in_the_last_segment() {
    let place = several().await;
    let path = &place.segments()[1];
    let bytes = fs::read(path).unwrap();
    let end = used(&bytes);
    for cut in [end - 1, end - 40, 700] {
        fs::write(path, &bytes[..cut]).unwrap();
        let line = place.refusal();
        assert!(line.contains(path.to_str().unwrap()), "{line}");
    }
}

#[tokio::test]
async fn segments_of_another_disk_or_in_another_order_are_refused() {
    let place = several().await;
    let other = several().await;
    let path = &place.segments()[1];
    fs::copy(&other.segments()[1], path).unwrap();
    assert!(place.refusal().contains("a file of another node"), "{}", place.refusal());
    fs::copy(&place.segments()[2], path).unwrap();
    assert!(place.refusal().contains(path.to_str().unwrap()), "{}", place.refusal());
}

#[tokio::test]
async fn a_rotation_that_was_cut_short_is_undone() {
    let place = several().await;
    let count = place.segments().len();
    // As it is between the making of the last segment and the seal of the one before.
    let last = place.segments()[count - 1].clone();
    let mut bytes = fs::read(&last).unwrap();
    let first_frame = 32 + u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize + 1;
    bytes[first_frame.next_multiple_of(32)..].fill(0);
    fs::write(&last, &bytes).unwrap();
    let before = place.segments()[count - 2].clone();
    let mut bytes = fs::read(&before).unwrap();
    let seal = (used(&bytes) - 1) / 32 * 32 - 32; // Its header, and 14 bytes.
    bytes[seal..].fill(0);
    fs::write(&before, &bytes).unwrap();
    let kept = indices(&place).await;
    assert_eq!(place.segments().len(), count - 1);
    assert!(kept.len() < 20 && kept.iter().copied().eq(0..kept.len() as u64), "{kept:?}");
    let disk = place.open();
    let next = kept.len() as u64;
    append(&mut disk.log(), (next..30).map(|index| long(2, index, 600)).collect()).await.unwrap();
    assert_eq!(disk.log().get_log_state().await.unwrap().last_log_id, Some(log_id(2, 29)));
    disk.close().await;
    assert_eq!(indices(&place).await.len(), 30);
}

/// What a later version might have written: whole, and of a kind of change that is not known here.
#[tokio::test]
async fn an_entry_of_a_later_version_stops_the_node_before_anything_is_applied() {
    let place = Place::new();
    let disk = place.open();
    append(&mut disk.log(), vec![entry(1, 0, 5, Change::Tick)]).await.unwrap();
    disk.close().await;
    let path = &place.segments()[0];
    let mut bytes = fs::read(path).unwrap();
    let hash = |bytes: &[u8], more: &[u64]| {
        let mut hasher = Hasher::default();
        hasher.write(bytes);
        more.iter().for_each(|word| hasher.write_u64(*word));
        hasher.finish().to_le_bytes()
    };
    let at = (used(&bytes) - 1) / 32 * 32 - 32; // The header; the body is shorter than 32 bytes.
    let length = u32::from_le_bytes(bytes[at + 4..at + 8].try_into().unwrap()) as usize;
    let body = at + 32..at + 32 + length;
    assert_eq!(bytes[body.end - 1], 0, "the first kind of change");
    bytes[body.end - 1] = 99;
    let record = hash(&bytes[body.start + 13..body.end], &[]);
    bytes[body.start + 5..body.start + 13].copy_from_slice(&record);
    let whole = hash(&bytes[body.clone()], &[]);
    bytes[at + 16..at + 24].copy_from_slice(&whole);
    let header = hash(&bytes[at..at + 24], &[1, at as u64]);
    bytes[at + 24..at + 32].copy_from_slice(&header);
    fs::write(path, &bytes).unwrap();
    let line = place.refusal();
    assert!(line.contains("an entry, which this version"), "{line}");
    assert!(line.contains("use the version that wrote it"), "{line}");
    assert!(line.contains(path.to_str().unwrap()), "{line}");
}
