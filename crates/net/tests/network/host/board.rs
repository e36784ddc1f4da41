//! Several hosts in one process, and a switchboard that plays the links between them.
//!
//! It keeps the promise of the lanes and no more: durable messages are delivered again until they
//! are acknowledged, transient ones are lost with a connection.

use super::places::Place;
use conclave_core::NodeId;
use conclave_net::recording::{Header, Recorder};
use conclave_net::store::{Expected, Store};
use conclave_net::{Application, Host, HostConfig, HostError, Lane, News, Order, Packet};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// If nothing moves for so long, cut connections come back.
const IDLE: Duration = Duration::from_millis(20);

/// One running node, as its links see it.
struct Seat<U: Application> {
    host: Host,
    news: mpsc::Sender<News>,
    _commands: mpsc::Sender<U::Command>,
    carrier: JoinHandle<()>,
    life: u32,
}

pub struct Board<U: Application> {
    place: Place,
    n: u32,
    make: Box<dyn Fn(NodeId) -> U>,
    seats: Vec<Option<Seat<U>>>,
    /// By sender and receiver: durable messages that are not acknowledged.
    unacknowledged: BTreeMap<(NodeId, NodeId), BTreeMap<u64, Packet>>,
    cut: BTreeSet<(NodeId, NodeId)>,
    carried: mpsc::UnboundedReceiver<(NodeId, u32, Order)>,
    carry: mpsc::UnboundedSender<(NodeId, u32, Order)>,
}

impl<U: Application> Board<U> {
    /// Starts `n` nodes.
    pub fn new(n: u32, make: impl Fn(NodeId) -> U + 'static) -> Self {
        let (carry, carried) = mpsc::unbounded_channel();
        let mut board = Self {
            place: Place::new(),
            n,
            make: Box::new(make),
            seats: (0..n).map(|_| None).collect(),
            unacknowledged: BTreeMap::new(),
            cut: BTreeSet::new(),
            carried,
            carry,
        };
        (0..n).for_each(|node| board.start(NodeId(node)));
        board
    }

    /// Starts a node from what its disk has.
    pub fn start(&mut self, me: NodeId) {
        let expected = Expected { cluster: "test", node: me, settings: "none" };
        let directory = self.place.0.join(me.to_string());
        let store = Store::open(&directory, &expected).expect("its own file");
        let life = store.incarnation();
        let header = Header {
            cluster: "test".into(),
            settings: "none".into(),
            node: me,
            n: self.n,
            incarnation: life,
            started: 0,
        };
        let recorder = Recorder::create(&self.place.0.join(format!("{me}.rec")), &header);
        let recorder = Some(recorder.expect("room for a recording"));
        let (orders, mut ordered) = mpsc::channel(64);
        let (news, heard) = mpsc::channel(1 << 16);
        let (commands, commanded) = mpsc::channel(1);
        let config = HostConfig { me, n: self.n, seed: u64::from(life), recorder };
        let host = Host::start(config, store, (self.make)(me), orders, heard, commanded);
        let carry = self.carry.clone();
        let carrier = tokio::spawn(async move {
            while let Some(order) = ordered.recv().await {
                let _ = carry.send((me, life, order));
            }
        });
        let host = host.expect("a thread");
        self.seats[me.index()] = Some(Seat { host, news, _commands: commands, carrier, life });
        (0..self.n).map(NodeId).for_each(|from| self.deliver_again(from, me));
    }

    /// Kills a node: whatever it has not handed over by now never leaves.
    pub async fn kill(&mut self, me: NodeId) {
        let mut seat = self.seats[me.index()].take().expect("it runs");
        seat.carrier.abort();
        let _ = (&mut seat.carrier).await;
        let end = seat.host.ended().await;
        assert!(matches!(end, Err(HostError::LinksEnded)), "{end:?}");
        seat.host.stop().await.expect("its end was told");
        self.unacknowledged.retain(|(from, _), _| *from != me);
    }

    /// Cuts the connection by which one node sends to another.
    pub fn cut(&mut self, from: NodeId, to: NodeId) {
        self.cut.insert((from, to));
    }

    /// Brings all connections back.
    pub fn heal(&mut self) {
        for (from, to) in std::mem::take(&mut self.cut) {
            self.deliver_again(from, to);
        }
    }

    /// Carries one order. False if there was none for a while.
    pub async fn carry(&mut self) -> bool {
        match tokio::time::timeout(IDLE, self.carried.recv()).await {
            Ok(Some((from, life, order))) => {
                // What an earlier life sent and the network still had is lost with it.
                if self.seats[from.index()].as_ref().is_some_and(|seat| seat.life == life) {
                    self.route(from, order);
                }
                true
            }
            Ok(None) => unreachable!("the board itself has an end of it"),
            Err(_) => {
                self.heal();
                false
            }
        }
    }

    /// Says something to a node, as its links.
    pub fn say(&self, to: NodeId, news: News) {
        if let Some(seat) = &self.seats[to.index()] {
            // A full channel is a connection that stalls: what is lost is sent again.
            let _ = seat.news.try_send(news);
        }
    }

    /// Stops all nodes in good order and gives back their directories.
    pub async fn stop(mut self) -> Place {
        for seat in self.seats.iter_mut().filter_map(Option::take) {
            seat.host.stop().await.expect("nothing went wrong");
        }
        self.place
    }

    fn route(&mut self, me: NodeId, order: Order) {
        match order {
            Order::Send { to, packet } => {
                if packet.lane == Lane::Durable {
                    let waiting = self.unacknowledged.entry((me, to)).or_default();
                    waiting.insert(packet.number, packet.clone());
                }
                if !self.cut.contains(&(me, to)) {
                    self.say(to, News::Arrived { from: me, packet });
                }
            }
            Order::Acknowledge { from, number } => {
                if !self.cut.contains(&(from, me)) {
                    let waiting = self.unacknowledged.entry((from, me)).or_default();
                    *waiting = waiting.split_off(&(number + 1));
                    self.say(from, News::Acknowledged { by: me, number });
                }
            }
        }
    }

    fn deliver_again(&mut self, from: NodeId, to: NodeId) {
        let waiting = self.unacknowledged.get(&(from, to)).into_iter().flat_map(BTreeMap::values);
        for packet in waiting {
            self.say(to, News::Arrived { from, packet: packet.clone() });
        }
    }
}
