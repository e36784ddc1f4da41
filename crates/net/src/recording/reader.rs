//! Reads a recording.

use super::{Check, Entry, Header, MAGIC, VERSION};
use serde::Deserialize;

/// A recording as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// Whose it is.
    pub header: Header,
    /// What happened, in order, without the mark of the end.
    pub entries: Vec<Entry>,
    /// Whether its end is missing: the node did not stop in good order, or the file was cut off.
    /// Up to a second may be lacking.
    pub cut: bool,
}

/// Why bytes are no recording that can be relied on. Trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Something else.
    #[error("not a recording of a conclave node")]
    NotARecording,
    /// From a later version of the program.
    #[error("a recording of version {0}, and this program knows version {VERSION} at most")]
    Newer(u32),
    /// Somebody wrote something else into it.
    #[error("changed after it was written, at byte {0}")]
    Changed(usize),
}

/// Reads a recording; one that was cut off gives what there is up to the cut.
pub fn read(bytes: &[u8]) -> Result<Recording, RecordingError> {
    let rest = bytes.strip_prefix(MAGIC).ok_or(RecordingError::NotARecording)?;
    let (version, rest) = rest.split_first_chunk().ok_or(RecordingError::NotARecording)?;
    match u32::from_le_bytes(*version) {
        VERSION => {}
        later if later > VERSION => return Err(RecordingError::Newer(later)),
        _ => return Err(RecordingError::NotARecording),
    }
    let mut frames = Frames { all: bytes.len(), rest, check: Check::default() };
    // Without a header there is nothing to go by.
    let header: Header = frames.next()?.ok_or(RecordingError::NotARecording)?;
    let mut entries = Vec::new();
    while let Some(entry) = frames.next()? {
        if let Entry::Stopped(_) = entry {
            // Nothing is ever written behind the end.
            return match frames.rest {
                [] => Ok(Recording { header, entries, cut: false }),
                [..] => Err(RecordingError::Changed(frames.position())),
            };
        }
        entries.push(entry);
    }
    Ok(Recording { header, entries, cut: true })
}

struct Frames<'a> {
    all: usize,
    rest: &'a [u8],
    check: Check,
}

impl Frames<'_> {
    fn position(&self) -> usize {
        self.all - self.rest.len()
    }

    /// The next frame, or `None` where the file ends before it does.
    fn next<T: for<'a> Deserialize<'a>>(&mut self) -> Result<Option<T>, RecordingError> {
        let changed = RecordingError::Changed(self.position());
        let Some((length, rest)) = self.rest.split_first_chunk() else { return Ok(None) };
        let Some((check, rest)) = rest.split_first_chunk() else { return Ok(None) };
        let length = u32::from_le_bytes(*length);
        if self.check.of_length(length) != *check {
            return Err(changed);
        }
        let Some((body, rest)) = rest.split_at_checked(length as usize) else { return Ok(None) };
        let Some((check, rest)) = rest.split_first_chunk() else { return Ok(None) };
        if self.check.of_body(body) != *check {
            return Err(changed);
        }
        self.rest = rest;
        match postcard::take_from_bytes(body) {
            Ok((data, [])) => Ok(Some(data)),
            Ok(_) | Err(_) => Err(changed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Done, Recorder, Restored, Step};
    use super::*;
    use crate::{AnyIndication, AnyRequest, Deed, Input, Lane};
    use conclave_core::{NodeId, Ticks};
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn header() -> Header {
        Header {
            cluster: "test".into(),
            settings: "engine=central".into(),
            node: NodeId(1),
            n: 3,
            incarnation: 2,
            started: 1_700_000_000_000_000,
        }
    }

    fn entries() -> Vec<Entry> {
        let step = |at, input, deed, sent| {
            Entry::Step(Step {
                at: Ticks(at),
                key: "lock/a".into(),
                input,
                arrival: None,
                choices: vec![3],
                deeds: vec![Done { deed, sent, due: None }],
            })
        };
        let send = Deed::Send { to: NodeId(0), kind: "REQUEST".into(), bytes: vec![1, 2] };
        vec![
            Entry::Restored(Restored { key: "lock/a".into(), saved: vec![7], timers: Vec::new() }),
            step(5, Input::Request(AnyRequest::Acquire), send, Some((Lane::Durable, 9))),
            step(
                9,
                Input::Timer(vec![0]),
                Deed::Indicate(AnyIndication::Entered { fence: 4 }),
                None,
            ),
        ]
    }

    fn written(finish: bool) -> Vec<u8> {
        let kept = Kept::default();
        let mut recorder =
            Recorder::new(Box::new(kept.clone()), "a.rec".into(), &header()).unwrap();
        entries().iter().for_each(|entry| recorder.write(entry));
        if finish {
            recorder.finish(Ticks(10));
        }
        let bytes = kept.0.lock().unwrap();
        bytes.clone()
    }

    #[test]
    fn what_is_written_is_read() {
        let recording = read(&written(true)).unwrap();
        assert_eq!(recording, Recording { header: header(), entries: entries(), cut: false });
        assert!(read(&written(false)).unwrap().cut);
    }

    #[test]
    fn a_recording_cut_anywhere_gives_what_came_before() {
        let bytes = written(true);
        let mut most = 0;
        for end in 0..bytes.len() {
            match read(&bytes[..end]) {
                Ok(cut) => {
                    assert!(cut.cut);
                    assert_eq!(cut.entries, entries()[..cut.entries.len()]);
                    most = cut.entries.len();
                }
                Err(error) => {
                    assert_eq!((error, most), (RecordingError::NotARecording, 0));
                }
            }
        }
        assert_eq!(most, entries().len());
    }

    #[test]
    fn no_byte_can_change_unseen() {
        let bytes = written(true);
        for at in 0..bytes.len() {
            let mut forged = bytes.clone();
            forged[at] ^= 0x10;
            assert!(read(&forged).is_err(), "byte {at}");
        }
        let longer = [&bytes[..], &bytes[..]].concat();
        assert_eq!(read(&longer), Err(RecordingError::Changed(bytes.len())));
    }

    #[test]
    fn a_later_version_is_refused_by_its_number() {
        let mut bytes = written(true);
        bytes[MAGIC.len()] = 9;
        assert_eq!(read(&bytes), Err(RecordingError::Newer(9)));
        assert_eq!(read(b"hello"), Err(RecordingError::NotARecording));
    }
}
