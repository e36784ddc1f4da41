//! A client of Conclave: its HTTP API, every request with an id, so that it may be repeated.

use crate::Error;
use crate::client::Want;
use crate::http::{Answer, Http};
use crate::servers::Servers;
use serde::Deserialize;

/// Longer than anything waits here.
const WAIT_MS: u64 = 120_000;

/// One client with its session.
#[derive(Debug)]
pub struct Conclave {
    http: Http,
    want: Want,
    session: Option<String>,
    /// Whether the session belongs to the cluster: then each request says which is the lowest that
    /// is not answered, so that no answer is kept for ever. Here it is always the request itself.
    of_cluster: bool,
    /// The id of the next request.
    request: u64,
    fence: u64,
}

#[derive(Deserialize)]
struct Session {
    session: String,
    #[serde(default)]
    scope: String,
}

#[derive(Deserialize)]
struct Grant {
    fence: u64,
}

#[derive(Deserialize)]
struct Failure {
    error: Failed,
}

#[derive(Deserialize)]
struct Failed {
    code: String,
    message: String,
    retry: bool,
}

impl Conclave {
    pub fn new(servers: Servers, want: Want) -> Self {
        Self {
            http: Http::new(servers),
            want,
            session: None,
            of_cluster: false,
            request: 1,
            fence: 0,
        }
    }

    pub async fn open(&mut self) -> Result<(), Error> {
        let body = format!(r#"{{"ttl_ms":{}}}"#, self.want.ttl.as_millis());
        let answer = self.http.post("/v1/sessions", &body).await?;
        let session: Session = granted(answer)?;
        self.of_cluster = session.scope == "cluster";
        self.session = Some(session.session);
        self.request = 1;
        Ok(())
    }

    pub async fn acquire(&mut self) -> Result<u64, Error> {
        if self.session.is_none() {
            self.open().await?;
        }
        let session = self.session.as_deref().unwrap_or_default();
        let path = format!("/v1/locks/{}/acquire", self.want.name);
        let body = acquire(session, &self.numbers());
        let answer = granted::<Grant>(self.http.post(&path, &body).await?);
        self.fence = self.judged(answer)?.fence;
        Ok(self.fence)
    }

    pub async fn release(&mut self) -> Result<(), Error> {
        let Some(session) = &self.session else { return Ok(()) };
        let path = format!("/v1/locks/{}/release", self.want.name);
        let body = release(session, self.fence, &self.numbers());
        let answer = granted::<Grant>(self.http.post(&path, &body).await?);
        match self.judged(answer) {
            // The session is gone, and what it held with it.
            Err(_) if self.session.is_none() => Ok(()),
            answer => answer.map(|_| ()),
        }
    }

    pub async fn keep_alive(&mut self) -> Result<(), Error> {
        let Some(session) = &self.session else { return self.open().await };
        let path = format!("/v1/sessions/{session}/keepalive");
        let answer = granted::<Session>(self.http.post(&path, "{}").await?);
        answer.map(|_| ())
    }

    fn numbers(&self) -> String {
        let request = self.request;
        match self.of_cluster {
            true => format!(r#""request_id":"{request}","lowest_open":"{request}""#),
            false => format!(r#""request_id":"{request}""#),
        }
    }

    /// An answered request is never repeated. Of a session that is not known any more nothing is
    /// left: the next request opens another.
    fn judged(&mut self, answer: Result<Grant, Error>) -> Result<Grant, Error> {
        match &answer {
            Ok(_) => self.request += 1,
            Err(Error::Busy(code)) if code == "no_session" => self.session = None,
            Err(_) => {}
        }
        answer
    }
}

fn acquire(session: &str, numbers: &str) -> String {
    format!(r#"{{"session":"{session}","wait_ms":{WAIT_MS},{numbers}}}"#)
}

fn release(session: &str, fence: u64, numbers: &str) -> String {
    format!(r#"{{"session":"{session}","fence":{fence},{numbers}}}"#)
}

pub(crate) fn granted<T: for<'de> Deserialize<'de>>(answer: Answer<'_>) -> Result<T, Error> {
    if answer.status < 300 {
        return answer.read();
    }
    let Failed { code, message, retry } = answer.read::<Failure>()?.error;
    match code.as_str() {
        "no_session" => Err(Error::Busy(code)),
        _ if retry => Err(Error::Busy(message)),
        _ => Err(Error::Refused(message)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn requests_are_json_that_can_be_repeated() {
        let want = Want {
            name: "lock".to_string(),
            label: String::new(),
            ttl: Duration::from_secs(1),
            shared: false,
            first: 0,
        };
        let mut client = Conclave::new(Servers::new(&[], 0), want);
        client.request = 7;
        let body = acquire("5e55", &client.numbers());
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let expected = serde_json::json!({
            "session": "5e55", "wait_ms": WAIT_MS, "request_id": "7"
        });
        assert_eq!(body, expected);
        client.of_cluster = true;
        let body = release("5e55", 9, &client.numbers());
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let expected = serde_json::json!({
            "session": "5e55", "fence": 9, "request_id": "7", "lowest_open": "7"
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn a_refusal_says_whether_a_retry_helps() {
        let refused = |code: &str, retry: bool| {
            let body = format!(r#"{{"error":{{"code":"{code}","message":"m","retry":{retry}}}}}"#);
            granted::<Grant>(Answer { status: 409, body: body.as_bytes() }).map(|_| ()).unwrap_err()
        };
        assert!(refused("unavailable", true).may_pass());
        assert!(!refused("bad_request", false).may_pass());
        assert!(refused("no_session", false).may_pass(), "another session can be opened");
    }
}
