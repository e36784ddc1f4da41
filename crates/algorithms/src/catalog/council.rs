//! Parameters and costs that the algorithms with several coordinators share: voting, quorum, total
//! order.

use super::{Kind, Needs, Parameter, Setting};
use crate::Error;
use crate::mutex::places::Places;
use conclave_core::NodeId;

/// More coordinators than this are surely a slip.
const COORDINATORS_MAX: u32 = 10_000;

/// How many coordinators there are.
pub const COORDINATORS: Parameter = Parameter {
    name: "coordinators",
    kind: Kind::Number { min: 1, or: &[] },
    default: "5",
    about: "how many coordinators there are (m)",
};

/// How many of them must agree.
pub const VOTES: Parameter = Parameter {
    name: "votes",
    kind: Kind::Number { min: 1, or: &["majority"] },
    default: "majority",
    about: "how many of them let a client in (q, more than m/2)",
};

/// Where they live.
pub const COORDINATOR: Parameter = Parameter {
    name: "coordinator",
    kind: Kind::Choice(&["separate", "colocated"]),
    default: "separate",
    about: "coordinators on nodes of their own, or on the first clients' nodes",
};

/// Who is who and how many votes are needed, if these values go together.
pub fn council(setting: &Setting) -> Result<(Places, u32), Error> {
    let m = coordinators(setting);
    let q = votes(setting);
    let n = setting.n;
    if m > COORDINATORS_MAX {
        let reason = format!("{m} coordinators are too many; at most {COORDINATORS_MAX} will do");
        return Err(Error::Unusable { name: "coordinators", reason });
    }
    if q > m || q <= m / 2 {
        let least = m / 2 + 1;
        let reason = format!("{q} of {m} coordinators; it takes {least} to {m}, or majority");
        return Err(Error::Unusable { name: "votes", reason });
    }
    if !colocated(setting) {
        return Ok((Places::separate(n, m), q));
    }
    if m > n {
        let reason = format!("{m} colocated with {n} clients; at most {n} find a node");
        return Err(Error::Unusable { name: "coordinators", reason });
    }
    Ok((Places::colocated(n, m), q))
}

/// How many coordinators were asked for.
pub fn coordinators(setting: &Setting) -> u32 {
    setting.params.number("coordinators").unwrap_or(5)
}

/// How many of them must agree.
pub fn votes(setting: &Setting) -> u32 {
    setting.params.number("votes").unwrap_or(coordinators(setting) / 2 + 1)
}

/// Which nodes a lock needs on a network, where coordinators live on the first nodes.
pub fn needs(setting: &Setting, sequencer: Option<NodeId>) -> Needs {
    Needs::Votes { of: coordinators(setting), votes: votes(setting), sequencer }
}

/// Whether they live on the first clients' nodes.
pub fn colocated(setting: &Setting) -> bool {
    setting.params.is("coordinator", "colocated")
}

/// So many messages between a client and each coordinator: the mean over all clients. What a
/// client says to its own node is free, and a client alone asks nobody.
pub fn rounds(setting: &Setting, messages: f64) -> f64 {
    let m = f64::from(coordinators(setting));
    let n = setting.n();
    match setting.n {
        1 => 0.0,
        _ if colocated(setting) => messages * m * (n - 1.0) / n,
        _ => messages * m,
    }
}

/// The least an entry can cost under contention: all are asked and answer, q votes are returned.
pub fn least(setting: &Setting) -> f64 {
    let m = f64::from(coordinators(setting));
    let q = f64::from(votes(setting));
    match setting.n {
        1 => 0.0,
        _ if colocated(setting) => 2.0 * m + q - 3.0 * m / setting.n(),
        _ => 2.0 * m + q,
    }
}

/// One round trip, unless the only coordinator lives on the client's own node.
pub fn round_trip(setting: &Setting) -> f64 {
    match (setting.n, coordinators(setting)) {
        (1, _) => 0.0,
        (_, 1) if colocated(setting) => 2.0 * (setting.n() - 1.0) / setting.n(),
        (_, _) => 2.0,
    }
}

/// Whether a timer, set when everybody asks at once, is never heard of before `units` have passed.
pub fn patient(setting: &Setting, timer: &str, units: f64) -> bool {
    setting.params.ticks(timer).is_none_or(|ticks| ticks.as_units() >= units)
}

/// A cost that is exact if nothing interferes, and without bound otherwise.
pub fn exact_if(exact: bool, cost: f64) -> (f64, f64) {
    (cost, if exact || cost == 0.0 { cost } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::find;

    fn setting(n: u32, set: &[(&str, &str)]) -> Setting {
        find("voting").expect("it is listed").setting(n, set).expect("these are values it takes")
    }

    fn reason(n: u32, set: &[(&str, &str)]) -> String {
        council(&setting(n, set)).expect_err("they do not go together").to_string()
    }

    #[test]
    fn values_that_do_not_go_together_are_refused_in_one_line() {
        let few = reason(7, &[("coordinators", "6"), ("votes", "3")]);
        assert_eq!(few, "--set votes: 3 of 6 coordinators; it takes 4 to 6, or majority");
        let many = reason(7, &[("votes", "6")]);
        assert_eq!(many, "--set votes: 6 of 5 coordinators; it takes 3 to 5, or majority");
        let crowd = reason(3, &[("coordinator", "colocated")]);
        assert_eq!(crowd, "--set coordinators: 5 colocated with 3 clients; at most 3 find a node");
    }

    #[test]
    fn a_majority_of_an_even_number_is_more_than_half() {
        let setting = setting(7, &[("coordinators", "6")]);
        assert_eq!(votes(&setting), 4);
        assert!(council(&setting).is_ok());
    }
}
