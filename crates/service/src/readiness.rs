//! Readiness: whether a node can serve now, as a list of checks with a name each.

use crate::desk::refusal::{self, Refusal};
use conclave_api::Code;

/// The node is not about to stop.
pub const RUNNING: &str = "running";
/// Its disk is there, and takes what is written.
pub const DISK: &str = "disk";
/// It belongs to the cluster.
pub const MEMBER: &str = "member";
/// It leads, or has heard of the leader lately.
pub const LEADER: &str = "leader";
/// It is in touch with a majority.
pub const MAJORITY: &str = "majority";
/// It is not far behind.
pub const APPLIED: &str = "applied";

/// What a node has to be to serve, and whether it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readiness {
    checks: Vec<(&'static str, Option<String>)>,
}

impl Readiness {
    /// One more thing that has to be so; if it is not, why. What is said twice fails if either
    /// does.
    pub fn check(mut self, name: &'static str, failure: Option<String>) -> Self {
        match self.checks.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = known.take().or(failure),
            None => self.checks.push((name, failure)),
        }
        self
    }

    /// Each check, and whether it passes.
    pub fn checks(&self) -> impl Iterator<Item = (&'static str, bool)> {
        self.checks.iter().map(|(name, failure)| (*name, failure.is_none()))
    }

    /// Whether all pass.
    pub fn is_ready(&self) -> bool {
        self.checks().all(|(_, passes)| passes)
    }

    /// The answer to whoever asks whether the node is ready.
    pub fn answer(&self) -> Result<(), Refusal> {
        let failing = || self.checks.iter().filter(|(_, failure)| failure.is_some());
        if failing().next().is_none() {
            return Ok(());
        }
        let words: Vec<&str> = failing().filter_map(|(_, failure)| failure.as_deref()).collect();
        let fails = |name: &str| failing().any(|(failing, _)| *failing == name);
        // Whoever stops, or cannot write, is no reason to look for a leader.
        let here = [RUNNING, DISK, MEMBER].iter().any(|name| fails(name));
        let code = match fails(LEADER) || fails(MAJORITY) {
            true if !here => Code::NoLeader,
            true | false => Code::Unavailable,
        };
        let mut refusal = refusal::refuse(code, words.join("; "));
        refusal.stopping = fails(RUNNING);
        refusal.not_ready = failing().map(|(name, _)| (*name).to_string()).collect();
        Err(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(name: &'static str) -> Readiness {
        let sound = Readiness::default().check(RUNNING, None).check(DISK, None);
        sound.check(name, Some(format!("{name} fails")))
    }

    #[test]
    fn a_node_is_ready_when_nothing_speaks_against_it() {
        let sound = Readiness::default().check(RUNNING, None).check(DISK, None);
        assert!(sound.is_ready() && sound.answer().is_ok());
    }

    #[test]
    fn each_check_that_fails_is_named_and_explained() {
        for name in [RUNNING, DISK, MEMBER, LEADER, MAJORITY, APPLIED] {
            let refusal = fails(name).answer().expect_err("it is not ready");
            assert_eq!(refusal.not_ready, [name]);
            assert_eq!(refusal.error.message, format!("{name} fails"));
            assert_eq!((refusal.status(), refusal.stopping), (503, name == RUNNING));
            let leaderless = [LEADER, MAJORITY].contains(&name);
            assert_eq!(refusal.error.code == Code::NoLeader, leaderless, "{name}");
        }
    }

    #[test]
    fn several_failures_are_all_told_and_a_check_said_twice_stays_failed() {
        let both = fails(LEADER).check(DISK, Some("it is gone".to_string())).check(DISK, None);
        let refusal = both.answer().expect_err("it is not ready");
        assert_eq!(refusal.not_ready, [DISK, LEADER]);
        assert_eq!(refusal.error.message, "it is gone; leader fails");
        assert_eq!(refusal.error.code, Code::Unavailable);
    }
}
