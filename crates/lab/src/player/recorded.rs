//! A recording, played: read, verified and judged before anything of it is shown.

use super::judged::{Judged, judge};
use super::played::{Played, hash_of, without_violations};
use super::{EVENTS_MAX, NODES_MAX, Refused};
use crate::{Experiment, recordings};
use conclave_sim::trace::{self, Trace};

impl Played {
    /// Plays a recording, of the simulator or of a real cluster: the text of a `.jsonl` file.
    pub fn by_recording(file: &[u8]) -> Result<Self, Refused> {
        let wrong = |words: &str| Refused::new("recording", words);
        let text = std::str::from_utf8(file).map_err(|_| {
            wrong(
                "of one node alone, or no recording; 'conclave replay A.rec B.rec --trace \
                 run.jsonl' makes one file of those of all nodes",
            )
        })?;
        let (trace, _) = trace::read(text).map_err(Refused::of("recording"))?;
        let nodes = trace.header.names.len().max(trace.header.nodes as usize);
        if nodes > NODES_MAX as usize {
            return Err(wrong(&format!("{nodes} nodes: at most {NODES_MAX} here")));
        }
        if trace.records.len() as u64 > EVENTS_MAX {
            let words = format!("{} events: at most {EVENTS_MAX} here", trace.records.len());
            return Err(wrong(&words));
        }
        let experiment =
            Experiment::of_recording(&trace.header).map_err(Refused::of("recording"))?;
        let records = without_violations(trace.records);
        let trace = Trace { header: trace.header, records };
        verify(&experiment, &trace)?;
        let family = experiment.setting.entry.family;
        let Judged { verdicts, violations } = judge(&trace, family, trace.records.len());
        Ok(Self {
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

/// Every node is run again, and must do the same.
fn verify(experiment: &Experiment, trace: &Trace) -> Result<(), Refused> {
    let verified = match &trace.header.machine {
        None => experiment.verify(trace).map_err(|difference| difference.to_string()),
        Some(machine) => recordings::verify(machine, trace),
    };
    verified.map(|_| ()).map_err(Refused::of("recording"))
}
