//! The deadline of a lease: until when a client may rely on its session. Arithmetic on a clock, and
//! nothing else.

use std::time::Duration;

/// Two clocks may differ by this part of a span: one may be fast and the other slow by half of it.
const DRIFT: (u32, u32) = (2, 100);

/// Whoever runs notices within this time that its time is over; of a short time to live, within a
/// tenth of it.
const MARGIN: Duration = Duration::from_millis(100);

/// What one side may rely on, knowing when it last asked for more time and was answered.
///
/// The server counts from the moment at which it got that keepalive, which is later than the one at
/// which it was sent. So, whatever the network did, this ends first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseDeadline {
    ttl: Duration,
    sent: Duration,
}

impl LeaseDeadline {
    /// A session of this time to live whose creation was sent at this moment.
    pub fn new(ttl: Duration, sent: Duration) -> Self {
        Self { ttl, sent }
    }

    /// How long it lives without a keepalive.
    pub fn ttl(&self) -> Duration {
        self.ttl
    }

    /// From this moment on, somebody else may be granted what the session holds.
    pub fn deadline(&self) -> Duration {
        let margin = MARGIN.min(self.ttl / 10);
        self.sent + self.ttl * (DRIFT.1 - DRIFT.0) / DRIFT.1 - margin
    }

    /// How long it can still be relied on.
    pub fn left(&self, now: Duration) -> Duration {
        self.deadline().saturating_sub(now)
    }

    /// The keepalive that was sent at `sent` is answered `now`, with this much time. A node that is
    /// cut off from others gives less. An answer that comes after the end changes nothing: somebody
    /// may have been told already that it is over.
    pub fn renew(&mut self, sent: Duration, now: Duration, ttl: Duration) {
        if now < self.deadline() && sent >= self.sent {
            self.sent = sent;
            self.ttl = ttl;
        }
    }

    /// When to send the next keepalive. Who holds nothing yet speaks half as often: thousands may
    /// wait for what one holds.
    pub fn next_keepalive(&self, holds: bool) -> Duration {
        self.sent + self.ttl / if holds { 4 } else { 2 }
    }

    /// How long to wait after a keepalive that failed.
    pub fn retry_pause(&self) -> Duration {
        self.ttl / 16
    }

    /// When to send another keepalive, if the one sent now is not answered by then.
    pub fn next_if_silent(&self, now: Duration) -> Duration {
        now + self.ttl / 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TTL: Duration = Duration::from_secs(10);

    fn seconds(seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds)
    }

    #[test]
    fn it_ends_before_the_server_can_think_so_however_clocks_drift() {
        let lease = LeaseDeadline::new(TTL, seconds(100.0));
        assert_eq!(lease.deadline(), seconds(109.7));
        let server = TTL.mul_f64(0.99); // The server's clock is fast by a hundredth,
        let client = seconds(9.7).mul_f64(1.01); // and the client's is slow by as much.
        assert!(client <= server, "{client:?} {server:?}");
    }

    #[test]
    fn an_answer_counts_from_when_it_was_asked_for() {
        let mut lease = LeaseDeadline::new(TTL, seconds(100.0));
        lease.renew(seconds(103.0), seconds(109.0), TTL);
        assert_eq!(lease.deadline(), seconds(112.7));
        assert_eq!(lease.next_keepalive(true), seconds(105.5));
        assert_eq!(lease.next_keepalive(false), seconds(108.0));
        assert_eq!(lease.left(seconds(110.0)), seconds(2.7));
    }

    #[test]
    fn an_answer_that_comes_too_late_brings_nothing_back() {
        let mut lease = LeaseDeadline::new(TTL, seconds(100.0));
        lease.renew(seconds(109.0), seconds(109.7), TTL);
        assert_eq!(lease.left(seconds(109.7)), Duration::ZERO);
    }

    #[test]
    fn answers_out_of_order_take_nothing_away() {
        let mut lease = LeaseDeadline::new(TTL, seconds(100.0));
        lease.renew(seconds(105.0), seconds(105.1), TTL);
        lease.renew(seconds(102.0), seconds(105.2), TTL);
        assert_eq!(lease.deadline(), seconds(114.7));
    }

    #[test]
    fn a_node_that_is_cut_off_gives_less_time() {
        let mut lease = LeaseDeadline::new(TTL, seconds(100.0));
        lease.renew(seconds(105.0), seconds(105.1), seconds(6.0));
        assert_eq!(
            (lease.deadline(), lease.next_keepalive(true)),
            (seconds(110.78), seconds(106.5))
        );
    }

    #[test]
    fn who_is_not_answered_asks_again_while_there_is_time() {
        let lease = LeaseDeadline::new(TTL, seconds(100.0));
        assert_eq!(lease.next_keepalive(true), seconds(102.5));
        assert_eq!(lease.next_if_silent(seconds(102.5)), seconds(105.0));
    }

    #[test]
    fn a_short_life_has_a_smaller_margin() {
        let lease = LeaseDeadline::new(Duration::from_millis(500), Duration::ZERO);
        assert_eq!(lease.deadline(), Duration::from_millis(440));
    }
}
