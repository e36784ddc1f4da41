//! Errors: every answer that is no success, and the closed list of its codes.

use crate::{Blocked, Blocker, Holder};
use serde::{Deserialize, Serialize};
use std::fmt;

/// Every answer that is no success.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Failure {
    /// What went wrong.
    pub error: ErrorBody,
    /// Acquire: who holds it, as far as this node knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub holders: Vec<Holder>,
    /// Acquire: the place in the queue it had.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<u32>,
    /// Acquire: how long it waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited_ms: Option<u64>,
    /// Acquire: how long it might still have taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_ms: Option<u64>,
    /// Acquire: what the lock waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_on: Option<Blocked>,
    /// Elections: where to go instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leading_api: Option<String>,
    /// `deadlock`: who waits for whom, all in a circle.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cycle: Vec<Blocker>,
    /// With `retry`: when it may be worth while to ask again, if the node knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// `/readyz`: the checks that fail.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_ready: Vec<String>,
    /// The status of HTTP, where that of the code is not the right one.
    #[serde(skip)]
    pub status: Option<u16>,
    /// This node is about to stop: whoever holds nothing here goes to another at once.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopping: bool,
}

impl Failure {
    /// A failure of this code, and nothing else to say.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            error: ErrorBody { code, message: message.into(), retry: code.retry() },
            holders: Vec::new(),
            position: None,
            waited_ms: None,
            eta_ms: None,
            blocked_on: None,
            leading_api: None,
            cycle: Vec::new(),
            retry_after_ms: None,
            not_ready: Vec::new(),
            status: None,
            stopping: false,
        }
    }

    /// The status of HTTP that comes with it.
    pub fn status(&self) -> u16 {
        self.status.unwrap_or_else(|| self.error.code.status())
    }
}

/// What went wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ErrorBody {
    /// For programs.
    pub code: Code,
    /// For people.
    pub message: String,
    /// Whether the same request may succeed later.
    pub retry: bool,
}

/// What went wrong, for programs: a closed list. In JSON a code is its name in snake case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// The request breaks a rule of the API.
    BadRequest,
    /// Nobody knows who asks.
    Unauthorized,
    /// Who asks may not do this.
    Forbidden,
    /// There is nothing of that name.
    NotFound,
    /// There is no such session; it may have expired.
    NoSession,
    /// The session does not hold this with this fence.
    NotHolder,
    /// Another node leads: candidates stand there.
    NotLeader,
    /// It cannot be withdrawn, since it was granted before.
    Granted,
    /// The request was withdrawn by its own session.
    Withdrawn,
    /// Somebody else holds it, and the request did not want to wait.
    Held,
    /// It could not be had within the time that the request wanted to wait.
    Timeout,
    /// A write with a smaller fence than an earlier one.
    StaleFence,
    /// The request id was used for something else, or its answer is no longer kept.
    Conflict,
    /// The lock is in use with another capacity.
    ModeConflict,
    /// All of these would wait for each other, for ever.
    Deadlock,
    /// A limit is reached: back-pressure. With `retry` false, time alone does not help.
    TooMany,
    /// The cluster's limit for this session or for names of this prefix is reached.
    Quota,
    /// The body, or what it has the cluster keep, is too large.
    TooLarge,
    /// No node leads the cluster now.
    NoLeader,
    /// The lock cannot go on without nodes that are down or overloaded.
    Blocked,
    /// The node cannot do it now.
    Unavailable,
    /// The engine of this cluster does not have this.
    Unsupported,
    /// The node is broken.
    Internal,
    /// A code of a later version; no node of this one sends it. Its `retry` counts all the same.
    #[serde(other)]
    #[cfg_attr(test, schemars(skip))]
    Unknown,
}

impl Code {
    /// Every code that a node sends.
    pub const ALL: &[Self] = &[
        Self::BadRequest,
        Self::Unauthorized,
        Self::Forbidden,
        Self::NotFound,
        Self::NoSession,
        Self::NotHolder,
        Self::NotLeader,
        Self::Granted,
        Self::Withdrawn,
        Self::Held,
        Self::Timeout,
        Self::StaleFence,
        Self::Conflict,
        Self::ModeConflict,
        Self::Deadlock,
        Self::TooMany,
        Self::Quota,
        Self::TooLarge,
        Self::NoLeader,
        Self::Blocked,
        Self::Unavailable,
        Self::Unsupported,
        Self::Internal,
    ];

    /// As JSON has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BadRequest => "bad_request",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::NotFound => "not_found",
            Self::NoSession => "no_session",
            Self::NotHolder => "not_holder",
            Self::NotLeader => "not_leader",
            Self::Granted => "granted",
            Self::Withdrawn => "withdrawn",
            Self::Held => "held",
            Self::Timeout => "timeout",
            Self::StaleFence => "stale_fence",
            Self::Conflict => "conflict",
            Self::ModeConflict => "mode_conflict",
            Self::Deadlock => "deadlock",
            Self::TooMany => "too_many",
            Self::Quota => "quota",
            Self::TooLarge => "too_large",
            Self::NoLeader => "no_leader",
            Self::Blocked => "blocked",
            Self::Unavailable => "unavailable",
            Self::Unsupported => "unsupported",
            Self::Internal => "internal",
            Self::Unknown => "unknown",
        }
    }

    /// The status of HTTP that comes with it, where there is no more fitting one.
    pub const fn status(self) -> u16 {
        match self {
            Self::BadRequest | Self::Unsupported => 400,
            Self::Unauthorized => 401,
            Self::Forbidden => 403,
            Self::NotFound | Self::NoSession => 404,
            Self::NotHolder
            | Self::NotLeader
            | Self::Granted
            | Self::Withdrawn
            | Self::Held
            | Self::Timeout
            | Self::StaleFence
            | Self::Conflict
            | Self::ModeConflict
            | Self::Deadlock => 409,
            Self::TooLarge => 413,
            Self::TooMany | Self::Quota => 429,
            Self::Internal | Self::Unknown => 500,
            Self::NoLeader | Self::Blocked | Self::Unavailable => 503,
        }
    }

    /// Whether the same request may succeed later, as a rule: an answer may know better.
    pub const fn retry(self) -> bool {
        match self {
            Self::NotLeader
            | Self::Held
            | Self::Timeout
            | Self::ModeConflict
            | Self::TooMany
            | Self::Quota
            | Self::NoLeader
            | Self::Blocked
            | Self::Unavailable
            | Self::Internal => true,
            Self::BadRequest
            | Self::Unauthorized
            | Self::Forbidden
            | Self::NotFound
            | Self::NoSession
            | Self::NotHolder
            | Self::Granted
            | Self::Withdrawn
            | Self::StaleFence
            | Self::Conflict
            | Self::Deadlock
            | Self::TooLarge
            | Self::Unsupported
            | Self::Unknown => false,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl PartialEq<&str> for Code {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_code_in_json_is_its_name() {
        for code in Code::ALL {
            let text = json!(code.as_str());
            assert_eq!(serde_json::to_value(code).expect("plain data"), text);
            assert_eq!(serde_json::from_value::<Code>(text).expect("a code"), *code);
        }
    }

    #[test]
    fn a_code_of_a_later_version_can_be_read() {
        let error = json!({"code": "haunted", "message": "", "retry": true});
        let error: ErrorBody = serde_json::from_value(error).expect("an error");
        assert_eq!((error.code, error.retry), (Code::Unknown, true));
    }

    #[test]
    fn the_status_agrees_with_what_a_retry_can_do() {
        for code in Code::ALL {
            if [429, 500, 503].contains(&code.status()) {
                assert!(code.retry(), "{code} says: not now");
            }
            if [400, 401, 403, 404, 413].contains(&code.status()) {
                assert!(!code.retry(), "{code} says: never");
            }
        }
    }
}
