//! What all tests need: nodes whose answers the test gives itself.

use crate::links::kit::soon;
use conclave_core::NodeId;
use conclave_net::rpc::{
    Direction, Ending, Introduction, LinkEvent, PeerAddress, Purpose, Rpc, RpcConfig, RpcError,
    RpcLimits, RpcServer, Serving,
};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::time::Instant;

pub const A: NodeId = NodeId(0);
pub const B: NodeId = NodeId(1);

/// The limits of a cluster in a hurry.
pub fn limits() -> RpcLimits {
    RpcLimits {
        pause_min: Duration::from_millis(1),
        pause_max: Duration::from_millis(5),
        refused: Duration::from_millis(5),
        ..RpcLimits::default()
    }
}

/// Later than any test ends, also one that fails: no deadline does the work of something else.
pub fn late() -> Instant {
    Instant::now() + Duration::from_secs(3600)
}

pub fn disk(node: NodeId) -> u128 {
    100 + u128::from(node.0)
}

/// A request that waits for the test to answer it.
pub struct Call {
    pub from: NodeId,
    pub purpose: Purpose,
    pub request: Vec<u8>,
    answer: oneshot::Sender<Vec<u8>>,
    given_up: oneshot::Receiver<()>,
}

impl Call {
    pub fn answer(self, answer: impl Into<Vec<u8>>) {
        let _ = self.answer.send(answer.into());
    }

    /// Waits until the node has stopped to work on it.
    pub async fn given_up(self) {
        let ended = soon("the end of the work on a request", self.given_up).await;
        assert!(ended.is_err(), "the sender only ever vanishes");
    }
}

/// Answers `echo...` at once, panics at `panic`, and leaves all else to the test.
pub struct Script {
    calls: mpsc::UnboundedSender<Call>,
    pub refuse: Mutex<Option<String>>,
    about: Vec<u8>,
}

impl RpcServer for Script {
    fn admit(&self, other: &Introduction) -> Result<(), String> {
        let Introduction { from, disk: its_disk, .. } = *other;
        if its_disk != disk(from) {
            return Err(format!("node {from} has another disk"));
        }
        match &*self.refuse.lock().unwrap() {
            Some(reason) => Err(reason.clone()),
            None => Ok(()),
        }
    }

    fn about(&self) -> Vec<u8> {
        self.about.clone()
    }

    fn serve(&self, from: NodeId, purpose: Purpose, request: Vec<u8>, _: Instant) -> Serving {
        if request.starts_with(b"echo") {
            return Box::pin(async move { request });
        }
        let calls = self.calls.clone();
        Box::pin(async move {
            assert_ne!(request, b"panic", "as the test wants");
            let (answer, answered) = oneshot::channel();
            let (_working, given_up) = oneshot::channel();
            let _ = calls.send(Call { from, purpose, request, answer, given_up });
            answered.await.unwrap_or_default()
        })
    }
}

/// A node, and what its connections do.
pub struct TestNode {
    pub rpc: Rpc,
    pub config: RpcConfig,
    pub script: Arc<Script>,
    pub calls: mpsc::UnboundedReceiver<Call>,
    pub events: broadcast::Receiver<LinkEvent>,
}

pub fn config(me: NodeId) -> RpcConfig {
    RpcConfig {
        cluster: "demo".into(),
        me,
        disk: disk(me),
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        tls: None,
        limits: limits(),
    }
}

impl TestNode {
    pub async fn start(mut config: RpcConfig) -> Self {
        let listener = TcpListener::bind(config.listen).await.unwrap();
        config.listen = listener.local_addr().unwrap();
        let (sender, calls) = mpsc::unbounded_channel();
        let about = format!("node {}", config.me).into_bytes();
        let script = Arc::new(Script { calls: sender, refuse: Mutex::new(None), about });
        let server: Arc<dyn RpcServer> = Arc::clone(&script) as _;
        let rpc = Rpc::start_on(listener, config.clone(), server).unwrap();
        let events = rpc.links();
        Self { rpc, config, script, calls, events }
    }

    /// As others find it.
    pub fn address(&self) -> PeerAddress {
        let address = self.rpc.local_addr().to_string();
        PeerAddress { id: self.config.me, address, disk: Some(self.config.disk) }
    }

    /// Asks in a task of its own.
    pub fn ask(
        &self,
        to: &PeerAddress,
        purpose: Purpose,
        request: impl Into<Vec<u8>>,
    ) -> tokio::task::JoinHandle<Result<Vec<u8>, RpcError>> {
        let rpc = self.rpc.clone();
        let to = to.clone();
        let request = request.into();
        tokio::spawn(async move { rpc.request(&to, purpose, request, late()).await })
    }

    /// Asks, and is answered.
    pub async fn echo(&self, to: &PeerAddress, purpose: Purpose) {
        let request = b"echo, echo".to_vec();
        let answer = self.rpc.request(to, purpose, request.clone(), late());
        assert_eq!(soon("an echo", answer).await, Ok(request));
    }

    /// The error of a request that must fail.
    pub async fn error(&self, to: &PeerAddress) -> RpcError {
        let answer = self.rpc.request(to, Purpose::Raft, b"echo".to_vec(), late());
        soon("an error", answer).await.expect_err("there should be no answer")
    }

    pub async fn call(&mut self) -> Call {
        soon("a request", self.calls.recv()).await.expect("the node lives")
    }

    pub async fn event(&mut self) -> LinkEvent {
        soon("a link event", self.events.recv()).await.expect("none is missed")
    }

    /// Waits for a connection to end; those of others are passed over.
    pub async fn until_down(&mut self, purpose: Purpose, direction: Direction) -> Ending {
        loop {
            if let LinkEvent::Down { link, how } = self.event().await
                && link.purpose == purpose
                && link.direction == direction
            {
                return how;
            }
        }
    }

    pub async fn until_up(&mut self, purpose: Purpose, direction: Direction) {
        loop {
            if let LinkEvent::Up(link) = self.event().await
                && link.purpose == purpose
                && link.direction == direction
            {
                return;
            }
        }
    }

    /// Nothing has gone down so far.
    pub fn assert_stands(&mut self) {
        while let Ok(event) = self.events.try_recv() {
            assert!(matches!(event, LinkEvent::Up(_)), "{event:?}");
        }
    }
}

/// Two nodes, each with these limits.
pub async fn pair(limits: RpcLimits) -> (TestNode, TestNode) {
    let a = TestNode::start(RpcConfig { limits, ..config(A) }).await;
    let b = TestNode::start(RpcConfig { limits, ..config(B) }).await;
    (a, b)
}
