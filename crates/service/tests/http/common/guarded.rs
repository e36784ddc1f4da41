//! A file of tokens for tests: who may do what, by tokens that are their owners' names.

use super::client::{Response, call};
use conclave_net::Fingerprint;
use conclave_service::tokens::TokenFile;
use serde_json::Value;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

/// Who there is, and with which rights.
const PRINCIPALS: [(&str, &str); 4] = [
    ("ci", "acquire = [\"builds/\"]\nread = [\"shared/\"]"),
    ("rival", "acquire = [\"builds/\", \"rival/\"]"),
    ("watcher", "read = [\"\"]"),
    ("operator", "admin = [\"builds/\"]"),
];

/// The file, written there.
pub fn tokens(folder: &Path) -> Arc<TokenFile> {
    let entry = |(name, rights): (&str, &str)| {
        let hash = Fingerprint::sha_256(name.as_bytes()).expect("there is SHA-256");
        format!("[[principals]]\nname = \"{name}\"\ntoken_sha256 = \"{hash}\"\n{rights}\n")
    };
    let path = folder.join("tokens.toml");
    let text: String = PRINCIPALS.map(entry).concat();
    std::fs::write(&path, text).expect("written");
    Arc::new(TokenFile::load(&path).expect("a good file"))
}

/// A request of somebody, with a body of JSON unless it is null.
pub async fn by(who: &str, address: SocketAddr, request: &str, body: Value) -> Response {
    let token = format!("Bearer {who}");
    let headers = [("content-type", "application/json"), ("authorization", &*token)];
    let body = if body.is_null() { String::new() } else { body.to_string() };
    call(address, request, &headers, &body).await
}

/// A session of somebody.
pub async fn session_of(who: &str, address: SocketAddr, words: Value) -> String {
    let opened = by(who, address, "POST /v1/sessions", words).await;
    assert_eq!(opened.status, 200, "{opened:?}");
    opened.json()["session"].as_str().expect("an id").to_string()
}
