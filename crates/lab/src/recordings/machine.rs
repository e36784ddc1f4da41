//! The machines of a real cluster, by their names, in their own types.

use super::judge::Judged;
use super::post::Difference;
use super::retell::{Retold, Run, retell};
use crate::machines::{DETECTOR, ELECTION, MachineVisitor, Made, Settings, visit_machine};
use crate::{Error, Experiment, People, Usage};
use conclave_core::Process;
use conclave_core::detector::Detector;
use conclave_core::election::Election;
use conclave_core::mutex::Mutex;
use conclave_sim::trace::{self, Header, Machine, Trace};

/// What all nodes of a cluster agreed on.
pub fn settings(text: &str) -> Result<Settings, Usage> {
    text.parse().map_err(|error| Usage(format!("of an unknown kind of cluster: {error}")))
}

/// What the first line of a trace says of a machine.
pub fn header(text: &str, key: &str, command: String) -> Result<(Experiment, Header), Error> {
    let settings = settings(text)?;
    let (chosen, set) = match key {
        // Their rhythm may be that of the locks that stand on them.
        ELECTION => (&settings.election, &[][..]),
        DETECTOR => (&settings.detector, &[][..]),
        _ => (&settings.engine, &settings.engine.set[..]),
    };
    let experiment = Experiment::of_texts(&chosen.id, settings.nodes, set, &People::default())?;
    let machine = Machine { key: key.to_string(), settings: text.to_string() };
    let header = Header { machine: Some(machine), ..experiment.header(command) };
    Ok((experiment, header))
}

/// Runs a machine of all nodes again.
pub fn again(
    settings: &Settings,
    key: &str,
    run: Run<'_>,
) -> Result<Result<Retold, Difference>, Usage> {
    visit_machine(settings, key, Visit(Again(run)))
}

/// Runs every node of a trace of real machines again.
pub fn verify(machine: &Machine, trace: &Trace) -> Result<u64, String> {
    let settings = settings(&machine.settings).map_err(|error| error.to_string())?;
    let verified = visit_machine(&settings, &machine.key, Visit(Verify(trace)));
    verified.map_err(|error| error.to_string())?.map_err(|difference| difference.to_string())
}

/// Something to do with machines, whatever their types.
trait Work {
    type Output;
    fn on<P: Process<Provides: Judged>>(self, made: &Made<P>) -> Self::Output;
}

struct Again<'a>(Run<'a>);

impl Work for Again<'_> {
    type Output = Result<Retold, Difference>;

    fn on<P: Process<Provides: Judged>>(self, made: &Made<P>) -> Self::Output {
        retell(made, self.0)
    }
}

struct Verify<'a>(&'a Trace);

impl Work for Verify<'_> {
    type Output = Result<u64, Box<trace::Difference>>;

    fn on<P: Process<Provides: Judged>>(self, made: &Made<P>) -> Self::Output {
        trace::verify(self.0, &*made.cluster.fresh)
    }
}

struct Visit<W>(W);

impl<W: Work> MachineVisitor for Visit<W> {
    type Output = W::Output;

    fn lock<P: Process<Provides = Mutex>>(self, made: Made<P>) -> W::Output {
        self.0.on(&made)
    }

    fn election<P: Process<Provides = Election>>(self, made: Made<P>) -> W::Output {
        self.0.on(&made)
    }

    fn detector<P: Process<Provides = Detector>>(self, made: Made<P>) -> W::Output {
        self.0.on(&made)
    }
}
