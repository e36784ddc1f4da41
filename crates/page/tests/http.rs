//! Every route over a real connection: with good questions and with bad ones.

use conclave_page::{Page, guarded, serve};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// A server with the lab, and where it is.
struct Server {
    address: String,
    _stop: oneshot::Sender<()>,
}

/// What came back.
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Server {
    async fn start(page: Page) -> Self {
        Self::with(page.router()).await
    }

    async fn with(router: axum::Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("it has one").to_string();
        let (stop, stopped) = oneshot::channel::<()>();
        let router = guarded(router, vec![address.clone()]);
        tokio::spawn(serve(listener, router, async {
            let _ = stopped.await;
        }));
        Self { address, _stop: stop }
    }

    async fn lab() -> Self {
        Self::start(Page { lab: true, ..Page::default() }).await
    }

    async fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Reply {
        let host = &self.address;
        let length = body.len();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\
             content-length: {length}\r\n{headers}\r\n"
        );
        self.send(&[head.as_bytes(), body].concat()).await
    }

    async fn send(&self, request: &[u8]) -> Reply {
        let mut stream = TcpStream::connect(&self.address).await.expect("it listens");
        stream.write_all(request).await.expect("it reads");
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes).await;
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
        let body = bytes[end + 4..].to_vec();
        let body = if head.contains("transfer-encoding: chunked") { joined(&body) } else { body };
        Reply { status: status.expect("a status"), head, body }
    }

    async fn get(&self, path: &str) -> Reply {
        self.ask("GET", path, "", b"").await
    }

    async fn post(&self, path: &str, question: &Value) -> Reply {
        self.ask("POST", path, "", question.to_string().as_bytes()).await
    }
}

/// A body that came in chunks.
fn joined(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = rest.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&rest[..end]).unwrap_or("0");
        let size = usize::from_str_radix(size, 16).unwrap_or(0);
        if size == 0 || end + 2 + size > rest.len() {
            break;
        }
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = rest.get(end + 4 + size..).unwrap_or_default();
    }
    body
}

#[tokio::test]
async fn the_shell_is_at_every_address_with_a_strict_policy() {
    let server = Server::lab().await;
    for place in ["/", "/lab", "/cluster", "/compare", "/scenarios", "/algorithms"] {
        let reply = server.get(place).await;
        assert_eq!(reply.status, 200, "{place}");
        assert!(reply.head.contains("content-security-policy: default-src 'none'"), "{place}");
        assert!(!reply.head.contains("unsafe-"), "{place}");
        assert!(reply.head.contains("x-content-type-options: nosniff"), "{place}");
        assert!(reply.head.contains("content-type: text/html"), "{place}");
    }
    let about = server.get("/page/about").await.json();
    assert_eq!(about, json!({"version": "0.1.0", "lab": true, "cluster": false, "up": false}));
    assert_eq!(server.get("/assets/../Cargo.toml").await.status, 404);
    assert_eq!(server.get("/assets/nothing.js").await.status, 404);
    assert_eq!(server.get("/nowhere").await.status, 404);
    assert_eq!(server.get("/lab/run").await.status, 405);
}

#[tokio::test]
async fn files_are_compressed_and_known_by_their_tag() {
    let server = Server::lab().await;
    let packed = server.ask("GET", "/", "accept-encoding: gzip\r\n", b"").await;
    assert!(packed.head.contains("content-encoding: gzip"));
    assert_eq!(packed.body[..2], [0x1f, 0x8b]);
    let plain = server.get("/").await;
    assert!(plain.text().starts_with("<!doctype html>") || plain.text().starts_with("<!DOCTYPE"));
    let tag = plain.head.lines().find_map(|line| line.strip_prefix("etag: ")).expect("a tag");
    let again = server.ask("GET", "/", &format!("if-none-match: {tag}\r\n"), b"").await;
    assert_eq!((again.status, again.body.len()), (304, 0));
}

#[tokio::test]
async fn another_sites_page_is_sent_away() {
    let server = Server::lab().await;
    let question = json!({"algorithm": "central"}).to_string();
    let from = |header: &'static str| {
        let question = question.clone();
        let server = &server;
        async move { server.ask("POST", "/lab/run", header, question.as_bytes()).await.status }
    };
    assert_eq!(from("origin: http://evil.example\r\n").await, 403);
    assert_eq!(from("sec-fetch-site: cross-site\r\n").await, 403);
    assert_eq!(from("sec-fetch-site: same-origin\r\n").await, 200);
    let rebound = b"GET / HTTP/1.1\r\nhost: evil.example\r\nconnection: close\r\n\r\n";
    assert_eq!(server.send(rebound).await.status, 403);
}

#[tokio::test]
async fn a_run_is_answered_and_packed() {
    let server = Server::lab().await;
    let question = json!({
        "algorithm": "bully", "flags": "--nodes 7 --dead 7 --start 4", "at": 5, "lang": "pt",
    });
    let run = server.post("/lab/run", &question).await;
    assert_eq!(run.status, 200, "{}", run.text());
    let run = run.json();
    assert_eq!(run["messages"]["total"], 14);
    assert_eq!(run["nodes"].as_array().map(Vec::len), Some(7));
    assert_eq!(run["moment"]["event"], 5);
    assert_eq!(run["moment"]["nodes"][6]["sign"], "down");
    assert_eq!(run["ending"], "nada mais pode acontecer");
    assert!(run["command"].as_str().is_some_and(|it| it.starts_with("conclave sim bully")));
    let body = question.to_string();
    let packed = server.ask("POST", "/lab/run", "accept-encoding: gzip\r\n", body.as_bytes()).await;
    assert!(packed.head.contains("content-encoding: gzip"));
    assert!(packed.body.len() < 20_000);
    let maekawa = json!({"algorithm": "maekawa", "flags": "--nodes 5", "lang": "pt"});
    let costs = server.post("/lab/run", &maekawa).await.json()["costs"].to_string();
    assert!(costs.contains("cerca de 4(K-1)"), "{costs}");
}

#[tokio::test]
async fn bad_questions_get_a_line_that_names_the_field() {
    let server = Server::lab().await;
    let bad = [
        (json!({"algorithm": "bully", "flags": "--nodes 99"}), "flags"),
        (json!({"algorithm": "bulli"}), "algorithm"),
        (json!({"algorithm": "bully", "edits": ["crash=99@1"]}), "edits"),
        (json!({"algorithm": "bully", "story": "{}"}), "story"),
    ];
    for (question, field) in bad {
        let reply = server.post("/lab/run", &question).await;
        assert_eq!(reply.status, 422, "{question}");
        assert_eq!(reply.json()["field"], field, "{}", reply.text());
        assert!(reply.json()["error"].as_str().is_some_and(|line| !line.contains('\n')));
    }
    let portuguese = json!({"algorithm": "bully", "flags": "--rounds x", "lang": "pt"});
    let error = server.post("/lab/run", &portuguese).await.json()["error"].to_string();
    assert!(error.contains("requer um número inteiro"), "{error}");
    for body in [&b""[..], b"{", b"[]", b"\xff", br#"{"algorithm":"bully","surprise":1}"#] {
        assert_eq!(server.ask("POST", "/lab/run", "", body).await.status, 400);
    }
    let array = br#"["maekawa-as-printed", 0, "en"]"#;
    assert_eq!(server.ask("POST", "/lab/scenario", "", array).await.status, 400, "no object");
    let long = json!({"algorithm": "bully", "flags": "x".repeat(70 << 10)});
    assert_eq!(server.post("/lab/run", &long).await.status, 413);
}

#[tokio::test]
async fn the_lab_gets_a_catalogue_in_brief_and_the_algorithms_get_all_of_it() {
    let server = Server::lab().await;
    let brief = "/lab/catalog?lang=pt&brief=true";
    let packed = server.ask("GET", brief, "accept-encoding: gzip\r\n", b"").await;
    assert!(packed.head.contains("content-encoding: gzip"));
    assert!(packed.body.len() < 25_000, "{} bytes before the first screen", packed.body.len());
    let brief = server.get(brief).await.json();
    let full = server.get("/lab/catalog?lang=pt").await.json();
    let names = |all: &Value, part: &str, name: &str| {
        let cards = all[part].as_array().expect("cards").iter();
        cards.map(|card| card[name].clone()).collect::<Vec<Value>>()
    };
    assert_eq!(names(&brief, "algorithms", "title"), names(&full, "algorithms", "title"));
    assert_eq!(names(&brief, "scenarios", "runs"), names(&full, "scenarios", "runs"));
    assert_eq!(brief["lessons"], full["lessons"]);
    assert!(names(&brief, "algorithms", "rules").iter().all(Value::is_null));
    let rules = names(&full, "algorithms", "rules");
    assert!(rules.iter().all(|rules| rules[0]["id"] == "R1" && rules[0]["lang"].is_null()));
}

#[tokio::test]
async fn a_search_tells_line_by_line_and_what_it_finds_is_played() {
    let server = Server::lab().await;
    let cards = server.get("/lab/catalog?lang=en").await.json();
    let lamport = cards["algorithms"].as_array().expect("cards").iter();
    let lamport = lamport.into_iter().find(|card| card["id"] == "lamport").expect("its card");
    let fifo = lamport["assumptions"].as_array().expect("some").iter().find(|assumption| {
        assumption["without"].as_str().is_some_and(|flags| flags.contains("--no-fifo"))
    });
    let tag = fifo.expect("it assumes an order")["id"].clone();
    let question = json!({"algorithm": "lamport", "flags": "--nodes 2", "without": [tag]});
    let reply = server.post("/lab/check", &question).await;
    let text = reply.text();
    let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
    let found = &last["found"];
    assert_eq!(found["property"], "S1", "{text}");
    let run = json!({"algorithm": "lamport", "flags": found["flags"], "story": found["story"]});
    let run = server.post("/lab/run", &run).await.json();
    let lamp = run["lamps"].as_array().expect("lamps").iter().find(|lamp| lamp["property"] == "S1");
    assert_eq!(lamp.expect("its lamp")["changes"][1][1], "broken", "{run}");
    let unknown = json!({"algorithm": "lamport", "without": ["A99"]});
    assert_eq!(server.post("/lab/check", &unknown).await.status, 422);
}

#[tokio::test]
async fn scenarios_exports_recordings_and_comparisons_are_answered() {
    let server = Server::lab().await;
    let scenario = json!({"name": "quorum-c4-forgets", "lang": "pt"});
    let shown = server.post("/lab/scenario", &scenario).await.json();
    assert!(shown["question"].as_str().is_some_and(|text| text.contains("Quando ele entra?")));
    assert_eq!(server.post("/lab/scenario", &json!({"name": "../x.toml"})).await.status, 400);
    let question =
        |format: &str| json!({"algorithm": "central", "flags": "--nodes 3", "format": format});
    let drawn = server.post("/lab/export", &question("svg")).await;
    assert!(drawn.head.contains("content-disposition: attachment"), "{}", drawn.head);
    assert!(drawn.text().contains("<svg"));
    assert!(server.post("/lab/export", &question("mermaid")).await.text().contains("sequence"));
    assert_eq!(server.post("/lab/export", &question("exe")).await.status, 422);
    let recorded = server.post("/lab/export", &question("jsonl")).await;
    let path = "/lab/recording?lang=en&at=3&from=0&to=10";
    let played = server.ask("POST", path, "", &recorded.body).await;
    assert_eq!(played.json()["list"].as_array().map(Vec::len), Some(10), "{}", played.text());
    let part = "/lab/recording?at=3&ahead=2&from=0&to=0&only=moment";
    let part = server.ask("POST", part, "", &recorded.body).await.json();
    assert_eq!(part["ahead"][1]["event"], 5, "{part}");
    assert!(part.get("lamps").is_none() && part.get("list").is_none());
    assert_eq!(server.ask("POST", path, "", b"no recording").await.status, 422);
    let compared = server.post("/lab/compare", &json!({"family": "election", "nodes": [3]})).await;
    assert!(compared.json()["rows"].as_array().is_some_and(|rows| rows.len() > 5));
    assert_eq!(server.post("/lab/compare", &json!({"family": "all"})).await.status, 422);
    let large = json!({"family": "mutex", "nodes": [64, 63, 2]});
    assert_eq!(server.post("/lab/compare", &large).await.status, 422, "it could not be taken back");
}

/// Searches and comparisons, which take long, have limits of their own.
#[tokio::test]
async fn every_question_has_a_limit_by_the_clock() {
    let page = Page { lab: true, ..Page::default() };
    let recorded = json!({"algorithm": "central", "flags": "--nodes 3", "format": "jsonl"});
    let recorded = Server::lab().await.post("/lab/export", &recorded).await.body;
    let server = Server::with(page.questions_within(Duration::ZERO)).await;
    let story = r#"{"property":"S1","moments":[],"stem":null,"shortest":true}"#;
    let run = json!({"algorithm": "central", "flags": "--nodes 3", "lang": "pt"});
    let story = json!({"algorithm": "central", "flags": "--nodes 3", "story": story, "lang": "pt"});
    let scenario = json!({"name": "quorum-c4-forgets", "lang": "pt"});
    let questions = [
        ("/lab/run", run.to_string().into_bytes()),
        ("/lab/run", story.to_string().into_bytes()),
        ("/lab/export", run.to_string().into_bytes()),
        ("/lab/export", story.to_string().into_bytes()),
        ("/lab/scenario", scenario.to_string().into_bytes()),
        ("/lab/recording?lang=pt", recorded),
    ];
    for (path, body) in questions {
        let reply = server.ask("POST", path, "", &body).await;
        assert_eq!(reply.status, 422, "{path}: {}", reply.text());
        assert!(reply.text().contains("isto demora demais"), "{path}: {}", reply.text());
    }
}

#[tokio::test]
async fn without_the_lab_there_are_no_questions() {
    let server = Server::start(Page { cluster: true, ..Page::default() }).await;
    assert_eq!(server.get("/page/about").await.json()["lab"], false);
    assert_eq!(server.post("/lab/run", &json!({"algorithm": "bully"})).await.status, 404);
}
