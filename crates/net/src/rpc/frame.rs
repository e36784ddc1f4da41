//! The wire protocol of remote procedure calls: its frames.
//!
//! Each side begins with the magic bytes of all connections and [`VERSION`]. Then come frames: a
//! length of four bytes, most significant first, a [`Head`] in postcard, and the body of a request
//! or an answer to the end of the frame. Who dials sends `Hello`, `Request`, `Cancel` and `Ping`;
//! who accepts sends `Welcome` or `Refuse`, `Answer`, `Fail` and `Ping`.

use super::Purpose;
use crate::link::error::ConnectionError;
use conclave_core::NodeId;
use serde::{Deserialize, Serialize};

/// The byte after the magic bytes. It changes whenever a frame does. The highest bit tells it from
/// the versions of the links between classic engines.
pub(super) const VERSION: u8 = 0x82;

/// What is said on a connection, but for the body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Head {
    Hello(Hello),
    Welcome(Welcome),
    Refuse(Refuse),
    /// Somebody waits for the answer for so many milliseconds. The numbers of a connection rise.
    Request {
        number: u64,
        millis: u32,
    },
    Answer {
        number: u64,
    },
    /// There will be no answer.
    Fail {
        number: u64,
        failure: Failure,
    },
    /// Nobody waits for the answer any more.
    Cancel {
        number: u64,
    },
    /// Still here.
    Ping,
}

/// Who dials, and whom it takes the other side for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Hello {
    pub cluster: String,
    pub from: NodeId,
    pub to: NodeId,
    /// The disk that it takes the other side's for: only members know it.
    pub to_disk: Option<u128>,
    pub disk: u128,
    pub purpose: Purpose,
    pub about: Vec<u8>,
}

/// Who accepts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Welcome {
    pub cluster: String,
    pub by: NodeId,
    pub disk: u128,
    pub about: Vec<u8>,
}

/// The other side may not connect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Refuse {
    /// Who refuses: it may not be the one that it is taken for.
    pub by: NodeId,
    /// Why, for those who have proved to be one of the nodes.
    pub reason: Option<String>,
}

/// Why there will be no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Failure {
    /// Too much is under way: nothing was done.
    Busy,
    /// The time was up, or whoever worked on it has failed.
    Unanswered,
    /// The answer is longer than a frame may be.
    LongAnswer,
    /// Too many answers wait to be read.
    NoRoom,
}

impl Head {
    /// The head and the body of a frame.
    pub fn decode(frame: &[u8]) -> Result<(Self, &[u8]), ConnectionError> {
        let (head, body) = postcard::take_from_bytes(frame)
            .map_err(|error| ConnectionError::Nonsense(error.to_string()))?;
        let has_body = matches!(head, Self::Request { .. } | Self::Answer { .. });
        if !has_body && !body.is_empty() {
            let more = body.len();
            return Err(ConnectionError::Nonsense(format!("{more} bytes too many")));
        }
        Ok((head, body))
    }

    /// That this one has no place here.
    pub fn out_of_place(&self) -> ConnectionError {
        ConnectionError::Nonsense(format!("{} has no place here", self.name()))
    }

    fn name(&self) -> &'static str {
        match self {
            Self::Hello(_) => "Hello",
            Self::Welcome(_) => "Welcome",
            Self::Refuse(_) => "Refuse",
            Self::Request { .. } => "Request",
            Self::Answer { .. } => "Answer",
            Self::Fail { .. } => "Fail",
            Self::Cancel { .. } => "Cancel",
            Self::Ping => "Ping",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::config::HEAD_MAX;
    use super::*;

    #[test]
    fn heads_of_requests_and_answers_are_short() {
        let number = u64::MAX;
        let failure = Failure::NoRoom;
        let heads = [
            Head::Request { number, millis: u32::MAX },
            Head::Answer { number },
            Head::Fail { number, failure },
            Head::Cancel { number },
        ];
        for head in heads {
            let bytes = postcard::to_allocvec(&head).unwrap();
            assert!(bytes.len() <= HEAD_MAX, "{head:?} has {} bytes", bytes.len());
            assert_eq!(Head::decode(&bytes).unwrap(), (head, [].as_slice()));
        }
    }

    #[test]
    fn only_requests_and_answers_have_a_body() {
        let with_body = |head: &Head| {
            let mut bytes = postcard::to_allocvec(head).unwrap();
            bytes.extend(b"body");
            Head::decode(&bytes).map(|(_, body)| body.to_vec()).map_err(|fault| fault.to_string())
        };
        assert_eq!(with_body(&Head::Answer { number: 3 }), Ok(b"body".to_vec()));
        assert_eq!(with_body(&Head::Request { number: 3, millis: 9 }), Ok(b"body".to_vec()));
        let words = "a frame makes no sense: 4 bytes too many".to_string();
        assert_eq!(with_body(&Head::Ping), Err(words.clone()));
        assert_eq!(with_body(&Head::Cancel { number: 3 }), Err(words));
    }
}
