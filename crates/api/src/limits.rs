//! Limits: what a request may say, and how much of it. Each rule is written here once, with its
//! check; server and client both use it.

mod requests;

pub use requests::{
    ADDRESS_MAX, GRACE_MS_MAX, GRACE_MS_MIN, KEEPALIVE_MAX, NAMED_MAX, OPEN_MAX, OWNER_MAX,
    PERMITS_MAX, PRINCIPAL_MAX, STREAM_MAX, Sharing, WANTED_MAX, disk, grace, grace_ms, keepalive,
    kept_alive, lowest_open, member, named_requests, node, node_number, numbered,
    numbers_of_session, owner, principal, request_number, sharing, stream, wanted, wanted_names,
};

pub use conclave_core::{is_shown, shown};

use crate::{Code, Failure, Page, SessionPage};
use std::fmt;

/// The longest name of a lock, an election or a value.
pub const NAME_MAX: usize = 256;
/// How many digits the id of a session has.
pub const SESSION_ID_LENGTH: usize = 32;
/// The longest label of a session, in characters.
pub const LABEL_MAX: usize = 128;
/// The longest id of a request, in characters.
pub const REQUEST_ID_MAX: usize = LABEL_MAX;
/// The shortest id of a request that opens a session.
pub const OPENING_ID_MIN: usize = 16;
/// The longest text that a leader may be known by, in bytes.
pub const PROCLAIMED_MAX: usize = 4_096;
/// The longest reason for the use of force, in characters.
pub const REASON_MAX: usize = 256;
/// The shortest time to live of a session, in milliseconds.
pub const TTL_MS_MIN: u64 = 1_000;
/// The longest time to live of a session, in milliseconds.
pub const TTL_MS_MAX: u64 = 3_600_000;
/// The time to live of a session that asks for none, in milliseconds.
pub const TTL_MS_DEFAULT: u64 = 10_000;
/// The longest time to live of a session that stands for election, in milliseconds: whoever leads
/// next waits for so long.
pub const CANDIDATE_TTL_MS_MAX: u64 = 3_000;
/// The longest wait for a lock or a leadership, in milliseconds.
pub const WAIT_MS_MAX: u64 = 3_600_000;
/// The longest body of a request, in bytes; that of a keepalive is [`KEEPALIVE_MAX`].
pub const BODY_MAX: usize = 64 << 10;
/// The longest value that is kept, in bytes of JSON without spaces.
pub const VALUE_MAX: usize = 4 << 10;
/// The longest answer about one value, in bytes: a value and what stands around it.
pub const VALUE_ANSWER_MAX: usize = 2 * BODY_MAX;
/// The longest answer of all, in bytes: a page of locks, with whoever waits for them.
pub const ANSWER_MAX: usize = 16 << 20;
/// Fences stay below this, 2^53, so that every language reads them exactly.
pub const FENCE_END: u64 = 1 << 53;

/// The rule of [`is_shown`], in words.
const ALL_SHOWN: &str = "none of them a control character or an invisible one";

/// How many locks or elections one answer lists at most.
pub const PAGE_MAX: usize = 1_000;
/// How many locks a node knows at most by the wish of its own clients.
pub const LOCKS_MAX: usize = 10_000;
/// How many of these may be new by the wish of one session: names are never forgotten.
pub const LOCKS_OF_ONE_MAX: usize = 1_000;
/// How many elections may have a leader or candidates at a node at once.
pub const ELECTIONS_MAX: usize = 10_000;
/// How many sessions a node keeps at most.
pub const SESSIONS_MAX: usize = 10_000;
/// How many values are kept at most. A value that was set to `null` counts: its fence is kept.
pub const VALUES_MAX: usize = 10_000;
/// How many bytes all values may have together, each with its name.
pub const VALUES_BYTES_MAX: usize = 16 << 20;
/// How many requests may wait for one lock at a node.
pub const WAITERS_MAX: usize = 1_000;
/// How many requests may wait at a node, for whatever they wait.
pub const WAITERS_OF_ALL_MAX: usize = 10_000;
/// How many of those may be of one session.
pub const WAITERS_OF_ONE_MAX: usize = 100;
/// How often one session may hold one lock.
pub const HOLDS_MAX: usize = 1_000;
/// How many finished requests with an id are remembered per session; the oldest is forgotten.
pub const REQUESTS_MAX: usize = 1_000;

/// Why a request breaks a rule, in words for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    words: String,
    rule: Rule,
}

/// Which kind of rule it is: the status of the answer says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// Of one field, or of several: the schema of the request has it, too.
    Described,
    /// Between fields that are fine by themselves. No schema can express it.
    Together,
    /// Of how many bytes there may be: a schema counts characters, or nothing.
    Size,
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Invalid {}

impl From<Invalid> for Box<Failure> {
    fn from(invalid: Invalid) -> Self {
        let (code, status) = match invalid.rule {
            Rule::Described => (Code::BadRequest, None),
            Rule::Together => (Code::BadRequest, Some(422)),
            Rule::Size => (Code::TooLarge, None),
        };
        Self::new(Failure { status, ..Failure::new(code, invalid.words) })
    }
}

fn invalid<T>(words: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid { words: words.into(), rule: Rule::Described })
}

fn do_not_go_together<T>(words: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid { words: words.into(), rule: Rule::Together })
}

fn too_large<T>(words: impl Into<String>) -> Result<T, Invalid> {
    Err(Invalid { words: words.into(), rule: Rule::Size })
}

/// Whether this can name a lock, an election or a value.
pub fn is_name(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._:/-".contains(&byte);
    (1..=NAME_MAX).contains(&name.len()) && name.bytes().all(allowed)
}

/// Refuses what is no name.
pub fn name(name: &str) -> Result<(), Invalid> {
    if is_name(name) {
        return Ok(());
    }
    invalid(format!("a name has 1 to {NAME_MAX} characters out of A-Z a-z 0-9 . _ : / -"))
}

/// Refuses what cannot be the id of a session.
pub fn session_id(id: &str) -> Result<(), Invalid> {
    let digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    if id.len() == SESSION_ID_LENGTH && id.bytes().all(digit) {
        return Ok(());
    }
    invalid(format!("a session is {SESSION_ID_LENGTH} digits out of 0-9 a-f"))
}

/// Refuses a label that is too long, or would break a line.
pub fn label(label: Option<&str>) -> Result<(), Invalid> {
    text("label", label, LABEL_MAX)
}

/// The part of a text that can be a label.
pub fn as_label(text: &str) -> String {
    text.chars().filter(|c| is_shown(*c)).take(LABEL_MAX).collect()
}

/// Refuses the id of a request that is too long, or would break a line.
pub fn request_id(id: Option<&str>) -> Result<(), Invalid> {
    text("request_id", id, REQUEST_ID_MAX)
}

/// Refuses an id that others might come up with as well: whoever repeats the request that opened a
/// session is told its secret.
pub fn opening_id(id: Option<&str>) -> Result<(), Invalid> {
    request_id(id)?;
    if id.is_some_and(|id| id.chars().count() < OPENING_ID_MIN) {
        return invalid(format!(
            "the request_id of a session has {OPENING_ID_MIN} characters or more, at random"
        ));
    }
    Ok(())
}

/// Refuses a reason that is none.
pub fn reason(reason: &str) -> Result<(), Invalid> {
    let length = reason.chars().count();
    if !(1..=REASON_MAX).contains(&length) || !reason.chars().all(is_shown) {
        return invalid(format!("reason has 1 to {REASON_MAX} characters, {ALL_SHOWN}"));
    }
    Ok(())
}

/// The time to live of a session that was asked for, in milliseconds.
pub fn ttl_ms(asked: Option<u64>) -> Result<u64, Invalid> {
    let ttl = asked.unwrap_or(TTL_MS_DEFAULT);
    if !(TTL_MS_MIN..=TTL_MS_MAX).contains(&ttl) {
        return invalid(format!("ttl_ms is {TTL_MS_MIN} to {TTL_MS_MAX}, not {ttl}"));
    }
    Ok(ttl)
}

/// Refuses a session that lives too long to stand for election.
pub fn candidate_ttl_ms(ttl: u64) -> Result<(), Invalid> {
    if ttl > CANDIDATE_TTL_MS_MAX {
        let most = CANDIDATE_TTL_MS_MAX;
        return invalid(format!(
            "a session that stands for election has a ttl_ms of at most {most}"
        ));
    }
    Ok(())
}

/// How long a request wants to wait, in milliseconds; 0 for not at all.
pub fn wait_ms(asked: Option<u64>) -> Result<u64, Invalid> {
    let wait = asked.unwrap_or(0);
    if wait > WAIT_MS_MAX {
        return invalid(format!("wait_ms is at most {WAIT_MS_MAX}, not {wait}"));
    }
    Ok(wait)
}

/// Refuses what is too long for a leader to be known by, or would break a line.
pub fn proclaimed(value: &str) -> Result<(), Invalid> {
    let words = || format!("value has at most {PROCLAIMED_MAX} bytes, {ALL_SHOWN}");
    if value.chars().count() > PROCLAIMED_MAX || !value.chars().all(is_shown) {
        return invalid(words());
    }
    if value.len() > PROCLAIMED_MAX {
        return too_large(words());
    }
    Ok(())
}

/// Refuses a value, given as JSON, that is too long to be kept.
pub fn value(json: &str) -> Result<(), Invalid> {
    if json.len() > VALUE_MAX {
        let length = json.len();
        return too_large(format!("value has at most {VALUE_MAX} bytes of JSON, not {length}"));
    }
    Ok(())
}

/// Refuses a fence that no grant can have: nobody could ever write after it.
pub fn fence(fence: u64) -> Result<(), Invalid> {
    if fence >= FENCE_END {
        return invalid(format!("fence is less than {FENCE_END}, not {fence}"));
    }
    Ok(())
}

/// How many the page of a list has at most. Refuses one that is to begin after what is no name.
pub fn page(page: &Page) -> Result<usize, Invalid> {
    if let Some(after) = &page.after {
        name(after)?;
    }
    if let Some(search) = &page.search {
        name(search)?;
    }
    page_limit(page.limit)
}

/// The same for a list of sessions.
pub fn session_page(page: &SessionPage) -> Result<usize, Invalid> {
    text("search", page.search.as_deref(), LABEL_MAX)?;
    page_limit(page.limit)
}

fn page_limit(limit: Option<u64>) -> Result<usize, Invalid> {
    match limit.map_or(PAGE_MAX, |limit| usize::try_from(limit).unwrap_or(usize::MAX)) {
        limit @ 1..=PAGE_MAX => Ok(limit),
        limit => invalid(format!("limit is 1 to {PAGE_MAX}, not {limit}")),
    }
}

fn text(what: &str, text: Option<&str>, longest: usize) -> Result<(), Invalid> {
    let Some(text) = text else { return Ok(()) };
    if text.chars().count() > longest || !text.chars().all(is_shown) {
        return invalid(format!("{what} has at most {longest} characters, {ALL_SHOWN}"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn names_are_of_the_stated_letters_and_length() {
        for good in ["a", "tenant/build:42", "A.b_c-d", &"x".repeat(256)] {
            assert!(is_name(good), "{good}");
        }
        for bad in ["", "a b", "ä", "a\n", "a%2Fb", "a?", &"x".repeat(257)] {
            assert!(!is_name(bad), "{bad}");
        }
    }

    #[test]
    fn ranges_include_their_ends() {
        assert_eq!(ttl_ms(None), Ok(10_000));
        for (ttl, taken) in [(999, false), (1_000, true), (3_600_000, true), (3_600_001, false)] {
            assert_eq!(ttl_ms(Some(ttl)).is_ok(), taken, "{ttl}");
        }
        assert_eq!(wait_ms(None), Ok(0));
        assert!(wait_ms(Some(3_600_000)).is_ok() && wait_ms(Some(3_600_001)).is_err());
        assert!(candidate_ttl_ms(3_000).is_ok() && candidate_ttl_ms(3_001).is_err());
    }

    #[test]
    fn a_page_is_of_a_thousand_at_most_and_begins_after_a_name() {
        let page_of = |limit| page(&Page { limit, ..Page::default() }).ok();
        assert_eq!(page_of(None), Some(1_000));
        assert_eq!(
            [0, 1, 1_000, 1_001].map(|limit| page_of(Some(limit)).is_some()),
            [false, true, true, false]
        );
        assert!(page(&Page { after: Some("a b".to_string()), ..Page::default() }).is_err());
    }

    #[test]
    fn a_label_made_of_any_text_is_one() {
        let made = as_label(&"a\nb\u{7}é".repeat(100));
        assert_eq!(made.chars().count(), LABEL_MAX);
        assert!(label(Some(&made)).is_ok());
        assert!(label(Some("a\nb")).is_err());
    }

    #[test]
    fn what_would_reach_the_terminal_is_refused_or_shown_escaped() {
        let harm = ['\u{1b}', '\u{9b}', '\u{7}', '\u{202e}', '\u{2066}', '\u{2028}', '\u{200b}'];
        for c in harm {
            let text = format!("a{c}b");
            assert!(label(Some(&text)).is_err() && reason(&text).is_err(), "{c:?}");
            assert!(proclaimed(&text).is_err() && request_id(Some(&text)).is_err(), "{c:?}");
            assert_eq!(shown(&text), format!("a{}b", c.escape_unicode()));
            assert_eq!(as_label(&text), "ab");
        }
        for harmless in ["", "node 1: ação, 二, 🔒", "a b"] {
            assert!(label(Some(harmless)).is_ok() && matches!(shown(harmless), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn the_id_of_an_opening_cannot_be_guessed() {
        assert!(opening_id(None).is_ok() && opening_id(Some("0123456789abcdef")).is_ok());
        assert!(opening_id(Some("1")).is_err() && request_id(Some("1")).is_ok());
        assert!(opening_id(Some("ççççççççç")).is_err(), "9 characters, whatever their bytes");
    }

    #[test]
    fn a_broken_rule_is_a_bad_request() {
        let failure: Box<Failure> = reason("").expect_err("no reason").into();
        assert_eq!(failure.error.code, Code::BadRequest);
        assert!(failure.error.message.starts_with("reason has 1 to 256"));
        assert_eq!(failure.status(), 400);
    }

    #[test]
    fn what_no_schema_can_say_has_a_status_of_its_own() {
        let status = |refused: Result<(), Invalid>| {
            let failure: Box<Failure> = refused.expect_err("a rule is broken").into();
            (failure.status(), failure.error.code)
        };
        let characters = "é".repeat(PROCLAIMED_MAX / 2 + 1);
        assert_eq!(status(proclaimed(&characters)), (413, Code::TooLarge));
        let characters = "x".repeat(PROCLAIMED_MAX + 1);
        assert_eq!(status(proclaimed(&characters)), (400, Code::BadRequest));
        assert_eq!(status(value(&"x".repeat(VALUE_MAX + 1))), (413, Code::TooLarge));
        assert_eq!(status(lowest_open(4, Some(3))), (422, Code::BadRequest));
    }

    #[test]
    fn the_id_of_a_session_is_so_many_small_digits() {
        assert!(session_id(&"0f".repeat(16)).is_ok());
        for bad in ["", "0f", &"0F".repeat(16), &"0g".repeat(16), &"0f".repeat(17)] {
            assert!(session_id(bad).is_err(), "{bad}");
        }
    }
}
