//! Refusals: answers that are no success, in the words of the API.

use conclave_api::{Code, Failure};

/// Why somebody does not get what he asked for.
pub type Refusal = Box<Failure>;

/// A refusal of this code.
pub fn refuse(code: Code, message: impl Into<String>) -> Refusal {
    Box::new(Failure::new(code, message))
}

/// The request itself is wrong.
pub fn bad(message: impl Into<String>) -> Refusal {
    refuse(Code::BadRequest, message)
}

/// The request is right, but not for this engine.
pub fn unsupported(message: impl Into<String>) -> Refusal {
    refuse(Code::Unsupported, message)
}

/// There is no session of that id at this node.
pub fn no_session() -> Refusal {
    refuse(Code::NoSession, "no such session at this node; it may have expired")
}

/// There is nothing of that name.
pub fn not_found(message: impl Into<String>) -> Refusal {
    refuse(Code::NotFound, message)
}

/// The session does not hold what it wants to give back.
pub fn not_holder(name: &str) -> Refusal {
    refuse(Code::NotHolder, format!("this session does not hold '{name}' with this fence"))
}

/// A limit is reached, and time does not help: what counts against it never goes away by itself.
pub fn used_up(message: impl Into<String>) -> Refusal {
    let mut refusal = too_many(message);
    refusal.error.retry = false;
    refusal
}

/// A limit is reached for now.
pub fn too_many(message: impl Into<String>) -> Refusal {
    refuse(Code::TooMany, message)
}

/// Not now.
pub fn unavailable(message: impl Into<String>) -> Refusal {
    refuse(Code::Unavailable, message)
}
