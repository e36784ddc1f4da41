//! The host of a node: one thread that runs all its machines and its application.
//!
//! It works in batches. A batch takes what has come in (timers that are due, news of the links,
//! commands; some hundreds at most of each), carries each of them through, and makes the changes
//! lasting in one synced transaction. Only then does anything of it leave: messages,
//! acknowledgements, answers. If the disk refuses, nothing leaves and the host ends: to others, a
//! node that crashed is a slow one. A batch that changed nothing lasting makes no transaction.
//!
//! A machine that panics ends the host too, and in a release build the process. It broke a rule of
//! its own, and what it would do next is anybody's guess.

mod dispatch;
mod link;
mod state;
mod timers;
mod warnings;

use crate::recording::{Entry, Recorder};
use crate::store::{Store, StoreError};
use crate::{Application, Key, Lane, News, Order};
use conclave_core::{NodeId, Ticks};
use dispatch::Dispatcher;
use rustix::time::{ClockId, clock_gettime};
use state::HostState;
use std::collections::VecDeque;
use std::future::pending;
use std::io;
use std::thread::{self, JoinHandle};
use std::time::Duration;
use tokio::runtime::Builder;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, sleep_until};

/// So many news, and as many commands, are taken into one batch.
const BATCH: usize = 512;
/// So many orders may wait for the links before transient messages are dropped.
const WAITING_MAX: usize = 65_536;
/// A recording is handed to the system this often.
const FLUSH: Duration = Duration::from_secs(1);

/// What a host needs to know.
pub struct HostConfig {
    /// This node.
    pub me: NodeId,
    /// How many nodes there are.
    pub n: u32,
    /// From which the random delays of timers are drawn.
    pub seed: u64,
    /// Where every step is written down.
    pub recorder: Option<Recorder>,
}

/// Why a host ended. None of these goes away by trying again with the same disk, links and peers.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The disk refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk knows a machine that the application does not.
    #[error("the data file has a machine {0:?} that does not belong to these settings")]
    Unknown(Key),
    /// A peer knows another node by this name.
    #[error("node {by} refuses this node: {reason}")]
    Disowned {
        /// Who.
        by: NodeId,
        /// What it said.
        reason: String,
    },
    /// A peer remembers more of this node than its disk does.
    #[error(
        "the data directory is an old copy: node {by} {reason}; \
         a node cannot go on without what it had promised: bring the latest one back"
    )]
    OldCopy {
        /// Which peer.
        by: NodeId,
        /// What it remembers.
        reason: String,
    },
    /// The other end of the channels is gone.
    #[error("the links have ended")]
    LinksEnded,
    /// A machine or the application panicked, or the thread could not be started.
    #[error("the host has failed: {0}")]
    Failed(String),
}

/// A host at work. To drop it is to stop it without waiting.
pub struct Host {
    stop: Option<oneshot::Sender<()>>,
    /// `None` once it was heard.
    ended: Option<oneshot::Receiver<Result<(), HostError>>>,
    thread: Option<JoinHandle<()>>,
}

impl Host {
    /// Starts the host of a node. It first tells the links what the disk knows: an
    /// [`Order::Acknowledge`] for every peer met before, and an [`Order::Send`] for every message
    /// that was not acknowledged.
    pub fn start<U: Application>(
        config: HostConfig,
        store: Store,
        application: U,
        orders: mpsc::Sender<Order>,
        news: mpsc::Receiver<News>,
        commands: mpsc::Receiver<U::Command>,
    ) -> io::Result<Self> {
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let runtime = Builder::new_current_thread().enable_time().build()?;
        let work = move || {
            let outside = Outside { orders, news, commands, stopped, commands_open: true };
            let result = runtime.block_on(run(config, store, application, outside));
            // Nobody may be listening any more.
            let _ = end.send(result);
        };
        let thread = thread::Builder::new().name("conclave-host".into()).spawn(work)?;
        Ok(Self { stop: Some(stop), ended: Some(ended), thread: Some(thread) })
    }

    /// Waits for the host to end, which it does by itself only if something is wrong. May be given
    /// up and called again; its end is told once.
    pub async fn ended(&mut self) -> Result<(), HostError> {
        let Some(ended) = &mut self.ended else { return Ok(()) };
        let result = ended.await;
        self.ended = None;
        let panicked = |_| Err(HostError::Failed("a machine or the application panicked".into()));
        result.unwrap_or_else(panicked)
    }

    /// Lets it finish its batch, and waits until the file is closed.
    pub async fn stop(mut self) -> Result<(), HostError> {
        drop(self.stop.take());
        let result = self.ended().await;
        if let Some(thread) = self.thread.take() {
            // Over, or about to be: it has nothing left to do but to return.
            let _ = thread.join();
        }
        result
    }
}

/// All that a host hears and says.
struct Outside<C> {
    orders: mpsc::Sender<Order>,
    news: mpsc::Receiver<News>,
    commands: mpsc::Receiver<C>,
    stopped: oneshot::Receiver<()>,
    commands_open: bool,
}

/// A running host.
struct Running<U: Application> {
    dispatcher: Dispatcher<U>,
    store: Store,
    outside: Outside<U::Command>,
    recorder: Option<Recorder>,
    flush_at: Option<Instant>,
    /// When it started, since the machine did.
    started: Duration,
    /// Orders that are free to go, as soon as the links take them.
    waiting: VecDeque<Order>,
}

async fn run<U: Application>(
    config: HostConfig,
    store: Store,
    application: U,
    outside: Outside<U::Command>,
) -> Result<(), HostError> {
    let kept = store.load()?;
    let mut state = HostState::new(config.me, config.n, store.incarnation(), config.seed, &kept);
    state.is(store.identity());
    state.recording = config.recorder.is_some();
    let mut running = Running {
        dispatcher: Dispatcher { application, state },
        store,
        outside,
        recorder: config.recorder,
        flush_at: None,
        started: since_boot(),
        waiting: VecDeque::new(),
    };
    running.dispatcher.begin(kept)?;
    running.settle()?;
    while running.turn_or_condemn().await? {}
    let now = running.now();
    if let Some(recorder) = running.recorder.take() {
        recorder.finish(now);
    }
    Ok(())
}

impl<U: Application> Running<U> {
    fn now(&self) -> Ticks {
        Ticks(since_boot().saturating_sub(self.started).as_micros() as u64)
    }

    /// An old copy must not come back as one start more, as whatever starts nodes again would have
    /// it: the file itself remembers.
    async fn turn_or_condemn(&mut self) -> Result<bool, HostError> {
        let turned = self.turn().await;
        if let Err(HostError::OldCopy { by, reason }) = &turned {
            self.store.condemn(&format!("node {by} {reason}"))?;
        }
        turned
    }

    /// Waits for something to do and does it. False when it was told to stop.
    async fn turn(&mut self) -> Result<bool, HostError> {
        let mut news = Vec::new();
        let mut commands = Vec::new();
        let alarm = self.alarm();
        let outside = &mut self.outside;
        tokio::select! {
            biased;
            _ = &mut outside.stopped => return Ok(false),
            () = outside.orders.closed() => return Err(HostError::LinksEnded),
            permit = outside.orders.reserve(), if !self.waiting.is_empty() => {
                let permit = permit.map_err(|_| HostError::LinksEnded)?;
                if let Some(order) = self.waiting.pop_front() {
                    permit.send(order);
                }
            }
            count = outside.news.recv_many(&mut news, BATCH) => {
                if count == 0 {
                    return Err(HostError::LinksEnded);
                }
            }
            count = outside.commands.recv_many(&mut commands, BATCH), if outside.commands_open => {
                outside.commands_open = count > 0;
            }
            () = ring(alarm) => {}
        }
        self.take_more(&mut news, &mut commands);
        self.batch(news, commands)?;
        Ok(true)
    }

    /// What else is there goes into the same batch, so that neither side starves the other.
    fn take_more(&mut self, news: &mut Vec<News>, commands: &mut Vec<U::Command>) {
        while news.len() < BATCH
            && let Ok(more) = self.outside.news.try_recv()
        {
            news.push(more);
        }
        while commands.len() < BATCH
            && let Ok(more) = self.outside.commands.try_recv()
        {
            commands.push(more);
        }
    }

    fn batch(&mut self, news: Vec<News>, commands: Vec<U::Command>) -> Result<(), HostError> {
        self.dispatcher.state.now = self.now();
        self.dispatcher.tick();
        for news in news {
            self.dispatcher.state.now = self.now();
            self.dispatcher.hear(news)?;
        }
        for command in commands {
            self.dispatcher.state.now = self.now();
            self.dispatcher.command(command);
        }
        self.settle()
    }

    /// Makes all changes lasting, then lets go of everything that waited for it.
    fn settle(&mut self) -> Result<(), HostError> {
        if let Some(batch) = self.dispatcher.state.changes() {
            self.store.commit(&batch)?;
        }
        let gathered = std::mem::take(&mut self.dispatcher.state.gathered);
        self.record(&gathered.entries);
        if self.outside.orders.is_closed() {
            // Nobody would carry the messages, so nobody may hear the answers.
            return Err(HostError::LinksEnded);
        }
        for (from, number) in gathered.acknowledgements {
            self.waiting.push_back(Order::Acknowledge { from, number });
        }
        for order in gathered.orders {
            self.queue(order);
        }
        self.offer();
        gathered.afterwards.into_iter().for_each(|deed| deed());
        Ok(())
    }

    fn queue(&mut self, order: Order) {
        let transient =
            matches!(&order, Order::Send { packet, .. } if packet.lane == Lane::Transient);
        if transient && self.waiting.len() >= WAITING_MAX {
            let state = &mut self.dispatcher.state;
            let what = "the links do not keep up: a transient message was dropped";
            return state.warnings.say(state.now, what);
        }
        self.waiting.push_back(order);
    }

    /// Gives the links as much as they take without waiting.
    fn offer(&mut self) {
        while !self.waiting.is_empty()
            && let Ok(permit) = self.outside.orders.try_reserve()
            && let Some(order) = self.waiting.pop_front()
        {
            permit.send(order);
        }
    }

    fn record(&mut self, entries: &[Entry]) {
        let Some(recorder) = &mut self.recorder else { return };
        entries.iter().for_each(|entry| recorder.write(entry));
        let now = Instant::now();
        if self.flush_at.is_some_and(|at| at <= now) {
            self.flush_at = None;
            recorder.flush();
        } else if !entries.is_empty() {
            self.flush_at.get_or_insert(now + FLUSH);
        }
    }

    /// When to do something though nobody says anything.
    fn alarm(&self) -> Option<Instant> {
        let next = self.dispatcher.next().and_then(|at| {
            let span = Duration::from_micros(at.since(self.now()).0);
            Instant::now().checked_add(span) // A time too far away to be named never comes.
        });
        [next, self.flush_at].into_iter().flatten().min()
    }
}

/// The time since the machine started, time asleep included: leases run on while the machine is
/// suspended, as they do at other nodes.
fn since_boot() -> Duration {
    let now = clock_gettime(ClockId::Boottime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}

async fn ring(alarm: Option<Instant>) {
    match alarm {
        Some(at) => sleep_until(at).await,
        None => pending().await,
    }
}
