//! Waiters: requests that are parked at the leader until the table says what became of them.
//!
//! A request is parked before it is proposed, so that no notice can pass it by. Nobody is parked
//! for ever: when this node stops leading, or gets its table as a whole, all are told to ask again.

use conclave_table::{Granted, Notice, Refusal, Ticket};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;

/// What a parked request is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Woken {
    /// It was granted.
    Granted(Granted),
    /// It waits no longer, in vain.
    Left(Refusal),
    /// Somebody else may know: it is to be asked again, under the same number.
    AskAgain,
}

type Sleepers = Vec<(u64, oneshot::Sender<Woken>)>;

/// All that are parked at this node. A request that was repeated may be there more than once.
#[derive(Debug, Default)]
pub struct Waits {
    parked: Mutex<BTreeMap<Ticket, Sleepers>>,
    next: AtomicU64,
}

impl Waits {
    /// Parks a request until it is told something, or dropped.
    pub fn park(self: &Arc<Self>, ticket: Ticket) -> Parked {
        let key = self.next.fetch_add(1, Ordering::Relaxed);
        let (wake, woken) = oneshot::channel();
        self.lock().entry(ticket).or_default().push((key, wake));
        Parked { waits: Arc::clone(self), ticket, key, woken }
    }

    /// Tells whoever is concerned.
    pub fn tell(&self, notices: &[Notice]) {
        if notices.is_empty() {
            return;
        }
        let mut parked = self.lock();
        for notice in notices {
            match notice {
                Notice::Granted(granted) => {
                    wake(&mut parked, granted.ticket, || Woken::Granted(granted.clone()));
                }
                Notice::Left { ticket, why, .. } => {
                    wake(&mut parked, *ticket, || Woken::Left(why.clone()));
                }
                Notice::Ended(_)
                | Notice::Revoked(..)
                | Notice::Proclaimed(..)
                | Notice::SessionEnded { .. } => {}
            }
        }
    }

    /// Tells everybody to ask again.
    pub fn ask_again(&self) {
        let parked = std::mem::take(&mut *self.lock());
        for (_, wake) in parked.into_values().flatten() {
            let _ = wake.send(Woken::AskAgain); // Whoever has gone needs to hear nothing.
        }
    }

    /// Whether somebody waits here for what becomes of this request.
    pub fn is_parked(&self, ticket: Ticket) -> bool {
        self.lock().contains_key(&ticket)
    }

    /// How many are parked.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Ticket, Sleepers>> {
        self.parked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn wake(parked: &mut BTreeMap<Ticket, Sleepers>, ticket: Ticket, word: impl Fn() -> Woken) {
    for (_, wake) in parked.remove(&ticket).unwrap_or_default() {
        let _ = wake.send(word()); // Whoever has gone needs to hear nothing.
    }
}

/// A parked request.
#[derive(Debug)]
pub struct Parked {
    waits: Arc<Waits>,
    ticket: Ticket,
    key: u64,
    woken: oneshot::Receiver<Woken>,
}

impl Parked {
    /// What it is told.
    pub async fn woken(&mut self) -> Woken {
        (&mut self.woken).await.unwrap_or(Woken::AskAgain)
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        let mut parked = self.waits.lock();
        let Some(sleepers) = parked.get_mut(&self.ticket) else { return };
        sleepers.retain(|(key, _)| *key != self.key);
        if sleepers.is_empty() {
            parked.remove(&self.ticket);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_table::{RequestId, SessionId};

    fn ticket(request: u64) -> Ticket {
        Ticket { session: SessionId([1; 16]), request: RequestId(request) }
    }

    fn left(request: u64) -> Notice {
        Notice::Left { ticket: ticket(request), wants: Vec::new(), why: Refusal::TimedOut }
    }

    #[tokio::test]
    async fn a_notice_that_comes_before_anybody_listens_is_heard() {
        let waits = Arc::new(Waits::default());
        let mut parked = waits.park(ticket(1));
        let mut repeated = waits.park(ticket(1));
        let _other = waits.park(ticket(2));
        waits.tell(&[left(1)]);
        assert_eq!(parked.woken().await, Woken::Left(Refusal::TimedOut));
        assert_eq!(repeated.woken().await, Woken::Left(Refusal::TimedOut));
        assert_eq!(waits.len(), 1, "the other one still waits");
    }

    #[tokio::test]
    async fn whoever_leads_no_longer_tells_all_to_ask_again() {
        let waits = Arc::new(Waits::default());
        let mut parked = waits.park(ticket(1));
        waits.ask_again();
        assert_eq!(parked.woken().await, Woken::AskAgain);
    }

    #[test]
    fn nothing_is_left_of_who_has_gone() {
        let waits = Arc::new(Waits::default());
        drop((waits.park(ticket(1)), waits.park(ticket(1))));
        assert_eq!(waits.len(), 0);
    }
}
