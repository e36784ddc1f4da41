//! Every route, once: the router and the OpenAPI document are made of this table.

use super::problem::Problem;
use super::{Api, access, elections, locks, sessions, streams, values};
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, delete, get, post, put};
use conclave_api::Code;

/// One route.
pub struct Route {
    /// In lower case, as OpenAPI has it.
    pub method: &'static str,
    /// With its parameters in braces.
    pub path: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// What it reads of a request's body.
    pub takes: Takes,
    /// What it answers when all goes well.
    pub gives: Gives,
    /// The codes of its refusals, but for those that many routes have: see [`Route::refusals`].
    pub refuses: &'static [Code],
    /// Whether it is a list in pages.
    pub paged: bool,
    /// Whether it needs the admin token.
    pub admin: bool,
    /// What serves it.
    pub handler: MethodRouter<Api>,
    /// Whether it is served even when there is hardly room for another connection.
    pub urgent: bool,
}

/// What a route reads of a request's body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Nothing: it has none.
    Nothing,
    /// All of it, to no purpose.
    Ignored,
    /// JSON of this schema.
    Json(&'static str),
}

/// What a route answers when all goes well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// JSON of this schema.
    Json(&'static str),
    /// JSON of any kind.
    AnyJson,
    /// Text.
    Text,
    /// Server-sent events with data of this schema.
    Stream(&'static str),
    /// A status and no more.
    Nothing,
}

impl Route {
    fn new(
        method: &'static str,
        path: &'static str,
        handler: MethodRouter<Api>,
        summary: &'static str,
    ) -> Self {
        let takes = Takes::Nothing;
        let gives = Gives::Nothing;
        Self {
            method,
            path,
            summary,
            takes,
            gives,
            refuses: &[],
            paged: false,
            admin: false,
            handler,
            urgent: false,
        }
    }

    fn takes(self, schema: &'static str) -> Self {
        Self { takes: Takes::Json(schema), ..self }
    }

    fn reads(self, takes: Takes) -> Self {
        Self { takes, ..self }
    }

    fn gives(self, schema: &'static str) -> Self {
        Self { gives: Gives::Json(schema), ..self }
    }

    fn answers(self, gives: Gives) -> Self {
        Self { gives, ..self }
    }

    fn refuses(self, refuses: &'static [Code]) -> Self {
        Self { refuses, ..self }
    }

    fn paged(self) -> Self {
        Self { paged: true, ..self }
    }

    fn admin(self) -> Self {
        Self { admin: true, ..self }
    }

    /// It is served on a reserved place too: whoever holds something depends on it, or whoever
    /// looks after the node.
    fn urgent(self) -> Self {
        Self { urgent: true, ..self }
    }

    /// Every status that is no success, with every code that comes with it.
    pub fn refusals(&self) -> Vec<(u16, Code)> {
        // For a Host or an Origin that is another's.
        let mut all = vec![(400, Code::BadRequest), (403, Code::Forbidden)];
        if self.path != LIVES {
            all.push((503, Code::Unavailable));
        }
        if self.takes != Takes::Nothing {
            all.extend([(408, Code::BadRequest), (413, Code::BadRequest)]);
        }
        if matches!(self.takes, Takes::Json(_)) {
            all.push((415, Code::BadRequest));
        }
        if self.admin {
            all.push((401, Code::Forbidden));
        }
        all.extend(self.refuses.iter().map(|code| (code.status(), *code)));
        all
    }

    fn into_handler(self) -> MethodRouter<Api> {
        match self.urgent {
            true => self.handler,
            false => self.handler.layer(from_fn(access::check_room)),
        }
    }
}

/// Answers without asking anybody.
const LIVES: &str = "/healthz";

const WITHDRAW: &str = "A request that waits leaves the line; 409 if it was granted before.";

/// Why somebody does not get what he waits for.
const IN_VAIN: &[Code] = &[
    Code::Unsupported,
    Code::NoSession,
    Code::Held,
    Code::Timeout,
    Code::Withdrawn,
    Code::TooMany,
    Code::Blocked,
];
const NOT_ELECTED: &[Code] = &[
    Code::Unsupported,
    Code::NoSession,
    Code::NotLeader,
    Code::Held,
    Code::Timeout,
    Code::Withdrawn,
    Code::TooMany,
];
const NOT_GIVEN_BACK: &[Code] = &[Code::NoSession, Code::NotHolder];
const NOT_WITHDRAWN: &[Code] = &[Code::NoSession, Code::NotFound, Code::Granted];

/// All routes.
pub fn table() -> Vec<Route> {
    let mut all = of_sessions();
    all.extend(of_locks());
    all.extend(of_elections());
    all.extend(of_values());
    all.extend(of_the_node());
    all
}

/// The router of a node.
pub(super) fn router(api: Api) -> Router {
    let routes = table().into_iter();
    routes
        .fold(Router::new(), |router, route| router.route(route.path, route.into_handler()))
        .fallback(|| async { Problem::from(crate::desk::refusal::not_found("no such route")) })
        .method_not_allowed_fallback(|| async {
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this route has other methods")
        })
        .layer(from_fn_with_state(api.clone(), access::check_request))
        .with_state(api)
}

fn of_sessions() -> Vec<Route> {
    let opens = "Opens a session at this node.";
    let keeps = "Lets a session live for another ttl.";
    let ends = "Ends a session and all that it holds or waits for.";
    vec![
        Route::new("post", "/v1/sessions", post(sessions::open), opens)
            .takes("NewSession")
            .gives("Session")
            .refuses(&[Code::Conflict, Code::TooMany, Code::Internal]),
        Route::new("post", "/v1/sessions/{id}/keepalive", post(sessions::keep_alive), keeps)
            .reads(Takes::Ignored)
            .gives("Session")
            .refuses(&[Code::NoSession])
            .urgent(),
        Route::new("delete", "/v1/sessions/{id}", delete(sessions::close), ends)
            .reads(Takes::Ignored)
            .refuses(&[Code::NoSession])
            .urgent(),
    ]
}

fn of_locks() -> Vec<Route> {
    let acquire = "Takes a lock; answers when it is granted or the wait is over.";
    let verify = "Whether a fence is that of the holder at this node, at this instant.";
    let force = "Takes a lock from its holder; needs the admin token.";
    let leave = "/v1/locks/{name}/waiters/{request_id}";
    vec![
        Route::new("post", "/v1/locks/{name}/acquire", post(locks::acquire), acquire)
            .takes("Acquire")
            .gives("Grant")
            .refuses(IN_VAIN),
        Route::new("post", "/v1/locks/{name}/release", post(locks::release), "Gives a lock back.")
            .takes("Release")
            .gives("Released")
            .refuses(NOT_GIVEN_BACK)
            .urgent(),
        Route::new("delete", leave, delete(locks::withdraw), WITHDRAW)
            .takes("Withdraw")
            .gives("Withdrawn")
            .refuses(NOT_WITHDRAWN)
            .urgent(),
        Route::new("post", "/v1/locks/{name}/verify", post(locks::verify), verify)
            .takes("Verify")
            .gives("Verified"),
        Route::new("delete", "/v1/locks/{name}/holders", delete(locks::force), force)
            .takes("Force")
            .gives("Forced")
            .refuses(&[Code::NotFound])
            .admin()
            .urgent(),
        Route::new("get", "/v1/locks", get(locks::list), "All locks, in pages.")
            .gives("Locks")
            .paged(),
        Route::new("get", "/v1/locks/{name}", get(locks::one), "One lock.")
            .gives("Lock")
            .refuses(&[Code::NotFound]),
    ]
}

fn of_elections() -> Vec<Route> {
    let campaign = "Stands in an election; answers when it is won or the wait is over.";
    let proclaim = "Changes what the leader is known by.";
    let observe = "An election now, and again whenever it changes.";
    let leave = "/v1/elections/{name}/candidates/{request_id}";
    vec![
        Route::new("post", "/v1/elections/{name}/campaign", post(elections::campaign), campaign)
            .takes("Acquire")
            .gives("Grant")
            .refuses(NOT_ELECTED),
        Route::new("post", "/v1/elections/{name}/proclaim", post(elections::proclaim), proclaim)
            .takes("Proclaim")
            .gives("Election")
            .refuses(NOT_GIVEN_BACK),
        Route::new("post", "/v1/elections/{name}/resign", post(elections::resign), "Steps down.")
            .takes("Release")
            .gives("Released")
            .refuses(NOT_GIVEN_BACK)
            .urgent(),
        Route::new("delete", leave, delete(elections::withdraw), WITHDRAW)
            .takes("Withdraw")
            .gives("Withdrawn")
            .refuses(NOT_WITHDRAWN)
            .urgent(),
        Route::new("get", "/v1/elections", get(elections::list), "All elections, in pages.")
            .gives("Elections")
            .paged(),
        Route::new("get", "/v1/elections/{name}", get(elections::one), "One election.")
            .gives("Election"),
        Route::new("get", "/v1/elections/{name}/observe", get(streams::observe), observe)
            .answers(Gives::Stream("Election")),
    ]
}

fn of_values() -> Vec<Route> {
    let change = "Changes a value, unless the fence is stale.";
    vec![
        Route::new("get", "/v1/values/{name}", get(values::get), "A value that node 1 keeps.")
            .gives("Value")
            .refuses(&[Code::NotFound]),
        Route::new("put", "/v1/values/{name}", put(values::put), change)
            .takes("NewValue")
            .gives("Value")
            .refuses(&[Code::StaleFence, Code::TooMany]),
    ]
}

fn of_the_node() -> Vec<Route> {
    let cluster = "The cluster as this node sees it.";
    let events = "What happened lately, and what happens.";
    let ready = "Whether links to a majority stand.";
    vec![
        Route::new("get", "/v1/cluster", get(sessions::cluster), cluster).gives("Cluster").urgent(),
        Route::new("get", "/v1/events", get(streams::events), events)
            .answers(Gives::Stream("LiveEvent")),
        Route::new("get", "/metrics", get(sessions::metrics), "Numbers for Prometheus.")
            .answers(Gives::Text)
            .urgent(),
        Route::new("get", LIVES, get(sessions::health), "Whether it lives.")
            .answers(Gives::Text)
            .urgent(),
        Route::new("get", "/readyz", get(sessions::ready), ready).answers(Gives::Text).urgent(),
        Route::new("get", "/openapi.json", get(sessions::description), "This document.")
            .answers(Gives::AnyJson),
    ]
}
