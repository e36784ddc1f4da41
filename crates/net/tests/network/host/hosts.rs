//! One host, and every rule that it keeps.

use super::places::Place;
use super::toy::{HEARD, RANG, RESTARTED, STARTED, Teller, count};
use conclave_core::NodeId;
use conclave_net::store::{Expected, Store};
use conclave_net::{
    AnyRequest, Host, HostConfig, HostError, Key, Lane, News, Order, Packet, Survival,
};
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::timeout;

const PEER: NodeId = NodeId(1);
const PATIENCE: Duration = Duration::from_secs(30);

/// Node 1 of two, with the test as its links and its client.
struct Bench {
    host: Host,
    orders: mpsc::Receiver<Order>,
    news: mpsc::Sender<News>,
    commands: mpsc::Sender<(&'static str, AnyRequest)>,
    told: mpsc::UnboundedReceiver<(Key, u64)>,
}

impl Bench {
    fn start(place: &Place, survival: Survival) -> Self {
        Self::start_with(place, survival, false)
    }

    fn start_with(place: &Place, survival: Survival, everywhere: bool) -> Self {
        let expected = Expected { cluster: "test", node: NodeId(0), settings: "none" };
        let store = Store::open(&place.0, &expected).expect("its own file");
        let (tell, told) = mpsc::unbounded_channel();
        let upper = Teller { survival, everywhere, told: tell };
        let (order, orders) = mpsc::channel(64);
        let (news, hear) = mpsc::channel(64);
        let (commands, commanded) = mpsc::channel(64);
        let config = HostConfig { me: NodeId(0), n: 2, seed: 1, recorder: None };
        let host = Host::start(config, store, upper, order, hear, commanded).expect("a thread");
        Self { host, orders, news, commands, told }
    }

    async fn ask(&self, asked: AnyRequest) {
        self.ask_of("toy", asked).await;
    }

    async fn ask_of(&self, key: &'static str, asked: AnyRequest) {
        self.commands.send((key, asked)).await.expect("it listens");
    }

    async fn hear(&self, news: News) {
        self.news.send(news).await.expect("it listens");
    }

    async fn arrive(&self, lane: Lane, number: u64, key: &str, bytes: Vec<u8>) {
        let packet = Packet { lane, number, key: key.into(), bytes };
        self.hear(News::Arrived { from: PEER, packet }).await;
    }

    async fn told(&mut self) -> (Key, u64) {
        let told = timeout(PATIENCE, self.told.recv()).await.expect("in time");
        told.expect("it lives")
    }

    async fn order(&mut self) -> Order {
        let order = timeout(PATIENCE, self.orders.recv()).await.expect("in time");
        order.expect("it lives")
    }

    async fn stop(self) {
        self.host.stop().await.expect("nothing went wrong");
    }
}

fn toy(fence: u64) -> (Key, u64) {
    ("toy".into(), fence)
}

fn sent(lane: Lane, number: u64, what: u64) -> Order {
    let packet = Packet { lane, number, key: "toy".into(), bytes: count(what) };
    Order::Send { to: PEER, packet }
}

#[tokio::test]
async fn a_whole_machine_never_knows_that_it_was_away() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Whole);
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.told().await, toy(STARTED));
    assert_eq!(bench.order().await, sent(Lane::Durable, 1, 1));
    // The timer is set before the stop, and rings after the return.
    bench.ask(AnyRequest::Acquire).await;
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.order().await, sent(Lane::Durable, 2, 3));
    bench.hear(News::Acknowledged { by: PEER, number: 1 }).await;
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.order().await, sent(Lane::Durable, 3, 4));
    bench.stop().await;

    let mut bench = Bench::start(&place, Survival::Whole);
    assert_eq!(bench.order().await, Order::Acknowledge { from: PEER, number: 0 });
    assert_eq!(bench.order().await, sent(Lane::Durable, 2, 3));
    assert_eq!(bench.order().await, sent(Lane::Durable, 3, 4));
    assert_eq!(bench.told().await, toy(RANG));
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.order().await, sent(Lane::Durable, 4, 5));
    bench.stop().await;
}

#[tokio::test]
async fn a_machine_is_opened_everywhere_though_this_node_has_not_made_it_yet() {
    let place = Place::new();
    let mut bench = Bench::start_with(&place, Survival::Whole, true);
    bench.ask(AnyRequest::Release).await;
    let opening = Packet { lane: Lane::Durable, number: 1, key: "toy".into(), bytes: Vec::new() };
    assert_eq!(bench.order().await, Order::Send { to: PEER, packet: opening });
    assert_eq!(bench.order().await, sent(Lane::Durable, 2, 1));
    assert_eq!(bench.told().await, toy(STARTED));
    bench.stop().await;
}

#[tokio::test]
async fn a_machine_that_returns_is_told_so() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Returns);
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.told().await, toy(STARTED));
    assert_eq!(bench.order().await, sent(Lane::Transient, Packet::transient_from(1) + 1, 1));
    bench.stop().await;

    let mut bench = Bench::start(&place, Survival::Returns);
    assert_eq!(bench.told().await, toy(RESTARTED + 1));
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.order().await, sent(Lane::Transient, Packet::transient_from(2) + 1, 2));
    bench.stop().await;
}

#[tokio::test]
async fn a_machine_that_forgets_leaves_the_disk_alone() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Forgets);
    let file = place.0.join("conclave.redb");
    let before = std::fs::read(&file).expect("its file");
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.told().await, toy(STARTED));
    bench.order().await;
    bench.arrive(Lane::Transient, 1, "toy", count(7)).await;
    assert_eq!(bench.told().await, toy(HEARD + 7));
    assert!(before == std::fs::read(&file).expect("its file"), "nothing was written");
    bench.stop().await;

    let mut bench = Bench::start(&place, Survival::Forgets);
    bench.ask(AnyRequest::Release).await;
    assert_eq!(bench.told().await, toy(STARTED));
    bench.stop().await;
}

#[tokio::test]
async fn a_cancelled_timer_does_not_ring() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Forgets);
    bench.ask(AnyRequest::Acquire).await;
    assert_eq!(bench.told().await, toy(STARTED));
    bench.ask(AnyRequest::Cancel).await;
    // Another machine's timer of the same length, set later, rings; this one does not.
    bench.ask_of("other", AnyRequest::Acquire).await;
    assert_eq!(bench.told().await, ("other".into(), STARTED));
    assert_eq!(bench.told().await, ("other".into(), RANG));
    bench.stop().await;
}

#[tokio::test]
async fn what_makes_no_sense_is_acknowledged_and_passed_over() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Whole);
    bench.arrive(Lane::Durable, 1, "nonsense", count(1)).await;
    assert_eq!(bench.order().await, Order::Acknowledge { from: PEER, number: 1 });
    bench.arrive(Lane::Durable, 2, "toy", vec![0xFF; 99]).await;
    assert_eq!(bench.told().await, toy(STARTED));
    assert_eq!(bench.order().await, Order::Acknowledge { from: PEER, number: 2 });
    bench.arrive(Lane::Durable, 3, "toy", count(5)).await;
    assert_eq!(bench.told().await, toy(HEARD + 5));
    assert_eq!(bench.order().await, Order::Acknowledge { from: PEER, number: 3 });
    bench.stop().await;
}

#[tokio::test]
async fn messages_are_taken_once_and_in_order_over_restarts() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Whole);
    bench.arrive(Lane::Durable, 1, "toy", count(1)).await;
    assert_eq!(bench.told().await, toy(STARTED));
    assert_eq!(bench.told().await, toy(HEARD + 1));
    bench.stop().await;

    let mut bench = Bench::start(&place, Survival::Whole);
    assert_eq!(bench.order().await, Order::Acknowledge { from: PEER, number: 1 });
    for number in [1, 3, 2, 2, 3] {
        bench.arrive(Lane::Durable, number, "toy", count(number)).await;
    }
    assert_eq!(bench.told().await, toy(HEARD + 2));
    assert_eq!(bench.told().await, toy(HEARD + 3));
    bench.stop().await;
}

#[tokio::test]
async fn a_disowned_node_ends() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Whole);
    bench.hear(News::Disowned { by: PEER, reason: "another identity".into() }).await;
    let end = timeout(PATIENCE, bench.host.ended()).await.expect("in time");
    let error = end.expect_err("it must not go on");
    assert!(matches!(error, HostError::Disowned { .. }));
    assert_eq!(error.to_string(), "node 2 refuses this node: another identity");
}

#[tokio::test]
async fn a_node_with_an_old_copy_of_its_disk_ends() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Whole);
    bench.hear(News::OldCopy { by: PEER, reason: "remembers more".into() }).await;
    let end = timeout(PATIENCE, bench.host.ended()).await.expect("in time");
    let error = end.expect_err("it must not go on").to_string();
    let words = "the data directory is an old copy: node 2 remembers more; a node cannot go on";
    assert!(error.starts_with(words), "{error}");
    bench.host.stop().await.expect("its end was told");
    // Nor may it come back as one start more.
    let expected = Expected { cluster: "test", node: NodeId(0), settings: "none" };
    let error = Store::open(&place.0, &expected).expect_err("an old copy").to_string();
    assert!(error.contains("is an old copy, as was found out in an earlier run"), "{error}");
}

#[tokio::test]
async fn nothing_leaves_when_the_links_are_gone() {
    let place = Place::new();
    let mut bench = Bench::start(&place, Survival::Whole);
    drop(bench.orders);
    let end = timeout(PATIENCE, bench.host.ended()).await.expect("in time");
    assert!(matches!(end, Err(HostError::LinksEnded)));
    // The file is free again.
    bench.host.stop().await.expect("its end was told");
    Bench::start(&place, Survival::Whole).stop().await;
}

#[tokio::test]
async fn whom_a_node_met_is_remembered() {
    let place = Place::new();
    let bench = Bench::start(&place, Survival::Whole);
    bench.hear(News::Met { peer: PEER, identity: 77, incarnation: 3, nonce: 5 }).await;
    bench.hear(News::Connected { to: PEER }).await;
    // A command after it, to know that both were heard.
    let mut bench = bench;
    bench.arrive(Lane::Durable, 1, "toy", count(1)).await;
    assert_eq!(bench.told().await, toy(STARTED));
    bench.stop().await;
    let expected = Expected { cluster: "test", node: NodeId(0), settings: "none" };
    let store = Store::open(&place.0, &expected).expect("its own file");
    let past = store.past(2).expect("rows")[PEER.index()];
    assert_eq!((past.identity, past.incarnation, past.nonce), (Some(77), 3, Some(5)));
}
