//! Limits of what only the replicated engine has: numbered requests, shared locks and permits,
//! several locks at once, members.

use super::{FENCE_END, Invalid, LABEL_MAX, do_not_go_together, invalid, name, request_id, text};
use crate::{AcquireAll, KeepAlive, NewMember, NewSession, NewValue};
use std::collections::BTreeSet;

/// The longest owner of a request, in characters.
pub const OWNER_MAX: usize = LABEL_MAX;
/// The most locks that one request may ask for.
pub const WANTED_MAX: usize = 16;
/// The most who may hold a lock of permits at once.
pub const PERMITS_MAX: u32 = 10_000;
/// How many requests of one session may be unanswered, or have answers that are kept.
pub const OPEN_MAX: usize = 1_024;
/// How many requests one keepalive may name: those unanswered, and those that hold something.
pub const NAMED_MAX: usize = 12_000;
/// The longest body of a keepalive, in bytes: so many requests, each with the longest number.
pub const KEEPALIVE_MAX: usize = 256 << 10;
/// The shortest time that a session outlives its stream, in milliseconds.
pub const GRACE_MS_MIN: u64 = 100;
/// The longest time that a session outlives its stream, in milliseconds.
pub const GRACE_MS_MAX: u64 = 60_000;
/// The longest name of a principal, in bytes.
pub const PRINCIPAL_MAX: usize = 64;
/// The largest number of a session's stream: every language reads it exactly.
pub const STREAM_MAX: u64 = FENCE_END - 1;
/// The longest address of a member, in characters.
pub const ADDRESS_MAX: usize = 256;

/// How a lock is held: what `mode` and `permits` of a request say together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Sharing {
    /// By one.
    #[default]
    Exclusive,
    /// By all who share it, while nobody holds it exclusively.
    Shared,
    /// By so many at once.
    Permits(u32),
}

impl Sharing {
    /// The `mode` to ask for, if it has to be said.
    pub fn mode(self) -> Option<String> {
        match self {
            Self::Shared => Some("shared".to_string()),
            Self::Exclusive | Self::Permits(_) => None,
        }
    }

    /// The `permits` to ask for, if they have to be said.
    pub fn permits(self) -> Option<u32> {
        match self {
            Self::Permits(permits) => Some(permits),
            Self::Exclusive | Self::Shared => None,
        }
    }

    /// In one word, as answers have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Exclusive => "exclusive",
            Self::Shared => "shared",
            Self::Permits(_) => "permits",
        }
    }
}

/// How a request wants to hold a lock. One permit is the same as exclusive.
pub fn sharing(mode: Option<&str>, permits: Option<u32>) -> Result<Sharing, Invalid> {
    match (mode.unwrap_or("exclusive"), permits) {
        ("exclusive", None | Some(1)) => Ok(Sharing::Exclusive),
        ("exclusive", Some(permits @ 2..=PERMITS_MAX)) => Ok(Sharing::Permits(permits)),
        ("exclusive" | "shared", Some(permits)) if !(1..=PERMITS_MAX).contains(&permits) => {
            invalid(format!("permits is 1 to {PERMITS_MAX}, not {permits}"))
        }
        ("shared", None | Some(1)) => Ok(Sharing::Shared),
        ("shared", Some(_)) => invalid("a lock is shared by all, or has permits, not both"),
        _ => invalid("mode is exclusive or shared"),
    }
}

/// The number that the id of a request is: digits alone, from 1, and below 2^53.
pub fn request_number(id: &str) -> Result<u64, Invalid> {
    let digits = !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit());
    let number = id.parse::<u64>().ok().filter(|_| digits && !id.starts_with('0'));
    let number = number.unwrap_or(0);
    numbered(number).map(|()| number)
}

/// Refuses a number that no request of a client can have.
pub fn numbered(number: u64) -> Result<(), Invalid> {
    if (1..FENCE_END).contains(&number) {
        return Ok(());
    }
    invalid(format!(
        "a request_id is a number as text, from 1 to {}, which rises from request to request",
        FENCE_END - 1
    ))
}

/// Refuses a mark above the request that carries it: its own answer would be dropped. A request
/// without a number has none to compare.
pub fn lowest_open(lowest_open: u64, request: Option<u64>) -> Result<(), Invalid> {
    if request.is_some_and(|request| lowest_open > request) {
        return do_not_go_together("lowest_open is at most the request's own number");
    }
    Ok(())
}

/// Refuses a number of a session's stream that some languages could not read.
pub fn stream(number: u64) -> Result<(), Invalid> {
    if number > STREAM_MAX {
        return invalid(format!("a stream has a number of at most {STREAM_MAX}, not {number}"));
    }
    Ok(())
}

/// The number of a node, which stands in a path: digits alone, from 1.
pub fn node_number(text: &str) -> Result<u32, Invalid> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse::<u32>().ok().filter(|number| digits && *number > 0) {
        Some(number) => Ok(number),
        None => invalid(format!("a member is a number, from 1 to {}", u32::MAX)),
    }
}

/// Refuses what cannot name a principal.
pub fn principal(name: &str) -> Result<(), Invalid> {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._@:/-".contains(&byte);
    if !(1..=PRINCIPAL_MAX).contains(&name.len()) || !name.bytes().all(plain) {
        return invalid(format!("a name has 1 to {PRINCIPAL_MAX} letters, digits and . _ @ : / -"));
    }
    Ok(())
}

/// Refuses an owner that is too long, or would break a line.
pub fn owner(owner: Option<&str>) -> Result<(), Invalid> {
    text("owner", owner, OWNER_MAX)
}

/// How each of several locks is wanted. Refuses none, too many, and one that is there twice.
pub fn wanted(request: &AcquireAll) -> Result<Vec<Sharing>, Invalid> {
    let locks = request.locks.iter();
    wanted_names(locks.clone().map(|lock| &*lock.name))?;
    locks.map(|lock| sharing(lock.mode.as_deref(), lock.permits)).collect()
}

/// Refuses names of several locks that are none, too many, or there twice.
pub fn wanted_names<'a>(
    names: impl ExactSizeIterator<Item = &'a str> + Clone,
) -> Result<(), Invalid> {
    let many = names.len();
    if !(1..=WANTED_MAX).contains(&many) {
        return invalid(format!("locks has 1 to {WANTED_MAX} names, not {many}"));
    }
    if names.clone().collect::<BTreeSet<&str>>().len() < many {
        return do_not_go_together("locks has a name twice");
    }
    names.into_iter().try_for_each(name)
}

/// Refuses a keepalive that names too many requests, or does not say as of when.
pub fn keepalive(keep: &KeepAlive) -> Result<(), Invalid> {
    let named = keep.open.as_deref().unwrap_or_default();
    if keep.open.is_some() && keep.request_id.is_none() {
        return invalid("a keepalive that says which requests are open has a request_id");
    }
    named_requests(named.len())?;
    named.iter().chain(&keep.request_id).try_for_each(|id| request_id(Some(id)))
}

/// Refuses a keepalive that names more requests than this.
pub fn named_requests(many: usize) -> Result<(), Invalid> {
    if many > NAMED_MAX {
        return invalid(format!("open has at most {NAMED_MAX} requests, not {many}"));
    }
    Ok(())
}

/// A keepalive: its own number, and those of the requests that its client still knows. Nothing if
/// it does not say.
pub fn kept_alive(keep: &KeepAlive) -> Result<Option<(u64, Vec<u64>)>, Invalid> {
    keepalive(keep)?;
    let number = keep.request_id.as_deref().map(request_number).transpose()?;
    let open = keep.open.as_ref().map(|open| open.iter().map(|id| request_number(id)).collect());
    Ok(number.zip(open.transpose()?))
}

/// Refuses numbers of a session's request without the session.
pub fn numbers_of_session(value: &NewValue) -> Result<(), Invalid> {
    let numbered = value.request_id.is_some() || value.lowest_open.is_some();
    if numbered && value.session.is_none() {
        return invalid("request_id and lowest_open go with a session");
    }
    Ok(())
}

/// How long a session outlives its stream, in milliseconds, if it asks for that.
pub fn grace_ms(request: &NewSession) -> Result<Option<u64>, Invalid> {
    let asked = request.on_disconnect.as_ref().map(|asked| asked.grace_ms);
    asked.map(|asked| grace(asked).map(|()| asked)).transpose()
}

/// Refuses a grace that is too short or too long, in milliseconds.
pub fn grace(grace_ms: u64) -> Result<(), Invalid> {
    if !(GRACE_MS_MIN..=GRACE_MS_MAX).contains(&grace_ms) {
        return invalid(format!("grace_ms is {GRACE_MS_MIN} to {GRACE_MS_MAX}, not {grace_ms}"));
    }
    Ok(())
}

/// The number of a disk: 32 hexadecimal digits.
pub fn disk(id: &str) -> Result<u128, Invalid> {
    let digits = id.len() == 32 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    match u128::from_str_radix(id, 16).ok().filter(|_| digits) {
        Some(disk) => Ok(disk),
        None => invalid("disk is 32 hexadecimal digits, as the node prints them"),
    }
}

/// Refuses what is the number of no node.
pub fn node(number: u32) -> Result<(), Invalid> {
    if number == 0 {
        return invalid("nodes count from 1");
    }
    Ok(())
}

/// Refuses a member that cannot be one.
pub fn member(member: &NewMember) -> Result<(), Invalid> {
    node(member.id)?;
    for (what, given) in [("peer", &member.peer), ("api", &member.api)] {
        text(what, Some(given), ADDRESS_MAX)?;
        if !is_address(given) {
            return invalid(format!("{what} is host:port"));
        }
    }
    member.disk.as_deref().map_or(Ok(()), |id| disk(id).map(|_| ()))
}

/// A host, and a port from 1 without a needless zero.
fn is_address(text: &str) -> bool {
    let Some((host, port)) = text.rsplit_once(':') else { return false };
    let of_host = |byte: u8| byte.is_ascii_alphanumeric() || b"._:[]%-".contains(&byte);
    let port_is_plain = port.bytes().all(|byte| byte.is_ascii_digit()) && !port.starts_with('0');
    !host.is_empty() && host.bytes().all(of_host) && port_is_plain && port.parse::<u16>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OnDisconnect, WantedLock};

    #[test]
    fn mode_and_permits_say_together_how_a_lock_is_held() {
        let all = [
            (None, None, Some(Sharing::Exclusive)),
            (Some("exclusive"), Some(1), Some(Sharing::Exclusive)),
            (None, Some(3), Some(Sharing::Permits(3))),
            (Some("shared"), None, Some(Sharing::Shared)),
            (Some("shared"), Some(2), None),
            (Some("shared"), Some(0), None),
            (None, Some(0), None),
            (None, Some(PERMITS_MAX + 1), None),
            (Some("Shared"), None, None),
        ];
        for (mode, permits, means) in all {
            assert_eq!(sharing(mode, permits).ok(), means, "{mode:?} {permits:?}");
        }
        for asked in [Sharing::Exclusive, Sharing::Shared, Sharing::Permits(7)] {
            let mode = asked.mode();
            assert_eq!(sharing(mode.as_deref(), asked.permits()), Ok(asked));
        }
    }

    #[test]
    fn a_request_number_is_digits_and_nothing_else() {
        for (id, number) in [("1", 1), ("42", 42), ("9007199254740991", FENCE_END - 1)] {
            assert_eq!(request_number(id), Ok(number));
        }
        for id in ["", "0", "01", "+1", "-1", "1.0", "a", "9007199254740992", "１"] {
            assert!(request_number(id).is_err(), "{id}");
        }
    }

    #[test]
    fn the_longest_keepalive_has_room_in_its_body() {
        let longest = (FENCE_END - 1).to_string();
        let open = vec![longest.clone(); NAMED_MAX];
        let keep = KeepAlive { request_id: Some(longest), open: Some(open) };
        assert!(kept_alive(&keep).is_ok());
        let body = serde_json::to_string(&keep).expect("plain data");
        assert!(body.len() <= KEEPALIVE_MAX, "{}", body.len());
        let with_spaces = body.replace(',', ", ").replace(':', ": ");
        assert!(with_spaces.len() <= KEEPALIVE_MAX, "as other languages write it");
    }

    #[test]
    fn a_node_has_a_number_from_1() {
        assert_eq!((node_number("1"), node_number("4294967295")), (Ok(1), Ok(u32::MAX)));
        for text in ["", "0", "+1", "-1", "1.0", "one", "4294967296"] {
            assert!(node_number(text).is_err(), "{text}");
        }
        assert!(stream(STREAM_MAX).is_ok() && stream(STREAM_MAX + 1).is_err());
    }

    #[test]
    fn a_mark_is_not_above_its_own_request() {
        assert!(lowest_open(3, Some(3)).is_ok() && lowest_open(4, Some(3)).is_err());
        assert!(lowest_open(4, None).is_ok(), "one without a number is asked for once");
    }

    #[test]
    fn several_locks_are_a_few_different_ones() {
        let of = |names: &[&str]| {
            let lock = |name: &&str| WantedLock { name: name.to_string(), ..Default::default() };
            wanted(&AcquireAll { locks: names.iter().map(lock).collect(), ..Default::default() })
        };
        assert_eq!(of(&["a", "b"]).map(|all| all.len()), Ok(2));
        assert!(of(&[]).is_err() && of(&["a", "a"]).is_err() && of(&["a", ""]).is_err());
        let many: Vec<String> = (0..=WANTED_MAX).map(|i| i.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(of(&many).is_err() && of(&many[1..]).is_ok());
    }

    #[test]
    fn a_keepalive_that_names_requests_has_a_number_itself() {
        let keep = |id: Option<&str>, open: Option<&[&str]>| {
            let open = open.map(|open| open.iter().map(ToString::to_string).collect());
            kept_alive(&KeepAlive { request_id: id.map(str::to_string), open })
        };
        assert_eq!((keep(None, None), keep(Some("8"), None)), (Ok(None), Ok(None)));
        assert!(keep(Some("\u{84}"), None).is_err(), "though it names no other");
        assert_eq!(keep(Some("9"), Some(&["3", "5"])), Ok(Some((9, vec![3, 5]))));
        assert!(keep(None, Some(&[])).is_err() && keep(Some("9"), Some(&["x"])).is_err());
    }

    #[test]
    fn a_grace_is_neither_too_short_nor_too_long() {
        let of = |grace_ms| {
            let on_disconnect = Some(OnDisconnect { grace_ms });
            grace_ms_of(&NewSession { on_disconnect, ..NewSession::default() })
        };
        assert_eq!([99, 100, 60_000, 60_001].map(of), [None, Some(100), Some(60_000), None]);
        assert_eq!(grace_ms(&NewSession::default()), Ok(None));
    }

    fn grace_ms_of(request: &NewSession) -> Option<u64> {
        grace_ms(request).ok().flatten()
    }

    #[test]
    fn a_member_has_addresses_and_a_disk() {
        let good = NewMember {
            id: 4,
            peer: "10.0.0.4:7100".to_string(),
            api: "[::1]:7070".to_string(),
            disk: Some("0".repeat(31) + "f"),
        };
        assert!(member(&good).is_ok());
        let bad = [
            NewMember { id: 0, ..good.clone() },
            NewMember { peer: "10.0.0.4".to_string(), ..good.clone() },
            NewMember { api: "10.0.0.4:0".to_string(), ..good.clone() },
            NewMember { api: ":7070".to_string(), ..good.clone() },
            NewMember { api: format!("a:{}1", "0".repeat(200)), ..good.clone() },
            NewMember { api: "a b:7070".to_string(), ..good.clone() },
            NewMember { disk: Some("f".to_string()), ..good },
        ];
        for bad in bad {
            assert!(member(&bad).is_err(), "{bad:?}");
        }
    }
}
