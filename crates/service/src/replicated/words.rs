//! From the words of the API to changes of the table: what a request says, checked.

use crate::desk::Kind;
use crate::desk::refusal::{self, Refusal};
use conclave_api::limits::{self, Sharing};
use conclave_api::{self as api, Code};
use conclave_core::NodeId;
use conclave_table::{
    Acquire, Ask, Body, Change, Fence, Grace, Mode, Open, OpenRequests, Renewal, RequestId,
    Resource, SessionId, Text, Want,
};

/// A session's id as a client writes it.
pub fn session_text(session: SessionId) -> String {
    format!("{:032x}", u128::from_be_bytes(session.0))
}

/// The session that a client names. What cannot be an id is that of no session.
pub fn session(text: &str) -> Result<SessionId, Refusal> {
    limits::session_id(text).map_err(|_| no_session())?;
    let number = u128::from_str_radix(text, 16).map_err(|_| no_session())?;
    Ok(SessionId(number.to_be_bytes()))
}

/// There is no session of that id in the cluster.
pub fn no_session() -> Refusal {
    refusal::refuse(Code::NoSession, "no such session; it may have expired")
}

/// A number for a request that came without one: nobody can repeat it.
pub fn unrecorded() -> RequestId {
    RequestId(random() as u64 | RequestId::UNRECORDED.0)
}

/// 128 random bits. Without randomness there is no session id either, and no node.
pub fn random() -> u128 {
    conclave_net::random::bits().expect("the system has randomness, or its node does not start")
}

/// The number of a request, and the lowest that its client awaits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// Its own.
    pub request: RequestId,
    /// The lowest one open.
    pub lowest_open: RequestId,
}

impl Numbers {
    /// As they were sent.
    pub fn of(request_id: Option<&str>, lowest_open: Option<&str>) -> Result<Self, Refusal> {
        let number = request_id.map(limits::request_number).transpose()?;
        let lowest = lowest_open.map(limits::request_number).transpose()?.unwrap_or(0);
        limits::lowest_open(lowest, number)?;
        let request = number.map_or_else(unrecorded, RequestId);
        Ok(Self { request, lowest_open: RequestId(lowest) })
    }

    /// Whether its client can ask again.
    pub fn are_recorded(self) -> bool {
        !self.request.is_unrecorded()
    }

    /// A request of a session under these numbers.
    pub fn ask(self, session: SessionId, body: Body) -> Change {
        let Self { request, lowest_open } = self;
        Change::Ask(Ask { session, request, lowest_open, body })
    }
}

/// What is asked for under a name.
pub fn resource(kind: Kind, name: &str) -> Result<Resource, Refusal> {
    match kind {
        Kind::Lock => lock(name),
        Kind::Election => election(name),
    }
}

/// What is asked for under a name: a lock.
pub fn lock(name: &str) -> Result<Resource, Refusal> {
    limits::name(name)?;
    Ok(Resource::lock(name))
}

/// The same: an election.
pub fn election(name: &str) -> Result<Resource, Refusal> {
    limits::name(name)?;
    Ok(Resource::election(name))
}

/// The fence that a client shows.
pub fn fence(fence: u64) -> Result<Fence, Refusal> {
    limits::fence(fence)?;
    Ok(Fence(fence))
}

/// How a lock is to be held.
pub fn mode(sharing: Sharing) -> Mode {
    match sharing {
        Sharing::Exclusive => Mode::Exclusive,
        Sharing::Shared => Mode::Shared,
        Sharing::Permits(permits) => Mode::Permits(permits),
    }
}

/// A request for one lock.
pub fn acquire(resource: Resource, request: &api::Acquire) -> Result<Acquire, Refusal> {
    let mode = mode(limits::sharing(request.mode.as_deref(), request.permits)?);
    let wait_ms = limits::wait_ms(request.wait_ms)?;
    limits::owner(request.owner.as_deref())?;
    let owner = request.owner.as_deref().map(Text::from);
    Ok(Acquire { wants: vec![Want { resource, mode }], wait_ms, owner, value: None })
}

/// A candidate.
pub fn campaign(resource: Resource, request: &api::Acquire) -> Result<Acquire, Refusal> {
    let value = request.value.as_deref().unwrap_or_default();
    limits::proclaimed(value)?;
    let value = Some(Text::from(value));
    Ok(Acquire { value, ..acquire(resource, request)? })
}

/// A request for several locks.
pub fn acquire_all(request: &api::AcquireAll) -> Result<Acquire, Refusal> {
    let modes = limits::wanted(request)?.into_iter().map(mode);
    let names = request.locks.iter().map(|lock| Resource::lock(&lock.name));
    let wants = names.zip(modes).map(|(resource, mode)| Want { resource, mode }).collect();
    limits::owner(request.owner.as_deref())?;
    let owner = request.owner.as_deref().map(Text::from);
    Ok(Acquire { wants, wait_ms: limits::wait_ms(request.wait_ms)?, owner, value: None })
}

/// Gives a lock or a leadership back.
pub fn release(resource: Resource, request: &api::Release) -> Result<Body, Refusal> {
    let hold = request.hold.as_deref().map(limits::request_number).transpose()?.map(RequestId);
    Ok(Body::Release { resource, fence: fence(request.fence)?, hold })
}

/// Opens a session. It always has an opening id, so that it can be asked for again.
pub fn open(
    request: &api::NewSession,
    id: SessionId,
    at: NodeId,
    principal: Text,
) -> Result<Open, Refusal> {
    limits::label(request.label.as_deref())?;
    limits::opening_id(request.request_id.as_deref())?;
    let drawn = || format!("node {:032x}", random());
    let opening = request.request_id.clone().unwrap_or_else(drawn);
    Ok(Open {
        session: id,
        at,
        principal,
        opening: Some(opening.as_str().into()),
        label: request.label.as_deref().unwrap_or_default().into(),
        ttl_ms: limits::ttl_ms(request.ttl_ms)?,
        on_disconnect: limits::grace_ms(request)?.map(Grace),
    })
}

/// A keepalive.
pub fn renewal(session: SessionId, at: NodeId, keep: &api::KeepAlive) -> Result<Renewal, Refusal> {
    let open = limits::kept_alive(keep)?.map(|(as_of, requests)| OpenRequests {
        as_of: RequestId(as_of),
        requests: requests.into_iter().map(RequestId).collect(),
    });
    Ok(Renewal { session, at, open })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_id_is_read_as_it_is_written() {
        let id = SessionId([0xab; 16]);
        assert_eq!(session(&session_text(id)).ok(), Some(id));
        for text in ["", "ab", &"g".repeat(32), &"A".repeat(32), &format!("+{}", "a".repeat(31))] {
            let refusal = session(text).expect_err("no id");
            assert_eq!(refusal.error.code, Code::NoSession, "{text}");
        }
    }

    #[test]
    fn a_request_without_a_number_gets_one_that_no_client_can_choose() {
        let drawn = Numbers::of(None, None).expect("fine");
        assert!(drawn.request.is_unrecorded() && !drawn.are_recorded());
        let given = Numbers::of(Some("17"), Some("9")).expect("fine");
        assert_eq!((given.request, given.lowest_open), (RequestId(17), RequestId(9)));
        assert!(
            Numbers::of(Some("9"), Some("17")).is_err() && Numbers::of(Some("x"), None).is_err()
        );
    }

    #[test]
    fn a_session_can_always_be_asked_for_again() {
        let id = SessionId([1; 16]);
        let open = |request| open(&request, id, NodeId(2), Text::default());
        assert!(open(api::NewSession::default()).expect("fine").opening.is_some());
        let short = Some("short".to_string());
        assert!(open(api::NewSession { request_id: short, ..Default::default() }).is_err());
    }
}
