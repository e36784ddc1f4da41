//! Records: what a frame of the write-ahead log holds, encoded one behind the other.
//!
//! Each is a kind (1 byte), a length (4), a hash (8) and its bytes. The hash is there for those
//! entries that are read again one by one, long after their frame was checked.

use super::frame::hash;
use crate::raft_types::TypeConfig;
use conclave_table::LeaseTime;
use openraft::EntryPayload;
use openraft::type_config::alias::{EntryOf, LogIdOf, VoteOf};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The place of an entry in the log.
pub type LogId = LogIdOf<TypeConfig>;
/// A vote.
pub type Vote = VoteOf<TypeConfig>;
/// An entry of the log.
pub type LogEntry = EntryOf<TypeConfig>;

/// The format of segments. In the first, an entry of force did not say who used it, and why.
pub const FORMAT: u32 = 2;
const PREFIX: usize = 13;

/// Everything but the entries: each segment begins with it, so that older ones can go.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The last vote.
    pub vote: Option<Vote>,
    /// The last entry known to be committed.
    pub committed: Option<LogId>,
    /// The last entry that was purged.
    pub purged: Option<LogId>,
    /// The largest lease clock up to there.
    pub purged_lease: LeaseTime,
    /// The last entry.
    pub last: Option<LogId>,
    /// The largest lease clock up to there.
    pub lease: LeaseTime,
}

/// The beginning of a segment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Begin {
    /// Its format: whatever follows may only be read if it is known.
    pub format: u32,
    /// The disk that it belongs to.
    pub disk: u128,
    /// Its number.
    pub segment: u64,
    /// How it all was when it began.
    pub checkpoint: Checkpoint,
}

/// One thing that was written.
#[derive(Clone, Debug, PartialEq)]
pub enum Record {
    /// A segment begins.
    Begin(Begin),
    /// An entry, and the length of its bytes.
    Entry(LogEntry),
    /// A vote.
    Vote(Vote),
    /// So much is committed.
    Committed(LogId),
    /// What is after this entry, or all, is gone; and the lease clock that is left.
    Truncate(Option<LogId>, LeaseTime),
    /// What is up to this entry is no longer needed; and the lease clock of it.
    Purge(LogId, LeaseTime),
    /// A segment ends, and the next one exists.
    Seal,
}

/// A record and where its bytes are.
#[derive(Debug)]
pub struct Located {
    /// What it says.
    pub record: Record,
    /// Where its bytes begin in the body.
    pub at: usize,
    /// How many they are.
    pub length: usize,
}

const BEGIN: u8 = 1;
const ENTRY: u8 = 2;
const VOTE: u8 = 3;
const COMMITTED: u8 = 4;
const TRUNCATE: u8 = 5;
const PURGE: u8 = 6;
const SEAL: u8 = 7;

/// An entry as it is written.
pub fn encode_entry(entry: &LogEntry) -> Vec<u8> {
    postcard::to_stdvec(entry).expect("an entry is plain data")
}

/// Appends an encoded entry; returns where its bytes begin in the body.
pub fn put_entry(body: &mut Vec<u8>, entry: &[u8]) -> usize {
    put_bytes(body, ENTRY, entry)
}

/// Appends any record.
pub fn put(body: &mut Vec<u8>, record: &Record) {
    match record {
        Record::Begin(begin) => put_value(body, BEGIN, begin),
        Record::Entry(entry) => put_value(body, ENTRY, entry),
        Record::Vote(vote) => put_value(body, VOTE, vote),
        Record::Committed(id) => put_value(body, COMMITTED, id),
        Record::Truncate(id, lease) => put_value(body, TRUNCATE, &(id, lease)),
        Record::Purge(id, lease) => put_value(body, PURGE, &(id, lease)),
        Record::Seal => put_value(body, SEAL, &()),
    }
}

fn put_value<T: Serialize>(body: &mut Vec<u8>, kind: u8, value: &T) {
    let bytes = postcard::to_stdvec(value).expect("records are plain data");
    put_bytes(body, kind, &bytes);
}

fn put_bytes(body: &mut Vec<u8>, kind: u8, bytes: &[u8]) -> usize {
    let length = u32::try_from(bytes.len()).expect("records are far below 4 GiB");
    body.push(kind);
    body.extend_from_slice(&length.to_le_bytes());
    body.extend_from_slice(&hash(bytes).to_le_bytes());
    let at = body.len();
    body.extend_from_slice(bytes);
    at
}

/// Reads the record at a place of a body; `None` is the end. An error names what cannot be read: a
/// later version wrote it, for the frame that holds it is whole.
pub fn take(body: &[u8], at: usize) -> Result<Option<Located>, &'static str> {
    if at == body.len() {
        return Ok(None);
    }
    let prefix = body.get(at..at + PREFIX).ok_or("half a record")?;
    let mut length = [0; 4];
    length.copy_from_slice(&prefix[1..5]);
    let length = u32::from_le_bytes(length) as usize;
    let at = at + PREFIX;
    let bytes = body.get(at..at + length).ok_or("half a record")?;
    let record = match prefix[0] {
        BEGIN => Record::Begin(value(bytes, "the beginning of a segment")?),
        ENTRY => Record::Entry(decode_entry(bytes)?),
        VOTE => Record::Vote(value(bytes, "a vote")?),
        COMMITTED => Record::Committed(value(bytes, "a commit")?),
        TRUNCATE => {
            let (id, lease) = value(bytes, "a truncation")?;
            Record::Truncate(id, lease)
        }
        PURGE => {
            let (id, lease) = value(bytes, "a purge")?;
            Record::Purge(id, lease)
        }
        SEAL => Record::Seal,
        _ => return Err("a record of an unknown kind"),
    };
    Ok(Some(Located { record, at, length }))
}

/// An entry from its bytes.
pub fn decode_entry(bytes: &[u8]) -> Result<LogEntry, &'static str> {
    value(bytes, "an entry")
}

/// All bytes must be used: a longer encoding is one of a later version.
fn value<T: DeserializeOwned>(bytes: &[u8], what: &'static str) -> Result<T, &'static str> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) | Err(_) => Err(what),
    }
}

/// The bytes of an entry that was read again, if they are still those that were written.
pub fn check_again(prefix_and_bytes: &[u8]) -> Option<&[u8]> {
    let (prefix, bytes) = prefix_and_bytes.split_at_checked(PREFIX)?;
    let mut expected = [0; 8];
    expected.copy_from_slice(&prefix[5..]);
    (hash(bytes) == u64::from_le_bytes(expected)).then_some(bytes)
}

/// How many bytes precede those of a record.
pub const PREFIX_BYTES: usize = PREFIX;

/// The lease clock of an entry. Blank and membership entries have none.
pub fn lease_of(entry: &LogEntry) -> LeaseTime {
    match &entry.payload {
        EntryPayload::Normal(stamped) => stamped.lease_time,
        EntryPayload::Blank | EntryPayload::Membership(_) => LeaseTime::default(),
    }
}
