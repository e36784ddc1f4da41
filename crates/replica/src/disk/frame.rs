//! Frames: the checksummed units of the write-ahead log, one for each synced batch.
//!
//! | bytes | what                                                              |
//! |-------|-------------------------------------------------------------------|
//! | 4     | a mark                                                            |
//! | 4     | length of the body                                                |
//! | 8     | number of the frame: one more than the one before                 |
//! | 8     | hash of the body                                                  |
//! | 8     | hash of all of the above, of the segment and of the offset        |
//! | ...   | the body                                                          |
//! | 1     | an end that is not zero; then zeros up to the next multiple of 32 |
//!
//! A frame is written only after the one before it was synced. So a broken frame with a whole one
//! behind it was damaged after it was synced: nothing may be read past it. A broken frame with
//! nothing behind it is a *torn tail* if it looks like a write that was cut short into room that
//! was zero: its end is still zero, or a whole sector of it is. Anything else is damage, too. So is
//! a file that ends before such a write would have: its room was there before anything was written.

use conclave_core::Hasher;

/// Frames begin at multiples of this, so that no header spans two sectors.
pub const ALIGN: usize = 32;
/// The length of what precedes a body.
pub const HEADER: usize = 32;
const MARK: [u8; 4] = *b"Cfr1";
const END: u8 = 0xFF;
/// What a disk writes as a whole.
const SECTOR: usize = 512;

/// What is at a place in a segment.
#[derive(Debug, PartialEq, Eq)]
pub enum Found<'a> {
    /// A whole frame.
    Frame {
        /// Its number.
        number: u64,
        /// Where its body begins in the segment.
        body_at: usize,
        /// What it holds.
        body: &'a [u8],
        /// Where the next one begins.
        next: usize,
    },
    /// Nothing was written here or behind.
    End,
    /// The last write was cut short: nobody was told that it is there.
    Torn,
    /// What was synced here is no longer what it was.
    Damaged(&'static str),
}

/// A frame that is being filled.
#[derive(Debug)]
pub struct Draft(Vec<u8>);

impl Draft {
    /// An empty one, in memory that is used again.
    pub fn new(mut buffer: Vec<u8>) -> Self {
        buffer.clear();
        buffer.resize(HEADER, 0);
        Self(buffer)
    }

    /// Where the body may be appended to.
    pub fn body(&mut self) -> &mut Vec<u8> {
        &mut self.0
    }

    /// How long it would be now.
    pub fn length(&self) -> usize {
        (self.0.len() + 1).next_multiple_of(ALIGN)
    }

    /// The bytes for one place of one segment.
    pub fn finish(mut self, segment: u64, at: u64, number: u64) -> Vec<u8> {
        let body = u32::try_from(self.0.len() - HEADER).expect("batches are far below 4 GiB");
        let hash = hash(&self.0[HEADER..]);
        self.0[..4].copy_from_slice(&MARK);
        self.0[4..8].copy_from_slice(&body.to_le_bytes());
        self.0[8..16].copy_from_slice(&number.to_le_bytes());
        self.0[16..24].copy_from_slice(&hash.to_le_bytes());
        let header = header_hash(&self.0[..24], segment, at);
        self.0[24..HEADER].copy_from_slice(&header.to_le_bytes());
        self.0.push(END);
        self.0.resize(self.0.len().next_multiple_of(ALIGN), 0);
        self.0
    }
}

/// The checksum of bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = Hasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Reads what is at a place of a segment. `bytes` are the whole segment, zeros at its end aside.
pub fn read(bytes: &[u8], segment: u64, at: usize) -> Found<'_> {
    if let Some(frame) = whole(bytes, segment, at) {
        return frame;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    if is_zero(rest) {
        return Found::End;
    }
    if (at + ALIGN..bytes.len()).step_by(ALIGN).any(|at| whole(bytes, segment, at).is_some()) {
        return Found::Damaged("a batch that was synced before another one is broken");
    }
    judge_last(bytes, segment, at)
}

fn whole(bytes: &[u8], segment: u64, at: usize) -> Option<Found<'_>> {
    let Header { number, length, hash: expected } = header(bytes, segment, at)?;
    let body_at = at + HEADER;
    let body = bytes.get(body_at..body_at.checked_add(length)?)?;
    let end = bytes.get(body_at + length)?;
    let next = (body_at + length + 1).next_multiple_of(ALIGN);
    let fill = &bytes[body_at + length + 1..next.min(bytes.len())];
    if *end != END || !is_zero(fill) || hash(body) != expected {
        return None;
    }
    Some(Found::Frame { number, body_at, body, next })
}

/// Where the frame at a place ends, if its header is whole.
pub fn end(bytes: &[u8], segment: u64, at: usize) -> Option<usize> {
    let Header { length, .. } = header(bytes, segment, at)?;
    (at + HEADER + 1).checked_add(length)
}

struct Header {
    number: u64,
    length: usize,
    hash: u64,
}

fn header(bytes: &[u8], segment: u64, at: usize) -> Option<Header> {
    let header = bytes.get(at..at.checked_add(HEADER)?)?;
    if header[..4] != MARK {
        return None;
    }
    let number = |from: usize, to: usize| {
        let mut word = [0; 8];
        word[..to - from].copy_from_slice(&header[from..to]);
        u64::from_le_bytes(word)
    };
    if number(24, 32) != header_hash(&header[..24], segment, at as u64) {
        return None;
    }
    let length = usize::try_from(number(4, 8)).ok()?;
    Some(Header { number: number(8, 16), length, hash: number(16, 24) })
}

fn header_hash(header: &[u8], segment: u64, at: u64) -> u64 {
    let mut hasher = Hasher::default();
    hasher.write(header);
    hasher.write_u64(segment);
    hasher.write_u64(at);
    hasher.finish()
}

/// A broken frame with nothing behind it.
fn judge_last(bytes: &[u8], segment: u64, at: usize) -> Found<'static> {
    let after_header = (at + HEADER).min(bytes.len());
    let Some(header) = header(bytes, segment, at) else {
        // Sectors may reach the disk in any order, the one with the header last.
        let unwritten = is_zero(&bytes[at..after_header]);
        let cut = is_zero(&bytes[after_header..]);
        return if unwritten || cut { Found::Torn } else { Found::Damaged("a broken header") };
    };
    let end = after_header + header.length;
    let unwritten = |sector: usize| {
        let from = sector * SECTOR;
        bytes.get(from..from + SECTOR).is_none_or(is_zero)
    };
    let inner = at.div_ceil(SECTOR)..(end + 1) / SECTOR;
    let cut = bytes.get(end).is_none_or(|end| *end == 0);
    if cut || inner.into_iter().any(unwritten) {
        return Found::Torn;
    }
    Found::Damaged("the checksum of the last batch is wrong")
}

fn is_zero(bytes: &[u8]) -> bool {
    const ZEROS: [u8; 4096] = [0; 4096];
    bytes.chunks(ZEROS.len()).all(|chunk| *chunk == ZEROS[..chunk.len()])
}
