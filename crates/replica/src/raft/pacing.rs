//! Pacing ("thrifty" replication): entries go at once to as many followers as a majority needs, and
//! to the others a little later, several at a time.
//!
//! A majority decides, so nobody waits for the disks of the rest; but to hear of each entry by
//! itself takes a message, a sync and an answer, at the cost of those who are waited for. A spare
//! follower is sent something every [`PACE`] at most, and is that much behind. Which ones are spare
//! is decided anew before each message: as soon as one that is needed does not answer within
//! [`LATE`], the next takes its place. So a majority without it costs [`LATE`] and [`PACE`] once.
//!
//! Where little happens nothing is late: whoever was sent nothing for so long is not held back.

use super::network::node_id;
use conclave_core::NodeId;
use futures_util::stream::{Stream, StreamExt, unfold};
use std::collections::{BTreeMap, BTreeSet};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::{Instant, sleep_until};

/// How often a follower is sent something that no majority needs.
const PACE: Duration = Duration::from_millis(4);

/// Whoever has not answered for so long is not relied on.
const LATE: Duration = Duration::from_millis(5);

/// Who is needed, as this leader sees it.
#[derive(Debug, Default)]
pub struct Pacing {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    /// All voters but this node; none before they are known.
    others: BTreeSet<NodeId>,
    followers: BTreeMap<NodeId, Follower>,
}

/// How a follower answers.
#[derive(Clone, Copy, Debug, Default)]
struct Follower {
    /// Since when an answer is due.
    asked: Option<Instant>,
    /// Whether the last one came.
    answers: bool,
}

impl Follower {
    fn is_prompt(&self, now: Instant) -> bool {
        self.answers && self.asked.is_none_or(|asked| now < asked + LATE)
    }
}

impl Known {
    /// Whether a majority is at hand without this follower. All who might be spare must find the
    /// same ones needed, or each would leave it to the other.
    fn is_spare(&self, follower: NodeId, now: Instant) -> bool {
        let is_prompt = |id: &&NodeId| self.followers.get(*id).is_some_and(|it| it.is_prompt(now));
        let needed = self.others.len().div_ceil(2);
        let prompt: Vec<_> = self.others.iter().filter(is_prompt).take(needed).collect();
        !self.others.is_empty() && prompt.len() == needed && !prompt.contains(&&follower)
    }
}

impl Pacing {
    /// Who votes, this node included.
    pub fn on_voters(&self, me: u64, voters: impl Iterator<Item = u64>) {
        self.known().others = voters.filter(|id| *id != me).map(node_id).collect();
    }

    /// Entries are on their way to a follower.
    pub fn on_asked(&self, follower: NodeId) {
        self.known().followers.entry(follower).or_default().asked = Some(Instant::now());
    }

    /// The follower has answered, or will not.
    pub fn on_answer(&self, follower: NodeId, answers: bool) {
        self.known().followers.insert(follower, Follower { asked: None, answers });
    }

    fn is_spare(&self, follower: NodeId) -> bool {
        self.known().is_spare(follower, Instant::now())
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The same requests to a follower, with pauses while it is spare. What is in the log when a pause
/// is over goes with one request.
pub fn paced<S>(
    input: S,
    pacing: Arc<Pacing>,
    follower: NodeId,
) -> Pin<Box<dyn Stream<Item = S::Item> + Send>>
where
    S: Stream + Send + Unpin + 'static,
    S::Item: Send,
{
    let before: Option<Instant> = None;
    Box::pin(unfold((input, pacing, before), move |(mut input, pacing, before)| async move {
        if let Some(before) = before
            && pacing.is_spare(follower)
        {
            sleep_until(before + PACE).await;
        }
        let request = input.next().await?;
        Some((request, (input, pacing, Some(Instant::now()))))
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::stream::iter;
    use tokio::time::advance;

    /// The pacing of node 0, the leader, of so many voters who all answer.
    fn all_answer(voters: u64) -> Arc<Pacing> {
        let pacing = Pacing::default();
        pacing.on_voters(0, 0..voters);
        (1..voters).for_each(|id| pacing.on_answer(node_id(id), true));
        Arc::new(pacing)
    }

    fn spare(pacing: &Pacing, voters: u64) -> Vec<u64> {
        (1..voters).filter(|id| pacing.is_spare(node_id(*id))).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn no_more_are_needed_than_a_majority() {
        let spare = |voters| spare(&all_answer(voters), voters);
        assert!(spare(1).is_empty());
        assert!(spare(2).is_empty());
        assert_eq!(spare(3), [2]);
        assert_eq!(spare(4), [3]);
        assert_eq!(spare(5), [3, 4]);
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_late_or_fails_is_not_relied_on() {
        let pacing = all_answer(3);
        pacing.on_asked(NodeId(1));
        assert_eq!(spare(&pacing, 3), [2]);
        advance(LATE).await;
        assert_eq!(spare(&pacing, 3), [1], "the other takes its place");
        pacing.on_asked(NodeId(2));
        advance(LATE).await;
        assert!(spare(&pacing, 3).is_empty(), "nobody is spare while nobody answers");
        pacing.on_answer(NodeId(2), true);
        assert_eq!(spare(&pacing, 3), [1]);
        pacing.on_answer(NodeId(2), false);
        assert!(spare(&pacing, 3).is_empty());
        pacing.on_answer(NodeId(1), true);
        assert_eq!(spare(&pacing, 3), [2]);
    }

    #[tokio::test(start_paused = true)]
    async fn before_voters_are_known_nobody_waits() {
        let pacing = Pacing::default();
        pacing.on_answer(NodeId(1), true);
        assert!(!pacing.is_spare(NodeId(2)));
    }

    async fn taken(pacing: &Arc<Pacing>, follower: u32) -> Duration {
        let begun = Instant::now();
        let requests = paced(iter(0..5), Arc::clone(pacing), NodeId(follower));
        assert_eq!(requests.collect::<Vec<_>>().await, [0, 1, 2, 3, 4]);
        begun.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_is_spare_is_held_back() {
        let pacing = all_answer(3);
        assert_eq!(taken(&pacing, 1).await, Duration::ZERO);
        assert_eq!(taken(&pacing, 2).await, PACE * 5);
        pacing.on_answer(NodeId(1), false);
        assert_eq!(taken(&pacing, 2).await, Duration::ZERO);
    }
}
