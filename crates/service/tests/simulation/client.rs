//! A client: opens sessions, keeps them alive, and asks to be let in.
//!
//! It is a model of `conclave-client`, which blocks on threads and sockets. Until when it relies on
//! its session is that crate's own arithmetic ([`LeaseDeadline`]); its requests and answers are
//! those of the API.

use crate::history::{Event, Why};
use crate::person::Person;
use conclave_api::{Acquire, Grant, NewSession, NewValue, Release, Verify, Withdraw};
use conclave_client::LeaseDeadline;
use conclave_service::Command;
use conclave_service::desk::{Answer, Kind, Question, Reply};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// What the clients fight for.
const NAMES: [&str; 2] = ["a", "b"];
/// One of so many requests is withdrawn as soon as it was sent.
const CHANGES_ITS_MIND: usize = 6;

/// A session, as its client knows it.
#[derive(Clone)]
pub struct Session {
    pub person: Person,
    pub id: Arc<str>,
    pub ttl: Duration,
    /// It was told that it is lost.
    pub told: Arc<Notify>,
    state: Arc<Mutex<State>>,
}

pub struct State {
    pub deadline: LeaseDeadline,
    /// The number of the latest request.
    pub last: u64,
    pub unanswered: BTreeSet<u64>,
    pub held: Option<Held>,
    /// The node that answered last.
    pub home: usize,
    /// How many keepalives are under way.
    pub asking: usize,
    pub lost: bool,
}

#[derive(Clone)]
pub struct Held {
    pub request: u64,
    name: String,
    pub fence: u64,
}

/// Lives until no new work is wanted.
pub async fn live(person: Person) {
    while !person.doors.lock().closing {
        let Some(session) = open(&person).await else { continue };
        let doomed = person.doom.notified();
        tokio::select! {
            biased;
            () = doomed => session.die(),
            () = session.told.notified() => session.lose().await,
            () = session.keep_alive() => session.lose().await,
            () = session.work() => session.close().await,
        }
        person.rest(person.draw(|chance| chance.between(10, person.crowd.rest_max))).await;
    }
}

async fn open(person: &Person) -> Option<Session> {
    let ttl_ms = person.draw(|chance| chance.between(2, 6)) * 500;
    let id = person.draw(|chance| {
        format!("{:016x}{:016x}", chance.between(0, u64::MAX - 1), chance.between(0, u64::MAX - 1))
    });
    let request = NewSession {
        ttl_ms: Some(ttl_ms),
        label: Some(format!("client {}", person.me)),
        request_id: Some(id.clone()),
        on_disconnect: None,
    };
    let sent = person.now();
    let node = person.any_node();
    let opened = person.ask(node, Duration::from_secs(1), |reply| Command::OpenSession {
        request,
        id,
        reply,
    });
    let opened = opened.await?.ok()?;
    let ttl = Duration::from_millis(opened.ttl_ms);
    let id: Arc<str> = opened.session.into();
    person.note(Event::Opened { session: id.to_string(), ttl_ms: opened.ttl_ms });
    let state = State {
        deadline: LeaseDeadline::new(ttl, sent),
        last: 0,
        unanswered: BTreeSet::new(),
        held: None,
        home: node,
        asking: 0,
        lost: false,
    };
    let (told, state) = (Arc::default(), Arc::new(Mutex::new(state)));
    Some(Session { person: person.clone(), id, ttl, told, state })
}

impl Session {
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> (u64, String) {
        let mut state = self.lock();
        state.last += 1;
        let request = state.last;
        state.unanswered.insert(request);
        let lowest = state.unanswered.first().copied().unwrap_or(request);
        (request, lowest.to_string())
    }

    fn settle(&self, request: u64) {
        self.lock().unanswered.remove(&request);
    }

    /// Relies on what it holds no longer.
    fn leave(&self, why: Why) -> Option<Held> {
        let held = self.lock().held.take()?;
        let Held { name, fence, .. } = held.clone();
        self.person.note(Event::Left { session: self.id.to_string(), name, fence, why });
        Some(held)
    }

    fn die(&self) {
        let held = self.leave(Why::Died).map(|held| (held.name, held.fence));
        let ttl_ms = self.ttl.as_millis() as u64;
        self.person.note(Event::Died { session: self.id.to_string(), ttl_ms, held });
        self.lock().lost = true;
    }

    async fn lose(&self) {
        self.lock().lost = true;
        self.leave(Why::Lost);
        self.close().await;
    }

    async fn close(&self) {
        self.leave(Why::Done);
        self.lock().lost = true;
        let session = self.id.to_string();
        let node = self.person.any_node();
        let close = |reply| Command::CloseSession { session, reply };
        let _ = self.person.ask(node, Duration::from_millis(500), close).await; // Or it expires.
    }

    async fn work(&self) {
        for _ in 0..self.person.draw(|chance| chance.between(1, 5)) {
            self.person.rest(self.person.draw(|chance| chance.between(1, 200))).await;
            self.look_at_another().await;
            if self.person.doors.lock().closing {
                return;
            }
            if let Some(held) = self.enter().await {
                self.stay(&held).await;
                self.give_back(held).await;
            }
        }
    }

    /// Asks to be let in, again and again under the same number, until that is decided.
    async fn enter(&self) -> Option<Held> {
        let name = NAMES[self.person.draw(|chance| chance.below(NAMES.len()))].to_string();
        let wait_ms = [0, 300, 1_500, 5_000][self.person.draw(|chance| chance.below(4))];
        let (request, lowest) = self.begin();
        let session = self.id.to_string();
        self.person.note(Event::Asked { session: session.clone(), request, name: name.clone() });
        let acquire = Acquire {
            session: session.clone(),
            wait_ms: Some(wait_ms),
            request_id: Some(request.to_string()),
            lowest_open: Some(lowest),
            ..Acquire::default()
        };
        if self.person.draw(|chance| chance.below(CHANGES_ITS_MIND)) == 0 {
            let ask = |reply| Command::Acquire { name: name.clone(), request: acquire, reply };
            self.change_its_mind(request, &name, ask).await;
            return None;
        }
        let until = self.person.now() + Duration::from_millis(wait_ms + 3_000);
        while self.person.now() < until {
            let node = self.person.any_node();
            let patience = Duration::from_millis(wait_ms + 1_000);
            let ask =
                |reply| Command::Acquire { name: name.clone(), request: acquire.clone(), reply };
            let answer = self.person.ask(node, patience, ask).await;
            match self.answered(request, &name, answer) {
                Some(entered) => return entered,
                None => self.person.rest(self.person.draw(|chance| chance.between(5, 100))).await,
            }
        }
        self.withdraw(request, &name).await;
        None
    }

    /// What came of a request, if that is known.
    fn answered(
        &self,
        request: u64,
        name: &str,
        answer: Option<Answer<Grant>>,
    ) -> Option<Option<Held>> {
        let session = self.id.to_string();
        match answer? {
            Ok(grant) => {
                self.settle(request);
                let now = self.person.now();
                let mut state = self.lock();
                if grant.released || now >= state.deadline.deadline() || state.lost {
                    return Some(None);
                }
                let held = Held { request, name: name.to_string(), fence: grant.fence };
                state.held = Some(held.clone());
                drop(state);
                let (name, fence) = (name.to_string(), grant.fence);
                self.person.note(Event::Entered { session, request, name, fence });
                Some(Some(held))
            }
            Err(refusal) if refusal.status() == 503 => None,
            Err(refusal) => {
                let code = refusal.error.code.as_str().to_string();
                self.person.note(Event::Refused { session, request, code });
                self.settle(request);
                Some(None)
            }
        }
    }

    async fn stay(&self, held: &Held) {
        let long = self.person.draw(|chance| match chance.happens(self.person.crowd.long_stays) {
            true => chance.between(900, 5_000),
            false => chance.between(1, 900),
        });
        self.person.rest(long / 2).await;
        if self.person.draw(|chance| chance.happens(500)) {
            self.verify(&held.name, held.fence).await;
        }
        if self.person.draw(|chance| chance.happens(300)) {
            self.write(held).await;
        }
        self.person.rest(long / 2).await;
    }

    async fn verify(&self, name: &str, fence: u64) {
        let asked = self.person.recording.lock().now;
        let request = Verify { fence, session: None };
        let question =
            |reply| Command::Show(Question::Verify { name: name.to_string(), request, reply });
        let node = self.person.any_node();
        let answer = self.person.ask(node, Duration::from_secs(1), question).await;
        if let Some(Ok(verified)) = answer {
            let (name, valid) = (name.to_string(), verified.valid);
            self.person.note(Event::Verified { name, fence, valid, asked });
        }
    }

    async fn write(&self, held: &Held) {
        let Held { name, fence, .. } = held.clone();
        let value = fence.into();
        let request = NewValue { value, fence, session: None, request_id: None, lowest_open: None };
        let value = name.clone();
        let write = |reply| Command::SetValue { name: value, request, reply };
        let node = self.person.any_node();
        if let Some(Ok(_)) = self.person.ask(node, Duration::from_secs(1), write).await {
            self.person.note(Event::Wrote { name, fence });
        }
    }

    /// Whether somebody else's fence, which was given back just now, is known to be void.
    async fn look_at_another(&self) {
        let latest = |events: &[(u64, usize, Event)]| {
            events.iter().rev().find_map(|(_, _, event)| {
                let Event::Released { name, fence } = event else { return None };
                Some((name.clone(), *fence))
            })
        };
        let latest = latest(&self.person.recording.lock().events);
        if let Some((name, fence)) = latest
            && self.person.draw(|chance| chance.happens(400))
        {
            self.verify(&name, fence).await;
        }
    }

    async fn give_back(&self, held: Held) {
        self.leave(Why::Done);
        let Held { request: hold, name, fence } = held;
        let (own, lowest) = self.begin();
        let release = Release {
            session: self.id.to_string(),
            fence,
            hold: Some(hold.to_string()),
            request_id: Some(own.to_string()),
            lowest_open: Some(lowest),
        };
        loop {
            let give =
                |reply| Command::Release { name: name.clone(), request: release.clone(), reply };
            let node = self.person.any_node();
            match self.person.ask(node, Duration::from_secs(1), give).await {
                Some(Ok(_)) => {
                    self.person.note(Event::Released { name: name.clone(), fence });
                    break;
                }
                Some(Err(refusal)) if refusal.status() != 503 => break,
                Some(Err(_)) | None => self.person.rest(50).await,
            }
        }
        self.settle(own);
    }

    /// Withdraws what it asks for while that is on its way: by another node it may come first.
    async fn change_its_mind(
        &self,
        request: u64,
        name: &str,
        ask: impl FnOnce(Reply<Grant>) -> Command,
    ) {
        let node = self.person.any_node();
        let asked = self.person.ask(node, Duration::from_secs(1), ask);
        drop(tokio::join!(asked, self.withdraw(request, name)));
    }

    async fn withdraw(&self, request: u64, name: &str) {
        let (own, lowest) = self.begin();
        let words = Withdraw {
            session: self.id.to_string(),
            request_id: Some(own.to_string()),
            lowest_open: Some(lowest),
        };
        let withdraw = |reply| Command::Withdraw {
            kind: Kind::Lock,
            name: name.to_string(),
            request_id: request.to_string(),
            request: words,
            reply,
        };
        let node = self.person.any_node();
        drop(self.person.ask(node, Duration::from_secs(1), withdraw).await); // Or a keepalive does.
        self.settle(request);
        self.settle(own);
    }
}
