//! Jute: how ZooKeeper's wire format writes numbers, texts and records (big-endian, lengths first).

use crate::Error;

/// What is asked for, by its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    Create = 1,
    Delete = 2,
    GetData = 4,
    GetChildren = 8,
    Ping = 11,
}

/// Everybody may do everything: `world:anyone` with all permissions.
const ALL_PERMISSIONS: i32 = 31;
/// What a request names if it wants the version that is there.
const ANY_VERSION: i32 = -1;

/// A frame that is written: its length stands in front, once it is known.
#[derive(Debug)]
pub struct Frame {
    bytes: Vec<u8>,
}

impl Frame {
    /// The first one of a connection: it asks for a session, or for one that is known already.
    pub fn connect(seen: i64, timeout_ms: i32, session: i64, password: &[u8]) -> Self {
        Self::empty().int(0).long(seen).int(timeout_ms).long(session).buffer(password)
    }

    /// A request with its number.
    pub fn request(xid: i32, operation: Operation) -> Self {
        Self::empty().int(xid).int(operation as i32)
    }

    /// What follows in a request that makes a node.
    pub fn create(self, path: &str, kind: Kind) -> Self {
        let acl = self.text(path).buffer(&[]).int(1).int(ALL_PERMISSIONS);
        acl.text("world").text("anyone").int(kind as i32)
    }

    /// What follows in one that removes a node.
    pub fn delete(self, path: &str) -> Self {
        self.text(path).int(ANY_VERSION)
    }

    /// What follows in one that looks at a node, and perhaps wants to hear of its next change.
    pub fn read(mut self, path: &str, watch: bool) -> Self {
        self = self.text(path);
        self.bytes.push(u8::from(watch));
        self
    }

    /// As it is sent.
    pub fn bytes(mut self) -> Vec<u8> {
        let length = i32::try_from(self.bytes.len() - 4).unwrap_or(i32::MAX);
        self.bytes[..4].copy_from_slice(&length.to_be_bytes());
        self.bytes
    }

    fn empty() -> Self {
        Self { bytes: vec![0; 4] }
    }

    fn int(mut self, number: i32) -> Self {
        self.bytes.extend_from_slice(&number.to_be_bytes());
        self
    }

    fn long(mut self, number: i64) -> Self {
        self.bytes.extend_from_slice(&number.to_be_bytes());
        self
    }

    fn buffer(mut self, bytes: &[u8]) -> Self {
        self = self.int(i32::try_from(bytes.len()).unwrap_or(i32::MAX));
        self.bytes.extend_from_slice(bytes);
        self
    }

    fn text(self, text: &str) -> Self {
        self.buffer(text.as_bytes())
    }
}

/// What kind of node is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Persistent = 0,
    EphemeralSequential = 3,
}

/// A frame that is read.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    pub fn int(&mut self) -> Result<i32, Error> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub fn long(&mut self) -> Result<i64, Error> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub fn buffer(&mut self) -> Result<&'a [u8], Error> {
        let length = self.int()?;
        self.take(usize::try_from(length).unwrap_or_default())
    }

    pub fn text(&mut self) -> Result<String, Error> {
        let text = std::str::from_utf8(self.buffer()?).map_err(|_| short())?;
        Ok(text.to_string())
    }

    pub fn texts(&mut self) -> Result<Vec<String>, Error> {
        let count = self.int()?;
        (0..count).map(|_| self.text()).collect()
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.take(N)?.try_into().map_err(|_| short())
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.bytes.split_at_checked(length).ok_or_else(short)?;
        self.bytes = rest;
        Ok(taken)
    }
}

fn short() -> Error {
    Error::odd("a frame of ZooKeeper's that ends too soon")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_to_make_a_node_is_as_the_protocol_has_it() {
        let frame = Frame::request(1, Operation::Create).create("/a", Kind::EphemeralSequential);
        let mut expected = vec![0, 0, 0, 51, 0, 0, 0, 1, 0, 0, 0, 1];
        expected.extend_from_slice(b"\0\0\0\x02/a\0\0\0\0\0\0\0\x01\0\0\0\x1f");
        expected.extend_from_slice(b"\0\0\0\x05world\0\0\0\x06anyone\0\0\0\x03");
        expected[3] = u8::try_from(expected.len() - 4).unwrap();
        assert_eq!(frame.bytes(), expected);
    }

    #[test]
    fn the_first_frame_asks_for_a_session() {
        let bytes = Frame::connect(5, 4_000, 0, &[0; 16]).bytes();
        assert_eq!(bytes.len(), 4 + 4 + 8 + 4 + 8 + 4 + 16);
        let mut reader = Reader::new(&bytes[4..]);
        assert_eq!((reader.int().unwrap(), reader.long().unwrap()), (0, 5));
        assert_eq!((reader.int().unwrap(), reader.long().unwrap()), (4_000, 0));
        assert_eq!(reader.buffer().unwrap(), [0; 16]);
    }

    #[test]
    fn a_watch_and_a_version_come_last() {
        let bytes = Frame::request(7, Operation::GetData).read("/a", true).bytes();
        assert_eq!(bytes[4..], *b"\0\0\0\x07\0\0\0\x04\0\0\0\x02/a\x01");
        let bytes = Frame::request(7, Operation::Delete).delete("/a").bytes();
        assert_eq!(bytes[4..], *b"\0\0\0\x07\0\0\0\x02\0\0\0\x02/a\xff\xff\xff\xff");
    }

    #[test]
    fn lists_are_read_and_what_ends_too_soon_is_refused() {
        let bytes = b"\0\0\0\x02\0\0\0\x01a\0\0\0\x02bc";
        assert_eq!(Reader::new(bytes).texts().unwrap(), ["a", "bc"]);
        assert!(Reader::new(&bytes[..10]).texts().is_err());
        assert!(Reader::new(b"\x7f\xff\xff\xff").texts().is_err());
    }
}
