//! A client of etcd: leases and the lock service (`v3lock`) through its JSON gateway.
//!
//! The gateway turns each request into one of gRPC inside the server, which costs etcd something
//! that a gRPC client would not make it pay. A lock is a key below its name that ends with the
//! lease, so a request that is repeated finds the key of the first one.

use crate::Error;
use crate::client::Want;
use crate::http::{Answer, Http};
use crate::servers::Servers;
use serde::Deserialize;

/// One client with its lease.
#[derive(Debug)]
pub struct Etcd {
    http: Http,
    want: Want,
    lease: Option<String>,
    /// What is held, as the gateway names it.
    key: String,
}

#[derive(Deserialize)]
struct Leased {
    #[serde(rename = "ID")]
    id: String,
}

#[derive(Deserialize)]
struct Locked {
    header: Header,
    key: String,
}

#[derive(Deserialize)]
struct Header {
    revision: String,
}

#[derive(Deserialize)]
struct Ignored {}

#[derive(Deserialize)]
struct Failure {
    #[serde(default)]
    message: String,
}

impl Etcd {
    pub fn new(servers: Servers, want: Want) -> Self {
        Self { http: Http::new(servers), want, lease: None, key: String::new() }
    }

    pub async fn open(&mut self) -> Result<(), Error> {
        let seconds = self.want.ttl.as_secs().max(1);
        let body = format!(r#"{{"TTL":"{seconds}"}}"#);
        let answer = self.http.post("/v3/lease/grant", &body).await?;
        self.lease = Some(granted::<Leased>(answer)?.id);
        Ok(())
    }

    pub async fn acquire(&mut self) -> Result<u64, Error> {
        if self.lease.is_none() {
            self.open().await?;
        }
        let body = lock(&self.want.name, self.lease.as_deref().unwrap_or_default());
        let answer = granted::<Locked>(self.http.post("/v3/lock/lock", &body).await?);
        let answer = self.or_elsewhere(answer)?;
        self.key = answer.key;
        answer.header.revision.parse().map_err(|_| Error::odd("a revision that is none"))
    }

    pub async fn release(&mut self) -> Result<(), Error> {
        let body = format!(r#"{{"key":"{}"}}"#, self.key);
        let answer = granted::<Ignored>(self.http.post("/v3/lock/unlock", &body).await?);
        self.or_elsewhere(answer).map(|_| ())
    }

    pub async fn keep_alive(&mut self) -> Result<(), Error> {
        let Some(lease) = &self.lease else { return self.open().await };
        let body = format!(r#"{{"ID":"{lease}"}}"#);
        let answer = self.http.post("/v3/lease/keepalive", &body).await?;
        granted::<Ignored>(answer).map(|_| ())
    }

    /// A server that has lost its leader says so for as long as it has none; so the next one is
    /// asked, as with a connection that ended.
    fn or_elsewhere<T>(&mut self, answer: Result<T, Error>) -> Result<T, Error> {
        if matches!(&answer, Err(Error::Busy(_))) {
            self.http.leave();
        }
        answer
    }
}

fn lock(name: &str, lease: &str) -> String {
    format!(r#"{{"name":"{}","lease":"{lease}"}}"#, base64(name.as_bytes()))
}

fn granted<T: for<'de> Deserialize<'de>>(answer: Answer<'_>) -> Result<T, Error> {
    match answer.status {
        200 => answer.read(),
        // No leader, or a time-out for want of one.
        500.. => Err(Error::Busy(answer.read::<Failure>()?.message)),
        _ => Err(Error::Refused(answer.read::<Failure>()?.message)),
    }
}

/// Names are bytes to the gateway, and bytes are base64 in its JSON.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for group in bytes.chunks(3) {
        let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or_default());
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            let index = (bits >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit <= group.len() { char::from(DIGITS[index]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_base64() {
        // The examples of RFC 4648.
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, encoded) in pairs {
            assert_eq!(base64(plain.as_bytes()), encoded);
        }
        assert_eq!(base64(&[0xfb, 0xff]), "+/8=");
        assert_eq!(lock("foo", "17"), r#"{"name":"Zm9v","lease":"17"}"#);
    }

    #[test]
    fn an_answer_of_the_gateway_is_understood() {
        let body = br#"{"header":{"cluster_id":"1","revision":"42"},"key":"Zm9v"}"#;
        let locked: Locked = granted(Answer { status: 200, body }).unwrap();
        assert_eq!((locked.header.revision.as_str(), locked.key.as_str()), ("42", "Zm9v"));
        let body =
            br#"{"error":"etcdserver: no leader","message":"etcdserver: no leader","code":14}"#;
        assert!(
            granted::<Locked>(Answer { status: 503, body }).is_err_and(|error| error.may_pass())
        );
        assert!(
            granted::<Locked>(Answer { status: 400, body }).is_err_and(|error| !error.may_pass())
        );
    }
}
