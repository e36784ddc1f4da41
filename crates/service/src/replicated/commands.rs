//! Commands: what clients ask for, carried out one by one by whoever leads.

use super::answers::{self, lost, strange};
use super::caller::Caller;
use super::engine::ReplicatedEngine;
use super::hop::{Asked, Changed, Patience, Said};
use super::words::{self, Numbers};
use crate::desk::{Answer as Answered, Command, Kind, Refusal, Replicated, Reply, refusal};
use crate::tokens::ADMIN;
use conclave_api as api;
use conclave_api::limits;
use conclave_table::{
    Answer, Body, Change, Fence, Force, Put, Refusal as Why, Renewed, Resource, SessionId, Text,
    Ticket,
};
use std::sync::Arc;

impl ReplicatedEngine {
    /// Carries out one command, and answers it.
    pub async fn execute(self: Arc<Self>, command: Command) {
        let (principal, command) = command.opened();
        Caller::new(self, principal).execute(command).await;
    }

    /// Answers. Whether anybody still waits for that is the other side's affair.
    pub fn answer<T>(&self, reply: Reply<T>, answered: Answered<T>) {
        self.is_taken(reply, answered);
    }

    /// Answers, and says whether anybody waited for that.
    pub fn is_taken<T>(&self, reply: Reply<T>, answered: Answered<T>) -> bool {
        reply.send(answered).is_ok()
    }

    /// A value in the words of the API.
    pub fn value_view(&self, name: &str, fence: Fence, value: serde_json::Value) -> api::Value {
        let node = self.number();
        api::Value { name: name.to_string(), value, fence: fence.0, node, replicated: true }
    }
}

impl Caller {
    async fn execute(self, command: Command) {
        match command {
            Command::OpenSession { request, id, reply } => {
                self.answer(reply, self.open(&request, &id).await);
            }
            Command::KeepAlive { session, request, reply } => {
                self.answer(reply, self.keep_alive(&session, &request).await);
            }
            Command::CloseSession { session, reply } => self.close(&session, reply).await,
            Command::Acquire { name, request, reply } => {
                self.acquire_one(Kind::Lock, &name, &request, reply).await;
            }
            Command::Campaign { name, request, reply } => {
                self.acquire_one(Kind::Election, &name, &request, reply).await;
            }
            Command::Release { name, request, reply } => {
                self.answer(reply, self.release(words::lock(&name), &request).await);
            }
            Command::Resign { name, request, reply } => {
                self.answer(reply, self.release(words::election(&name), &request).await);
            }
            Command::Withdraw { kind, name, request_id, request, reply } => {
                self.answer(reply, self.withdraw(kind, &name, &request_id, &request).await);
            }
            Command::Proclaim { name, request, reply } => {
                self.answer(reply, self.proclaim(&name, &request).await);
            }
            Command::Force { name, request, reply } => {
                self.answer(reply, self.force(&name, &request).await);
            }
            Command::SetValue { name, request, reply } => {
                self.answer(reply, self.set_value(&name, &request).await);
            }
            Command::HandOver { reply } => self.answer(reply, self.hand_over().await),
            Command::Replicated(command) => self.execute_more(command).await,
            Command::Show(question) => self.show(question, &self.principal).await,
            Command::By { .. } => {} // It was opened.
        }
    }

    async fn execute_more(&self, command: Replicated) {
        match command {
            Replicated::AcquireAll { request, reply } => self.acquire_all(&request, reply).await,
            Replicated::PassOn { name, request, reply } => {
                self.answer(reply, self.pass_on(&name, &request).await);
            }
            Replicated::DeleteValue { name, reply } => {
                self.answer(reply, self.delete_value(&name).await);
            }
            Replicated::Attach { session, stream, reply } => {
                self.answer(reply, self.attach(&session, stream).await);
            }
            Replicated::Ping { request, reply } => self.answer(reply, self.ping(&request)),
            Replicated::Members { change, reply } => {
                self.answer(reply, self.members_changed(change).await);
            }
            Replicated::Snapshot { reply } => self.answer(reply, self.snapshot().await),
        }
    }

    async fn open(&self, request: &api::NewSession, id: &str) -> Answered<api::Session> {
        let open = words::open(request, words::session(id)?, self.me(), self.name())?;
        let change = Change::Open(open);
        let changed = self.changed(change, Patience::repeatable()).await?;
        let Answer::Opened { session, ttl_ms } = changed.answer else {
            return Err(changed.refusal(""));
        };
        Ok(self.session_view(session, ttl_ms))
    }

    fn session_view(&self, session: SessionId, ttl_ms: u64) -> api::Session {
        api::Session {
            session: words::session_text(session),
            ttl_ms,
            node: self.number(),
            cluster_id: self.cluster_id(),
            scope: "cluster".to_string(),
            generation: self.generation(),
            holds: None,
        }
    }

    async fn keep_alive(&self, id: &str, keep: &api::KeepAlive) -> Answered<api::Session> {
        let session = words::session(id)?;
        let renewal = words::renewal(session, self.me(), keep)?;
        let asked = Asked::Renew { principal: self.name(), renewal };
        let said = self.ask(&asked, Patience::repeatable()).await.map_err(lost)?;
        let Said::Renewed(renewed, ttl_ms) = said else { return Err(unexpected(said)) };
        let Renewed::Alive(held) = renewed else { return Err(words::no_session()) };
        let holds = held.into_iter().map(hold_view).collect();
        Ok(api::Session { holds: Some(holds), ..self.session_view(session, ttl_ms) })
    }

    async fn close(&self, id: &str, reply: Reply<()>) {
        self.answer(reply, self.closed(id).await);
    }

    async fn closed(&self, id: &str) -> Answered<()> {
        let session = words::session(id)?;
        let known = self.look(|table| table.session(session).is_some()) && self.is_own(session);
        let changed = self.changed(Change::End { session }, Patience::repeatable()).await?;
        if known && changed.answer == Answer::Refused(Why::NoSession) {
            return Ok(()); // The leader that ended it was lost before it answered.
        }
        changed.done("")
    }

    async fn release(
        &self,
        resource: Answered<Resource>,
        request: &api::Release,
    ) -> Answered<api::Released> {
        let resource = resource?;
        let name = Text::clone(&resource.name);
        let numbers = Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref())?;
        let session = words::session(&request.session)?;
        let body = words::release(resource, request)?;
        let changed = self.once(session, numbers, body).await?;
        let Answer::Released { holds } = changed.answer else {
            return Err(changed.refusal(&name));
        };
        Ok(api::Released { name: name.to_string(), fence: request.fence, holds })
    }

    /// Whatever came of a request for this very name is given back: its place in line, or what it
    /// holds. Clients that give up count on that: they do not know the fence of a grant unheard.
    async fn withdraw(
        &self,
        kind: Kind,
        name: &str,
        request_id: &str,
        request: &api::Withdraw,
    ) -> Answered<api::Withdrawn> {
        let resource = words::resource(kind, name)?;
        let name = Text::clone(&resource.name);
        let numbers = Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref())?;
        let session = words::session(&request.session)?;
        let withdrawn = conclave_table::RequestId(limits::request_number(request_id)?);
        let ticket = Ticket { session, request: withdrawn };
        let position = self.look(|table| table.wait_of(ticket).map_or(0, |(_, place)| place));
        let body = Body::Cancel { request: withdrawn, of: Some(resource), granted_too: true };
        let change = numbers.ask(session, body);
        self.changed(change, Patience::repeatable()).await?.done(&name)?;
        Ok(api::Withdrawn { name: name.to_string(), position })
    }

    async fn proclaim(&self, name: &str, request: &api::Proclaim) -> Answered<api::Election> {
        let election = words::election(name)?;
        limits::proclaimed(&request.value)?;
        let numbers = Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref())?;
        let fence = words::fence(request.fence)?;
        let value = Text::from(&*request.value);
        let body = Body::Proclaim { election: election.clone(), fence, value };
        self.done(name, &request.session, numbers, body).await?;
        self.election_now(election).await
    }

    async fn pass_on(&self, name: &str, request: &api::HandOver) -> Answered<api::HandedOver> {
        let election = words::election(name)?;
        limits::label(Some(&request.to))?;
        let numbers = Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref())?;
        let fence = words::fence(request.fence)?;
        let body = Body::HandOver { election, fence, to: Text::from(&*request.to) };
        self.done(name, &request.session, numbers, body).await?;
        Ok(api::HandedOver { name: name.to_string(), fence: request.fence, to: request.to.clone() })
    }

    async fn done(&self, name: &str, id: &str, numbers: Numbers, body: Body) -> Answered<()> {
        self.once(words::session(id)?, numbers, body).await?.done(name)
    }

    async fn force(&self, name: &str, request: &api::Force) -> Answered<api::Forced> {
        let resource = words::lock(name)?;
        limits::reason(&request.reason)?;
        let before = self.lock_seen(&resource).await?;
        if before.holders.is_empty() {
            return Err(refusal::not_found(format!("nobody holds '{name}'")));
        }
        let now = request.now;
        let by = if self.principal.is_anyone() { ADMIN } else { self.principal.name() };
        let (by, reason) = (Text::from(by), Text::from(request.reason.as_str()));
        let up_to = before.up_to;
        let change = Change::Force(Force { resource, up_to, now, by, reason });
        let changed = self.changed(change, Patience::once()).await?;
        if changed.answer == Answer::Refused(Why::NotHolder) {
            return Err(refusal::not_found(format!("nobody holds '{name}'")));
        }
        if !matches!(changed.answer, Answer::Forced(_)) {
            return Err(changed.refusal(name));
        }
        let mut revoked = changed.details.map(|details| details.holders).unwrap_or_default();
        revoked.retain(|holder| holder.ends_in_ms.is_some());
        let seen = if now || revoked.is_empty() { before.holders } else { revoked };
        let holders: Vec<api::Holder> = seen.iter().map(answers::holder).collect();
        let holder = holders.first().cloned().ok_or_else(strange)?;
        let ends = seen.iter().filter_map(|holder| holder.ends_in_ms).max();
        let words = format!("taken by force from '{}': {}", holder.label, request.reason);
        tracing::warn!(lock = name, fence = holder.fence, now, "force: {words}");
        self.journal().note("forced", Some(name), words);
        let safety = if now { "fence-only" } else { "lease" }.to_string();
        let ends_in_ms = ends.filter(|_| !now);
        Ok(api::Forced { name: name.to_string(), holder, holders, safety, ends_in_ms })
    }

    async fn set_value(&self, name: &str, request: &api::NewValue) -> Answered<api::Value> {
        limits::name(name)?;
        let fence = words::fence(request.fence)?;
        let json = request.value.to_string();
        limits::value(&json)?;
        limits::numbers_of_session(request)?;
        let put = Put { name: Text::from(name), fence, value: Some(Text::from(json)) };
        match &request.session {
            Some(session) => {
                let numbers =
                    Numbers::of(request.request_id.as_deref(), request.lowest_open.as_deref())?;
                self.done(name, session, numbers, Body::Put(put)).await?;
            }
            None => self.put(put).await?,
        }
        Ok(self.value_view(name, fence, request.value.clone()))
    }

    async fn delete_value(&self, name: &str) -> Answered<api::Value> {
        loop {
            let known = self.value_now(name).await?;
            let fence = Fence(known.fence);
            match self.put(Put { name: Text::from(name), fence, value: None }).await {
                Ok(()) => return Ok(self.value_view(name, fence, serde_json::Value::Null)),
                // Somebody wrote in between: then that is deleted.
                Err(refusal) if refusal.error.code == api::Code::StaleFence => {}
                Err(refusal) => return Err(refusal),
            }
        }
    }

    async fn put(&self, put: Put) -> Answered<()> {
        let name = Text::clone(&put.name);
        self.changed(Change::Put(put), Patience::once()).await?.done(&name)
    }

    /// A request of a session that is carried out once: asked again only if its client could.
    async fn once(&self, session: SessionId, numbers: Numbers, body: Body) -> Answered<Changed> {
        let patience = Patience::waiting(0, numbers.are_recorded());
        self.changed(numbers.ask(session, body), patience).await
    }
}

/// What cannot be carried out, or is no answer to what was asked.
pub fn unexpected(said: Said) -> Refusal {
    match said {
        Said::No(words) => refusal::bad(words),
        Said::Changed(_)
        | Said::Renewed(..)
        | Said::ReadIndex(_)
        | Said::Verified(..)
        | Said::Seen(_)
        | Said::Value(_)
        | Said::Done
        | Said::Busy
        | Said::NotLeading
        | Said::Unknown => strange(),
    }
}

fn hold_view(held: conclave_table::Held) -> api::Hold {
    let kind = match held.resource.kind {
        conclave_table::Kind::Lock => "lock",
        conclave_table::Kind::Election => "election",
    };
    api::Hold {
        name: held.resource.name.to_string(),
        kind: kind.to_string(),
        fence: held.fence.0,
        request_id: held.request.0.to_string(),
        revoked: held.revoked,
    }
}
