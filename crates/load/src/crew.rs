//! The clients of one measurement (a closed loop: each asks again as soon as it was served).

use crate::Error;
use crate::client::{Client, Target, Want};
use crate::course::Course;
use futures_util::future::join_all;
use std::time::{Duration, Instant};

/// How long a client pauses before it tries again what failed and may pass.
const PAUSE: Duration = Duration::from_millis(2);

/// What the clients do.
#[derive(Clone, Debug)]
pub struct Load {
    /// How many clients.
    pub clients: usize,
    /// Whether all want the same lock, or each has one of its own.
    pub one_lock: bool,
    /// What the names of locks begin with.
    pub name: String,
    /// How long a session lives without a sign of life: longer than the measurement.
    pub ttl: Duration,
    /// The server that the first client begins with; each further client takes the next.
    pub first: usize,
}

impl Default for Load {
    fn default() -> Self {
        let name = "bench".to_string();
        Self { clients: 1, one_lock: false, name, ttl: Duration::from_secs(120), first: 0 }
    }
}

/// Clients with their sessions.
#[derive(Debug)]
pub struct Crew {
    load: Load,
    clients: Vec<Client>,
}

/// What was seen.
#[derive(Debug)]
pub struct Seen {
    /// From the first request until it was told to stop.
    pub took: Duration,
    /// How long each entry was waited for, shortest first.
    pub waits: Vec<Duration>,
    /// Pairs of acquire and release, of each client.
    pub counts: Vec<u64>,
    /// Entries after one of another client, on one lock.
    pub handoffs: u64,
    /// Entries while another was inside, on one lock.
    pub overlaps: u64,
    /// Entries with a fence that was not larger than the one before, on one lock.
    pub falls: u64,
    /// Requests that had to be repeated.
    pub retries: u64,
    /// Why clients gave up.
    pub failures: Vec<String>,
}

impl Seen {
    /// Pairs of acquire and release, of all clients.
    pub fn pairs(&self) -> u64 {
        self.counts.iter().sum()
    }
}

/// What one client saw.
#[derive(Debug, Default)]
struct Own {
    waits: Vec<Duration>,
    pairs: u64,
    retries: u64,
    failure: Option<String>,
}

impl Crew {
    /// Opens all sessions.
    pub async fn open(target: &Target, load: &Load) -> Result<Self, Error> {
        let mut clients = Vec::new();
        for index in 0..load.clients {
            let name = match load.one_lock {
                true => load.name.clone(),
                false => format!("{}-{index}", load.name),
            };
            let want = Want {
                name,
                label: format!("client-{index}"),
                ttl: load.ttl,
                shared: load.one_lock,
                first: load.first + index,
            };
            clients.push(Client::open(target, want).await?);
        }
        Ok(Self { load: load.clone(), clients })
    }

    /// Takes and gives back locks until the course is stopped; returns when all have ended.
    pub async fn work(self, course: &Course) -> Seen {
        let begun = Instant::now();
        let one_lock = self.load.one_lock;
        let clients = self.clients.into_iter().enumerate();
        let all = join_all(clients.map(|(index, client)| work(index, client, one_lock, course)));
        let all = all.await;
        let stopped = course.stopped_at().unwrap_or_else(Instant::now);
        let mut waits: Vec<Duration> = all.iter().flat_map(|own| own.waits.clone()).collect();
        waits.sort_unstable();
        Seen {
            took: stopped - begun,
            waits,
            counts: all.iter().map(|own| own.pairs).collect(),
            handoffs: course.handoffs(),
            overlaps: course.overlaps(),
            falls: course.falls(),
            retries: all.iter().map(|own| own.retries).sum(),
            failures: all.into_iter().filter_map(|own| own.failure).collect(),
        }
    }
}

async fn work(index: usize, mut client: Client, one_lock: bool, course: &Course) -> Own {
    let mut own = Own::default();
    while !course.is_stopped() {
        if let Err(error) = pair(index, &mut client, one_lock, course, &mut own).await {
            own.failure = Some(format!("client {}: {error}", index + 1));
            break;
        }
    }
    own
}

/// One entry and exit. What is not over when the course is stopped does not count.
async fn pair(
    index: usize,
    client: &mut Client,
    one_lock: bool,
    course: &Course,
    own: &mut Own,
) -> Result<(), Error> {
    let asked = Instant::now();
    let fence = loop {
        match client.acquire().await {
            Ok(fence) => break fence,
            Err(error) => again(error, course, own).await?,
        }
    };
    let wait = asked.elapsed();
    course.enters(index, fence, one_lock);
    if one_lock {
        tokio::task::yield_now().await; // Whoever else was let in says so now.
    }
    course.leaves();
    while let Err(error) = client.release().await {
        again(error, course, own).await?;
    }
    if !course.is_stopped() {
        own.waits.push(wait);
        own.pairs += 1;
    }
    Ok(())
}

/// Pauses if there is a point in trying again.
async fn again(error: Error, course: &Course, own: &mut Own) -> Result<(), Error> {
    if !error.may_pass() || course.is_aborted() {
        return Err(error);
    }
    own.retries += 1;
    tokio::time::sleep(PAUSE).await;
    Ok(())
}
