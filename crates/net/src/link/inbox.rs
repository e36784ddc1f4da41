//! Exactly-once delivery, in order: what comes from one peer again is known by its number.

use super::error::ConnectionError;
use crate::Lane;

/// The last numbers received from one peer.
#[derive(Debug)]
pub(super) struct Inbox {
    durable: u64,
    transient: u64,
}

/// What to do with a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is new: on to the host.
    Take,
    /// It was here before.
    Repeated,
}

impl Inbox {
    /// This durable message is the last one that the disk has.
    pub fn new(received: u64) -> Self {
        Self { durable: received, transient: 0 }
    }

    /// The last durable message received.
    pub fn received(&self) -> u64 {
        self.durable
    }

    /// Judges a message by its number. Durable ones come without gaps. Transient numbers only rise,
    /// since the incarnation of their sender is in front of them.
    pub fn judge(&self, lane: Lane, number: u64) -> Result<Verdict, ConnectionError> {
        let last = match lane {
            Lane::Durable => self.durable,
            Lane::Transient => self.transient,
        };
        if number <= last {
            return Ok(Verdict::Repeated);
        }
        if lane == Lane::Durable && number - last > 1 {
            return Err(ConnectionError::Gap { expected: last + 1, got: number });
        }
        Ok(Verdict::Take)
    }

    /// The message was handed on.
    pub fn took(&mut self, lane: Lane, number: u64) {
        match lane {
            Lane::Durable => self.durable = number,
            Lane::Transient => self.transient = number,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Packet;

    #[test]
    fn a_durable_message_is_taken_once_and_never_out_of_order() {
        let mut inbox = Inbox::new(4);
        assert!(matches!(
            inbox.judge(Lane::Durable, 6),
            Err(ConnectionError::Gap { expected: 5, got: 6 })
        ));
        assert_eq!(inbox.judge(Lane::Durable, 5).unwrap(), Verdict::Take);
        inbox.took(Lane::Durable, 5);
        assert_eq!(inbox.judge(Lane::Durable, 5).unwrap(), Verdict::Repeated);
        assert_eq!(inbox.judge(Lane::Durable, 6).unwrap(), Verdict::Take);
    }

    #[test]
    fn transient_messages_may_be_missing_but_not_come_late() {
        let mut inbox = Inbox::new(0);
        inbox.took(Lane::Transient, 7);
        assert_eq!(inbox.judge(Lane::Transient, 7).unwrap(), Verdict::Repeated);
        assert_eq!(inbox.judge(Lane::Transient, 6).unwrap(), Verdict::Repeated);
        assert_eq!(inbox.judge(Lane::Transient, 9).unwrap(), Verdict::Take);
        let next_start = Packet::transient_from(1) + 1;
        assert_eq!(inbox.judge(Lane::Transient, next_start).unwrap(), Verdict::Take);
    }
}
