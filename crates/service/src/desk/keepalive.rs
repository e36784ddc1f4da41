//! Opening sessions, keeping them alive and closing them.

use super::refusal;
use super::sessions::{Record, Session, short_hash};
use super::timing::CANDIDATE_TTL;
use super::{Answer, Desk, persistence};
use conclave_api::{self as api, Code, limits};
use conclave_core::Ticks;
use conclave_net::HostContext;
use std::collections::BTreeSet;

impl Desk {
    pub(super) fn session(&self, id: &str) -> Answer<&Session> {
        self.sessions.get(id).ok_or_else(refusal::no_session)
    }

    pub(super) fn open(
        &mut self,
        request: api::NewSession,
        id: String,
        host: &mut dyn HostContext,
    ) -> Answer<api::Session> {
        let ttl = Ticks::units(limits::ttl_ms(request.ttl_ms)?);
        let ttl = self.config.ttl_max.map_or(ttl, |longest| ttl.min(longest));
        limits::label(request.label.as_deref())?;
        limits::opening_id(request.request_id.as_deref())?;
        if request.on_disconnect.is_some() {
            let words = "a classic engine notices a dead client by its ttl only: no on_disconnect";
            return Err(refusal::unsupported(words));
        }
        self.check_stays()?;
        let principal = self.asker.name().to_string();
        let opening = request.request_id.as_ref();
        let known = opening.and_then(|id| self.sessions.opened_by(&principal, id));
        if let Some(known) = known.map(str::to_string) {
            return self.opened_before(&known, ttl, request.label.as_deref(), host);
        }
        if self.sessions.len() >= limits::SESSIONS_MAX {
            let words = format!("this node keeps {} sessions already", limits::SESSIONS_MAX);
            return Err(refusal::too_many(words));
        }
        let label = request.label.unwrap_or_default();
        let words = format!("'{label}' ({})", short_hash(&id));
        self.journal.note(host, "session_opened", None, words);
        let record = Record { ttl, label, request_id: request.request_id, principal };
        let expires = self.sessions.open(id.clone(), record, self.timer.now());
        self.timer.due(expires);
        persistence::save_session(&id, self.sessions.get(&id), host);
        Ok(self.session_view(&id, ttl))
    }

    /// The answer to a repeated opening. One that asks for something else is somebody else's, and
    /// must not learn of this session.
    fn opened_before(
        &mut self,
        id: &str,
        ttl: Ticks,
        label: Option<&str>,
        host: &dyn HostContext,
    ) -> Answer<api::Session> {
        let record = self.session(id)?.record();
        if (record.ttl, &*record.label) != (ttl, label.unwrap_or_default()) {
            let words = "request_id: another session was opened with it";
            return Err(refusal::refuse(Code::Conflict, words));
        }
        self.keep_alive(id, host)
    }

    /// Renews a session: it lives for another time to live, or for less if this node cannot promise
    /// so much.
    pub(super) fn keep_alive(&mut self, id: &str, host: &dyn HostContext) -> Answer<api::Session> {
        let ttl = self.session(id)?.record().ttl;
        let ttl = self.time_left(id, host.now()).map_or(ttl, |left| left.min(ttl));
        if ttl == Ticks::ZERO {
            return Err(refusal::unavailable("this node does not know what the others do"));
        }
        self.sessions.renew(id, ttl, self.timer.now());
        Ok(self.session_view(id, ttl))
    }

    /// How much time this node can still give to a session; `None` if there is no need to know,
    /// since nobody would take from the session what it has. Others wait for that long, and no
    /// longer.
    fn time_left(&self, id: &str, now: Ticks) -> Option<Ticks> {
        let rest = self.sessions.get(id)?.expires().since(self.timer.now());
        if self.queues.locks.has_lapsed(id) {
            return Some(rest);
        }
        // Whoever holds something at a node that is about to stop will have to leave in any case:
        // a leader of a name in time before another node has the next one lead.
        let stops = self.handover.is_some().then_some(rest);
        self.certain_time(id, now).into_iter().chain(stops).min()
    }

    /// How much time this node can give to a session, if it knows less and less of what the others
    /// do.
    fn certain_time(&self, id: &str, now: Ticks) -> Option<Ticks> {
        let since = self.connectivity.uncertain_since(now)?;
        let leads = self.queues.elections.has_leader(id).then_some(CANDIDATE_TTL);
        let leased = self.config.ttl_max.filter(|_| self.queues.locks.has_holder(id));
        let span = [leads, leased].into_iter().flatten().min()?;
        Some((since + span).since(now))
    }

    pub(super) fn close(&mut self, id: &str, host: &mut dyn HostContext) -> Answer<()> {
        self.session(id)?;
        self.end_sessions(&BTreeSet::from([id.to_string()]), "session_closed", host);
        Ok(())
    }
}
