//! The calls of the HTTP API, one method each.

use crate::api::{
    Acquire, AcquireAll, Cluster, Election, Grant, Grants, HandOver, HandedOver, KeepAlive, Lock,
    NewSession, NewValue, Proclaim, Release, Released, Session, Value, Verified, Verify, Withdraw,
    Withdrawn,
};
use crate::question::Question;
use crate::{Client, Error};
use std::time::Duration;

/// How long an answer may take that is not waited for on purpose.
pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

impl Client {
    /// Opens a session. [`Client::open`] keeps it alive too.
    pub fn open_session(&self, session: &NewSession) -> Result<Session, Error> {
        self.open_session_whom(session).map(|(_, session)| session)
    }

    /// The same, with the server that keeps the session.
    pub(crate) fn open_session_whom(
        &self,
        session: &NewSession,
    ) -> Result<(String, Session), Error> {
        let question = Question::post("/v1/sessions".to_string(), session, PATIENCE);
        let (server, session): (_, Session) = self.ask_whom(&question)?;
        let id = &session.cluster_id;
        match session.is_of_cluster() {
            true => self.pinned.pin(&server, id, session.generation)?,
            false => self.pinned.check(&server, id, session.generation)?,
        }
        Ok((server, session))
    }

    /// Asks for another time to live; the answer is waited for so long.
    pub fn keepalive(&self, session: &str, patience: Duration) -> Result<Session, Error> {
        let words = KeepAlive::default();
        self.keepalive_whom(session, &words, patience, None).map(|(_, session)| session)
    }

    /// The same, which says what is still known of the session, with the server that answered. No
    /// node is asked once this moment has come.
    pub(crate) fn keepalive_whom(
        &self,
        session: &str,
        words: &KeepAlive,
        patience: Duration,
        until: Option<Duration>,
    ) -> Result<(String, Session), Error> {
        let path = format!("/v1/sessions/{session}/keepalive");
        let question = Question::post(path, words, patience).insisting();
        let question = until.into_iter().fold(question, Question::until);
        let (server, session): (_, Session) = self.ask_whom(&question)?;
        let checked = self.pinned.check(&server, &session.cluster_id, session.generation);
        checked.inspect_err(|_| self.pass_over(&server))?;
        Ok((server, session))
    }

    /// Ends a session, and with it all that it holds.
    pub fn close_session(&self, session: &str) -> Result<(), Error> {
        self.tell(&Question::delete(format!("/v1/sessions/{session}"), PATIENCE))
    }

    /// Asks for a lock, and waits for as long as the request says.
    pub fn acquire(&self, name: &str, request: &Acquire) -> Result<Grant, Error> {
        let path = format!("/v1/locks/{}/acquire", escaped(name));
        self.ask_for_grant(&Question::post(path, request, waiting(request.wait_ms)))
    }

    /// Asks for several locks at once, all or none, and waits for as long as the request says.
    pub fn acquire_all(&self, request: &AcquireAll) -> Result<Grants, Error> {
        let path = "/v1/acquire".to_string();
        let question = Question::post(path, request, waiting(request.wait_ms));
        let (server, grants): (_, Grants) = self.ask_whom(&question)?;
        if grants.grants.is_empty() || grants.grants.len() != request.locks.len() {
            let reason = "it grants other locks than were asked for".to_string();
            return Err(Error::Foreign { server, reason });
        }
        grants.grants.iter().try_for_each(|grant| self.is_of_this_cluster(&server, grant))?;
        Ok(grants)
    }

    fn ask_for_grant(&self, question: &Question) -> Result<Grant, Error> {
        let (server, grant) = self.ask_whom(question)?;
        self.is_of_this_cluster(&server, &grant)?;
        Ok(grant)
    }

    fn is_of_this_cluster(&self, server: &str, grant: &Grant) -> Result<(), Error> {
        let checked = self.pinned.check(server, &grant.cluster_id, grant.generation);
        checked.inspect_err(|_| self.pass_over(server))
    }

    /// Gives a lock back.
    pub fn release(&self, name: &str, request: &Release) -> Result<Released, Error> {
        let path = format!("/v1/locks/{}/release", escaped(name));
        self.ask(&Question::post(path, request, PATIENCE))
    }

    /// Has a request leave the queue of a lock. The session waits there with this id.
    pub fn withdraw(
        &self,
        name: &str,
        request_id: &str,
        words: &Withdraw,
    ) -> Result<Withdrawn, Error> {
        let path = format!("/v1/locks/{}/waiters/{}", escaped(name), escaped(request_id));
        self.ask(&Question::delete_with(path, words, PATIENCE))
    }

    /// Has a request leave the queue of candidates.
    pub fn stand_down(
        &self,
        name: &str,
        request_id: &str,
        words: &Withdraw,
    ) -> Result<Withdrawn, Error> {
        let path = format!("/v1/elections/{}/candidates/{}", escaped(name), escaped(request_id));
        self.ask(&Question::delete_with(path, words, PATIENCE))
    }

    /// Whether a lock is held with this fence right now.
    pub fn verify(&self, name: &str, fence: u64) -> Result<Verified, Error> {
        let path = format!("/v1/locks/{}/verify", escaped(name));
        self.ask(&Question::post(path, &Verify { fence, session: None }, PATIENCE))
    }

    /// A lock as the node knows it.
    pub fn lock_state(&self, name: &str) -> Result<Lock, Error> {
        self.ask(&Question::get(format!("/v1/locks/{}", escaped(name)), PATIENCE))
    }

    /// Who holds a lock, as the first node knows it that answers, and which may be behind. Costs
    /// next to nothing, however many wait.
    pub fn lock_glance(&self, name: &str) -> Result<Lock, Error> {
        let path = format!("/v1/locks/{}?stale=true&brief=true", escaped(name));
        self.ask(&Question::get(path, PATIENCE))
    }

    /// The same, with who is in whose way and what would help.
    pub fn explain(&self, name: &str) -> Result<Lock, Error> {
        let path = format!("/v1/locks/{}?explain=true", escaped(name));
        self.ask(&Question::get(path, PATIENCE))
    }

    /// Stands for an election, and waits for as long as the request says.
    pub fn campaign(&self, name: &str, request: &Acquire) -> Result<Grant, Error> {
        let path = format!("/v1/elections/{}/campaign", escaped(name));
        self.ask_for_grant(&Question::post(path, request, waiting(request.wait_ms)))
    }

    /// Lets a candidate lead next, ahead of the queue.
    pub fn hand_over(&self, name: &str, request: &HandOver) -> Result<HandedOver, Error> {
        let path = format!("/v1/elections/{}/hand-over", escaped(name));
        self.ask(&Question::post(path, request, PATIENCE))
    }

    /// Changes what the leader is known by.
    pub fn proclaim(&self, name: &str, request: &Proclaim) -> Result<Election, Error> {
        let path = format!("/v1/elections/{}/proclaim", escaped(name));
        self.ask(&Question::post(path, request, PATIENCE))
    }

    /// Leads no longer.
    pub fn resign(&self, name: &str, request: &Release) -> Result<Released, Error> {
        let path = format!("/v1/elections/{}/resign", escaped(name));
        self.ask(&Question::post(path, request, PATIENCE))
    }

    /// An election as the node knows it.
    pub fn election(&self, name: &str) -> Result<Election, Error> {
        self.ask(&Question::get(format!("/v1/elections/{}", escaped(name)), PATIENCE))
    }

    /// A value.
    pub fn value(&self, name: &str) -> Result<Value, Error> {
        self.ask(&Question::get(format!("/v1/values/{}", escaped(name)), PATIENCE))
    }

    /// Writes a value, unless somebody with a larger fence did. If it has no number of its
    /// session's and a node may have done it without an answer, no other is asked: see
    /// [`Guard::set_value`], which is safe to repeat.
    ///
    /// [`Guard::set_value`]: crate::Guard::set_value
    pub fn set_value(&self, name: &str, value: &NewValue) -> Result<Value, Error> {
        let question = Question::put(format!("/v1/values/{}", escaped(name)), value, PATIENCE);
        let numbered = value.session.is_some() && value.request_id.is_some();
        self.ask(&if numbered { question } else { question.once() })
    }

    /// The cluster as the node sees it.
    pub fn cluster(&self) -> Result<Cluster, Error> {
        self.ask(&Question::get("/v1/cluster".to_string(), PATIENCE))
    }

    /// Whether the process of the node answers at all, within this time.
    pub fn is_alive_within(&self, patience: Duration) -> bool {
        self.tell(&Question::get("/healthz".to_string(), patience)).is_ok()
    }

    /// Whether the node takes requests.
    pub fn is_ready(&self) -> bool {
        self.is_ready_within(PATIENCE)
    }

    /// The same, where an answer later than this is none.
    pub fn is_ready_within(&self, patience: Duration) -> bool {
        self.tell(&Question::get("/readyz".to_string(), patience)).is_ok()
    }

    /// What keeps the node from taking requests: the checks that fail, as it names them.
    pub fn failing_checks(&self) -> Result<Vec<String>, Error> {
        match self.tell(&Question::get("/readyz".to_string(), PATIENCE)) {
            Ok(()) => Ok(Vec::new()),
            Err(error) => match error.failure() {
                Some(failure) if !failure.not_ready.is_empty() => Ok(failure.not_ready.clone()),
                Some(_) | None => Err(error),
            },
        }
    }
}

/// The server ends the wait; only if it says nothing at all, the client does.
fn waiting(wait_ms: Option<u64>) -> Duration {
    Duration::from_millis(wait_ms.unwrap_or(0)).saturating_add(PATIENCE)
}

/// A name as one segment of a path.
pub(crate) fn escaped(name: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"._:-".contains(&byte);
    let escape = |byte: u8| match plain(byte) {
        true => char::from(byte).to_string(),
        false => format!("%{byte:02X}"),
    };
    name.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::since_boot;
    use std::net::TcpListener;

    /// Its first two servers take all the time there is: the third is not asked any more.
    #[test]
    fn nobody_is_asked_for_what_is_of_no_use_any_more() {
        let servers = [(); 3].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let addresses = servers.each_ref().map(|it| it.local_addr().unwrap().to_string());
        let client = Client::new(addresses).unwrap();
        let patience = Duration::from_millis(80);
        let question = Question::get("/healthz".to_string(), patience);
        let error = client.tell(&question.until(since_boot() + patience + patience / 4));
        assert!(error.is_err());
        servers[2].set_nonblocking(true).unwrap();
        assert!(servers[2].accept().is_err(), "nobody came");
    }

    #[test]
    fn a_name_is_one_segment_whatever_is_in_it() {
        assert_eq!(escaped("team/build:1.2-x"), "team%2Fbuild:1.2-x");
        assert_eq!(escaped("a b?ç"), "a%20b%3F%C3%A7");
    }
}
