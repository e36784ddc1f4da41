//! A question to a node: what is asked, and how long or how often.

use crate::api::limits::ANSWER_MAX;
use crate::clock::since_boot;
use serde::Serialize;
use std::time::Duration;
use ureq::http::Method;

/// One request, whoever it will be sent to.
pub(crate) struct Question {
    pub method: Method,
    pub path: String,
    pub body: Option<Vec<u8>>,
    pub patience: Duration,
    /// No answer is longer, in bytes.
    pub answer_max: usize,
    /// Whether it must not be asked again once a node may have done it.
    pub once: bool,
    /// Nobody is asked any more from this moment on.
    pub until: Option<Duration>,
    /// Whether a server that hangs up is asked once more, over a new connection.
    pub insists: bool,
}

impl Question {
    pub(crate) fn get(path: String, patience: Duration) -> Self {
        Self::new(Method::GET, path, None, patience)
    }

    pub(crate) fn delete(path: String, patience: Duration) -> Self {
        Self::new(Method::DELETE, path, None, patience)
    }

    pub(crate) fn delete_with(path: String, body: &impl Serialize, patience: Duration) -> Self {
        Self::new(Method::DELETE, path, Some(json(body)), patience)
    }

    pub(crate) fn post(path: String, body: &impl Serialize, patience: Duration) -> Self {
        Self::new(Method::POST, path, Some(json(body)), patience)
    }

    pub(crate) fn put(path: String, body: &impl Serialize, patience: Duration) -> Self {
        Self::new(Method::PUT, path, Some(json(body)), patience)
    }

    /// The same, with an answer of up to so many bytes.
    pub(crate) fn with_answer_max(self, answer_max: usize) -> Self {
        Self { answer_max, ..self }
    }

    /// The same, and a server that hangs up at once is asked once more: a node that is crowded
    /// closes connections that were idle, and is well otherwise.
    pub(crate) fn insisting(self) -> Self {
        Self { insists: true, ..self }
    }

    fn new(method: Method, path: String, body: Option<Vec<u8>>, patience: Duration) -> Self {
        Self {
            method,
            path,
            body,
            patience,
            answer_max: ANSWER_MAX,
            once: false,
            until: None,
            insists: false,
        }
    }

    /// The same, which is asked of one node alone if that may have done it: no number tells it from
    /// a repeat, and whatever was done since would be undone.
    pub(crate) fn once(self) -> Self {
        Self { once: true, ..self }
    }

    /// The same, of no use from this moment on.
    pub(crate) fn until(self, moment: Duration) -> Self {
        Self { until: Some(moment), ..self }
    }

    /// How long an answer may still take, if it is of use.
    pub(crate) fn patience(&self) -> Option<Duration> {
        let Some(until) = self.until else { return Some(self.patience) };
        let left = until.saturating_sub(since_boot());
        (!left.is_zero()).then(|| left.min(self.patience))
    }
}

fn json(body: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(body).expect("the words of the API are plain data")
}
