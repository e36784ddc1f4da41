//! Obtaining a lock or a leadership: attempts, fail-over to another node, and the end of a wait.

use crate::api::{Code, WantedLock, limits};
use crate::asking::Asked;
use crate::clock::since_boot;
use crate::guard::{Guard, Wanted};
use crate::session::Kind;
use crate::{Client, Error};
use std::thread;
use std::time::Duration;

/// A server that cannot help right now is asked again after so long.
pub(crate) const PAUSE: Duration = Duration::from_millis(200);
/// A candidate stands for so long at once: then it looks whether it is still at the right node.
const STAND: Duration = Duration::from_secs(20);
/// The longest life of a session that stands for election.
const CANDIDATE_TTL_MAX: Duration = Duration::from_millis(limits::CANDIDATE_TTL_MS_MAX);
/// So often a candidate may be sent on without having waited anywhere.
const HOPS_MAX: u32 = 4;

impl Client {
    /// Opens a session and acquires a lock with it. When its node is lost meanwhile, another node
    /// is asked: with the replicated engine for the same place in line; with a classic one anew, at
    /// the end of its queue. All that for as long as `wanted` wants to wait.
    pub fn lock(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        self.obtain(&Asked::one(Kind::Lock, name, wanted), wanted)
    }

    /// The same for several locks at once, all or none: replicated engine. How each is to be held,
    /// it says itself.
    pub fn lock_all(&self, locks: &[WantedLock], wanted: &Wanted) -> Result<Guard, Error> {
        self.obtain(&Asked { kind: Kind::Lock, locks: locks.to_vec() }, wanted)
    }

    fn obtain(&self, asked: &Asked, wanted: &Wanted) -> Result<Guard, Error> {
        let until = Until::new(wanted.wait);
        let mut answered = false;
        loop {
            let mut sent_on = false;
            let error = match self.open_with(wanted.ttl, wanted.label.as_deref(), wanted.grace) {
                Err(error) if error.is_transient() => error,
                Err(error) => return Err(error),
                Ok(lease) => {
                    answered = true;
                    match lease.request(asked, &wanted.within(until.left())) {
                        Err(error) if error.asks_anew() => {
                            self.pass_over(lease.server());
                            // That node opens no more sessions, so there is no going in circles.
                            sent_on = error.is_farewell();
                            error
                        }
                        answer => return answer.map_err(|error| error.after(answered)),
                    }
                }
            };
            answered |= error.failure().is_some();
            if until.left_is_zero() {
                return Err(error.after(answered));
            }
            if !sent_on {
                thread::sleep(PAUSE);
            }
        }
    }

    /// Stands for an election. With a classic engine, at the node that leads the cluster: it goes
    /// to another node when it is sent there.
    pub fn lead(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        if self.has_sessions_of_cluster() {
            return self.obtain(&Asked::one(Kind::Election, name, wanted), wanted);
        }
        self.lead_at_a_node(name, wanted)
    }

    /// Whether sessions belong to the cluster, or each to one node.
    fn has_sessions_of_cluster(&self) -> bool {
        self.spread();
        self.cluster().is_ok_and(|cluster| cluster.scope == "cluster")
    }

    fn lead_at_a_node(&self, name: &str, wanted: &Wanted) -> Result<Guard, Error> {
        let until = Until::new(wanted.wait);
        let ttl = wanted.ttl.min(CANDIDATE_TTL_MAX);
        let mut place = self.clone();
        let mut hops = 0;
        let mut answered = false;
        loop {
            let begun = since_boot();
            let attempt = place
                .open_with(ttl, wanted.label.as_deref(), wanted.grace)
                .inspect(|_| answered = true)
                .and_then(|lease| lease.stand(name, &wanted.within(Some(until.at_most(STAND)))));
            let error = match attempt {
                Ok(guard) => return Ok(guard),
                Err(error) => error,
            };
            answered |= error.failure().is_some();
            let waited = since_boot().saturating_sub(begun) >= PAUSE;
            hops = if waited { 0 } else { hops + 1 };
            let sent_on = error.failure().and_then(|failure| failure.leading_api.clone());
            let again = sent_on.is_some() || error.says(Code::Timeout) || error.retry();
            if !again || until.left_is_zero() && (sent_on.is_none() || hops > HOPS_MAX) {
                return Err(error.after(answered));
            }
            place = sent_on.map_or_else(|| Ok(self.clone()), |api| self.at(&api))?;
            if hops > 1 {
                thread::sleep(PAUSE); // The nodes disagree about who leads.
            }
        }
    }
}

/// The end of a wait, if it has one.
pub(crate) struct Until(Option<Duration>);

impl Until {
    pub fn new(wait: Option<Duration>) -> Self {
        Self(wait.map(|wait| since_boot().saturating_add(wait)))
    }

    pub fn left(&self) -> Option<Duration> {
        self.0.map(|end| end.saturating_sub(since_boot()))
    }

    pub fn left_is_zero(&self) -> bool {
        self.left().is_some_and(|left| left.is_zero())
    }

    /// Whether there is time left that is worth while: clocks differ a little.
    pub fn has_time_left(&self) -> bool {
        self.left().is_none_or(|left| left > PAUSE)
    }

    /// Whether it ended longer ago than this.
    pub fn is_over_since(&self, span: Duration) -> bool {
        self.0.is_some_and(|end| since_boot().saturating_sub(end) > span)
    }

    pub fn at_most(&self, limit: Duration) -> Duration {
        self.left().unwrap_or(limit).min(limit)
    }
}
