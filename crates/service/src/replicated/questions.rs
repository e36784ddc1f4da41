//! Questions: what clients look at. What is said of one lock, and of values, is linearizable: the
//! leader says it. Lists are of this node's own table, once it has come as far as the leader's was,
//! or as it is, if that is asked for.

use super::answers::{lost, strange};
use super::commands::unexpected;
use super::engine::ReplicatedEngine;
use super::hop::{ANSWERED, Asked, Patience, Said};
use super::sights::{self, LockSeen};
use super::words;
use crate::desk::{Answer as Answered, Question, refusal};
use crate::listing;
use crate::rights::{Principal, Right};
use conclave_api::{self as api, limits};
use conclave_table::{Kind, Resource, Table, Text};
use std::ops::Bound;
use tokio::time::timeout;

impl ReplicatedEngine {
    /// Answers a question.
    pub async fn show(&self, question: Question, who: &Principal) {
        match question {
            Question::Verify { name, request, reply } => {
                self.answer(reply, self.verified(&name, &request).await);
            }
            Question::Locks { page, reply } => self.answer(reply, self.locks(&page, who).await),
            Question::Sessions { page, reply } => self.answer(reply, self.sessions(&page).await),
            Question::Lock { name, look, reply } => {
                self.answer(reply, self.lock_now(&name, &look).await);
            }
            Question::Elections { page, reply } => {
                self.answer(reply, self.elections(&page, who).await);
            }
            Question::Election { name, reply } => {
                let election = match words::election(&name) {
                    Ok(election) => self.election_now(election).await,
                    Err(refusal) => Err(refusal),
                };
                self.answer(reply, election);
            }
            Question::Value { name, reply } => self.answer(reply, self.value_now(&name).await),
            Question::Cluster { reply } => self.answer(reply, Ok(self.cluster_view())),
            Question::Members { reply } => self.answer(reply, Ok(self.members_view())),
            Question::Ready { reply } => self.answer(reply, Ok(self.readiness())),
            Question::Events { reply } => self.answer(reply, Ok(self.journal().feed())),
            Question::Metrics { reply } => self.answer(reply, Ok(self.exposition())),
        }
    }

    async fn verified(&self, name: &str, request: &api::Verify) -> Answered<api::Verified> {
        let resource = words::lock(name)?;
        let fence = words::fence(request.fence)?;
        let session = request.session.as_deref().map(words::session).transpose()?;
        let asked = Asked::Verify(resource, fence, session);
        let said = self.ask(&asked, Patience::repeatable()).await.map_err(lost)?;
        let Said::Verified(valid, latest) = said else { return Err(unexpected(said)) };
        let latest = latest.map(|fence| fence.0);
        Ok(api::Verified { name: name.to_string(), valid, latest, scope: "cluster".to_string() })
    }

    async fn lock_now(&self, name: &str, look: &api::Look) -> Answered<api::Lock> {
        let resource = words::lock(name)?;
        let seen = match look.stale {
            true => self.seen_here(&resource, look)?,
            false => self.seen_by_leader(resource, look.explain).await?,
        };
        Ok(self.lock_view(seen))
    }

    /// A lock as the leader sees it.
    pub async fn lock_seen(&self, resource: &Resource) -> Answered<LockSeen> {
        self.seen_by_leader(resource.clone(), false).await
    }

    /// An election as it is now.
    pub async fn election_now(&self, election: Resource) -> Answered<api::Election> {
        Ok(self.election_view(self.seen_by_leader(election, false).await?))
    }

    async fn seen_by_leader(&self, resource: Resource, explain: bool) -> Answered<LockSeen> {
        let asked = Asked::Look(resource, explain);
        let said = self.ask(&asked, Patience::repeatable()).await.map_err(lost)?;
        if let Said::Seen(seen) = said { Ok(*seen) } else { Err(unexpected(said)) }
    }

    fn seen_here(&self, resource: &Resource, look: &api::Look) -> Answered<LockSeen> {
        let seen = |table: &_| match look.brief && !look.explain {
            true => Some(sights::glanced(table, resource, self.pace())),
            false => Some(sights::seen(table, resource, self.pace(), look.explain)),
        };
        self.look(seen).ok_or_else(|| refusal::unavailable("this node has not started yet"))
    }

    /// A value as it is now.
    pub async fn value_now(&self, name: &str) -> Answered<api::Value> {
        limits::name(name)?;
        let asked = Asked::Value(Text::from(name));
        let said = self.ask(&asked, Patience::repeatable()).await.map_err(lost)?;
        let Said::Value(known) = said else { return Err(unexpected(said)) };
        let Some((fence, value)) = known else {
            return Err(refusal::not_found(format!("no value '{name}' was ever set")));
        };
        let json = value.map_or(Ok(serde_json::Value::Null), |text| {
            serde_json::from_str(&text).map_err(|_| strange())
        });
        Ok(self.value_view(name, fence, json?))
    }

    async fn locks(&self, page: &api::Page, who: &Principal) -> Answered<api::Locks> {
        let (seen, next, index) = self.page(Kind::Lock, page, who).await?;
        let locks = seen.into_iter().map(|seen| self.lock_view(seen)).collect();
        Ok(api::Locks { locks, next, as_of_index: Some(index) })
    }

    async fn elections(&self, page: &api::Page, who: &Principal) -> Answered<api::Elections> {
        let (seen, next, index) = self.page(Kind::Election, page, who).await?;
        let elections = seen.into_iter().map(|seen| self.election_view(seen)).collect();
        Ok(api::Elections { elections, next, as_of_index: Some(index) })
    }

    async fn page(&self, kind: Kind, page: &api::Page, who: &Principal) -> Answered<Page> {
        let limit = limits::page(page)?;
        if !page.stale {
            self.catch_up().await?;
        }
        let name = page.after.as_deref().unwrap_or_default();
        let after = Resource { kind, name: Text::from(name) };
        Ok(self.look(|table| {
            let from = table.resources_from(Bound::Excluded(&after));
            let from = from.take_while(|resource| resource.kind == kind);
            let from = from.filter(|resource| listing::has(&resource.name, page.search.as_deref()));
            let from = from.filter(|resource| who.may(Right::Read, &resource.name));
            let view = |resource| sights::listed(table, resource, self.pace());
            let rank = |resource: &&Resource| rank(table, resource, page.sort);
            let (shown, more) = match page.sort {
                api::Order::Name => listing::first(from, limit),
                api::Order::Waiters | api::Order::Held => {
                    (listing::greatest(from, limit, rank), false)
                }
            };
            let seen: Vec<LockSeen> = shown.into_iter().map(view).collect();
            let next = seen.last().filter(|_| more).map(|last| last.name.to_string());
            (seen, next, table.index())
        }))
    }

    async fn sessions(&self, page: &api::SessionPage) -> Answered<api::Sessions> {
        let limit = limits::session_page(page)?;
        if !page.stale {
            self.catch_up().await?;
        }
        Ok(self.look(|table| {
            let now = self.pace().now(table);
            let all = table.sessions();
            let all =
                all.filter(|(_, session)| listing::has(&session.label, page.search.as_deref()));
            let mut sessions = Vec::new();
            let mut total = 0;
            for (id, session) in all {
                total += 1;
                if sessions.len() < limit {
                    sessions.push(sights::session(*id, session, now));
                }
            }
            api::Sessions { sessions, total, as_of_index: Some(table.index()) }
        }))
    }

    /// Waits until this node's table knows all that was committed when it was asked (ReadIndex).
    pub(super) async fn catch_up(&self) -> Answered<()> {
        let said = self.ask(&Asked::ReadIndex, Patience::repeatable()).await.map_err(lost)?;
        let Said::ReadIndex(index) = said else { return Err(unexpected(said)) };
        let behind =
            |_| refusal::unavailable("this node is behind; ask another, or with stale=true");
        timeout(ANSWERED, self.pace().until(index)).await.map_err(behind)
    }
}

/// What a list is sorted by: the greater comes first.
fn rank(table: &Table, resource: &Resource, order: api::Order) -> u64 {
    match (order, table.weight(resource)) {
        (api::Order::Waiters, (waiters, _)) => waiters as u64,
        (api::Order::Held, (_, Some(since))) => table.now().since(since).saturating_add(1),
        (api::Order::Held, (_, None)) | (api::Order::Name, _) => 0,
    }
}

/// A part of a list, where the next begins, and up to which index it is known.
type Page = (Vec<LockSeen>, Option<String>, u64);
