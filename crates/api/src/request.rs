//! Requests: whether what came keeps to the schema of its type, whichever engine it is for. What
//! only one engine wants (that ids are numbers) is checked by that engine.

use crate::limits::{self, Invalid};
use crate::{
    Acquire, AcquireAll, Force, HandOver, KeepAlive, NewMember, NewSession, NewValue, Ping,
    Proclaim, Promote, Release, Transfer, Verify, Withdraw,
};

/// What a client sends as a body.
pub trait Request {
    /// Refuses what the schema does not have, or no schema can express.
    fn check(&self) -> Result<(), Invalid>;
}

impl Request for NewSession {
    fn check(&self) -> Result<(), Invalid> {
        limits::ttl_ms(self.ttl_ms)?;
        limits::label(self.label.as_deref())?;
        limits::opening_id(self.request_id.as_deref())?;
        limits::grace_ms(self).map(|_| ())
    }
}

impl Request for KeepAlive {
    fn check(&self) -> Result<(), Invalid> {
        limits::keepalive(self)
    }
}

impl Request for Ping {
    fn check(&self) -> Result<(), Invalid> {
        limits::stream(self.stream)
    }
}

impl Request for Acquire {
    fn check(&self) -> Result<(), Invalid> {
        limits::sharing(self.mode.as_deref(), self.permits)?;
        limits::wait_ms(self.wait_ms)?;
        limits::owner(self.owner.as_deref())?;
        limits::proclaimed(self.value.as_deref().unwrap_or_default())?;
        ids([&self.request_id, &self.lowest_open])
    }
}

impl Request for AcquireAll {
    fn check(&self) -> Result<(), Invalid> {
        limits::wanted(self)?;
        limits::wait_ms(self.wait_ms)?;
        limits::owner(self.owner.as_deref())?;
        ids([&self.request_id, &self.lowest_open])
    }
}

impl Request for Release {
    fn check(&self) -> Result<(), Invalid> {
        limits::fence(self.fence)?;
        ids([&self.hold, &self.request_id, &self.lowest_open])
    }
}

impl Request for Withdraw {
    fn check(&self) -> Result<(), Invalid> {
        ids([&self.request_id, &self.lowest_open])
    }
}

impl Request for Force {
    fn check(&self) -> Result<(), Invalid> {
        limits::reason(&self.reason)
    }
}

impl Request for Verify {
    fn check(&self) -> Result<(), Invalid> {
        limits::fence(self.fence)?;
        self.session.as_deref().map_or(Ok(()), limits::session_id)
    }
}

impl Request for Proclaim {
    fn check(&self) -> Result<(), Invalid> {
        limits::fence(self.fence)?;
        limits::proclaimed(&self.value)?;
        ids([&self.request_id, &self.lowest_open])
    }
}

impl Request for HandOver {
    fn check(&self) -> Result<(), Invalid> {
        limits::fence(self.fence)?;
        limits::label(Some(&self.to))?;
        ids([&self.request_id, &self.lowest_open])
    }
}

impl Request for NewMember {
    fn check(&self) -> Result<(), Invalid> {
        limits::member(self)
    }
}

impl Request for Promote {
    fn check(&self) -> Result<(), Invalid> {
        limits::node(self.id)
    }
}

impl Request for Transfer {
    fn check(&self) -> Result<(), Invalid> {
        self.to.map_or(Ok(()), limits::node)
    }
}

impl Request for NewValue {
    fn check(&self) -> Result<(), Invalid> {
        limits::fence(self.fence)?;
        limits::numbers_of_session(self)?;
        self.session.as_deref().map_or(Ok(()), limits::session_id)?;
        ids([&self.request_id, &self.lowest_open])
    }
}

fn ids<'a>(all: impl IntoIterator<Item = &'a Option<String>>) -> Result<(), Invalid> {
    all.into_iter().try_for_each(|id| limits::request_id(id.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a body of this type is taken.
    fn is_taken<T: Request + serde::de::DeserializeOwned>(body: serde_json::Value) -> bool {
        let request: T = serde_json::from_value(body).expect("of the right types");
        request.check().is_ok()
    }

    #[test]
    fn fields_that_an_engine_may_ignore_are_looked_at_all_the_same() {
        use serde_json::json;
        let long = "1".repeat(129);
        let session = "0f".repeat(16);
        assert!(is_taken::<Release>(json!({ "session": session, "fence": 1, "hold": "1" })));
        assert!(!is_taken::<Release>(json!({ "session": session, "fence": 1, "hold": long })));
        assert!(!is_taken::<Acquire>(json!({ "session": session, "lowest_open": long })));
        assert!(!is_taken::<Withdraw>(json!({ "session": session, "request_id": "\n" })));
        assert!(is_taken::<Verify>(json!({ "fence": 1, "session": session })));
        assert!(!is_taken::<Verify>(json!({ "fence": 1, "session": "somebody" })));
        assert!(!is_taken::<Promote>(json!({ "id": 0 })) && is_taken::<Transfer>(json!({})));
        assert!(!is_taken::<Ping>(json!({ "session": session, "stream": 1_u64 << 53 })));
        assert!(!is_taken::<NewValue>(json!({ "value": 1, "fence": 1, "request_id": "1" })));
    }
}
