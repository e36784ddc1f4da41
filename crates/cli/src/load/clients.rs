//! The clients: each enters so many times, one entry after the other.

use super::judge::{Judge, Verdict};
use super::workload::Inside;
use conclave_client::api::Value;
use conclave_client::{Client, Error, Guard, Lease, Wanted};
use rustix::process::Signal;
use std::sync::mpsc::{Receiver, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// A session of a client outlives the stalls of a busy machine.
const TTL: Duration = Duration::from_secs(30);

/// What the clients do.
#[derive(Clone, Debug)]
pub struct Load {
    /// How many clients.
    pub clients: usize,
    /// How often each enters.
    pub entries: u32,
    /// What it does inside.
    pub workload: Inside,
    /// How long a client waits for an entry before it gives up.
    pub wait: Duration,
    /// The lock, and the counter behind it.
    pub name: String,
}

/// What was seen.
#[derive(Debug)]
pub struct Seen {
    /// What the judge says.
    pub verdict: Verdict,
    /// How long it took, from the first request to the last release.
    pub took: Duration,
    /// How long each entry was waited for, shortest first.
    pub waits: Vec<Duration>,
    /// The counter in the end, if there is one.
    pub counter: Option<u64>,
    /// What went wrong, one line per client that gave up.
    pub failures: Vec<String>,
}

/// What the one who waits for the clients hears.
#[derive(Debug)]
pub enum Happened {
    /// A client has ended.
    Ended,
    /// Somebody wants it to stop.
    Signal(Signal),
}

/// How it ended.
#[derive(Debug)]
pub enum Ran {
    /// By itself, having seen this.
    Through(Seen),
    /// By a signal. The clients may still wait for something.
    Stopped(Signal),
}

/// What all clients share.
#[derive(Debug)]
struct Shared {
    load: Load,
    judge: Judge,
    waits: Mutex<Vec<Duration>>,
    failures: Mutex<Vec<String>>,
}

/// Runs the load on these servers, one client after the other assigned to each in turn.
pub fn run(
    load: &Load,
    servers: &[String],
    tell: &Sender<Happened>,
    happened: &Receiver<Happened>,
) -> anyhow::Result<Ran> {
    let shared = Arc::new(Shared {
        load: load.clone(),
        judge: Judge::new(load.clients),
        waits: Mutex::default(),
        failures: Mutex::default(),
    });
    let sessions = sessions(load, servers)?;
    let begun = Instant::now();
    for (client, (place, lease)) in sessions.into_iter().enumerate() {
        let shared = Arc::clone(&shared);
        let tell = tell.clone();
        thread::Builder::new().name(format!("client {}", client + 1)).spawn(move || {
            shared.client(client, &place, &lease);
            let _ = tell.send(Happened::Ended); // Nobody listens if it was stopped.
        })?;
    }
    for _ in 0..load.clients {
        match happened.recv()? {
            Happened::Ended => {}
            Happened::Signal(signal) => return Ok(Ran::Stopped(signal)),
        }
    }
    let took = begun.elapsed();
    let counter = counter(load, servers)?;
    Ok(Ran::Through(shared.seen(took, counter)))
}

/// One session per client, spread over the servers.
fn sessions(load: &Load, servers: &[String]) -> anyhow::Result<Vec<(Client, Lease)>> {
    let session = |(client, server): (usize, &String)| {
        let place = Client::new([server])?;
        let lease = place.open(TTL, Some(&format!("client {}", client + 1)))?;
        Ok((place, lease))
    };
    (0..load.clients).zip(servers.iter().cycle()).map(session).collect()
}

impl Shared {
    /// One client, until it has had all its entries or something goes wrong.
    fn client(&self, client: usize, place: &Client, lease: &Lease) {
        for entry in 1..=self.load.entries {
            if let Err(error) = self.entry(client, place, lease) {
                let told = format!("client {}, entry {entry}: {error}", client + 1);
                return guarded(&self.failures).push(told);
            }
        }
        self.judge.is_through();
    }

    fn entry(&self, client: usize, place: &Client, lease: &Lease) -> Result<(), Error> {
        let wanted = Wanted { wait: Some(self.load.wait), ..Wanted::default() };
        let asked = Instant::now();
        let guard = lease.acquire(&self.load.name, &wanted)?;
        guarded(&self.waits).push(asked.elapsed());
        self.judge.enters(client, guard.fence());
        let done = match self.load.workload {
            Inside::Counter => self.add_one(place, &guard),
            Inside::Empty => Ok(()),
        };
        self.judge.leaves();
        guard.release()?;
        done
    }

    /// Nothing but the lock keeps two of these apart, and nothing but the fence notices.
    fn add_one(&self, place: &Client, guard: &Guard) -> Result<(), Error> {
        let value = (read(place, &self.load.name)? + 1).into();
        guard.set_value(&self.load.name, value).map(|_| ())
    }

    fn seen(&self, took: Duration, counter: Option<u64>) -> Seen {
        let mut waits = guarded(&self.waits).clone();
        waits.sort_unstable();
        let failures = guarded(&self.failures).clone();
        Seen { verdict: self.judge.verdict(), took, waits, counter, failures }
    }
}

/// What the counter stands at in the end, if there is one.
fn counter(load: &Load, servers: &[String]) -> anyhow::Result<Option<u64>> {
    match load.workload {
        Inside::Counter => Ok(read(&Client::new(servers)?, &load.name).ok()),
        Inside::Empty => Ok(None),
    }
}

/// The counter; one that was never written is at zero.
fn read(place: &Client, name: &str) -> Result<u64, Error> {
    match place.value(name) {
        Ok(Value { value, .. }) => Ok(value.as_u64().unwrap_or_default()),
        Err(error) if error.code() == Some("not_found") => Ok(0),
        Err(error) => Err(error),
    }
}

fn guarded<T>(data: &Mutex<T>) -> MutexGuard<'_, T> {
    data.lock().unwrap_or_else(PoisonError::into_inner)
}
