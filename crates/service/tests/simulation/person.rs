//! A client process: its clock, its ways to the nodes, and whether it stands still.

use crate::chance::Chance;
use crate::faults::Crowd;
use crate::history::{Event, Recording};
use conclave_service::Command;
use conclave_service::desk::{Answer, Reply};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, mpsc, oneshot};
use tokio::time::{Instant, sleep, timeout};

/// The ways into the nodes, as clients have them.
#[derive(Clone, Default)]
pub struct Doors(Arc<Mutex<DoorsState>>);

#[derive(Default)]
pub struct DoorsState {
    /// The command queue of each node that runs.
    pub nodes: Vec<Option<mpsc::Sender<Command>>>,
    /// Which client cannot reach which node.
    pub cut: BTreeSet<(usize, usize)>,
    /// Clients begin nothing new.
    pub closing: bool,
}

impl Doors {
    pub fn lock(&self) -> MutexGuard<'_, DoorsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn way(&self, client: usize, node: usize) -> Option<Option<mpsc::Sender<Command>>> {
        let doors = self.lock();
        (!doors.cut.contains(&(client, node))).then(|| doors.nodes[node].clone())
    }
}

/// What every part of a client shares. Cheap to clone.
#[derive(Clone)]
pub struct Person {
    pub me: usize,
    pub doors: Doors,
    pub recording: Recording,
    chance: Arc<Mutex<Chance>>,
    born: Instant,
    /// Which kind of clients it is one of.
    pub crowd: Crowd,
    /// How fast its clock runs, in ten thousandths.
    rate: u32,
    paused: Arc<Mutex<bool>>,
    resumed: Arc<Notify>,
    /// The client is to die now.
    pub doom: Arc<Notify>,
}

impl Person {
    /// Must be called within the runtime of the clients.
    pub fn new(
        me: usize,
        doors: Doors,
        recording: Recording,
        mut chance: Chance,
        crowd: Crowd,
    ) -> Self {
        let rate = chance.between(9_900, 10_100) as u32;
        Self {
            me,
            doors,
            recording,
            chance: Arc::new(Mutex::new(chance)),
            born: Instant::now(),
            crowd,
            rate,
            paused: Arc::default(),
            resumed: Arc::default(),
            doom: Arc::default(),
        }
    }

    pub fn note(&self, event: Event) {
        self.recording.note(self.me, event);
    }

    /// What this client's clock reads.
    pub fn now(&self) -> Duration {
        self.born.elapsed() * self.rate / 10_000
    }

    pub fn draw<T>(&self, draw: impl FnOnce(&mut Chance) -> T) -> T {
        draw(&mut self.chance.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// It stands still, or goes on.
    pub fn pause(&self, paused: bool) {
        let before = std::mem::replace(&mut *self.is_paused(), paused);
        if before != paused {
            self.note(Event::Paused(paused));
        }
        if !paused {
            self.resumed.notify_waiters();
        }
    }

    fn is_paused(&self) -> MutexGuard<'_, bool> {
        self.paused.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on only if it does not stand still.
    async fn breathe(&self) {
        loop {
            let resumed = self.resumed.notified();
            if !*self.is_paused() {
                return;
            }
            resumed.await;
        }
    }

    /// Sleeps for so long.
    pub async fn rest(&self, millis: u64) {
        sleep(Duration::from_millis(millis)).await;
        self.breathe().await;
    }

    /// Sleeps until its own clock reads this.
    pub async fn until(&self, then: Duration) {
        while self.now() < then {
            let left = (then - self.now()) * 10_000 / self.rate;
            sleep(left.max(Duration::from_millis(1))).await;
            self.breathe().await;
        }
    }

    /// Any node.
    pub fn any_node(&self) -> usize {
        let nodes = self.doors.lock().nodes.len();
        self.draw(|chance| chance.below(nodes))
    }

    /// Asks a node, over a network of its own. Nothing, if no answer came.
    pub async fn ask<T>(
        &self,
        node: usize,
        patience: Duration,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Option<Answer<T>> {
        let answered = timeout(patience, self.exchange(node, command)).await;
        self.breathe().await;
        answered.ok().flatten()
    }

    async fn exchange<T>(
        &self,
        node: usize,
        command: impl FnOnce(Reply<T>) -> Command,
    ) -> Option<Answer<T>> {
        self.under_way().await;
        let Some(door) = self.doors.way(self.me, node) else {
            return std::future::pending().await; // It is lost, and nobody says so.
        };
        let (reply, answer) = oneshot::channel();
        door?.send(command(reply)).await.ok()?;
        let answer = answer.await.ok()?;
        self.under_way().await;
        match self.doors.way(self.me, node) {
            Some(_) => Some(answer),
            None => std::future::pending().await,
        }
    }

    async fn under_way(&self) {
        let long = self.draw(|chance| match chance.happens(20) {
            true => chance.between(50, 400),
            false => chance.between(2, 10),
        });
        sleep(Duration::from_millis(long)).await;
    }
}
