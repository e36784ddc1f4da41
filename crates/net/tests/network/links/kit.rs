//! What all tests need: nodes with a small host, and what they log.

use conclave_core::NodeId;
use conclave_net::{Lane, Limits, LinkConfig, Links, News, Order, Packet, Past};
use std::collections::VecDeque;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{mpsc, watch};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::fmt::MakeWriter;

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);
pub const C: NodeId = NodeId(2);

/// Room for orders that need not wait.
const ORDERS: usize = 1 << 16;

/// Waits for something that must happen; only a failing test ever waits this long.
pub async fn soon<T>(what: &str, event: impl Future<Output = T>) -> T {
    match tokio::time::timeout(Duration::from_secs(60), event).await {
        Ok(value) => value,
        Err(_) => panic!("waited in vain: {what}"),
    }
}

/// The limits of a cluster in a hurry.
pub fn limits() -> Limits {
    Limits {
        pause_min: Duration::from_millis(1),
        pause_max: Duration::from_millis(5),
        refused: Duration::from_millis(5),
        transient_age: Duration::from_secs(60),
        ..Limits::default()
    }
}

pub async fn listener() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

pub fn config(me: NodeId, peers: &[String]) -> LinkConfig {
    LinkConfig {
        cluster: "demo".into(),
        me,
        n: peers.len() as u32,
        identity: 100 + u128::from(me.0),
        incarnation: 1,
        nonce: 1,
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        peers: peers.to_vec(),
        algorithm: "engine=ricart-agrawala".into(),
        past: Vec::new(),
        tls: None,
        limits: limits(),
    }
}

pub fn packet(lane: Lane, number: u64) -> Packet {
    let bytes = number.to_le_bytes().repeat(1 + number as usize % 40);
    Packet { lane, number, key: format!("lock/{}", number % 7).into(), bytes }
}

/// A host that remembers on its "disk" what it must, and acknowledges in batches.
pub struct Host {
    pub config: LinkConfig,
    pub links: Option<Links>,
    orders: mpsc::Sender<Order>,
    pub news: mpsc::Receiver<News>,
    disk: Vec<Disk>,
    pub transient: Vec<u64>,
}

#[derive(Clone, Default)]
struct Disk {
    identity: Option<u128>,
    incarnation: u32,
    nonce: Option<u64>,
    outbox: VecDeque<Packet>,
    sent: u64,
    received: u64,
    /// Up to which number the sender was told what was received.
    told: u64,
}

/// The content of a disk.
pub struct Copy(Vec<Disk>);

impl Host {
    pub fn start(listener: TcpListener, config: LinkConfig) -> Self {
        let (orders, order_receiver) = mpsc::channel(ORDERS);
        let (news_sender, news) = mpsc::channel(64);
        let links = Links::start_on(listener, config.clone(), order_receiver, news_sender).unwrap();
        let disk = config.peers.iter().map(|_| Disk::default()).collect();
        Self { config, links: Some(links), orders, news, disk, transient: Vec::new() }
    }

    /// A crash, and a start from the disk. News that nobody had read are lost.
    pub async fn restart(&mut self) {
        self.stop().await;
        self.config.incarnation += 1;
        self.config.nonce += 1;
        self.config.past = self.disk.iter().map(Disk::past).collect();
        let (orders, order_receiver) = mpsc::channel(ORDERS);
        let (news_sender, news) = mpsc::channel(64);
        let links = Links::start(self.config.clone(), order_receiver, news_sender).await;
        (self.links, self.orders, self.news) = (Some(links.unwrap()), orders, news);
        self.order_what_is_kept().await;
    }

    pub async fn stop(&mut self) {
        if let Some(links) = self.links.take() {
            self.config.listen = links.local_addr();
            links.stop().await;
        }
    }

    /// What is on the disk is ordered when the links stand already, and one by one: the peer may
    /// have answered in between.
    async fn order_what_is_kept(&mut self) {
        for (to, disk) in (0..).map(NodeId).zip(&self.disk) {
            for packet in disk.outbox.iter().cloned() {
                self.orders.send(Order::Send { to, packet }).await.unwrap();
                tokio::task::yield_now().await;
            }
        }
    }

    pub async fn send(&mut self, to: NodeId) {
        let disk = &mut self.disk[to.index()];
        disk.sent += 1;
        let packet = packet(Lane::Durable, disk.sent);
        disk.outbox.push_back(packet.clone());
        self.orders.send(Order::Send { to, packet }).await.unwrap();
    }

    pub async fn send_transient(&mut self, to: NodeId, number: u64) {
        let number = Packet::transient_from(self.config.incarnation) + number;
        let packet = packet(Lane::Transient, number);
        self.orders.send(Order::Send { to, packet }).await.unwrap();
    }

    /// Takes the next news, with all that a host does about it, and returns it.
    /// Can be given up at any time.
    pub async fn step(&mut self) -> News {
        let news = self.news.recv().await.expect("the links stand");
        match &news {
            News::Arrived { from, packet } if packet.lane == Lane::Durable => {
                let disk = &mut self.disk[from.index()];
                assert_eq!(packet.number, disk.received + 1, "lost, repeated or out of order");
                assert_eq!(*packet, self::packet(Lane::Durable, packet.number), "damaged");
                disk.received = packet.number;
            }
            News::Arrived { packet, .. } => self.transient.push(packet.number),
            News::Acknowledged { by, number } => {
                let disk = &mut self.disk[by.index()];
                assert!(*number <= disk.sent, "acknowledged before it was sent");
                disk.outbox.retain(|packet| packet.number > *number);
            }
            News::Met { peer, identity, incarnation, nonce } => {
                let disk = &mut self.disk[peer.index()];
                (disk.identity, disk.incarnation) = (Some(*identity), *incarnation);
                disk.nonce = Some(*nonce);
            }
            News::Connected { .. }
            | News::Disconnected { .. }
            | News::Disowned { .. }
            | News::OldCopy { .. } => {}
        }
        self.acknowledge();
        news
    }

    /// Now and then, and when there is nothing else to do.
    fn acknowledge(&mut self) {
        let idle = self.news.is_empty();
        for (index, disk) in self.disk.iter_mut().enumerate() {
            if disk.received >= disk.told + 7 || (idle && disk.received > disk.told) {
                let from = NodeId(index as u32);
                let order = Order::Acknowledge { from, number: disk.received };
                self.orders.try_send(order).unwrap();
                disk.told = disk.received;
            }
        }
    }

    /// What is on the disk now.
    pub fn copy_disk(&self) -> Copy {
        Copy(self.disk.clone())
    }

    /// A restart with what was on the disk earlier, or on that of somebody else.
    pub async fn restart_from(&mut self, copy: Copy) {
        self.disk = copy.0;
        self.restart().await;
    }

    pub fn unacknowledged(&self, to: NodeId) -> usize {
        self.disk[to.index()].outbox.len()
    }

    pub fn sent(&self, to: NodeId) -> u64 {
        self.disk[to.index()].sent
    }

    pub fn received(&self, from: NodeId) -> u64 {
        self.disk[from.index()].received
    }

    pub async fn until(&mut self, what: &str, mut event: impl FnMut(&News) -> bool) -> News {
        soon(what, async {
            loop {
                let news = self.step().await;
                if event(&news) {
                    return news;
                }
            }
        })
        .await
    }

    pub async fn until_connected(&mut self, to: NodeId) {
        self.until("a link", |news| *news == News::Connected { to }).await;
    }
}

impl Disk {
    fn past(&self) -> Past {
        let Self { identity, incarnation, nonce, received, sent, .. } = *self;
        let acknowledged = self.outbox.front().map_or(sent, |first| first.number - 1);
        Past { identity, incarnation, nonce, received, sent, acknowledged }
    }
}

/// Two nodes that know each other's addresses.
pub async fn pair(change: impl Fn(&mut LinkConfig)) -> (Host, Host) {
    let (first, second) = (listener().await, listener().await);
    let peers = [first.1, second.1];
    let mut configs = [config(A, &peers), config(B, &peers)];
    configs.iter_mut().for_each(change);
    let [a, b] = configs;
    (Host::start(first.0, a), Host::start(second.0, b))
}

/// Messages go both ways, and are acknowledged: the link is as good as ever.
pub async fn exchange(a: &mut Host, b: &mut Host, count: u64) {
    let (to_b, to_a) = (a.sent(B) + count, b.sent(A) + count);
    soon("an exchange of messages", async {
        while a.sent(B) < to_b || b.sent(A) < to_a || a.unacknowledged(B) + b.unacknowledged(A) > 0
        {
            let a_sends = a.sent(B) < to_b && a.unacknowledged(B) < 50;
            let b_sends = b.sent(A) < to_a && b.unacknowledged(A) < 50;
            if a_sends {
                a.send(B).await;
            }
            if b_sends {
                b.send(A).await;
            }
            tokio::select! {
                _ = a.step() => {}
                _ = b.step() => {}
                () = tokio::task::yield_now(), if a_sends || b_sends => {}
            }
        }
    })
    .await;
    assert_eq!((a.received(B), b.received(A)), (to_a, to_b));
}

/// What was logged by the tests on this thread.
pub struct Logs {
    text: watch::Receiver<String>,
    _guard: DefaultGuard,
}

#[derive(Clone)]
struct Pen(watch::Sender<String>);

impl io::Write for Pen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send_modify(|text| text.push_str(&String::from_utf8_lossy(bytes)));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Pen {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

impl Logs {
    /// Reads along, as long as this lives.
    pub fn read() -> Self {
        let (pen, text) = watch::channel(String::new());
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_target(false)
            .with_writer(Pen(pen))
            .finish();
        Self { text, _guard: tracing::subscriber::set_default(subscriber) }
    }

    pub fn count(&self, part: &str) -> usize {
        self.text.borrow().lines().filter(|line| line.contains(part)).count()
    }

    /// Waits for a line with these words in it.
    pub async fn line(&mut self, part: &str) {
        self.lines(part, 1).await;
    }

    pub async fn lines(&mut self, part: &str, count: usize) {
        let enough = |text: &String| text.lines().filter(|line| line.contains(part)).count();
        let found = tokio::time::timeout(
            Duration::from_secs(20),
            self.text.wait_for(|text| enough(text) >= count),
        );
        if found.await.is_err() {
            panic!("no line with '{part}' in:\n{}", *self.text.borrow());
        }
    }
}
