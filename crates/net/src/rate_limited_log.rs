//! A rate-limited log of what strangers do wrong. Whoever connects again and again for the same
//! reason is told of once a minute: a flood of connections does not become a flood of lines.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// So many lines at most are written within a second, whatever they say.
const LINES_MAX: u32 = 20;
const WINDOW: Duration = Duration::from_secs(1);
/// What was said is said again after so long at the earliest.
const AGAIN: Duration = Duration::from_secs(60);
/// So many things that were said are remembered.
const REMEMBERED_MAX: usize = 256;

/// Writes lines about strangers, and counts those that it does not write.
pub struct RateLimitedLog {
    who: &'static str,
    state: Mutex<State>,
}

struct State {
    since: Instant,
    lines: u32,
    said: BTreeMap<(Option<IpAddr>, String), Said>,
}

#[derive(Clone, Copy)]
struct Said {
    at: Instant,
    unsaid: u64,
}

impl RateLimitedLog {
    /// Lines about these: `connection from`, say.
    pub fn new(who: &'static str) -> Self {
        let state = State { since: Instant::now(), lines: 0, said: BTreeMap::new() };
        Self { who, state: Mutex::new(state) }
    }

    /// Says what is wrong with whoever has this address.
    pub fn about(&self, address: SocketAddr, what: impl Display) {
        let who = self.who;
        let what = what.to_string();
        if let Some(more) = self.admit(Some(address.ip()), &what, Instant::now()) {
            tracing::warn!("{who} {address}: {what}{}", times(more));
        }
    }

    /// Says what is wrong, with nobody in particular.
    pub fn say(&self, what: impl Display) {
        let what = what.to_string();
        if let Some(more) = self.admit(None, &what, Instant::now()) {
            tracing::warn!("{what}{}", times(more));
        }
    }

    /// How often this was not said since it was last said, if it is to be said now.
    fn admit(&self, ip: Option<IpAddr>, what: &str, now: Instant) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if now - state.since >= WINDOW {
            state.since = now;
            state.lines = 0;
        }
        if state.said.len() >= REMEMBERED_MAX {
            state.said.retain(|_, said| now - said.at < AGAIN);
        }
        let (full, room) = (state.lines >= LINES_MAX, state.said.len() < REMEMBERED_MAX);
        let key = (ip, what.to_string());
        let unsaid = match state.said.get_mut(&key) {
            Some(said) if full || now - said.at < AGAIN => {
                said.unsaid += 1;
                return None;
            }
            Some(said) => std::mem::replace(said, Said { at: now, unsaid: 0 }).unsaid,
            None if full => return None,
            None => 0,
        };
        if room {
            state.said.entry(key).or_insert(Said { at: now, unsaid: 0 });
        }
        state.lines += 1;
        Some(unsaid)
    }
}

fn times(more: u64) -> String {
    match more {
        0 => String::new(),
        1 => " (and once more since this was last said)".to_string(),
        more => format!(" (and {more} times more since this was last said)"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::Ipv4Addr;

    fn ip(last: u8) -> Option<IpAddr> {
        Some(Ipv4Addr::new(10, 0, 0, last).into())
    }

    #[test]
    fn the_same_of_the_same_is_said_once_a_minute_and_counted() {
        let log = RateLimitedLog::new("connection from");
        let start = Instant::now();
        assert_eq!(log.admit(ip(1), "it speaks HTTP", start), Some(0));
        for seconds in 1..60 {
            let now = start + Duration::from_secs(seconds);
            assert_eq!(log.admit(ip(1), "it speaks HTTP", now), None);
        }
        assert_eq!(log.admit(ip(2), "it speaks HTTP", start), Some(0), "somebody else");
        assert_eq!(log.admit(ip(1), "it speaks TLS", start), Some(0), "something else");
        assert_eq!(log.admit(ip(1), "it speaks HTTP", start + AGAIN), Some(59));
    }

    #[test]
    fn a_flood_of_different_things_is_cut_short() {
        let log = RateLimitedLog::new("connection from");
        let start = Instant::now();
        let said = |now| {
            let all = 0..1_000;
            all.filter(|it| log.admit(ip(1), &it.to_string(), now).is_some()).count()
        };
        assert_eq!(said(start), LINES_MAX as usize);
        assert_eq!(said(start + WINDOW), LINES_MAX as usize);
        for second in 2..100 {
            said(start + WINDOW * second);
        }
        let remembered = log.state.lock().unwrap().said.len();
        assert!(remembered <= REMEMBERED_MAX, "{remembered} things are remembered");
    }
}
