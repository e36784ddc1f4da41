//! The audit log of the replicated engine: every node writes down what it applies.
//!
//! So every node's file tells the same, under the same indices of the cluster's log, and none of it
//! is lost with one node. A node that starts again applies again what came after its snapshot: what
//! its file has already is left out. What it never applied, because a snapshot of another node came
//! instead, is a `gap` in its file, and told in those of others.

use super::sights::short_hash;
use crate::audit::{Audit, Record};
use conclave_replica::Entry;
use conclave_table::{
    Answer, Change, Ended, Force, HoldEnd, Kind, Notice, Resource, SessionEnd, SessionId, Text,
};

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
        let records = force(entry).into_iter().chain(records);
        self.audit.write(records.filter(|record| !self.audit.has(record)));
    }
}

/// Who has used force, and why.
fn force(entry: &Entry<'_>) -> Option<Record> {
    let (Change::Force(force), Answer::Forced(_)) = (entry.change, &entry.applied.answer) else {
        return None;
    };
    let Force { resource, up_to, by, reason, .. } = force;
    Some(Record {
        index: Some(entry.index),
        kind: kind(resource).to_string(),
        name: resource.name.to_string(),
        fence: Some(up_to.0),
        principal: by.to_string(),
        reason: reason.to_string(),
        ..record("force")
    })
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
    let (event, reason) = match ended.why {
        HoldEnd::Released => ("released", ""),
        HoldEnd::Withdrawn => ("released", "it was withdrawn"),
        HoldEnd::Unknown => ("released", "its client no longer knew of it"),
        HoldEnd::HandedOver => ("released", "handed over to another candidate"),
        HoldEnd::Forced => ("forced", "at once"),
        HoldEnd::Revoked => ("forced", "its time was up"),
        HoldEnd::Session(SessionEnd::Closed) => ("released", "its session was ended"),
        HoldEnd::Session(SessionEnd::Expired) => ("expired", "its session was silent for too long"),
        HoldEnd::Session(SessionEnd::Lapsed) => ("expired", "its session had lost its stream"),
    };
    let session = ended.ticket.session;
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
    let (principal, label) = whose(session, entry);
    Record {
        index: Some(entry.index),
        kind: kind(resource).to_string(),
        name: resource.name.to_string(),
        fence,
        principal: principal.to_string(),
        label: label.to_string(),
        session: format!("{:08x}", short_hash(session)),
        ..record(event)
    }
}

fn kind(resource: &Resource) -> &'static str {
    match resource.kind {
        Kind::Lock => "lock",
        Kind::Election => "election",
    }
}

fn record(event: &str) -> Record {
    Record { event: event.to_string(), ..Record::default() }
}

/// Principal and label of a session, also of one that has just ended.
fn whose(id: SessionId, entry: &Entry<'_>) -> (Text, Text) {
    for notice in &entry.applied.notices {
        if let Notice::SessionEnded { session, principal, label, .. } = notice
            && *session == id
        {
            return (principal.clone(), label.clone());
        }
    }
    let known = entry.table.session(id);
    known.map(|known| (known.principal.clone(), known.label.clone())).unwrap_or_default()
}
