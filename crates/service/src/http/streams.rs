//! Server-sent events: what happens, as it happens.

use super::Api;
use super::authorize::Authenticated;
use super::body::Name;
use super::problem::Problem;
use crate::desk::{Feed, Numbered, Question};
use crate::rights::{Principal, Right};
use axum::http::HeaderMap;
use axum::response::Sse;
use axum::response::sse::{Event, KeepAlive};
use conclave_api::{Election, LiveEvent};
use futures_util::stream::{self, Stream, StreamExt};
use std::collections::VecDeque;
use std::convert::Infallible;
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// Events about nodes and who leads them, if they are about no name.
const NODES: [&str; 6] = ["leader", "connected", "disconnected", "suspected", "trusted", "member"];

/// The latest events and then all that come, each once. `Last-Event-ID` says which are known.
pub async fn events(
    Authenticated(api): Authenticated,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let Feed { past, coming } = api.show(|reply| Question::Events { reply }).await?;
    let known = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
    // Numbers begin anew when the node does; one from before says nothing.
    let known = known.filter(|known| past.last().is_some_and(|last| *known <= last.number));
    let told = known.unwrap_or(0);
    let over = api.streams.enter().over();
    let state = Telling { past: past.into(), coming, told, who: api.who };
    let stream = stream::unfold(state, |mut telling| async {
        let event = telling.next().await?;
        Some((Ok(event), telling))
    });
    Ok(Sse::new(stream.take_until(over)).keep_alive(KeepAlive::default()))
}

struct Telling {
    past: VecDeque<Numbered>,
    coming: Receiver<Numbered>,
    told: u64,
    who: Principal,
}

impl Telling {
    async fn next(&mut self) -> Option<Event> {
        loop {
            let next = match self.past.pop_front() {
                Some(past) => past,
                None => match self.coming.recv().await {
                    Ok(next) => next,
                    // A client this slow has missed some: it sees the gap in the numbers.
                    Err(RecvError::Lagged(_)) => continue,
                    Err(RecvError::Closed) => return None,
                },
            };
            if next.number > self.told {
                self.told = next.number;
                if !is_for(&self.who, &next.event) {
                    continue;
                }
                let event = Event::default().id(next.number.to_string()).event(&next.event.kind);
                return event.json_data(&*next.event).ok();
            }
        }
    }
}

/// Whether an event is about a name that one may read. What is about no name is about sessions of
/// all, and for those who may read all, or about nodes, and for everybody.
fn is_for(who: &Principal, event: &LiveEvent) -> bool {
    match &event.name {
        Some(name) => who.may(Right::Read, name),
        None => who.may_everywhere(Right::Read) || NODES.contains(&&*event.kind),
    }
}

/// An election as it is now, and again whenever it has changed.
pub async fn observe(
    Authenticated(api): Authenticated,
    Name(name): Name,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Problem> {
    let feed = api.show(|reply| Question::Events { reply }).await?;
    // A name that is none is an error before the stream begins.
    let asked = name.clone();
    api.show(|reply| Question::Election { name: asked, reply }).await?;
    let over = api.streams.enter().over();
    let state = Observing { api, name, coming: feed.coming, shown: None };
    let stream = stream::unfold(state, |mut observing| async {
        let event = observing.next().await?;
        Some((Ok(event), observing))
    });
    Ok(Sse::new(stream.take_until(over)).keep_alive(KeepAlive::default()))
}

struct Observing {
    api: Api,
    name: String,
    coming: Receiver<Numbered>,
    shown: Option<Election>,
}

impl Observing {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.shown.is_some() {
                self.wait_for_change().await?;
            }
            let name = self.name.clone();
            let now = self.api.show(|reply| Question::Election { name, reply }).await.ok()?;
            let lasting = without_ages(now.clone());
            if self.shown.as_ref() != Some(&lasting) {
                self.shown = Some(lasting);
                return Event::default().event("election").json_data(now).ok();
            }
        }
    }

    async fn wait_for_change(&mut self) -> Option<()> {
        loop {
            match self.coming.recv().await {
                Ok(next) if next.event.kind == "leader" => return Some(()),
                Ok(next) if next.event.name.as_deref() == Some(&self.name) => return Some(()),
                Ok(_) => {}
                Err(RecvError::Lagged(_)) => return Some(()),
                Err(RecvError::Closed) => return None,
            }
        }
    }
}

/// What of an election can change only by an event.
fn without_ages(mut election: Election) -> Election {
    if let Some(leader) = &mut election.leader {
        leader.held_ms = 0;
    }
    for candidate in &mut election.candidates {
        candidate.waited_ms = 0;
    }
    election
}
