//! A cluster of fake nodes with one lock table between them: any node takes any request.
#![allow(dead_code, reason = "each test program uses its own part")]

use crate::fake::{Answer, DEADLINE, Fake, Request, refuse};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

/// How a node behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Well,
    /// Its process is gone: connections are refused, or break.
    Dead,
    /// It neither answers nor hangs up.
    Still,
    /// It does what it is asked, and hangs up instead of an answer.
    Deaf,
    /// It belongs to another cluster by now, in which this is all it knows.
    Elsewhere(&'static str, u64),
}

/// Who asked for what: a session and the number of its request.
type Key = (String, u64);

#[derive(Default)]
pub struct Table {
    pub moods: Vec<Mood>,
    /// Each with its time to live.
    pub sessions: BTreeMap<String, u64>,
    openings: BTreeMap<String, String>,
    /// Who holds each lock, with which fence.
    pub holds: BTreeMap<String, (Key, u64)>,
    pub queue: VecDeque<(Key, Vec<String>)>,
    granted: BTreeMap<Key, Vec<(String, u64)>>,
    withdrawn: BTreeSet<Key>,
    pub revoked: BTreeSet<String>,
    index: u64,
}

pub struct Shared {
    table: Mutex<Table>,
    changed: Condvar,
}

pub struct Nodes {
    pub fakes: Vec<Fake>,
    shared: Arc<Shared>,
}

impl Nodes {
    pub fn start(count: usize) -> Self {
        Self::start_behind(count, |_| None)
    }

    /// The same, but what `first` answers, no node sees.
    pub fn start_behind(
        count: usize,
        first: impl Fn(&Request) -> Option<Answer> + Clone + Send + Sync + 'static,
    ) -> Self {
        let table = Table { moods: vec![Mood::Well; count], ..Table::default() };
        let shared = Arc::new(Shared { table: Mutex::new(table), changed: Condvar::new() });
        let fake = |node| {
            let shared = Arc::clone(&shared);
            let first = first.clone();
            Fake::start(move |request| {
                first(request).unwrap_or_else(|| shared.answer(node, request))
            })
        };
        Self { fakes: (0..count).map(fake).collect(), shared }
    }

    pub fn addresses(&self) -> Vec<String> {
        self.fakes.iter().map(|fake| fake.address.clone()).collect()
    }

    pub fn change<T>(&self, change: impl FnOnce(&mut Table) -> T) -> T {
        let changed = change(&mut self.shared.lock());
        self.shared.changed.notify_all();
        changed
    }

    /// Waits until the table is as it should be.
    pub fn wait_until(&self, what: &str, reached: impl Fn(&Table) -> bool) {
        self.shared.wait(what, |table| reached(table).then_some(()));
    }

    /// The node that got a request of this line last.
    pub fn asked(&self, line: &str) -> usize {
        let asked = |fake: &Fake| fake.bodies(line).len();
        (0..self.fakes.len()).max_by_key(|node| asked(&self.fakes[*node])).unwrap()
    }

    /// The bodies of all requests of this line, at whichever node.
    pub fn bodies(&self, line: &str) -> Vec<Value> {
        self.fakes.iter().flat_map(|fake| fake.bodies(line)).collect()
    }
}

impl Table {
    /// The session that is there; of several, the first.
    pub fn session(&self) -> String {
        self.sessions.keys().next().unwrap().clone()
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap()
    }

    fn wait<T>(&self, what: &str, reached: impl Fn(&Table) -> Option<T>) -> T {
        let end = Instant::now() + DEADLINE;
        let mut table = self.lock();
        loop {
            if let Some(found) = reached(&table) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "never: {what}");
            table = self.changed.wait_timeout(table, left).unwrap().0;
        }
    }

    fn answer(&self, node: usize, request: &Request) -> Answer {
        let mood = self.lock().moods[node];
        match mood {
            Mood::Well => self.serve(node, request),
            Mood::Dead => Answer::HangsUp,
            Mood::Still => Answer::Silent,
            Mood::Deaf => {
                drop(self.serve(node, request));
                Answer::HangsUp
            }
            Mood::Elsewhere(cluster, generation) => elsewhere(request, cluster, generation),
        }
    }

    fn serve(&self, node: usize, request: &Request) -> Answer {
        let path: Vec<&str> = request.line.split('/').collect();
        let body = &request.body;
        let answer = match path.as_slice() {
            ["GET ", "v1", "cluster"] => Answer::Says(200, cluster("c1", 2)),
            ["POST ", "v1", "sessions"] => self.lock().open(body),
            ["POST ", "v1", "sessions", id, "keepalive"] => self.lock().keep_alive(id, body),
            ["DELETE ", "v1", "sessions", id] => self.lock().end(id),
            ["POST ", "v1", "acquire"] => self.acquire(node, names(body), body),
            ["POST ", "v1", "locks" | "elections", name, "acquire" | "campaign"] => {
                self.acquire(node, vec![name.to_string()], body)
            }
            ["POST ", "v1", _, name, "release" | "resign"] => self.lock().release(name, body),
            ["POST ", "v1", "elections", name, "hand-over"] => self.lock().hand_over(name, body),
            ["PUT ", "v1", "values", name] => {
                let [value, fence] = [&body["value"], &body["fence"]];
                Answer::Says(
                    200,
                    json!({"name": name, "value": value, "fence": fence, "node": 1,
                                         "replicated": true}),
                )
            }
            ["DELETE ", "v1", _, name, _, id] => self.lock().withdraw(name, id, body),
            _ => refuse(404, "not_found", "there is nothing at this address"),
        };
        self.changed.notify_all();
        answer
    }

    /// Waits in line at this node, for as long as the node lives.
    fn acquire(&self, node: usize, names: Vec<String>, body: &Value) -> Answer {
        let key = key(body);
        let mut table = self.lock();
        if !table.sessions.contains_key(&key.0) {
            return refuse(404, "no_session", "no such session");
        }
        let known = table.granted.contains_key(&key) || table.queue.iter().any(|it| it.0 == key);
        if !known && !table.withdrawn.contains(&key) {
            table.queue.push_back((key.clone(), names));
            table.promote();
        }
        drop(table);
        self.changed.notify_all();
        let all = body["locks"].is_array();
        self.wait("an acquire is answered", |table| match table.moods[node] {
            Mood::Dead => Some(Answer::HangsUp),
            Mood::Still => Some(Answer::Silent),
            Mood::Well | Mood::Deaf | Mood::Elsewhere(..) => table.granted_to(&key, all),
        })
    }
}

impl Table {
    fn open(&mut self, body: &Value) -> Answer {
        let opening = body["request_id"].as_str().unwrap_or_default().to_string();
        let fresh = format!("{:032x}", self.openings.len() + 1);
        let id = self.openings.entry(opening).or_insert(fresh).clone();
        let ttl_ms = body["ttl_ms"].as_u64().unwrap();
        self.sessions.insert(id.clone(), ttl_ms);
        Answer::Says(200, session(&id, ttl_ms, None))
    }

    /// Gives back what the client does not know, and tells what there is.
    fn keep_alive(&mut self, id: &str, body: &Value) -> Answer {
        let Some(ttl_ms) = self.sessions.get(id).copied() else {
            return refuse(404, "no_session", "no such session");
        };
        let as_of = number(&body["request_id"]);
        let open: BTreeSet<u64> = body["open"].as_array().unwrap().iter().map(number).collect();
        let unknown = |key: &Key| key.0 == id && key.1 < as_of && !open.contains(&key.1);
        self.queue.retain(|(key, _)| !unknown(key));
        self.holds.retain(|_, (key, _)| !unknown(key));
        self.promote();
        let holds = self.holds.iter().filter(|(_, (key, _))| key.0 == id);
        let holds = holds.map(|(name, (key, fence))| {
            let kind = if name.starts_with("boss") { "election" } else { "lock" };
            let revoked = self.revoked.contains(name);
            json!({"name": name, "kind": kind, "fence": fence, "request_id": key.1.to_string(),
                   "revoked": revoked})
        });
        let holds: Vec<Value> = holds.collect();
        Answer::Says(200, session(id, ttl_ms, Some(json!(holds))))
    }

    fn end(&mut self, id: &str) -> Answer {
        self.sessions.remove(id);
        self.queue.retain(|(key, _)| key.0 != id);
        self.holds.retain(|_, (key, _)| key.0 != id);
        self.promote();
        Answer::Says(200, json!({}))
    }

    /// The first in line that can hold all that it wants.
    fn promote(&mut self) {
        while let Some(at) = self
            .queue
            .iter()
            .position(|(_, names)| names.iter().all(|name| !self.holds.contains_key(name)))
        {
            let (key, names) = self.queue.remove(at).unwrap();
            self.index += 1;
            let fence = self.index;
            for name in &names {
                self.holds.insert(name.clone(), (key.clone(), fence));
            }
            self.granted.insert(key, names.into_iter().map(|name| (name, fence)).collect());
        }
    }

    fn granted_to(&self, key: &Key, all: bool) -> Option<Answer> {
        if self.withdrawn.contains(key) {
            return Some(refuse(409, "withdrawn", "withdrawn"));
        }
        let granted = self.granted.get(key)?;
        let grants: Vec<Value> = granted.iter().map(|(name, fence)| grant(name, *fence)).collect();
        Some(Answer::Says(200, if all { json!({ "grants": grants }) } else { grants[0].clone() }))
    }

    fn release(&mut self, name: &str, body: &Value) -> Answer {
        let session = body["session"].as_str().unwrap().to_string();
        let key = (session, number(&body["hold"]));
        if self.holds.get(name).is_none_or(|(holder, _)| *holder != key) {
            return refuse(409, "not_holder", "it does not hold it");
        }
        self.holds.remove(name);
        self.promote();
        Answer::Says(200, json!({"name": name, "fence": body["fence"], "holds": 0}))
    }

    fn hand_over(&mut self, name: &str, body: &Value) -> Answer {
        self.holds.remove(name);
        self.promote();
        Answer::Says(200, json!({"name": name, "fence": body["fence"], "to": body["to"]}))
    }

    fn withdraw(&mut self, name: &str, id: &str, body: &Value) -> Answer {
        let key = (body["session"].as_str().unwrap().to_string(), id.parse().unwrap());
        self.queue.retain(|(waiting, _)| *waiting != key);
        self.holds.retain(|_, (holder, _)| *holder != key);
        self.withdrawn.insert(key);
        self.promote();
        Answer::Says(200, json!({"name": name, "position": 1}))
    }
}

fn key(body: &Value) -> Key {
    (body["session"].as_str().unwrap().to_string(), number(&body["request_id"]))
}

fn number(value: &Value) -> u64 {
    value.as_str().unwrap().parse().unwrap()
}

fn names(body: &Value) -> Vec<String> {
    let locks = body["locks"].as_array().unwrap().iter();
    locks.map(|lock| lock["name"].as_str().unwrap().to_string()).collect()
}

fn session(id: &str, ttl_ms: u64, holds: Option<Value>) -> Value {
    let mut session = json!({
        "session": id, "ttl_ms": ttl_ms, "node": 1, "cluster_id": "c1", "generation": 2,
        "scope": "cluster",
    });
    if let Some(holds) = holds {
        session["holds"] = holds;
    }
    session
}

fn grant(name: &str, fence: u64) -> Value {
    json!({
        "name": name, "fence": fence, "cluster_id": "c1", "generation": 2, "node": 1, "slot": 0,
        "holds": 1, "waited_ms": 0,
    })
}

fn cluster(id: &str, generation: u64) -> Value {
    json!({
        "cluster": "test", "cluster_id": id, "generation": generation, "version": "1",
        "engine": "replicated", "parameters": {}, "election": null, "detector": null, "node": 1,
        "uptime_ms": 1, "leader": 1, "term": 1, "nodes": [], "locks": 0, "locks_max": null,
        "sessions": 0, "scope": "cluster",
    })
}

/// A node of another cluster knows of no session, and would let anybody in.
fn elsewhere(request: &Request, id: &str, generation: u64) -> Answer {
    match request.line.as_str() {
        "GET /v1/cluster" => Answer::Says(200, cluster(id, generation)),
        "POST /v1/sessions" => {
            let mut opened = session("beef", 10_000, None);
            opened["cluster_id"] = json!(id);
            opened["generation"] = json!(generation);
            Answer::Says(200, opened)
        }
        _ => refuse(404, "no_session", "no such session"),
    }
}
