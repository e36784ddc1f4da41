//! Metrics of the API itself, whichever engine is behind it: connections, refusals, waits; and the
//! whole page, for which the engine is asked.

use super::authorize::Authenticated;
use super::places::{Places, Room};
use super::problem::Problem;
use crate::audit::Audit;
use crate::desk::Question;
use crate::metrics::{Page, catalogue as all};
use crate::node_facts::NodeFacts;
use crate::readiness::Readiness;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use conclave_api::Code;
use conclave_net::{ApiTls, Histogram};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

/// What is counted where requests come in.
#[derive(Debug)]
pub struct ApiMetrics {
    places: Arc<Places>,
    /// From a request to be let in to its answer.
    pub acquire: Histogram,
    /// In the order of [`Code::ALL`].
    refusals: [AtomicU64; Code::ALL.len()],
}

impl ApiMetrics {
    /// Nothing has happened yet.
    pub fn new(places: Arc<Places>) -> Self {
        let refusals = [const { AtomicU64::new(0) }; Code::ALL.len()];
        Self { places, acquire: Histogram::default(), refusals }
    }

    /// An answer leaves.
    pub fn answered(&self, answer: &Response) {
        let code = answer.extensions().get::<Code>();
        let place = code.and_then(|code| Code::ALL.iter().position(|known| known == code));
        if let Some(count) = place.and_then(|place| self.refusals.get(place)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn write(&self, page: &mut Page) {
        page.histogram(&all::ACQUIRE, &self.acquire.read());
        let counts = Code::ALL.iter().zip(&self.refusals);
        let counts =
            counts.map(|(code, count)| ([code.to_string()], count.load(Ordering::Relaxed)));
        page.lines(&all::REFUSALS, counts);
        let rooms = [("usual", Room::Usual), ("reserved", Room::Reserved)];
        let places = rooms.map(|(name, room)| ([name.to_string()], self.places.open(room)));
        page.lines(&all::CONNECTIONS, places.clone().map(|(name, (open, _))| (name, open)));
        page.lines(&all::CONNECTIONS_LIMIT, places.map(|(name, (_, most))| (name, most)));
    }
}

/// The whole page.
pub async fn metrics(Authenticated(api): Authenticated) -> Result<Response, Problem> {
    let mut page = Page::default();
    page.append(&api.show(|reply| Question::Metrics { reply }).await?);
    readiness(&mut page, &api.readiness().await?);
    api.metrics.write(&mut page);
    facts(&mut page, &api.config.facts);
    let ends = [
        (&all::CERTIFICATE_END, api.config.facts.certificate_end),
        (&all::API_CERTIFICATE_END, api.config.tls.as_ref().map(ApiTls::end)),
    ];
    for (metric, end) in ends {
        let end = end.and_then(|end| end.duration_since(UNIX_EPOCH).ok());
        page.lines(metric, end.map(|end| ([], end.as_secs())));
    }
    audit(&mut page, api.config.audit.as_ref());
    let kind = (header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8");
    Ok(([kind], page.text()).into_response())
}

fn readiness(page: &mut Page, readiness: &Readiness) {
    page.single(&all::READY, u8::from(readiness.is_ready()));
    let check = |(name, passes): (&str, bool)| ([name.to_string()], u8::from(passes));
    page.lines(&all::READY_CHECK, readiness.checks().map(check));
}

fn audit(page: &mut Page, audit: Option<&Audit>) {
    page.lines(&all::AUDIT_LINES, audit.map(|audit| ([], audit.written())));
    page.lines(&all::AUDIT_LOST, audit.map(|audit| ([], audit.lost())));
}

fn facts(page: &mut Page, facts: &NodeFacts) {
    let (free, size) = facts.data.room();
    page.single(&all::DISK_FREE, free);
    page.single(&all::DISK_SIZE, size);
    if let Some(syncs) = &facts.syncs {
        page.histogram(&all::FSYNC, &syncs.read());
    }
}
