use super::*;
use crate::replicated::engine::EngineConfig;
use conclave_core::NodeId;
use conclave_replica::{Founder, Host, ReplicaConfig, Timing};
use conclave_table::Change;
use std::path::PathBuf;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio::time::timeout;

const FIRST: SessionId = SessionId([1; 16]);
const SECOND: SessionId = SessionId([2; 16]);
/// Longer than anything takes, unless it hangs.
const FOR_EVER: Duration = Duration::from_secs(20);

#[test]
fn only_the_latest_stream_that_the_table_knows_of_is_open() {
    let streams = Streams::default();
    let (ci, nobody) = (Text::from("ci"), None);
    for number in [1, 2] {
        assert!(streams.begin(FIRST, number, &ci).is_some());
        assert!(streams.begin(FIRST, number, &ci).is_none(), "it is there already");
    }
    assert_eq!(streams.owner(FIRST, 1), nobody, "the table does not know of it yet");
    streams.counts(FIRST, 1);
    assert_eq!(streams.owner(FIRST, 1).as_ref(), Some(&ci), "and nobody else's");
    assert_eq!(streams.owner(SECOND, 1), nobody);
    streams.counts(FIRST, 2);
    assert_eq!(streams.owner(FIRST, 1), nobody);
    assert_eq!(streams.owner(FIRST, 2).as_ref(), Some(&ci));
    streams.end(FIRST, 2);
    assert_eq!(streams.owner(FIRST, 1).as_ref(), Some(&ci));
    assert_eq!(streams.owner(FIRST, 2), nobody);
}

#[test]
fn the_end_of_a_session_is_told_to_all_its_streams_and_is_not_forgotten() {
    let streams = Streams::default();
    let [first, later, other] = [(FIRST, 1), (FIRST, 2), (SECOND, 1)].map(|(session, number)| {
        streams.begin(session, number, &Text::default()).expect("a new one")
    });
    let why = SessionEnd::Expired;
    let (label, principal) = (Text::default(), Text::default());
    streams.tell(&[Notice::SessionEnded { session: FIRST, label, principal, why }]);
    streams.ask_again();
    assert_eq!((*first.borrow(), *later.borrow()), (Fate::Ended(why), Fate::Ended(why)));
    assert_eq!(*other.borrow(), Fate::Unsure);
}

/// A cluster of one, in a directory of the test.
async fn alone(name: &str) -> (Arc<ReplicatedEngine>, PathBuf, mpsc::Sender<crate::Command>) {
    let name = format!("conclave-stream-{name}-{}", std::process::id());
    let data = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&data).expect("a directory");
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let listen = listener.local_addr().expect("it is bound");
    let founder = Founder { id: NodeId(0), peer: listen.to_string(), api: listen.to_string() };
    let replica = ReplicaConfig {
        cluster: "test".to_string(),
        me: NodeId(0),
        founders: vec![founder],
        listen,
        data: data.clone(),
        tls: None,
        timing: Timing::default(),
        host: Host::default(),
    };
    let (commands, taken) = mpsc::channel(1);
    let config = EngineConfig { replica, audit: None };
    let engine = ReplicatedEngine::start_on(listener, config, taken).await.expect("it starts");
    timeout(FOR_EVER, engine.leader()).await.expect("it leads");
    (engine, data, commands)
}

async fn ended(stream: Stream) -> String {
    timeout(FOR_EVER, stream.ended()).await.expect("it is told").reason
}

/// Ends may be among what a snapshot spares a node: whoever has a stream there is asked for.
#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_got_its_table_as_a_whole_asks_which_sessions_have_ended() {
    let (engine, data, _commands) = alone("unsure").await;
    let change = async |change: Change| {
        let done = engine.changed_by(Text::default(), change, Patience::repeatable()).await;
        done.expect("it is done")
    };
    let words = api::NewSession::default();
    let open = words::open(&words, FIRST, NodeId(0), Text::default()).expect("sound words");
    change(Change::Open(open)).await;
    let stream = |session| Stream::begin(Arc::clone(&engine), Text::default(), session, 1);
    let mut lives = stream(FIRST).expect("a new one");
    lives.attach().await.expect("the session lives");
    let gone = stream(SECOND).expect("a new one");
    engine.streams().ask_again();
    assert_eq!(ended(gone).await, "unknown");
    assert!(!lives.is_gone().await);
    change(Change::End { session: FIRST }).await;
    assert_eq!(ended(lives).await, "closed");
    engine.replica().expect("it has started").clone().kill().await;
    let _ = std::fs::remove_dir_all(&data); // It is only temporary.
}
