//! What a client may ask for, and how much of it.

use super::refusal::{self, Refusal};
use conclave_client::api;
use conclave_core::Ticks;

/// With so many lock names known, a node takes no new one from its clients: a machine once made
/// stays. What the clients of other nodes have named it takes nevertheless. To pass over a message
/// for a lock is to stop that lock for ever, and since every node keeps to this limit, no cluster
/// has more than so many names per node.
pub const LOCKS_MAX: usize = 10_000;
/// How many elections may have a leader or candidates at a node at once.
pub const ELECTIONS_MAX: usize = 10_000;
/// How many sessions a node keeps at most.
pub const SESSIONS_MAX: usize = 10_000;
/// How many may wait for one lock at a node.
pub const WAITERS_MAX: usize = 1_000;
/// How many of those may be of one session.
pub const WAITERS_OF_ONE_MAX: usize = 100;
/// How often one session may hold one lock.
pub const HOLDS_MAX: usize = 1_000;
/// How many values node 1 keeps at most.
pub const VALUES_MAX: usize = 10_000;
/// How many finished requests with an id are remembered per session; the oldest is forgotten.
pub const REQUESTS_MAX: usize = 1_000;
/// The longest name of a lock, an election or a value.
pub const NAME_MAX: usize = 256;
/// The longest label of a session, and the longest id of a request.
pub const LABEL_MAX: usize = 128;
/// The shortest id of a request that opens a session.
pub const OPENING_MIN: usize = 16;
/// The longest text that a leader may be known by, in bytes.
pub const PROCLAIMED_MAX: usize = 4_096;
/// The longest reason for the use of force.
pub const REASON_MAX: usize = 256;
/// The shortest and the longest life of a session, in milliseconds, and what it is if not said.
pub const TTL_MS: (u64, u64, u64) = (1_000, 3_600_000, 10_000);
/// The longest life of a session that stands for election: whoever leads next waits for so long.
pub const CANDIDATE_TTL: Ticks = Ticks::units(3_000);
/// The longest wait, in milliseconds.
pub const WAIT_MS_MAX: u64 = 3_600_000;

/// Who does not want to wait still gives the algorithm this long to find a free lock free.
pub const TRY: Ticks = Ticks::units(500);
/// A grant that nobody has taken note of for so long is withdrawn.
pub const CLAIM: Ticks = Ticks::units(5_000);
/// The lease clock gains at most this much at once: a node that was stopped expires nobody.
pub const STALL_MAX: Ticks = Ticks::units(500);
/// How often the lease clock is looked at while anything depends on it.
pub const TICK: Ticks = Ticks::units(250);
/// While nobody leads, an election is asked for this often; the first time after half of it, since
/// a node that comes back will mostly hear of the leader before.
pub const CAMPAIGN_AGAIN: Ticks = Ticks::units(2_000);

/// A span in milliseconds.
pub fn milliseconds(span: Ticks) -> u64 {
    span.0 / Ticks::UNIT.0
}

/// Whether this can name a lock, an election or a value.
pub fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(allowed)
}

/// Refuses what is no name.
pub fn name(name: &str) -> Result<(), Refusal> {
    if is_name(name) {
        return Ok(());
    }
    Err(refusal::bad("a name has 1 to 256 characters out of A-Z a-z 0-9 . _ : / -"))
}

/// Refuses text that is too long, or would break a line.
pub fn text(what: &str, text: Option<&str>) -> Result<(), Refusal> {
    let Some(text) = text else { return Ok(()) };
    if text.chars().count() > LABEL_MAX || text.chars().any(char::is_control) {
        return Err(refusal::bad(format!(
            "{what} has at most {LABEL_MAX} characters, none of them a control character"
        )));
    }
    Ok(())
}

/// Refuses an id that others might come up with as well: whoever repeats the request that opened a
/// session is told its secret.
pub fn opening(request_id: Option<&str>) -> Result<(), Refusal> {
    if request_id.is_some_and(|id| id.len() < OPENING_MIN) {
        return Err(refusal::bad(format!(
            "the request_id of a session has {OPENING_MIN} characters or more, at random"
        )));
    }
    Ok(())
}

/// Refuses a reason that is none.
pub fn reason(reason: &str) -> Result<(), Refusal> {
    let length = reason.chars().count();
    if !(1..=REASON_MAX).contains(&length) || reason.chars().any(char::is_control) {
        return Err(refusal::bad(format!(
            "reason has 1 to {REASON_MAX} characters, none of them a control character"
        )));
    }
    Ok(())
}

/// The life of a session that was asked for.
pub fn ttl(ttl_ms: Option<u64>) -> Result<Ticks, Refusal> {
    let (min, max, default) = TTL_MS;
    let ttl = ttl_ms.unwrap_or(default);
    if !(min..=max).contains(&ttl) {
        return Err(refusal::bad(format!("ttl_ms is {min} to {max}, not {ttl}")));
    }
    Ok(Ticks::units(ttl))
}

/// Refuses an acquire or a campaign that this engine cannot serve.
pub fn acquire(request: &api::Acquire) -> Result<(), Refusal> {
    text("request_id", request.request_id.as_deref())?;
    let wait = request.wait_ms.unwrap_or(0);
    if wait > WAIT_MS_MAX {
        return Err(refusal::bad(format!("wait_ms is at most {WAIT_MS_MAX}, not {wait}")));
    }
    let mode = request.mode.as_deref().unwrap_or("exclusive");
    if mode != "exclusive" {
        return Err(refusal::unsupported("a classic engine has the mode 'exclusive' only"));
    }
    if request.permits.unwrap_or(1) != 1 {
        return Err(refusal::unsupported("a classic engine lets in one at a time: permits is 1"));
    }
    proclaimed(request.value.as_deref().unwrap_or_default())
}

/// Refuses what is too long to be known by.
pub fn proclaimed(value: &str) -> Result<(), Refusal> {
    if value.len() > PROCLAIMED_MAX {
        return Err(refusal::bad(format!("value has at most {PROCLAIMED_MAX} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_the_stated_letters_and_length() {
        for good in ["a", "tenant/build:42", "A.b_c-d", &"x".repeat(256)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a b", "ä", "a\n", "a%2Fb", "a?", &"x".repeat(257)] {
            assert!(!is_name(bad), "{bad}");
        }
    }
}
