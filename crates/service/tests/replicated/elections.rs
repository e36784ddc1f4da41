//! Elections: the holder leads, is known by what it proclaims, and may hand over.

use crate::common::{Client, Cluster, FOR_EVER, call, fence};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

#[tokio::test(flavor = "multi_thread")]
async fn a_leader_proclaims_and_hands_over_to_a_candidate_of_its_choice() {
    let cluster = Cluster::start(3).await;
    let old = Client::open(cluster.nodes[0], "old").await;
    let campaign = "/v1/elections/primary/campaign";
    let won = old.post(campaign, json!({ "value": "10.0.0.1", "request_id": "1" })).await;
    let first = fence(&won);
    assert!(won.json()["term"].as_u64().is_some());
    let mut candidates = Vec::new();
    for (index, label) in ["early", "chosen"].into_iter().enumerate() {
        let client = Client::open(cluster.nodes[1 + index], label).await;
        let asked = tokio::spawn({
            let client = client.clone();
            let words = json!({ "value": label, "wait_ms": 15_000, "request_id": "1" });
            async move { client.post(campaign, words).await }
        });
        while candidates_of(&cluster, index).await <= index {
            tokio::task::yield_now().await;
        }
        candidates.push((client, asked));
    }
    let words = json!({ "fence": first, "value": "10.0.0.2" });
    let known = old.at(cluster.nodes[2]).post("/v1/elections/primary/proclaim", words).await.json();
    assert_eq!((&known["value"], &known["leader"]["label"]), (&json!("10.0.0.2"), &json!("old")));
    let nobody = json!({ "fence": first, "to": "nobody" });
    let refused = old.post("/v1/elections/primary/hand-over", nobody).await;
    assert_eq!(refused.failure(), (404, "not_found".into()));
    let words = json!({ "fence": first, "to": "chosen" });
    let handed = old.post("/v1/elections/primary/hand-over", words).await;
    assert_eq!(handed.status, 200, "{handed:?}");
    let (chosen, asked) = candidates.pop().expect("two");
    let second = fence(&asked.await.expect("answered"));
    assert!(second > first);
    let resigned = chosen.post("/v1/elections/primary/resign", json!({ "fence": second })).await;
    assert_eq!(resigned.status, 200);
    let (_, asked) = candidates.pop().expect("one");
    assert!(fence(&asked.await.expect("answered")) > second);
    cluster.stop().await;
}

async fn candidates_of(cluster: &Cluster, index: usize) -> usize {
    let seen = call(cluster.nodes[index], "GET /v1/elections/primary", &[], "").await.json();
    seen["candidates"].as_array().map_or(0, Vec::len)
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_at_any_node_is_told_of_every_leader() {
    let cluster = Cluster::start(3).await;
    let follower = cluster.follower().await;
    let mut stream = TcpStream::connect(cluster.nodes[follower]).await.expect("it listens");
    let request = format!(
        "GET /v1/elections/primary/observe HTTP/1.1\r\nhost: {}\r\n\r\n",
        cluster.nodes[follower]
    );
    stream.write_all(request.as_bytes()).await.expect("it reads");
    let mut told = String::new();
    read_until(&mut stream, &mut told, "\"leader\":null").await;
    let client = Client::open(cluster.first(), "the leader").await;
    let won = client.post("/v1/elections/primary/campaign", json!({ "value": "here" })).await;
    read_until(&mut stream, &mut told, &format!("\"fence\":{}", fence(&won))).await;
    assert!(!told.contains(&client.session), "no secret in a stream");
    cluster.stop().await;
}

async fn read_until(stream: &mut TcpStream, told: &mut String, word: &str) {
    let reading = async {
        let mut buffer = [0; 4_096];
        while !told.contains(word) {
            let read = stream.read(&mut buffer).await.expect("it goes on");
            assert!(read > 0, "it ended: {told}");
            told.push_str(&String::from_utf8_lossy(&buffer[..read]));
        }
    };
    let done = timeout(FOR_EVER, reading).await;
    assert!(done.is_ok(), "{word} was not told");
}
