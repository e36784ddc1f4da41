//! What the rows of the detectors share, and a detector for other algorithms to stand on.

use super::{Cluster, Kind, Parameter, Params, Setting, adaptive, find, heartbeat, phi_accrual};
use crate::Error;
use crate::detector::adaptive::Adaptive;
use crate::detector::any::AnyDetector;
use crate::detector::heartbeat::Heartbeat;
use crate::detector::phi_accrual::PhiAccrual;
use conclave_core::{NodeId, Process, Ticks};

/// The detectors that can stand below another algorithm, by their ids.
pub const DETECTORS: &[&str] = &["phi-accrual", "heartbeat", "adaptive"];

pub(super) const PERIOD: Parameter = Parameter {
    name: "period",
    kind: Kind::Time { or: &[] },
    default: "1",
    about: "the time from one heartbeat to the next",
};

pub(super) const GRACE: Parameter = Parameter {
    name: "grace",
    kind: Kind::Time { or: &[] },
    default: "10",
    about: "how long a node may be silent before it is first heard of",
};

/// How a detector that stands below another algorithm is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rhythm {
    /// The time from one heartbeat to the next.
    pub period: Ticks,
    /// How long silence is borne, to begin with.
    pub timeout: Ticks,
}

/// The detector of that id, for a cluster of `n`: what a user may choose to put below an election.
/// What the rhythm does not say is at its default, in proportion.
pub fn detector(
    id: &str,
    n: u32,
    rhythm: Rhythm,
) -> Result<impl Fn(NodeId) -> AnyDetector + Send + Sync + use<>, Error> {
    enum Setup {
        Heartbeat(crate::detector::heartbeat::Setup),
        Adaptive(crate::detector::adaptive::Setup),
        PhiAccrual(crate::detector::phi_accrual::Setup),
    }
    let setting = find(id)?.setting(n, &[])?;
    let Rhythm { period, timeout } = rhythm;
    let grace = timeout + timeout;
    let setup = match id {
        "heartbeat" => Setup::Heartbeat({
            let default = heartbeat::setup(&setting)?;
            crate::detector::heartbeat::Setup { period, timeout, grace, ..default }
        }),
        "adaptive" => Setup::Adaptive({
            let default = adaptive::setup(&setting)?;
            crate::detector::adaptive::Setup { period, timeout, grace, step: period, ..default }
        }),
        "phi-accrual" => Setup::PhiAccrual({
            let default = phi_accrual::setup(&setting)?;
            let sampling = Ticks(period.0.div_ceil(10));
            let min_deviation = Ticks(period.0 / 2);
            let timed = crate::detector::phi_accrual::Setup { period, grace, ..default };
            crate::detector::phi_accrual::Setup { sampling, min_deviation, ..timed }
        }),
        other => {
            let hint = format!("a detector is one of {}", DETECTORS.join(", "));
            return Err(Error::UnknownAlgorithm { id: other.to_string(), hint });
        }
    };
    Ok(move |me| match setup {
        Setup::Heartbeat(setup) => AnyDetector::Heartbeat(Heartbeat::new(me, setup)),
        Setup::Adaptive(setup) => AnyDetector::Adaptive(Adaptive::new(me, setup)),
        Setup::PhiAccrual(setup) => AnyDetector::PhiAccrual(PhiAccrual::new(me, setup)),
    })
}

/// Equals that send heartbeats for ever.
pub(super) fn cluster<P: Process>(
    n: u32,
    fresh: impl Fn(NodeId) -> P + Send + Sync + 'static,
) -> Cluster<P> {
    Cluster { silent: n == 1, ..Cluster::of_equals(n, fresh) }
}

/// Everybody watches everybody, so memory grows with the square of the number of nodes.
pub(super) fn size(setting: &Setting, n_max: u32) -> Result<u32, Error> {
    let n = setting.n;
    let reason = || format!("everybody watches everybody, so at most {n_max} nodes");
    if n <= n_max { Ok(n) } else { Err(Error::BadSize { n, reason: reason() }) }
}

/// The most nodes of a detector that keeps little of each.
pub(super) const NODES_MAX: u32 = 2_000;

/// A time that may not be nothing.
pub(super) fn span(params: &Params, name: &'static str) -> Result<Ticks, Error> {
    let reason = "it takes a time above 0".to_string();
    let given = params.ticks(name).filter(|&ticks| ticks > Ticks::ZERO);
    given.ok_or(Error::Unusable { name, reason })
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::testkit::run;
    use conclave_core::{Event, Property};

    const RHYTHM: Rhythm = Rhythm { period: Ticks::units(2), timeout: Ticks::units(10) };

    #[test]
    fn every_detector_can_stand_below_another_algorithm() {
        for id in DETECTORS {
            let fresh = detector(id, 3, RHYTHM).expect("it has defaults");
            let begun = run(&mut fresh(NodeId(1)), Event::Start);
            assert!(!begun.is_empty(), "{id}");
            assert!(find(id).expect("a row").promises(Property::D1, &defaults(id)), "{id}");
        }
        assert!(detector("central", 3, RHYTHM).is_err());
        assert!(detector("perfect", 3, RHYTHM).is_err());
    }

    fn defaults(id: &str) -> Params {
        find(id).expect("a row").setting(3, &[]).expect("defaults do").params
    }

    #[test]
    fn a_time_of_nothing_is_refused_where_it_would_spin() {
        let refused = |id: &str, name: &str, value: &str| {
            let setting = find(id).expect("a row").setting(3, &[(name, value)]);
            let setting = setting.expect("the kind of value is right");
            let error = match id {
                "heartbeat" => heartbeat::setup(&setting).map(|_| ()),
                "adaptive" => adaptive::setup(&setting).map(|_| ()),
                _ => phi_accrual::setup(&setting).map(|_| ()),
            };
            error.expect_err("refused").to_string()
        };
        assert_eq!(refused("heartbeat", "period", "0"), "--set period: it takes a time above 0");
        assert_eq!(refused("adaptive", "step", "0"), "--set step: it takes a time above 0");
        let too_fine = refused("phi-accrual", "sampling", "0");
        assert_eq!(too_fine, "--set sampling: it takes a time above 0");
        let large = find("adaptive").expect("a row").setting(2_001, &[]).expect("a number");
        let large = adaptive::setup(&large).expect_err("refused").to_string();
        assert_eq!(large, "--nodes 2001: everybody watches everybody, so at most 2000 nodes");
        let wide = refused("phi-accrual", "window", "10001");
        assert_eq!(wide, "--set window: it takes a number from 2 to 10000");
    }
}
