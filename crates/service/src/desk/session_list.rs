//! The list of sessions, as others see them: labels, leases, and how much each holds and waits for.

use super::sessions::{Session, short_hash};
use super::timing::milliseconds;
use super::{Answer, Desk};
use crate::listing;
use conclave_api as api;
use conclave_api::limits;
use std::collections::BTreeMap;

impl Desk {
    pub(super) fn sessions_view(&self, page: &api::SessionPage) -> Answer<api::Sessions> {
        let limit = limits::session_page(page)?;
        let found = self.sessions.iter();
        let found: Vec<(&String, &Session)> = found
            .filter(|(_, session)| listing::has(&session.record().label, page.search.as_deref()))
            .collect();
        let shown = &found[..limit.min(found.len())];
        let counts = self.counts_of(shown);
        let view = |(id, session): &(&String, &Session)| {
            let (holds, waits) = counts.get(id.as_str()).copied().unwrap_or_default();
            api::SessionSeen {
                label: session.record().label.clone(),
                session: short_hash(id),
                node: self.node(),
                ttl_ms: milliseconds(session.record().ttl),
                lease_ms: milliseconds(session.expires().since(self.timer.now())),
                holds,
                waits,
            }
        };
        let sessions = shown.iter().map(view).collect();
        Ok(api::Sessions { sessions, total: found.len() as u64, as_of_index: None })
    }

    /// How much each of these holds and waits for: one look at all queues is enough.
    fn counts_of<'a>(&self, shown: &[(&'a String, &Session)]) -> BTreeMap<&'a str, (u64, u64)> {
        let mut counts: BTreeMap<&str, (u64, u64)> =
            shown.iter().map(|(id, _)| (id.as_str(), (0, 0))).collect();
        for (_, _, queue) in self.queues.all() {
            if let Some(holder) = queue.holder()
                && let Some((holds, _)) = counts.get_mut(holder.session.as_str())
            {
                *holds += 1;
            }
            for waiter in queue.waiters() {
                if let Some((_, waits)) = counts.get_mut(waiter.session.as_str()) {
                    *waits += 1;
                }
            }
        }
        counts
    }
}
