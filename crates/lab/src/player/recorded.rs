//! A recording, played: read, verified and judged before anything of it is shown.

use super::judged::{Judged, judge};
use super::limits::took_too_long;
use super::played::{Played, hash_of, without_violations};
use super::{EVENTS_MAX, NODES_MAX, Refused};
use crate::Experiment;
use conclave_sim::Patience;
use conclave_sim::trace::{self, Trace};

impl Played {
    /// Plays a recording, of the simulator or of a real cluster: the text of a `.jsonl` file.
    pub fn by_recording(patience: Patience, file: &[u8]) -> Result<Self, Refused> {
        let trace = read(file)?;
        let experiment =
            Experiment::of_recording(&trace.header).map_err(Refused::of("recording"))?;
        let records = without_violations(trace.records);
        let trace = Trace { header: trace.header, records };
        let verified = experiment.verify(patience, &trace).map_err(Refused::of("recording"));
        if patience.is_over() {
            return Err(took_too_long("recording"));
        }
        verified?;
        let family = experiment.setting.entry.family;
        let Judged { verdicts, violations } = judge(&trace, family, trace.records.len());
        Ok(Self {
            patience,
            plan: None,
            hash: hash_of(&trace),
            verdicts,
            violations,
            outcome: None,
            survey: None,
            loop_from: None,
            overrun: false,
            trace,
            experiment,
        })
    }
}

/// What a recording says, if it is one and not too large.
fn read(file: &[u8]) -> Result<Trace, Refused> {
    let wrong = |words: &str| Refused::new("recording", words);
    let text = std::str::from_utf8(file).map_err(|_| {
        wrong(
            "of one node alone, or no recording; 'conclave replay A.rec B.rec --trace run.jsonl' \
             makes one file of those of all nodes",
        )
    })?;
    if bytes_read(text) > READ_MAX {
        return Err(wrong("it has more in it than is read here"));
    }
    let (trace, _) = trace::read(text).map_err(Refused::of("recording"))?;
    let nodes = trace.header.names.len().max(trace.header.nodes as usize);
    if nodes > NODES_MAX as usize {
        return Err(wrong(&format!("{nodes} nodes: at most {NODES_MAX} here")));
    }
    if trace.records.len() as u64 > EVENTS_MAX {
        let words = format!("{} events: at most {EVENTS_MAX} here", trace.records.len());
        return Err(wrong(&words));
    }
    Ok(trace)
}

/// No recording takes more bytes than this in memory; one of 16 MiB that nobody forged takes less.
const READ_MAX: usize = 384 << 20;

/// About how many bytes a recording takes when it is read: numbers in lists take the most beyond
/// their letters, and objects the most in all.
fn bytes_read(text: &str) -> usize {
    let takes = |letter: u8| match letter {
        b',' => 64,
        b'[' => 128,
        b'{' => 640,
        _ => 1,
    };
    text.bytes().map(takes).sum()
}
