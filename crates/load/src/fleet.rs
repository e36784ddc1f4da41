//! A fleet: more sessions than there may be connections, as a client in front of many programs has
//! them. It keeps all of them alive, or takes many names. It speaks our own API only.

use crate::client::Target;
use crate::conclave::granted;
use crate::crew::Work;
use crate::http::Http;
use crate::servers::Servers;
use crate::{Error, Protocol};
use futures_util::future::try_join_all;
use serde::Deserialize;
use std::ops::Range;
use std::time::{Duration, Instant};
use tokio::time::sleep_until;

/// How many connections share the work. A keepalive is answered with all others of 50 ms, so that
/// one connection gets through few of them in a second.
const CONNECTIONS: usize = 500;
/// As many names as one request may have.
const AT_ONCE: usize = 16;

/// Sessions, each at one of the connections.
#[derive(Debug)]
pub struct Fleet {
    hands: Vec<Hand>,
}

/// What was seen while all sessions were kept alive.
#[derive(Debug)]
pub struct Kept {
    /// How long each keepalive took, shortest first.
    pub waits: Vec<Duration>,
}

/// One connection and its sessions.
#[derive(Debug)]
struct Hand {
    http: Http,
    sessions: Vec<String>,
}

#[derive(Deserialize)]
struct Session {
    session: String,
}

impl Fleet {
    /// Opens so many sessions.
    pub fn open(target: &Target, sessions: usize, ttl: Duration) -> Work<'_, Result<Self, Error>> {
        Box::pin(Self::opened(target, sessions, ttl))
    }

    /// Keeps all alive until then, each as often as that.
    pub fn keep(&mut self, every: Duration, until: Instant) -> Work<'_, Result<Kept, Error>> {
        Box::pin(async move {
            let count = self.hands.len() as u32;
            let hands = self.hands.iter_mut().enumerate();
            // Spread over the whole period, as sessions of different programs are.
            let kept = hands.map(|(at, hand)| {
                hand.keep(every, Instant::now() + every * at as u32 / count, until)
            });
            let mut waits = try_join_all(kept).await?.concat();
            waits.sort_unstable();
            Ok(Kept { waits })
        })
    }

    /// Takes so many names, spread over all sessions.
    pub fn take(&mut self, names: usize) -> Work<'_, Result<(), Error>> {
        Box::pin(async move {
            let share = names.div_ceil(self.hands.len().max(1));
            let hands = self.hands.iter_mut().enumerate();
            let taken = hands.map(|(at, hand)| {
                hand.take((at * share).min(names)..((at + 1) * share).min(names))
            });
            try_join_all(taken).await.map(drop)
        })
    }

    /// Ends all sessions, and gives back with them what they hold.
    pub fn close(self) -> Work<'static, Result<(), Error>> {
        Box::pin(
            async move { try_join_all(self.hands.into_iter().map(Hand::close)).await.map(drop) },
        )
    }

    async fn opened(target: &Target, sessions: usize, ttl: Duration) -> Result<Self, Error> {
        if target.protocol != Protocol::Conclave {
            return Err(Error::Refused("only our own API is spoken here".to_string()));
        }
        let count = CONNECTIONS.min(sessions);
        let hands = (0..count).map(|at| {
            let share = sessions / count + usize::from(at < sessions % count);
            let http = Http::new(Servers::new(&target.servers, at));
            Hand { http, sessions: Vec::new() }.open(share, ttl)
        });
        Ok(Self { hands: try_join_all(hands).await? })
    }
}

impl Hand {
    async fn open(mut self, sessions: usize, ttl: Duration) -> Result<Self, Error> {
        let body = format!(r#"{{"ttl_ms":{}}}"#, ttl.as_millis());
        for _ in 0..sessions {
            let session: Session = granted(self.http.post("/v1/sessions", &body).await?)?;
            self.sessions.push(session.session);
        }
        Ok(self)
    }

    /// One session after the other, evenly.
    async fn keep(
        &mut self,
        every: Duration,
        first: Instant,
        until: Instant,
    ) -> Result<Vec<Duration>, Error> {
        let mut waits = Vec::new();
        let step = every / self.sessions.len().max(1) as u32;
        let mut due = first;
        for session in self.sessions.iter().cycle() {
            sleep_until(due.min(until).into()).await;
            let asked = Instant::now();
            if asked >= until {
                break;
            }
            let path = format!("/v1/sessions/{session}/keepalive");
            granted::<Session>(self.http.post(&path, "{}").await?)?;
            waits.push(asked.elapsed());
            due += step;
        }
        Ok(waits)
    }

    async fn take(&mut self, names: Range<usize>) -> Result<(), Error> {
        let Some(session) = self.sessions.first() else { return Ok(()) };
        let mut from = names.start;
        let mut request = 1;
        while from < names.end {
            let to = (from + AT_ONCE).min(names.end);
            let body = acquire(session, request, from..to);
            granted::<serde_json::Value>(self.http.post("/v1/acquire", &body).await?)?;
            request += 1;
            from = to;
        }
        Ok(())
    }

    async fn close(mut self) -> Result<(), Error> {
        for session in std::mem::take(&mut self.sessions) {
            let path = format!("/v1/sessions/{session}");
            let answer = self.http.ask("DELETE", &path, "").await?;
            if answer.status >= 300 {
                granted::<serde_json::Value>(answer)?;
            }
        }
        Ok(())
    }
}

fn acquire(session: &str, request: u64, names: Range<usize>) -> String {
    let locks: Vec<String> =
        names.map(|name| format!(r#"{{"name":"fleet/name-{name:06}"}}"#)).collect();
    let locks = locks.join(",");
    let numbers = format!(r#""request_id":"{request}","lowest_open":"{request}""#);
    format!(r#"{{"session":"{session}","locks":[{locks}],"wait_ms":0,{numbers}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_for_several_names_is_json() {
        let body: serde_json::Value = serde_json::from_str(&acquire("5e55", 7, 1..3)).unwrap();
        let expected = serde_json::json!({
            "session": "5e55",
            "locks": [{"name": "fleet/name-000001"}, {"name": "fleet/name-000002"}],
            "wait_ms": 0, "request_id": "7", "lowest_open": "7"
        });
        assert_eq!(body, expected);
    }
}
