//! HTTP/1.1 with keep-alive, as little of it as a client of a JSON API needs.

use crate::Error;
use crate::servers::Servers;
use serde::de::DeserializeOwned;
use std::io::{self, ErrorKind, Write};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// No answer of a lock service is longer.
const ANSWER_MAX: usize = 1 << 20;
/// The status of an answer without a body.
const NO_CONTENT: u16 = 204;

/// A connection that is there when it is needed.
#[derive(Debug)]
pub struct Http {
    servers: Servers,
    stream: Option<TcpStream>,
    sent: Vec<u8>,
    received: Vec<u8>,
    body: Vec<u8>,
}

/// What came back.
#[derive(Debug)]
pub struct Answer<'a> {
    /// 200 if all is well.
    pub status: u16,
    /// JSON.
    pub body: &'a [u8],
}

impl Answer<'_> {
    /// The body as it should be.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, Error> {
        serde_json::from_slice(self.body).map_err(|error| Error::odd(error.to_string()))
    }
}

impl Http {
    /// Of a client of these servers; it connects when there is something to say.
    pub fn new(servers: Servers) -> Self {
        Self { servers, stream: None, sent: Vec::new(), received: Vec::new(), body: Vec::new() }
    }

    /// Posts JSON, and waits for the answer. After an error the connection is a new one, to the
    /// next server.
    pub async fn post(&mut self, path: &str, json: &str) -> Result<Answer<'_>, Error> {
        self.ask("POST", path, json).await
    }

    /// The same with another method.
    pub async fn ask(&mut self, method: &str, path: &str, json: &str) -> Result<Answer<'_>, Error> {
        if self.stream.is_none() {
            self.stream = Some(self.servers.connect().await?);
        }
        self.sent.clear();
        write_request(&mut self.sent, method, path, json)?;
        match self.exchange().await {
            Ok(status) => Ok(Answer { status, body: &self.body }),
            Err(error) => {
                self.leave();
                Err(error)
            }
        }
    }

    /// Goes to the next server with the next request.
    pub fn leave(&mut self) {
        self.stream = None;
        self.servers.advance();
    }

    async fn exchange(&mut self) -> Result<u16, Error> {
        let Some(stream) = &mut self.stream else { return Err(ended().into()) };
        stream.write_all(&self.sent).await?;
        self.received.clear();
        self.body.clear();
        loop {
            if stream.read_buf(&mut self.received).await? == 0 {
                return Err(ended().into());
            }
            if let Some(status) = parse(&self.received, &mut self.body)? {
                return Ok(status);
            }
            if self.received.len() > ANSWER_MAX {
                return Err(Error::odd("an answer without an end"));
            }
        }
    }
}

fn ended() -> io::Error {
    ErrorKind::UnexpectedEof.into()
}

fn write_request(out: &mut Vec<u8>, method: &str, path: &str, json: &str) -> io::Result<()> {
    let length = json.len();
    write!(out, "{method} {path} HTTP/1.1\r\nHost: localhost\r\n")?;
    write!(out, "Content-Type: application/json\r\n")?;
    write!(out, "Content-Length: {length}\r\n\r\n{json}")
}

/// The status of an answer that is there as a whole, and its body; nothing if more must come.
fn parse(received: &[u8], body: &mut Vec<u8>) -> Result<Option<u16>, Error> {
    let Some(end) = find(received, b"\r\n\r\n") else { return Ok(None) };
    let head = std::str::from_utf8(&received[..end]).map_err(|_| Error::odd("no HTTP"))?;
    let rest = &received[end + 4..];
    let status = head.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
    let status = status.ok_or_else(|| Error::odd("no HTTP/1.1"))?;
    if status == NO_CONTENT {
        body.clear();
        return Ok(Some(status));
    }
    if let Some(length) = header(head, "content-length") {
        let length: usize = length.parse().map_err(|_| Error::odd("a length that is none"))?;
        body.clear();
        body.extend_from_slice(&rest[..length.min(rest.len())]);
        return Ok((rest.len() >= length).then_some(status));
    }
    let is_chunked = header(head, "transfer-encoding") == Some("chunked");
    match is_chunked {
        true => Ok(unchunk(rest, body)?.then_some(status)),
        false => Err(Error::odd("an answer of unknown length")),
    }
}

fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let fields = head.lines().filter_map(|line| line.split_once(':'));
    fields.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim()).next()
}

/// Puts chunks together; whether the last one was there.
fn unchunk(mut rest: &[u8], body: &mut Vec<u8>) -> Result<bool, Error> {
    body.clear();
    loop {
        let Some(end) = find(rest, b"\r\n") else { return Ok(false) };
        let size = std::str::from_utf8(&rest[..end]).ok();
        let size = size.and_then(|size| usize::from_str_radix(size.trim(), 16).ok());
        let size = size.filter(|&size| size <= ANSWER_MAX);
        let size = size.ok_or_else(|| Error::odd("a chunk without a size"))?;
        let from = end + 2;
        if rest.len() < from + size + 2 {
            return Ok(false);
        }
        if size == 0 {
            return Ok(true);
        }
        body.extend_from_slice(&rest[from..from + size]);
        rest = &rest[from + size + 2..];
    }
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_says_how_long_it_is() {
        let mut out = Vec::new();
        write_request(&mut out, "POST", "/v1/sessions", "{}").unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.starts_with("POST /v1/sessions HTTP/1.1\r\n"), "{text}");
        assert!(text.ends_with("Content-Length: 2\r\n\r\n{}"), "{text}");
    }

    #[test]
    fn an_answer_is_read_as_soon_as_all_of_it_is_there_and_not_before() {
        let whole = b"HTTP/1.1 409 Conflict\r\ncontent-length: 7\r\n\r\n{\"a\":1}";
        let mut body = Vec::new();
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length], &mut body).unwrap(), None, "{length} bytes");
        }
        assert_eq!(parse(whole, &mut body).unwrap(), Some(409));
        assert_eq!(body, b"{\"a\":1}");
    }

    #[test]
    fn chunks_are_put_together() {
        let whole =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n";
        let mut body = Vec::new();
        for length in 0..whole.len() {
            assert_eq!(parse(&whole[..length], &mut body).unwrap(), None, "{length} bytes");
        }
        assert_eq!(parse(whole, &mut body).unwrap(), Some(200));
        assert_eq!(body, b"abc");
    }

    #[test]
    fn an_answer_without_a_length_is_refused_unless_it_has_no_body() {
        let mut body = Vec::new();
        assert_eq!(parse(b"HTTP/1.1 204 No Content\r\n\r\n", &mut body).unwrap(), Some(204));
        assert!(parse(b"SSH-2.0\r\n\r\n", &mut body).is_err());
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n", &mut body).is_err());
        let odd = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n";
        assert!(parse(odd, &mut body).is_err());
    }
}
