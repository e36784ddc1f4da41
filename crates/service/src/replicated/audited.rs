//! The audit log of the replicated engine: every node writes down what it applies.
//!
//! So every node's file tells the same, under the same indices of the cluster's log, and none of it
//! is lost with one node. A node that starts again applies again what came after its snapshot: what
//! its file has already is left out. What it never applied, because a snapshot of another node came
//! instead, is a `gap` in its file, and told in those of others. Who used force and why is in no
//! log of the cluster: it is in the file of the node that was asked.

use super::caller::Caller;
use super::sights::short_hash;
use crate::audit::{Audit, Record};
use crate::tokens::ADMIN;
use conclave_replica::Entry;
use conclave_table::{Body, Change, Ended, Kind, Notice, Resource, SessionEnd, SessionId, Text};

/// Writes down what is applied.
pub struct Audited {
    audit: Audit,
    /// How far this node has come, once that is known.
    index: Option<u64>,
}

impl Audited {
    /// Nothing was applied yet.
    pub fn new(audit: Audit) -> Self {
        Self { audit, index: None }
    }

    /// The table was replaced as a whole: what was applied elsewhere is told there. The first time
    /// it is this node's own snapshot, of what it has applied and written down itself.
    pub fn installed(&mut self, index: u64) {
        if let Some(before) = self.index.filter(|before| *before < index) {
            let reason = format!("from {} to {index}: see another node", before + 1);
            self.audit.write([Record { index: Some(index), reason, ..record("gap") }]);
        }
        self.index = Some(index);
    }

    /// An entry was applied.
    pub fn applied(&mut self, entry: &Entry<'_>) {
        self.index = Some(entry.index);
        let records = entry.applied.notices.iter().flat_map(|notice| records(notice, entry));
        self.audit.write(records.filter(|record| !self.audit.has(record)));
    }
}

fn records(notice: &Notice, entry: &Entry<'_>) -> Vec<Record> {
    match notice {
        Notice::Granted(granted) => {
            let session = granted.ticket.session;
            let grants = granted.grants.iter();
            grants
                .map(|grant| {
                    let fence = grant.inside.fence.0;
                    of_hold("granted", &grant.resource, Some(fence), session, entry)
                })
                .collect()
        }
        Notice::Ended(ended) => vec![of_end(ended, entry)],
        Notice::Revoked(ticket, resource) => {
            let held = of_hold("revoked", resource, None, ticket.session, entry);
            vec![Record { reason: "taken by force; ends soon".to_string(), ..held }]
        }
        Notice::Left { .. } | Notice::Proclaimed(..) | Notice::SessionEnded { .. } => Vec::new(),
    }
}

fn of_end(ended: &Ended, entry: &Entry<'_>) -> Record {
    let session = ended.ticket.session;
    let (event, reason) = match (entry.change, whose(session, entry).2) {
        (_, Some(SessionEnd::Expired)) => ("expired", "its session was silent for too long"),
        (_, Some(SessionEnd::Lapsed)) => ("expired", "its session had lost its stream"),
        (_, Some(SessionEnd::Closed)) => ("released", "its session was ended"),
        (Change::Force(_), None) => ("forced", "at once"),
        (Change::Tick | Change::Expire { .. }, None) => ("forced", "its time was up"),
        (Change::Ask(ask), None) if matches!(ask.body, Body::Release { .. }) => ("released", ""),
        (Change::Renew(_), None) => ("released", "its client no longer knew of it"),
        (_, None) => ("released", "it was withdrawn"),
    };
    let held = of_hold(event, &ended.resource, Some(ended.fence.0), session, entry);
    Record { reason: reason.to_string(), ..held }
}

fn of_hold(
    event: &str,
    resource: &Resource,
    fence: Option<u64>,
    session: SessionId,
    entry: &Entry<'_>,
) -> Record {
    let (principal, label, _) = whose(session, entry);
    let kind = if resource.kind == Kind::Lock { "lock" } else { "election" };
    Record {
        index: Some(entry.index),
        kind: kind.to_string(),
        name: resource.name.to_string(),
        fence,
        principal: principal.to_string(),
        label: label.to_string(),
        session: format!("{:08x}", short_hash(session)),
        ..record(event)
    }
}

fn record(event: &str) -> Record {
    Record { event: event.to_string(), ..Record::default() }
}

/// Principal and label of a session, also of one that has just ended; and then how.
fn whose(id: SessionId, entry: &Entry<'_>) -> (Text, Text, Option<SessionEnd>) {
    for notice in &entry.applied.notices {
        if let Notice::SessionEnded { session, principal, label, why } = notice
            && *session == id
        {
            return (principal.clone(), label.clone(), Some(*why));
        }
    }
    let known = entry.table.session(id);
    known.map(|known| (known.principal.clone(), known.label.clone(), None)).unwrap_or_default()
}

impl Caller {
    /// Writes down who has used force, and why.
    pub fn note_force(&self, name: &str, fence: u64, reason: &str) {
        let Some(audit) = self.audit() else { return };
        let by = if self.principal.is_anyone() { ADMIN } else { self.principal.name() };
        audit.write([Record {
            kind: "lock".to_string(),
            name: name.to_string(),
            fence: Some(fence),
            principal: by.to_string(),
            reason: reason.to_string(),
            ..record("force")
        }]);
    }
}
