//! Keepalives of a client: until when it relies on its session.

use crate::client::{Held, Session};
use crate::history::Event;
use conclave_api::{Code, KeepAlive};
use conclave_service::Command;
use std::time::Duration;

impl Session {
    /// Ends when the session is lost: by its deadline, or because it was told so.
    pub async fn keep_alive(&self) {
        loop {
            let (next, deadline) = {
                let state = self.lock();
                (state.deadline.next_keepalive(true), state.deadline.deadline())
            };
            let now = self.person.now();
            if now >= deadline || self.lock().lost {
                return;
            }
            self.person.until(next.max(now).min(deadline)).await;
            let now = self.person.now();
            if now >= self.lock().deadline.deadline() {
                return;
            }
            if self.lock().asking < 2 {
                self.lock().asking += 1;
                tokio::spawn(self.clone().renew(now));
            }
            // Another is asked, if those are silent for a while.
            self.person.until((now + self.ttl / 8).min(deadline)).await;
        }
    }

    async fn renew(self, sent: Duration) {
        let (node, words, sent_with) = self.keepalive();
        let session = self.id.to_string();
        let left = self.lock().deadline.left(sent);
        let keep = |reply| Command::KeepAlive { session, request: words, reply };
        let answer = self.person.ask(node, left.min(self.ttl / 2), keep).await;
        let mut state = self.lock();
        state.asking -= 1;
        if state.lost {
            return;
        }
        let holds = match answer {
            Some(Ok(answer)) => {
                self.person.note(Event::Renewed { session: self.id.to_string() });
                state.deadline.renew(sent, self.person.now(), self.ttl);
                state.home = node;
                answer.holds.unwrap_or_default()
            }
            Some(Err(refusal)) if refusal.error.code == Code::NoSession => {
                state.lost = true;
                return self.told.notify_one();
            }
            Some(Err(_)) | None => return,
        };
        // What was granted after the keepalive was sent may not be in its answer.
        let gone = |mine: &Held| {
            let kept = holds.iter().any(|hold| hold.fence == mine.fence && !hold.revoked);
            sent_with == Some(mine.request) && !kept
        };
        if state.held.as_ref().is_some_and(gone) {
            state.lost = true;
            self.told.notify_one();
        }
    }

    /// At which node, with which words, and what was held by then.
    fn keepalive(&self) -> (usize, KeepAlive, Option<u64>) {
        let mut state = self.lock();
        state.last += 1;
        let own = state.last;
        let held = state.held.as_ref().map(|held| held.request);
        let open = state.unanswered.iter().copied().chain(held);
        let open = Some(open.map(|request| request.to_string()).collect());
        let home = state.home;
        let node = if state.asking > 1 { None } else { Some(home) };
        drop(state);
        let node = node.unwrap_or_else(|| self.person.any_node());
        (node, KeepAlive { request_id: Some(own.to_string()), open }, held)
    }
}
