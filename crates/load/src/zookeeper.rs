//! A client of ZooKeeper: the lock recipe of its documentation, over its own binary protocol.
//!
//! Each client makes an ephemeral sequential node below the lock's; whoever has the lowest number
//! holds the lock, and everybody else watches the number before its own. As in Curator, the name of
//! a node says whose it is, so that one whose answer was lost is found again; and the node before
//! is watched by reading it, which leaves no watch behind if it is gone.

use crate::Error;
use crate::client::Want;
use crate::jute::{Frame, Kind, Operation, Reader};
use crate::servers::Servers;
use std::io::{self, ErrorKind};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const NO_NODE: i32 = -101;
const NODE_EXISTS: i32 = -110;
/// The numbers of what is not the answer to a request.
const EVENT: i32 = -1;
const PING: i32 = -2;
/// Digits at the end of a sequential node's name.
const DIGITS: usize = 10;
/// No frame of a lock recipe is longer.
const FRAME_MAX: usize = 1 << 20;

/// One client with its session.
#[derive(Debug)]
pub struct ZooKeeper {
    servers: Servers,
    want: Want,
    link: Option<Link>,
    session: i64,
    password: Vec<u8>,
    /// The latest change that was heard of: a server that knows less is no use.
    seen: i64,
    /// The node that holds the lock or waits for it.
    own: Option<String>,
    /// Whether there may be such a node that is not known.
    unsure: bool,
}

/// A connection within a session.
#[derive(Debug)]
struct Link {
    stream: TcpStream,
    received: Vec<u8>,
    xid: i32,
    /// Nodes of which a watch has told something.
    changed: Vec<String>,
}

/// The answer to a request.
struct Reply {
    zxid: i64,
    code: i32,
    body: Vec<u8>,
}

impl ZooKeeper {
    pub fn new(servers: Servers, want: Want) -> Self {
        Self {
            servers,
            want,
            link: None,
            session: 0,
            password: vec![0; 16],
            seen: 0,
            own: None,
            unsure: false,
        }
    }

    /// Opens a session, and makes the lock's node if nobody has.
    pub async fn open(&mut self) -> Result<(), Error> {
        let place = self.place();
        let make = |frame: Frame| frame.create(&place, Kind::Persistent);
        match self.ask(Operation::Create, make).await?.code {
            0 | NODE_EXISTS => Ok(()),
            code => Err(refused(code)),
        }
    }

    pub async fn acquire(&mut self) -> Result<u64, Error> {
        let own = self.own_node().await?;
        let number = sequence(&own).ok_or_else(|| Error::odd(own.clone()))?;
        loop {
            let children = self.children().await?;
            if !children.contains(&own) {
                self.own = None; // The session ended, and took it along.
                return Err(Error::Busy("the node is gone".to_string()));
            }
            let Some(before) = before(&children, number) else { return Ok(number) };
            let path = format!("{}/{before}", self.place());
            if before.starts_with(&self.prefix()) {
                // One of ours: its answer was lost, and the next server was late to show it.
                self.remove(&path).await?;
                continue;
            }
            let watch = |frame: Frame| frame.read(&path, true);
            match self.ask(Operation::GetData, watch).await?.code {
                0 => self.changed(&path).await?,
                NO_NODE => {}
                code => return Err(refused(code)),
            }
        }
    }

    pub async fn release(&mut self) -> Result<(), Error> {
        let Some(own) = self.own.clone() else { return Ok(()) };
        self.remove(&format!("{}/{own}", self.place())).await?;
        self.own = None;
        Ok(())
    }

    pub async fn keep_alive(&mut self) -> Result<(), Error> {
        self.ask(Operation::Ping, |frame| frame).await.map(|_| ())
    }

    async fn remove(&mut self, path: &str) -> Result<(), Error> {
        match self.ask(Operation::Delete, |frame| frame.delete(path)).await?.code {
            0 | NO_NODE => Ok(()),
            code => Err(refused(code)),
        }
    }

    /// The node of this client: known, found again, or new.
    async fn own_node(&mut self) -> Result<String, Error> {
        if self.unsure {
            let children = self.children().await?;
            let prefix = self.prefix();
            self.own = children.into_iter().find(|child| child.starts_with(&prefix));
            self.unsure = false;
        }
        if let Some(own) = &self.own {
            return Ok(own.clone());
        }
        self.unsure = true;
        let path = format!("{}/{}", self.place(), self.prefix());
        let make = |frame: Frame| frame.create(&path, Kind::EphemeralSequential);
        let reply = self.ask(Operation::Create, make).await?;
        self.unsure = false;
        if reply.code != 0 {
            return Err(refused(reply.code));
        }
        let made = Reader::new(&reply.body).text()?;
        let own = made.rsplit('/').next().unwrap_or_default().to_string();
        self.own = Some(own.clone());
        Ok(own)
    }

    async fn children(&mut self) -> Result<Vec<String>, Error> {
        let place = self.place();
        let reply = self.ask(Operation::GetChildren, |frame| frame.read(&place, false)).await?;
        match reply.code {
            0 => Reader::new(&reply.body).texts(),
            code => Err(refused(code)),
        }
    }

    fn place(&self) -> String {
        format!("/{}", self.want.name)
    }

    fn prefix(&self) -> String {
        format!("{}-", self.want.label)
    }

    /// Asks, connecting first if need be. After an error the connection is a new one, to the next
    /// server, and the session the same.
    async fn ask(
        &mut self,
        operation: Operation,
        complete: impl FnOnce(Frame) -> Frame,
    ) -> Result<Reply, Error> {
        let link = self.connected().await?;
        let asked = link.ask(operation, complete).await;
        let reply = self.or_elsewhere(asked)?;
        self.seen = self.seen.max(reply.zxid);
        Ok(reply)
    }

    /// Waits until a watch tells of this node.
    async fn changed(&mut self, path: &str) -> Result<(), Error> {
        let link = self.connected().await?;
        let waited = link.wait_for(path).await;
        self.or_elsewhere(waited)
    }

    fn or_elsewhere<T>(&mut self, result: Result<T, Error>) -> Result<T, Error> {
        if matches!(&result, Err(Error::Gone(_))) {
            self.link = None;
            self.servers.advance();
        }
        result
    }

    async fn connected(&mut self) -> Result<&mut Link, Error> {
        if self.link.is_none() {
            let greeted = self.greet().await;
            self.link = Some(self.or_elsewhere(greeted)?);
        }
        self.link.as_mut().ok_or_else(|| ended().into())
    }

    /// Connects, and takes up the session again if there was one.
    async fn greet(&mut self) -> Result<Link, Error> {
        let stream = self.servers.connect().await?;
        let mut link = Link { stream, received: Vec::new(), xid: 0, changed: Vec::new() };
        let timeout = i32::try_from(self.want.ttl.as_millis()).unwrap_or(i32::MAX);
        let frame = Frame::connect(self.seen, timeout, self.session, &self.password);
        link.stream.write_all(&frame.bytes()).await?;
        let answer = link.frame().await?;
        let mut reader = Reader::new(&answer);
        let _version = reader.int()?;
        let _timeout = reader.int()?;
        self.session = reader.long()?;
        self.password = reader.buffer()?.to_vec();
        if self.session == 0 {
            // It expired, and its nodes with it. The next connection asks for another.
            self.password = vec![0; 16];
            self.own = None;
            self.unsure = false;
            return Err(ended().into());
        }
        Ok(link)
    }
}

impl Link {
    async fn ask(
        &mut self,
        operation: Operation,
        complete: impl FnOnce(Frame) -> Frame,
    ) -> Result<Reply, Error> {
        self.xid += 1;
        let xid = if operation == Operation::Ping { PING } else { self.xid };
        let frame = complete(Frame::request(xid, operation)).bytes();
        self.stream.write_all(&frame).await?;
        loop {
            if let Some(reply) = self.reply(xid).await? {
                return Ok(reply);
            }
        }
    }

    async fn wait_for(&mut self, path: &str) -> Result<(), Error> {
        loop {
            if let Some(index) = self.changed.iter().position(|changed| changed == path) {
                self.changed.swap_remove(index);
                return Ok(());
            }
            self.reply(EVENT).await?;
        }
    }

    /// The next frame, if it has this number. Whatever a watch tells is kept.
    async fn reply(&mut self, xid: i32) -> Result<Option<Reply>, Error> {
        let frame = self.frame().await?;
        let mut reader = Reader::new(&frame);
        let number = reader.int()?;
        let zxid = reader.long()?;
        let code = reader.int()?;
        if number == EVENT {
            let _kind = reader.int()?;
            let _state = reader.int()?;
            self.changed.push(reader.text()?);
            return Ok(None);
        }
        let body = frame.get(16..).unwrap_or_default().to_vec();
        Ok((number == xid).then_some(Reply { zxid, code, body }))
    }

    async fn frame(&mut self) -> Result<Vec<u8>, Error> {
        loop {
            if let Some(length) =
                self.received.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
            {
                let end = 4 + length as usize;
                if end > FRAME_MAX {
                    return Err(Error::odd("a frame of ZooKeeper's that is too long"));
                }
                if self.received.len() >= end {
                    let frame = self.received[4..end].to_vec();
                    self.received.drain(..end);
                    return Ok(frame);
                }
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(ended().into());
            }
        }
    }
}

/// The number at the end of a node's name.
fn sequence(name: &str) -> Option<u64> {
    name.get(name.len().checked_sub(DIGITS)?..)?.parse().ok()
}

/// Whose turn comes right before this number's.
fn before(children: &[String], number: u64) -> Option<&String> {
    let numbered = children.iter().filter_map(|child| Some((sequence(child)?, child)));
    let earlier = numbered.filter(|(other, _)| *other < number);
    earlier.max_by_key(|(other, _)| *other).map(|(_, child)| child)
}

fn refused(code: i32) -> Error {
    Error::Refused(format!("ZooKeeper's code {code}"))
}

fn ended() -> io::Error {
    ErrorKind::UnexpectedEof.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_the_lowest_number_holds_it_and_others_watch_the_one_before() {
        let children = ["b-0000000012", "a-0000000002", "c-0000000007"].map(ToString::to_string);
        assert_eq!(before(&children, 2), None);
        assert_eq!(before(&children, 7).unwrap(), "a-0000000002");
        assert_eq!(before(&children, 12).unwrap(), "c-0000000007");
    }

    #[test]
    fn the_number_is_the_last_ten_digits() {
        assert_eq!(sequence("client-3-0000000042"), Some(42));
        assert_eq!(sequence("short"), None);
        assert_eq!(sequence("client-of-no-number"), None);
    }
}
