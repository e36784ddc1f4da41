//! The audit log of a classic engine: each node writes down what its own clients do, once that is
//! on its disk.

use super::Desk;
use super::sessions::{Kind, short_hash};
use crate::audit::Record;
use crate::tokens::ADMIN;
use conclave_net::HostContext;

/// The hold that something happens to.
pub(super) struct Held<'a> {
    pub kind: Kind,
    pub name: &'a str,
    pub session: &'a str,
    pub fence: u64,
}

impl Desk {
    /// Writes down what happens to a hold, and why.
    pub(super) fn note_hold(
        &self,
        event: &str,
        held: &Held<'_>,
        reason: &str,
        host: &mut dyn HostContext,
    ) {
        let session = self.sessions.get(held.session).map(|session| session.record());
        let kind = if held.kind == Kind::Lock { "lock" } else { "election" };
        let record = Record {
            event: event.to_string(),
            kind: kind.to_string(),
            name: held.name.to_string(),
            fence: Some(held.fence),
            principal: session.map(|record| record.principal.clone()).unwrap_or_default(),
            label: session.map(|record| record.label.clone()).unwrap_or_default(),
            session: short_hash(held.session),
            reason: reason.to_string(),
            ..Record::default()
        };
        self.write_down(record, host);
    }

    /// Writes down who has used force, and why.
    pub(super) fn note_force(
        &self,
        name: &str,
        fence: u64,
        reason: &str,
        host: &mut dyn HostContext,
    ) {
        let by = if self.asker.is_anyone() { ADMIN } else { self.asker.name() };
        let record = Record {
            event: "force".to_string(),
            kind: "lock".to_string(),
            name: name.to_string(),
            fence: Some(fence),
            principal: by.to_string(),
            reason: reason.to_string(),
            ..Record::default()
        };
        self.write_down(record, host);
    }

    fn write_down(&self, record: Record, host: &mut dyn HostContext) {
        if let Some(audit) = self.audit.clone() {
            host.afterwards(Box::new(move || audit.write([record])));
        }
    }
}
