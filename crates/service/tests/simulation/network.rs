//! The simulated network: connections of bytes between nodes, with delays, cuts and partitions.
//!
//! It behaves as TCP does. A connection keeps its order; two do not. While the way is cut, what was
//! sent waits, and arrives when it is whole again, unless somebody gave up before. A process that
//! dies closes its connections, and its host refuses new ones; a host that dies says nothing.

use crate::chance::Chance;
use conclave_net::rpc::{Connecting, Connection, Network};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The node with this number listens there.
pub fn address(node: usize) -> String {
    format!("10.0.0.{}:7000", node + 1)
}

fn node_of(address: &str) -> usize {
    let host = address.split(':').next().unwrap_or_default();
    host.rsplit('.').next().and_then(|last| last.parse::<usize>().ok()).unwrap_or(1) - 1
}

/// Whether anybody is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// A process listens.
    Listens,
    /// The host says that nobody listens.
    Refuses,
    /// The host is dead.
    Silent,
}

/// All connections, and what is wrong with the ways.
pub struct Ways {
    now: u64,
    chance: Chance,
    delay: (u64, u64),
    presence: Vec<Presence>,
    /// From whom to whom nothing gets through.
    cut: BTreeSet<(usize, usize)>,
    pipes: BTreeMap<u64, Pipe>,
    dials: BTreeMap<u64, Dial>,
    doors: Vec<Door>,
    next: u64,
}

/// One direction of a connection.
struct Pipe {
    from: usize,
    to: usize,
    /// What is under way, and when it arrives.
    flying: VecDeque<(u64, Vec<u8>)>,
    arrived: VecDeque<u8>,
    /// The writer has closed it; the reader learns it then.
    closing: Option<u64>,
    ended: Option<io::ErrorKind>,
    reader: Option<Waker>,
}

/// An attempt to connect.
struct Dial {
    from: usize,
    to: usize,
    due: u64,
    outcome: Option<Result<(u64, u64), io::ErrorKind>>,
    waker: Option<Waker>,
}

#[derive(Default)]
struct Door {
    waiting: VecDeque<(u64, u64, usize)>,
    waker: Option<Waker>,
}

/// The network. Cheap to clone.
#[derive(Clone)]
pub struct SimNetwork(Arc<Mutex<Ways>>);

impl SimNetwork {
    pub fn new(nodes: usize, chance: Chance, delay: (u64, u64)) -> Self {
        Self(Arc::new(Mutex::new(Ways {
            now: 0,
            chance,
            delay,
            presence: vec![Presence::Refuses; nodes],
            cut: BTreeSet::new(),
            pipes: BTreeMap::new(),
            dials: BTreeMap::new(),
            doors: (0..nodes).map(|_| Door::default()).collect(),
            next: 0,
        })))
    }

    pub fn lock(&self) -> MutexGuard<'_, Ways> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where a node has its place.
    pub fn place(&self, me: usize) -> Place {
        Place { network: self.clone(), me }
    }
}

impl Ways {
    /// Delivers what is due by now.
    pub fn advance(&mut self, now: u64) {
        self.now = now;
        let cut = &self.cut;
        for pipe in self.pipes.values_mut().filter(|pipe| !cut.contains(&(pipe.from, pipe.to))) {
            pipe.deliver(now);
        }
        let due: Vec<u64> =
            self.dials.iter().filter(|(_, dial)| dial.due <= now).map(|(id, _)| *id).collect();
        due.into_iter().for_each(|id| self.answer_dial(id));
    }

    fn answer_dial(&mut self, id: u64) {
        let Some(dial) = self.dials.get(&id) else { return };
        let (from, to) = (dial.from, dial.to);
        let whole = !self.cut.contains(&(from, to)) && !self.cut.contains(&(to, from));
        if dial.outcome.is_some() || !whole || self.presence[to] == Presence::Silent {
            return; // Nobody answers; it is tried again until whoever dials gives up.
        }
        let outcome = match self.presence[to] {
            Presence::Listens => {
                let there = self.pipe(from, to);
                let back = self.pipe(to, from);
                self.doors[to].waiting.push_back((there, back, from));
                wake(&mut self.doors[to].waker);
                Ok((back, there))
            }
            Presence::Refuses | Presence::Silent => Err(io::ErrorKind::ConnectionRefused),
        };
        if let Some(dial) = self.dials.get_mut(&id) {
            dial.outcome = Some(outcome);
            wake(&mut dial.waker);
        }
    }

    fn pipe(&mut self, from: usize, to: usize) -> u64 {
        self.next += 1;
        let pipe = Pipe {
            from,
            to,
            flying: VecDeque::new(),
            arrived: VecDeque::new(),
            closing: None,
            ended: None,
            reader: None,
        };
        self.pipes.insert(self.next, pipe);
        self.next
    }

    fn draw_delay(&mut self) -> u64 {
        let (min, max) = self.delay;
        // Now and then a packet is lost, and sent again.
        let lost = if self.chance.happens(10) { self.chance.between(20, 220) } else { 0 };
        self.chance.between(min, max) + lost
    }

    /// Nothing gets from one to the other, from now on.
    pub fn cut(&mut self, from: usize, to: usize) {
        self.cut.insert((from, to));
    }

    pub fn heal(&mut self) {
        self.cut.clear();
    }

    /// Whether two nodes can talk to each other.
    pub fn is_whole(&self, one: usize, other: usize) -> bool {
        !self.cut.contains(&(one, other)) && !self.cut.contains(&(other, one))
    }

    /// The process of a node is there, or is gone, and how its host tells.
    pub fn set_presence(&mut self, node: usize, presence: Presence) {
        self.presence[node] = presence;
        if presence != Presence::Listens {
            self.doors[node] = Door::default();
        }
    }

    /// A host that is up again does not know the connections that it had.
    pub fn reset_all_of(&mut self, node: usize) {
        self.reset(|pipe| pipe.from == node || pipe.to == node);
    }

    /// Connections between two nodes break.
    pub fn reset_between(&mut self, one: usize, other: usize) {
        self.reset(|pipe| [(one, other), (other, one)].contains(&(pipe.from, pipe.to)));
    }

    fn reset(&mut self, which: impl Fn(&Pipe) -> bool) {
        for pipe in self.pipes.values_mut().filter(|pipe| which(pipe)) {
            pipe.flying.clear();
            pipe.ended.get_or_insert(io::ErrorKind::ConnectionReset);
            wake(&mut pipe.reader);
        }
    }

    /// One end is dropped. A dead host tells nobody.
    fn drop_end(&mut self, read: u64, write: u64) {
        self.pipes.remove(&read);
        let delay = self.draw_delay();
        let now = self.now;
        let Some(pipe) = self.pipes.get_mut(&write) else { return };
        if self.presence[pipe.from] == Presence::Silent {
            return;
        }
        let last = pipe.flying.back().map_or(0, |(due, _)| *due);
        pipe.closing.get_or_insert(last.max(now + delay));
    }
}

impl Pipe {
    fn deliver(&mut self, now: u64) {
        while let Some((due, _)) = self.flying.front()
            && *due <= now
        {
            let (_, bytes) = self.flying.pop_front().expect("there is one");
            self.arrived.extend(bytes);
            wake(&mut self.reader);
        }
        if self.closing.is_some_and(|due| due <= now) && self.ended.is_none() {
            self.ended = Some(io::ErrorKind::UnexpectedEof);
            wake(&mut self.reader);
        }
    }
}

fn wake(waker: &mut Option<Waker>) {
    if let Some(waker) = waker.take() {
        waker.wake();
    }
}

/// The place of one node in the network.
pub struct Place {
    network: SimNetwork,
    me: usize,
}

impl Network for Place {
    fn local_addr(&self) -> io::Result<SocketAddr> {
        address(self.me).parse().map_err(io::Error::other)
    }

    fn accept(&self) -> Connecting<'_, (Connection, SocketAddr)> {
        Box::pin(poll_fn(|cx| {
            let mut ways = self.network.lock();
            let door = &mut ways.doors[self.me];
            let Some((read, write, from)) = door.waiting.pop_front() else {
                door.waker = Some(cx.waker().clone());
                return Poll::Pending;
            };
            let stream = SimStream { network: self.network.clone(), read, write };
            let from = address(from).parse().map_err(io::Error::other)?;
            Poll::Ready(Ok((Connection::Simulated(Box::new(stream)), from)))
        }))
    }

    fn connect<'a>(&'a self, address: &'a str) -> Connecting<'a, Connection> {
        let mut ways = self.network.lock();
        ways.next += 1;
        let id = ways.next;
        let due = ways.now + ways.draw_delay() + ways.draw_delay();
        let (from, to) = (self.me, node_of(address));
        ways.dials.insert(id, Dial { from, to, due, outcome: None, waker: None });
        drop(ways);
        let dialling = Dialling { network: self.network.clone(), id };
        Box::pin(async move {
            let (read, write) = poll_fn(|cx| dialling.poll(cx)).await?;
            let stream = SimStream { network: self.network.clone(), read, write };
            Ok(Connection::Simulated(Box::new(stream)))
        })
    }
}

struct Dialling {
    network: SimNetwork,
    id: u64,
}

impl Dialling {
    fn poll(&self, cx: &Context<'_>) -> Poll<io::Result<(u64, u64)>> {
        let mut ways = self.network.lock();
        let Some(dial) = ways.dials.get_mut(&self.id) else { return Poll::Pending };
        let Some(outcome) = dial.outcome else {
            dial.waker = Some(cx.waker().clone());
            return Poll::Pending;
        };
        Poll::Ready(outcome.map_err(io::Error::from))
    }
}

impl Drop for Dialling {
    fn drop(&mut self) {
        self.network.lock().dials.remove(&self.id);
    }
}

/// One end of a connection.
struct SimStream {
    network: SimNetwork,
    read: u64,
    write: u64,
}

impl Drop for SimStream {
    fn drop(&mut self) {
        self.network.lock().drop_end(self.read, self.write);
    }
}

impl AsyncRead for SimStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut ways = self.network.lock();
        let Some(pipe) = ways.pipes.get_mut(&self.read) else { return Poll::Ready(Ok(())) };
        if pipe.arrived.is_empty() {
            return match pipe.ended {
                None => {
                    pipe.reader = Some(cx.waker().clone());
                    Poll::Pending
                }
                Some(io::ErrorKind::UnexpectedEof) => Poll::Ready(Ok(())),
                Some(kind) => Poll::Ready(Err(kind.into())),
            };
        }
        let length = pipe.arrived.len().min(buffer.remaining());
        let bytes: Vec<u8> = pipe.arrived.drain(..length).collect();
        buffer.put_slice(&bytes);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for SimStream {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut ways = self.network.lock();
        let due = ways.now + ways.draw_delay();
        match ways.pipes.get_mut(&self.write) {
            Some(pipe) if pipe.ended.is_none() => {
                let last = pipe.flying.back().map_or(0, |(due, _)| *due);
                pipe.flying.push_back((due.max(last), bytes.to_vec()));
                Poll::Ready(Ok(bytes.len()))
            }
            Some(_) | None => Poll::Ready(Err(io::ErrorKind::BrokenPipe.into())),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut ways = self.network.lock();
        let due = ways.now + ways.draw_delay();
        if let Some(pipe) = ways.pipes.get_mut(&self.write) {
            let last = pipe.flying.back().map_or(0, |(due, _)| *due);
            pipe.closing.get_or_insert(last.max(due));
        }
        Poll::Ready(Ok(()))
    }
}
