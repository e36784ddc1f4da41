//! Bodies of questions and answers: how long they may be, and how they are written.

use crate::Problem;
use crate::assets::takes_gzip;
use crate::lab::translate::Tongue;
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::io::Write;
use std::time::Duration;

/// The longest question.
pub const QUESTION_MAX: usize = 64 << 10;
/// For a question to arrive.
const ARRIVAL: Duration = Duration::from_secs(10);
/// Shorter answers are sent as they are.
const PLAIN_MAX: usize = 1_400;

/// All of a body, if it is not too long and does not take too long.
pub async fn bytes(body: Body, most: usize) -> Result<Bytes, Problem> {
    let english = Tongue::of(None);
    let late = |_| Problem::new(StatusCode::REQUEST_TIMEOUT, "the question did not come in time");
    let read = tokio::time::timeout(ARRIVAL, axum::body::to_bytes(body, most));
    read.await.map_err(late)?.map_err(|_| {
        let words = format!("the question is longer than {} KiB", most >> 10);
        Problem::new(StatusCode::PAYLOAD_TOO_LARGE, english.say(&words))
    })
}

/// A question in JSON.
pub async fn question<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    let bytes = bytes(body, QUESTION_MAX).await?;
    // An array would be taken for the fields in their order.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let words = "the question is not understood: it is no JSON object";
        return Err(Problem::new(StatusCode::BAD_REQUEST, words));
    }
    serde_json::from_slice(&bytes).map_err(|error| {
        let words = format!("the question is not understood: {error}");
        Problem::new(StatusCode::BAD_REQUEST, words)
    })
}

/// Whether a client takes an answer compressed.
#[derive(Clone, Copy)]
pub struct Packed(bool);

impl Packed {
    /// As the headers of the question say.
    pub fn of(headers: &HeaderMap) -> Self {
        Self(takes_gzip(headers))
    }

    /// An answer in JSON. Made on the thread that worked it out.
    pub fn json(self, answer: &impl Serialize) -> Result<Prepared, Problem> {
        let failed = |_| Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "the answer is no JSON");
        let plain = serde_json::to_vec(answer).map_err(failed)?;
        if !self.0 || plain.len() < PLAIN_MAX {
            return Ok(Prepared { bytes: plain, packed: false });
        }
        Ok(Prepared { bytes: gzip(&plain, Compression::fast()), packed: true })
    }

    /// An answer that is always the same.
    pub fn kept(self, answer: &Kept) -> Prepared {
        let bytes = if self.0 { &answer.packed } else { &answer.plain };
        Prepared { bytes: bytes.clone(), packed: self.0 }
    }
}

fn gzip(plain: &[u8], level: Compression) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing into memory does not fail.
    let _ = encoder.write_all(plain);
    encoder.finish().unwrap_or_default()
}

/// An answer that is always the same: packed once, as small as can be.
pub struct Kept {
    plain: Vec<u8>,
    packed: Vec<u8>,
}

impl Kept {
    /// In JSON.
    pub fn new(answer: &Value) -> Self {
        let plain = answer.to_string().into_bytes();
        Self { packed: gzip(&plain, Compression::best()), plain }
    }
}

/// An answer, ready to be sent.
pub struct Prepared {
    bytes: Vec<u8>,
    packed: bool,
}

impl IntoResponse for Prepared {
    fn into_response(self) -> Response {
        let mut response = self.bytes.into_response();
        let headers = response.headers_mut();
        let value = HeaderValue::from_static;
        headers.insert(header::CONTENT_TYPE, value("application/json"));
        headers.insert(header::CACHE_CONTROL, value("no-store"));
        headers.insert(header::VARY, value("accept-encoding"));
        if self.packed {
            headers.insert(header::CONTENT_ENCODING, value("gzip"));
        }
        response
    }
}
