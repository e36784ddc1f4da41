//! The wire protocol between two nodes: its frames.
//!
//! Each side begins with [`MAGIC`] and [`VERSION`]. Then come frames: a length of four bytes, most
//! significant first, and a [`Frame`] in postcard. Who dials sends `Hello`, `Data` and `Ping`; who
//! accepts sends `Welcome` or `Refuse`, `Ack` and `Ping`.

use super::error::ConnectionError;
use crate::{KEY_MAX, Lane, Packet};
use conclave_core::NodeId;
use serde::{Deserialize, Serialize, Serializer};

/// The first bytes of either side, so that anything else is recognised at once.
pub(crate) const MAGIC: &[u8; 8] = b"CONCLAVE";

/// The byte after them. It changes whenever a frame does.
pub(crate) const VERSION: u8 = 3;

/// What is said on a connection.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Frame<'a> {
    Hello(Hello),
    Welcome(Welcome),
    Refuse(Refusal),
    #[serde(borrow)]
    Data(Data<'a>),
    /// All durable messages up to this number are on disk.
    Ack(u64),
    /// Still here.
    Ping,
}

/// One start of a node. Of two copies of a disk each makes its own next start: the number is the
/// same, and the nonce is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Start {
    pub incarnation: u32,
    pub nonce: u64,
}

/// Who dials, and whom it takes the other side for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub cluster: String,
    pub n: u32,
    pub from: NodeId,
    pub to: NodeId,
    pub identity: u128,
    pub start: Start,
    /// The latest start of the other side that it has met.
    pub met: Option<Start>,
    /// Up to which durable message of its own the other side's disk has them, as it was told.
    pub acknowledged: u64,
    pub algorithm: String,
}

/// Who accepts, and where the sender should go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Welcome {
    pub identity: u128,
    pub start: Start,
    /// The last durable message received; it need not be on disk yet.
    pub received: u64,
}

/// Why the other side may not connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Refusal {
    /// Who refuses: it may not be the one that it is taken for.
    pub by: NodeId,
    pub identity: u128,
    pub code: Code,
    pub reason: String,
}

impl Refusal {
    /// All that somebody is told who has not proved to be one of the nodes: a reason would teach a
    /// stranger, one by one, what a good greeting has in it.
    pub fn untold(by: NodeId) -> Self {
        let reason = format!("refused; see the log of node {by}");
        Self { by, identity: 0, code: Code::Untold, reason }
    }
}

/// The kinds of refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Code {
    Version,
    Cluster,
    Size,
    Sender,
    Receiver,
    Algorithm,
    Certificate,
    Tls,
    /// Another identity than that of the node that was met before.
    Disowned,
    /// The other side's disk went back in time.
    OldCopy,
    /// The other side remembers more of this node than its disk does.
    Doubted,
    /// The reason is not for whoever is refused.
    Untold,
}

/// A packet, borrowed: it is copied into and out of the buffers of a connection only once.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Data<'a> {
    lane: Lane,
    number: u64,
    key: &'a str,
    #[serde(serialize_with = "at_once")]
    bytes: &'a [u8],
}

/// Bytes as bytes: serde would write them one by one.
fn at_once<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

impl<'a> From<&'a Packet> for Data<'a> {
    fn from(packet: &'a Packet) -> Self {
        let Packet { lane, number, key, bytes } = packet;
        Self { lane: *lane, number: *number, key, bytes }
    }
}

impl Data<'_> {
    pub fn to_packet(&self) -> Packet {
        let Self { lane, number, key, bytes } = *self;
        Packet { lane, number, key: key.into(), bytes: bytes.to_vec() }
    }
}

impl<'a> Frame<'a> {
    pub fn decode(bytes: &'a [u8]) -> Result<Self, ConnectionError> {
        match postcard::take_from_bytes(bytes) {
            Ok((Frame::Data(data), _)) if data.key.len() > KEY_MAX => {
                let length = data.key.len();
                Err(ConnectionError::Nonsense(format!("the name of a machine has {length} bytes")))
            }
            Ok((frame, [])) => Ok(frame),
            Ok((_, rest)) => {
                Err(ConnectionError::Nonsense(format!("{} bytes too many", rest.len())))
            }
            Err(error) => Err(ConnectionError::Nonsense(error.to_string())),
        }
    }

    /// The word for it, for people.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Welcome(_) => "Welcome",
            Self::Refuse(_) => "Refuse",
            Self::Data(_) => "Data",
            Self::Ack(_) => "Ack",
            Self::Ping => "Ping",
        }
    }

    /// That this one has no place here.
    pub fn out_of_place(&self) -> ConnectionError {
        ConnectionError::Nonsense(format!("{} has no place here", self.name()))
    }
}

/// What these first bytes look like, if they are not ours.
pub(crate) fn language(bytes: &[u8]) -> &'static str {
    const HTTP: [&[u8]; 7] = [b"GET ", b"POST", b"HEAD", b"PUT ", b"OPTI", b"HTTP", b"PRI "];
    if HTTP.iter().any(|word| bytes.starts_with(word)) {
        "HTTP"
    } else if bytes.starts_with(&[0x16, 3]) {
        "TLS"
    } else if bytes.starts_with(b"SSH-") {
        "SSH"
    } else {
        "something else"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_the_same_after_the_journey() {
        let packet =
            Packet { lane: Lane::Durable, number: 7, key: "lock/a".into(), bytes: vec![0, 255] };
        let bytes = postcard::to_allocvec(&Frame::Data((&packet).into())).unwrap();
        let Frame::Data(data) = Frame::decode(&bytes).unwrap() else { panic!("another frame") };
        assert_eq!(data.to_packet(), packet);
    }

    #[test]
    fn a_frame_with_bytes_to_spare_makes_no_sense() {
        let mut bytes = postcard::to_allocvec(&Frame::Ack(3)).unwrap();
        bytes.push(0);
        assert!(matches!(Frame::decode(&bytes), Err(ConnectionError::Nonsense(_))));
    }

    #[test]
    fn the_name_of_a_machine_is_no_place_for_a_long_text() {
        let named = |length| Packet {
            lane: Lane::Transient,
            number: 1,
            key: "k".repeat(length).into(),
            bytes: Vec::new(),
        };
        let decoded = |packet: &Packet| {
            let bytes = postcard::to_allocvec(&Frame::Data(packet.into())).unwrap();
            Frame::decode(&bytes).map(|_| ()).map_err(|fault| fault.to_string())
        };
        assert_eq!(decoded(&named(KEY_MAX)), Ok(()));
        let words = "a frame makes no sense: the name of a machine has 513 bytes";
        assert_eq!(decoded(&named(KEY_MAX + 1)), Err(words.to_string()));
    }

    #[test]
    fn no_prefix_of_a_frame_is_a_frame() {
        let hello = Hello {
            cluster: "demo".into(),
            n: 3,
            from: NodeId(0),
            to: NodeId(1),
            identity: 5,
            start: Start { incarnation: 1, nonce: 9 },
            met: None,
            acknowledged: 0,
            algorithm: "maekawa".into(),
        };
        let bytes = postcard::to_allocvec(&Frame::Hello(hello)).unwrap();
        for end in 0..bytes.len() {
            assert!(Frame::decode(&bytes[..end]).is_err(), "{end} bytes are enough");
        }
    }
}
