//! Answers that are no success.

use conclave_client::api::{ErrorBody, Failure};

/// Why somebody does not get what he asked for.
pub type Refusal = Box<Failure>;

/// A refusal of this code.
pub fn refuse(code: &str, message: impl Into<String>, retry: bool) -> Refusal {
    Box::new(Failure {
        error: ErrorBody { code: code.to_string(), message: message.into(), retry },
        holders: Vec::new(),
        position: None,
        waited_ms: None,
        eta_ms: None,
        blocked_on: None,
        leading_api: None,
    })
}

/// The request itself is wrong.
pub fn bad(message: impl Into<String>) -> Refusal {
    refuse("bad_request", message, false)
}

/// The request is right, but not for this engine.
pub fn unsupported(message: impl Into<String>) -> Refusal {
    refuse("unsupported", message, false)
}

/// There is no session of that id at this node.
pub fn no_session() -> Refusal {
    refuse("no_session", "no such session at this node; it may have expired", false)
}

/// There is nothing of that name.
pub fn not_found(message: impl Into<String>) -> Refusal {
    refuse("not_found", message, false)
}

/// The session does not hold what it wants to give back.
pub fn not_holder(name: &str) -> Refusal {
    refuse("not_holder", format!("this session does not hold '{name}' with this fence"), false)
}

/// A limit is reached.
pub fn too_many(message: impl Into<String>) -> Refusal {
    refuse("too_many", message, true)
}

/// Not now.
pub fn unavailable(message: impl Into<String>) -> Refusal {
    refuse("unavailable", message, true)
}
