//! A session as its threads share it: its lease, what it holds, and what it waits for.

use crate::api::{Grant, Hold, KeepAlive};
use crate::asking::Heard;
use crate::cleanup::Cleanups;
use crate::client::Client;
use crate::clock::since_boot;
use crate::deadline::LeaseDeadline;
use crate::requests::Requests;
use crate::stream::Grace;
use crate::watch::Loss;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::Sender;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What cannot be given back or ended is left alone after so long: its time is over anyway.
const FAREWELL: Duration = Duration::from_millis(600);

/// What the threads and the owners share.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Of the nodes that know the session: one, or all.
    pub client: Client,
    pub session: String,
    /// Whether all nodes of the cluster know it.
    pub of_cluster: bool,
    pub state: Mutex<State>,
    pub changed: Condvar,
}

#[derive(Debug)]
pub(crate) struct State {
    pub deadline: LeaseDeadline,
    /// When to send the next keepalive, unless one is answered before.
    pub keepalive_at: Duration,
    /// How many of the threads have asked, and not heard all that they asked for.
    pub asking: usize,
    pub loss: Option<Loss>,
    /// The owners are gone.
    pub closed: bool,
    /// The node that answered the last keepalive.
    pub home: String,
    pub requests: Requests,
    /// What is held, by the number of the request that was granted.
    pub held: BTreeMap<u64, Held>,
    /// What is being waited for, by the number of the request.
    pub waiting: BTreeMap<u64, Waiting>,
    /// Requests that come to nothing though a grant may be on its way: they were given up, or what
    /// they were granted is taken away before anybody here knew of it.
    pub void: BTreeSet<u64>,
    /// What nobody wants any more, and the node may still keep.
    pub cleanups: Cleanups,
    /// Of a session that ends soon after its stream does.
    pub grace: Option<Grace>,
    of_cluster: bool,
}

/// Why something is lost that an operator took away.
const TAKEN: &str = "it was taken away by force";

/// What one request was granted, as the thread looks after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Held {
    pub kind: Kind,
    /// Each with its fence.
    pub names: Vec<(String, u64)>,
    pub loss: Option<Loss>,
    /// Until when nobody else is let in, once it is lost: the deadline before the news came. What
    /// brought the news gave the session more time, but not this.
    pub until: Option<Duration>,
}

impl Held {
    pub fn new(kind: Kind, grants: &[Grant]) -> Self {
        let names = grants.iter().map(|grant| (grant.name.clone(), grant.fence)).collect();
        Self { kind, names, loss: None, until: None }
    }

    /// It is lost, in these words, and free for others at this moment.
    pub fn lose(&mut self, words: &str, until: Duration) {
        self.loss.get_or_insert(Loss::Told(words.to_string()));
        self.until.get_or_insert(until);
    }

    /// Why it is lost, by what the cluster says that the session holds.
    fn loss_by(&self, number: u64, holds: &[Hold]) -> Option<Loss> {
        let number = number.to_string();
        let kept = |(name, fence): &(String, u64)| {
            let own = |hold: &&Hold| hold.name == *name && hold.request_id == number;
            let own = |hold: &&Hold| own(hold) && hold.kind == self.kind.as_str();
            holds.iter().filter(own).find(|hold| hold.fence == *fence)
        };
        let mut kept = self.names.iter().map(kept);
        let told = |words: &str| Some(Loss::Told(words.to_string()));
        if kept.clone().flatten().any(|hold| hold.revoked) {
            return told(TAKEN);
        }
        match kept.any(|hold| hold.is_none()) {
            true => told("the cluster holds it for this session no longer"),
            false => None,
        }
    }
}

/// A request that waits.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub kind: Kind,
    pub name: String,
    /// Tells whoever waits that the session has moved to another node.
    pub tell: Sender<Heard>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Lock,
    Election,
}

impl Kind {
    /// As keepalives have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Lock => "lock",
            Self::Election => "election",
        }
    }
}

impl Shared {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a request comes to nothing, whatever is answered.
    pub fn is_void(&self, number: u64) -> bool {
        self.lock().void.contains(&number)
    }

    /// The mark that a request carries, if the engine knows of it.
    pub fn lowest_open(&self) -> Option<String> {
        self.of_cluster.then(|| self.lock().requests.lowest_open().to_string())
    }

    /// A node has answered a keepalive. If it is another one than before, whoever waits asks there
    /// too: the old one may be silent for ever.
    pub fn is_at_home(&self, server: &str) {
        let mut state = self.lock();
        if state.home == server {
            return;
        }
        state.home = server.to_string();
        let waiting: Vec<Sender<Heard>> =
            state.waiting.values().map(|waiting| waiting.tell.clone()).collect();
        drop(state);
        self.client.go_to(server);
        for tell in waiting {
            let _ = tell.send(Heard::Moved); // It may have its answer by now.
        }
    }

    /// A client to give something back with. When the lease is over that is of no use any more, so
    /// silent nodes are not waited for much longer.
    pub fn parting(&self) -> Client {
        let left = self.lock().deadline.left(since_boot());
        self.client.within_in_all(left.max(FAREWELL))
    }

    /// Ends the session, if it has not ended yet. One that was lost by silence may live on in a
    /// cluster that could not be reached; a node alone may have somebody inside who has not left.
    pub fn close(&self) {
        let mut state = self.lock();
        let first = !state.closed;
        let loss = state.judge(since_boot());
        state.closed = true;
        drop(state);
        self.changed.notify_all();
        let _ = match loss {
            None if first => self.client.close_session(&self.session),
            Some(Loss::Silence) if first && self.of_cluster => {
                self.client.within_in_all(FAREWELL).close_session(&self.session)
            }
            None | Some(_) => Ok(()),
        }; // Else its time runs out.
    }
}

impl State {
    pub fn new(deadline: LeaseDeadline, of_cluster: bool, home: &str) -> Self {
        Self {
            deadline,
            keepalive_at: deadline.next_keepalive(of_cluster),
            asking: 0,
            loss: None,
            closed: false,
            home: home.to_string(),
            requests: Requests::default(),
            held: BTreeMap::new(),
            waiting: BTreeMap::new(),
            void: BTreeSet::new(),
            cleanups: Cleanups::default(),
            grace: None,
            of_cluster,
        }
    }

    /// When to send the next keepalive, if the last one was answered.
    pub fn next_keepalive(&self) -> Duration {
        self.deadline.next_keepalive(self.of_cluster || !self.held.is_empty())
    }

    /// When the other thread asks too. In a cluster it asks another node, so it need not wait long.
    pub fn next_if_silent(&self, now: Duration) -> Duration {
        match self.of_cluster {
            true => now + self.deadline.ttl() / 8,
            false => self.deadline.next_if_silent(now),
        }
    }

    /// The words of a keepalive that is sent now: all requests that are still known, and its own
    /// number. Nothing is said of later requests.
    pub fn keepalive(&mut self) -> KeepAlive {
        if !self.of_cluster {
            return KeepAlive::default();
        }
        let mut open: Vec<u64> = self.requests.unanswered().collect();
        open.extend(self.held.keys());
        open.sort_unstable();
        open.dedup();
        let open = open.iter().map(ToString::to_string).collect();
        KeepAlive { request_id: Some(self.requests.draw().to_string()), open: Some(open) }
    }

    /// The cluster tells what the session holds. That something is missing counts only for what was
    /// held when the keepalive was sent: of what was granted meanwhile it may not have known yet.
    /// What it has taken away it did know of, whenever its grant came here; and if that is still to
    /// come, it is not entered any more. `until` is the deadline that was known before.
    pub fn compare(&mut self, holds: &[Hold], sent_with: &[u64], until: Duration) {
        for number in sent_with {
            let Some(held) = self.held.get_mut(number) else { continue };
            if held.loss.is_none() {
                held.loss = held.loss_by(*number, holds);
                held.until = held.loss.as_ref().map(|_| until);
            }
        }
        let revoked = holds.iter().filter(|hold| hold.revoked);
        let revoked: BTreeSet<u64> =
            revoked.filter_map(|hold| hold.request_id.parse().ok()).collect();
        for (_, held) in self.held.iter_mut().filter(|(number, _)| revoked.contains(number)) {
            held.lose(TAKEN, until);
        }
        let unheard = revoked.into_iter().filter(|number| self.requests.is_unanswered(*number));
        self.void.extend(unheard);
    }

    /// Until when the session can be relied on: neither its lease nor the grace of its stream may
    /// have ended.
    pub fn ends(&self) -> Duration {
        let lease = self.deadline.deadline();
        self.grace.as_ref().and_then(Grace::deadline).map_or(lease, |grace| grace.min(lease))
    }

    /// For how long that is.
    pub fn left(&self, now: Duration) -> Duration {
        self.ends().saturating_sub(now)
    }

    /// Whether the session is lost by now. Once it is, it stays so.
    pub fn judge(&mut self, now: Duration) -> Option<Loss> {
        if self.loss.is_none() && self.left(now).is_zero() {
            self.loss = Some(Loss::Silence);
        }
        self.loss.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> State {
        let deadline = LeaseDeadline::new(Duration::from_secs(10), Duration::ZERO);
        State::new(deadline, true, "a")
    }

    fn held(names: &[(&str, u64)]) -> Held {
        let names = names.iter().map(|(name, fence)| (name.to_string(), *fence)).collect();
        Held { kind: Kind::Lock, names, loss: None, until: None }
    }

    fn hold(name: &str, fence: u64, request: u64, revoked: bool) -> Hold {
        let kind = "lock".to_string();
        Hold { name: name.to_string(), kind, fence, request_id: request.to_string(), revoked }
    }

    #[test]
    fn a_keepalive_names_what_is_awaited_and_what_is_held() {
        let mut state = state();
        let numbers = [(); 4].map(|()| state.requests.begin());
        state.held.insert(numbers[1], held(&[("x", 7)]));
        state.requests.settle(numbers[1]);
        state.requests.settle(numbers[2]);
        let said = state.keepalive();
        let open = ["1", "2", "4"].map(str::to_string).to_vec();
        assert_eq!(said, KeepAlive { request_id: Some("5".to_string()), open: Some(open) });
        assert_eq!(state.requests.begin(), 6, "later than what the keepalive speaks of");
    }

    #[test]
    fn what_the_cluster_does_not_list_is_lost_and_so_is_what_was_revoked() {
        let mut state = state();
        state.held.insert(1, held(&[("kept", 5)]));
        state.held.insert(2, held(&[("gone", 6)]));
        state.held.insert(3, held(&[("both", 7), ("revoked", 8)]));
        state.held.insert(4, held(&[("later", 9)]));
        let listed = [
            hold("kept", 5, 1, false),
            hold("gone", 4, 2, false), // Another fence is another hold,
            hold("gone", 6, 1, false), // and so is another request.
            hold("both", 7, 3, false),
            hold("revoked", 8, 3, true),
        ];
        state.compare(&listed, &[1, 2, 3], Duration::from_secs(9));
        let lost: Vec<bool> = state.held.values().map(|held| held.loss.is_some()).collect();
        assert_eq!(lost, [false, true, true, false]);
        let force = Some(Loss::Told("it was taken away by force".to_string()));
        assert_eq!(state.held[&3].loss, force);
        let until: Vec<Option<Duration>> = state.held.values().map(|held| held.until).collect();
        let before = Some(Duration::from_secs(9));
        assert_eq!(until, [None, before, before, None], "the news give it no more time");
    }

    #[test]
    fn what_was_revoked_is_lost_though_its_grant_came_after_the_keepalive_was_sent() {
        let mut state = state();
        state.held.insert(30, held(&[("a", 5)]));
        state.compare(&[hold("a", 5, 30, true)], &[], Duration::from_secs(9));
        assert_eq!(state.held[&30].loss, Some(Loss::Told(TAKEN.to_string())));
        assert_eq!(state.held[&30].until, Some(Duration::from_secs(9)));
        state.held.insert(31, held(&[("b", 6)]));
        state.compare(&[], &[], Duration::from_secs(9));
        assert_eq!(state.held[&31].loss, None, "it may not have been known yet");
    }

    #[test]
    fn what_is_revoked_before_its_grant_came_is_void() {
        let mut state = state();
        let numbers = [(); 3].map(|()| state.requests.begin());
        state.requests.settle(numbers[2]);
        let listed = [hold("a", 5, 1, false), hold("b", 6, 2, true), hold("released", 7, 3, true)];
        state.compare(&listed, &[], Duration::ZERO);
        assert_eq!(state.void, BTreeSet::from([numbers[1]]));
    }
}
