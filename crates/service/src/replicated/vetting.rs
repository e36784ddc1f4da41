//! Vetting: the limits of the API, once more at the leader, for what another node sends on. That
//! node looked before it did; but one with a genuine key may lie, and what is in the log is kept by
//! all.

use super::hop::Asked;
use super::members::MemberAsked;
use conclave_api::NewMember;
use conclave_api::limits::{self, Invalid};
use conclave_table::{
    Acquire, Ask, Body, Change, Fence, Mode, Open, Put, Renewal, RequestId, Resource, Want,
};

impl Asked {
    /// Refuses what no node takes from a client: a name, a text, a number or a count beyond what is
    /// promised.
    pub fn vet(&self) -> Result<(), Invalid> {
        match self {
            Self::Change { principal, change } => {
                whose(principal)?;
                vet_change(change)
            }
            Self::Renew { principal, renewal } => {
                whose(principal)?;
                vet_renewal(renewal)
            }
            Self::Verify(resource, fence, _) => named(resource, *fence),
            Self::Look(resource, _) => limits::name(&resource.name),
            Self::Value(name) => limits::name(name),
            Self::Member(asked) => vet_member(asked),
            Self::ReadIndex | Self::Ping => Ok(()),
        }
    }
}

fn vet_change(change: &Change) -> Result<(), Invalid> {
    match change {
        Change::Open(open) => vet_open(open),
        Change::Attach { stream, .. } | Change::Detach { stream, .. } => limits::stream(*stream),
        Change::Ask(ask) => vet_ask(ask),
        Change::Put(put) => vet_put(put),
        Change::Force(force) => {
            named(&force.resource, force.up_to)?;
            limits::principal(&force.by)?;
            limits::reason(&force.reason)
        }
        Change::End { .. } => Ok(()),
        // These are refused before: they are no client's.
        Change::Tick
        | Change::Renew(_)
        | Change::Expire { .. }
        | Change::Lapse { .. }
        | Change::SetLimits(_)
        | Change::RaiseVersion(_) => Ok(()),
    }
}

fn vet_open(open: &Open) -> Result<(), Invalid> {
    whose(&open.principal)?;
    limits::opening_id(open.opening.as_deref())?;
    limits::label(Some(&open.label))?;
    limits::ttl_ms(Some(open.ttl_ms))?;
    open.on_disconnect.map_or(Ok(()), |grace| limits::grace(grace.0))
}

fn vet_renewal(renewal: &Renewal) -> Result<(), Invalid> {
    let Some(open) = &renewal.open else { return Ok(()) };
    limits::named_requests(open.requests.len())?;
    limits::numbered(open.as_of.0)
}

fn vet_ask(ask: &Ask) -> Result<(), Invalid> {
    let number = (!ask.request.is_unrecorded()).then_some(ask.request.0);
    number.map_or(Ok(()), limits::numbered)?;
    limits::lowest_open(ask.lowest_open.0, number)?;
    if ask.lowest_open > RequestId(0) {
        limits::numbered(ask.lowest_open.0)?;
    }
    match &ask.body {
        Body::Acquire(acquire) => vet_acquire(acquire),
        Body::Cancel { of, .. } => of.as_ref().map_or(Ok(()), |of| limits::name(&of.name)),
        Body::Release { resource, fence, .. } => named(resource, *fence),
        Body::Proclaim { election, fence, value } => {
            limits::proclaimed(value)?;
            named(election, *fence)
        }
        Body::HandOver { election, fence, to } => {
            limits::label(Some(to))?;
            named(election, *fence)
        }
        Body::Put(put) => vet_put(put),
    }
}

fn vet_acquire(acquire: &Acquire) -> Result<(), Invalid> {
    let Acquire { wants, wait_ms, owner, value } = acquire;
    limits::wanted_names(wants.iter().map(|want| &*want.resource.name))?;
    limits::wait_ms(Some(*wait_ms))?;
    limits::owner(owner.as_deref())?;
    limits::proclaimed(value.as_deref().unwrap_or_default())?;
    wants.iter().try_for_each(vet_want)
}

fn vet_want(want: &Want) -> Result<(), Invalid> {
    match want.mode {
        Mode::Exclusive | Mode::Shared => Ok(()),
        Mode::Permits(permits) => limits::sharing(None, Some(permits)).map(|_| ()),
    }
}

fn vet_put(put: &Put) -> Result<(), Invalid> {
    limits::name(&put.name)?;
    limits::fence(put.fence.0)?;
    put.value.as_deref().map_or(Ok(()), limits::value)
}

fn vet_member(asked: &MemberAsked) -> Result<(), Invalid> {
    let MemberAsked::Add { id, peer, api } = asked else { return Ok(()) };
    let id = id.0.saturating_add(1);
    limits::member(&NewMember { id, peer: peer.clone(), api: api.clone(), disk: None })
}

/// Where nobody has to say who asks, nobody has a name.
fn whose(principal: &str) -> Result<(), Invalid> {
    if principal.is_empty() { Ok(()) } else { limits::principal(principal) }
}

fn named(resource: &Resource, fence: Fence) -> Result<(), Invalid> {
    limits::name(&resource.name)?;
    limits::fence(fence.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::NodeId;
    use conclave_table::{Force, Grace, OpenRequests, SessionId, Text};

    const WHO: SessionId = SessionId([7; 16]);

    fn is_taken(change: Change) -> bool {
        Asked::Change { principal: Text::default(), change }.vet().is_ok()
    }

    fn asked(body: Body) -> Change {
        Change::Ask(Ask::new(WHO, RequestId(1), body))
    }

    fn long(length: usize) -> Text {
        "x".repeat(length).into()
    }

    #[test]
    fn a_session_is_opened_within_the_limits() {
        let fine = Open { opening: Some(long(16)), ..Open::new(WHO, 10_000) };
        assert!(is_taken(Change::Open(fine.clone())));
        for wrong in [
            Open { ttl_ms: 0, ..fine.clone() },
            Open { ttl_ms: u64::MAX, ..fine.clone() },
            Open { label: long(129), ..fine.clone() },
            Open { opening: Some(long(129)), ..fine.clone() },
            Open { principal: long(1_000), ..fine.clone() },
            Open { on_disconnect: Some(Grace(0)), ..fine },
        ] {
            assert!(!is_taken(Change::Open(wrong.clone())), "{wrong:?}");
        }
    }

    #[test]
    fn a_lock_is_asked_for_within_the_limits() {
        let fine = Acquire::exclusive("a");
        assert!(is_taken(asked(Body::Acquire(fine.clone().waiting(3_600_000)))));
        let many = (0..17)
            .map(|i| i.to_string())
            .fold(fine.clone(), |all, name| all.and(Resource::lock(&name), Mode::Shared));
        for wrong in [
            Acquire::exclusive(&"x".repeat(257)),
            Acquire::exclusive("a b"),
            Acquire::of(Resource::lock("a"), Mode::Permits(10_001)),
            Acquire::campaign("a", &"x".repeat(4_097)),
            fine.clone().waiting(3_600_001),
            fine.clone().owned_by(&"x".repeat(129)),
            fine.clone().and(Resource::lock("a"), Mode::Shared),
            many,
        ] {
            assert!(!is_taken(asked(Body::Acquire(wrong.clone()))), "{wrong:?}");
        }
        let mark = |request, lowest_open| {
            let body = Body::Acquire(fine.clone());
            Change::Ask(Ask { session: WHO, request, lowest_open, body })
        };
        assert!(is_taken(mark(RequestId(3), RequestId(3))));
        assert!(is_taken(mark(RequestId::UNRECORDED, RequestId(3))));
        assert!(!is_taken(mark(RequestId(3), RequestId(4))));
        assert!(!is_taken(mark(RequestId::UNRECORDED, RequestId(1 << 53))));
        assert!(!is_taken(mark(RequestId(1 << 53), RequestId(0))));
    }

    #[test]
    fn what_is_kept_and_what_is_taken_is_within_the_limits() {
        let put = |name: &str, fence, length| {
            let value = Some(long(length));
            is_taken(Change::Put(Put { name: name.into(), fence: Fence(fence), value }))
        };
        assert!(put("v", 1, 4_096));
        assert!(!put("v", 1, 4_097) && !put("v", 1 << 53, 1) && !put("", 1, 1));
        let force = |name: &str, reason: Text| {
            let by = "admin".into();
            let force = Force { by, reason, ..Force::of(Resource::lock(name), Fence(1)) };
            is_taken(Change::Force(force))
        };
        assert!(force("a", long(256)) && !force("a b", long(1)));
        assert!(!force("a", long(257)) && !force("a", Text::default()));
        assert!(!is_taken(Change::Attach { session: WHO, stream: u64::MAX }));
    }

    #[test]
    fn a_keepalive_and_a_member_are_within_the_limits() {
        let keep = |many| {
            let open = OpenRequests { as_of: RequestId(1), requests: vec![RequestId(1); many] };
            let renewal = Renewal { session: WHO, at: NodeId(0), open: Some(open) };
            Asked::Renew { principal: Text::default(), renewal }.vet().is_ok()
        };
        assert!(keep(12_000) && !keep(12_001));
        let add = |id, peer: &str| {
            let (peer, api) = (peer.to_string(), "a:1".to_string());
            Asked::Member(MemberAsked::Add { id: NodeId(id), peer, api }).vet().is_ok()
        };
        assert!(add(3, "host:7100") && !add(3, "host") && !add(3, &"x".repeat(1_000)));
    }
}
