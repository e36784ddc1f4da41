//! A client of Redis: `SET NX PX` and a script that releases, in RESP, its wire protocol.
//!
//! On a lock that many want, nobody polls: as in python-redis-lock, a release pushes a signal onto
//! a list, and one of those who wait for it with `BLPOP` tries again. One server, no fence.

use crate::Error;
use crate::client::Want;
use crate::servers::Servers;
use std::io::ErrorKind;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Releases a lock that is still one's own, as Redis documents it.
const RELEASE: &str = "if redis.call('get',KEYS[1])==ARGV[1] then \
                       return redis.call('del',KEYS[1]) else return 0 end";
/// The same, with a signal for one of those who wait. It outlives nobody's interest for long.
const RELEASE_AND_SIGNAL: &str = "if redis.call('get',KEYS[1])~=ARGV[1] then return 0 end \
                                  redis.call('del',KEYS[2]) \
                                  redis.call('lpush',KEYS[2],1) \
                                  redis.call('pexpire',KEYS[2],5000) \
                                  return redis.call('del',KEYS[1])";
/// Nobody waits longer for a signal without looking again: whoever dies sends none.
const SIGNAL_SECONDS: &str = "0.1";
/// No reply of a lock recipe is longer.
const REPLY_MAX: usize = 1 << 16;

/// One client.
#[derive(Debug)]
pub struct Redis {
    servers: Servers,
    want: Want,
    stream: Option<TcpStream>,
    received: Vec<u8>,
    /// The name by which the server knows the script.
    script: String,
}

/// What the server says.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Reply {
    Text(String),
    Number(i64),
    Nothing,
    List(Vec<Reply>),
    Failure(String),
}

impl Redis {
    pub fn new(servers: Servers, want: Want) -> Self {
        Self { servers, want, stream: None, received: Vec::new(), script: String::new() }
    }

    pub async fn open(&mut self) -> Result<(), Error> {
        let script = if self.want.shared { RELEASE_AND_SIGNAL } else { RELEASE };
        let Reply::Text(name) = self.ask(&["SCRIPT", "LOAD", script]).await? else {
            return Err(Error::odd("a script without a name"));
        };
        self.script = name;
        Ok(())
    }

    pub async fn acquire(&mut self) -> Result<(), Error> {
        let ttl = self.want.ttl.as_millis().to_string();
        let signal = self.signal();
        let Want { name, label, .. } = self.want.clone();
        loop {
            let reply = self.ask(&["SET", &name, &label, "NX", "PX", &ttl]).await?;
            if matches!(reply, Reply::Text(_)) {
                return Ok(());
            }
            expect(reply == Reply::Nothing, &reply)?;
            let reply = self.ask(&["BLPOP", &signal, SIGNAL_SECONDS]).await?;
            expect(matches!(reply, Reply::List(_) | Reply::Nothing), &reply)?;
        }
    }

    pub async fn release(&mut self) -> Result<(), Error> {
        let signal = self.signal();
        let Want { name, label, shared, .. } = self.want.clone();
        let script = self.script.clone();
        let reply = match shared {
            true => self.ask(&["EVALSHA", &script, "2", &name, &signal, &label]).await?,
            false => self.ask(&["EVALSHA", &script, "1", &name, &label]).await?,
        };
        expect(matches!(reply, Reply::Number(_)), &reply)
    }

    /// A lock lives for as long as it was said to; there is no session.
    pub async fn keep_alive(&mut self) -> Result<(), Error> {
        let ttl = self.want.ttl.as_millis().to_string();
        let name = self.want.name.clone();
        self.ask(&["PEXPIRE", &name, &ttl]).await.map(|_| ())
    }

    fn signal(&self) -> String {
        format!("{}:signal", self.want.name)
    }

    async fn ask(&mut self, words: &[&str]) -> Result<Reply, Error> {
        let asked = self.exchange(words).await;
        if asked.is_err() {
            self.stream = None;
            self.received.clear();
            self.servers.advance();
        }
        let reply = asked?;
        match &reply {
            Reply::Failure(text) => Err(Error::Refused(text.clone())),
            Reply::Text(_) | Reply::Number(_) | Reply::Nothing | Reply::List(_) => Ok(reply),
        }
    }

    async fn exchange(&mut self, words: &[&str]) -> Result<Reply, Error> {
        if self.stream.is_none() {
            self.stream = Some(self.servers.connect().await?);
        }
        let ended = || Error::Gone(ErrorKind::UnexpectedEof.into());
        let stream = self.stream.as_mut().ok_or_else(ended)?;
        stream.write_all(&command(words)).await?;
        loop {
            let mut rest = &self.received[..];
            if let Some(reply) = parse(&mut rest)? {
                let used = self.received.len() - rest.len();
                self.received.drain(..used);
                return Ok(reply);
            }
            if self.received.len() > REPLY_MAX {
                return Err(Error::odd("a reply of Redis without an end"));
            }
            if stream.read_buf(&mut self.received).await? == 0 {
                return Err(ended());
            }
        }
    }
}

/// A command is a list of texts with their lengths.
fn command(words: &[&str]) -> Vec<u8> {
    let mut text = format!("*{}\r\n", words.len());
    for word in words {
        text += &format!("${}\r\n{word}\r\n", word.len());
    }
    text.into_bytes()
}

/// The next reply, if it is there as a whole.
fn parse(bytes: &mut &[u8]) -> Result<Option<Reply>, Error> {
    let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else { return Ok(None) };
    let line = std::str::from_utf8(&bytes[..end]).map_err(|_| Error::odd("no RESP"))?;
    let mut rest = &bytes[end + 2..];
    let kind = line.get(..1).unwrap_or_default();
    let value = line.get(1..).unwrap_or_default();
    let number = || value.parse::<i64>().map_err(|_| Error::odd(format!("no RESP: {line}")));
    let reply = match kind {
        "+" => Some(Reply::Text(value.to_string())),
        "-" => Some(Reply::Failure(value.to_string())),
        ":" => Some(Reply::Number(number()?)),
        "$" => text(usize::try_from(number()?).ok(), &mut rest),
        "*" => list(usize::try_from(number()?).ok(), &mut rest)?,
        _ => return Err(Error::odd(format!("no RESP: {line}"))),
    };
    if reply.is_some() {
        *bytes = rest;
    }
    Ok(reply)
}

/// A text of known length, or nothing where the length is below zero.
fn text(length: Option<usize>, rest: &mut &[u8]) -> Option<Reply> {
    let Some(length) = length else { return Some(Reply::Nothing) };
    let bytes = rest.get(..length)?;
    let text = String::from_utf8_lossy(bytes).into_owned();
    *rest = rest.get(length.checked_add(2)?..)?;
    Some(Reply::Text(text))
}

fn list(length: Option<usize>, rest: &mut &[u8]) -> Result<Option<Reply>, Error> {
    let Some(length) = length else { return Ok(Some(Reply::Nothing)) };
    let mut replies = Vec::new();
    for _ in 0..length {
        match parse(rest)? {
            Some(reply) => replies.push(reply),
            None => return Ok(None),
        }
    }
    Ok(Some(Reply::List(replies)))
}

fn expect(is_expected: bool, reply: &Reply) -> Result<(), Error> {
    if is_expected { Ok(()) } else { Err(Error::odd(format!("{reply:?}"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_length_of_each_word() {
        let expected = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\nbc\r\n";
        assert_eq!(command(&["SET", "a", "bc"]), expected);
    }

    #[test]
    fn replies_are_read_as_soon_as_they_are_complete() {
        let list = Reply::List(vec![Reply::Text("k".to_string()), Reply::Number(-1)]);
        let pairs = [
            (&b"+OK\r\n"[..], Reply::Text("OK".to_string())),
            (b"$-1\r\n", Reply::Nothing),
            (b"*-1\r\n", Reply::Nothing),
            (b":7\r\n", Reply::Number(7)),
            (b"*2\r\n$1\r\nk\r\n:-1\r\n", list),
            (b"-ERR no\r\n", Reply::Failure("ERR no".to_string())),
        ];
        for (bytes, expected) in pairs {
            for length in 0..bytes.len() {
                let mut part = &bytes[..length];
                assert_eq!(parse(&mut part).unwrap(), None, "{length} of {bytes:?}");
            }
            let mut whole = bytes;
            assert_eq!(parse(&mut whole).unwrap(), Some(expected));
            assert!(whole.is_empty());
        }
        assert!(parse(&mut &b"HTTP/1.1\r\n"[..]).is_err());
    }
}
