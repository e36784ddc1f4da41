//! Every route, once: the router and the OpenAPI document are made of this table.

use super::problem::Problem;
use super::{Api, access, elections, locks, sessions, streams, values};
use axum::Router;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{MethodRouter, delete, get, post, put};

/// One route.
pub struct Route {
    /// In lower case, as OpenAPI has it.
    pub method: &'static str,
    /// With its parameter in braces.
    pub path: &'static str,
    /// What it does.
    pub summary: &'static str,
    /// The schema of its body.
    pub takes: Option<&'static str>,
    /// What it answers when all goes well.
    pub gives: Gives,
    /// What serves it.
    pub handler: MethodRouter<Api>,
    /// Whether it is served even when there is hardly room for another connection.
    pub urgent: bool,
}

impl Route {
    /// It is served on a reserved place too: whoever holds something depends on it, or whoever
    /// looks after the node.
    fn urgent(self) -> Self {
        Self { urgent: true, ..self }
    }

    fn into_handler(self) -> MethodRouter<Api> {
        match self.urgent {
            true => self.handler,
            false => self.handler.layer(from_fn(access::check_room)),
        }
    }
}

/// What a route answers when all goes well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// JSON of this schema.
    Json(&'static str),
    /// Text.
    Text,
    /// Server-sent events with data of this schema.
    Stream(&'static str),
    /// A status and no more.
    Nothing,
}

use Gives::{Json, Nothing, Stream, Text};

const WITHDRAW: &str = "A request that waits leaves the line; 409 if it was granted before.";
const LEAVES: Option<&str> = Some("Withdraw");

/// All routes.
pub fn table() -> Vec<Route> {
    let mut all = of_sessions();
    all.extend(of_locks());
    all.extend(of_elections());
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

fn route(
    (method, path): (&'static str, &'static str),
    summary: &'static str,
    takes: Option<&'static str>,
    gives: Gives,
    handler: MethodRouter<Api>,
) -> Route {
    Route { method, path, summary, takes, gives, handler, urgent: false }
}

fn of_sessions() -> Vec<Route> {
    vec![
        route(
            ("post", "/v1/sessions"),
            "Opens a session at this node.",
            Some("NewSession"),
            Json("Session"),
            post(sessions::open),
        ),
        route(
            ("post", "/v1/sessions/{id}/keepalive"),
            "Lets a session live for another ttl.",
            None,
            Json("Session"),
            post(sessions::keep_alive),
        )
        .urgent(),
        route(
            ("delete", "/v1/sessions/{id}"),
            "Ends a session and all that it holds or waits for.",
            None,
            Nothing,
            delete(sessions::close),
        )
        .urgent(),
    ]
}

fn of_locks() -> Vec<Route> {
    let acquire = "Takes a lock; answers when it is granted or the wait is over.";
    let verify = "Whether a fence is that of the holder at this node, at this instant.";
    let force = "Takes a lock from its holder; needs the admin token.";
    let paths = ["/v1/locks/{name}/acquire", "/v1/locks/{name}/release", "/v1/locks/{name}/verify"];
    let [acquire_path, release_path, verify_path] = paths.map(|path| ("post", path));
    let force_path = ("delete", "/v1/locks/{name}/holders");
    let withdraw_path = ("delete", "/v1/locks/{name}/waiters/{request_id}");
    let asks = Some("Acquire");
    let gives_back = Some("Release");
    vec![
        route(acquire_path, acquire, asks, Json("Grant"), post(locks::acquire)),
        route(
            release_path,
            "Gives a lock back.",
            gives_back,
            Json("Released"),
            post(locks::release),
        )
        .urgent(),
        route(withdraw_path, WITHDRAW, LEAVES, Json("Withdrawn"), delete(locks::withdraw)).urgent(),
        route(verify_path, verify, Some("Verify"), Json("Verified"), post(locks::verify)),
        route(force_path, force, Some("Force"), Json("Forced"), delete(locks::force)).urgent(),
        route(("get", "/v1/locks"), "All locks.", None, Json("Locks"), get(locks::list)),
        route(("get", "/v1/locks/{name}"), "One lock.", None, Json("Lock"), get(locks::one)),
    ]
}

fn of_elections() -> Vec<Route> {
    let campaign = "Stands in an election; answers when it is won or the wait is over.";
    let proclaim = "Changes what the leader is known by.";
    let observe = "An election now, and again whenever it changes.";
    let campaign_path = ("post", "/v1/elections/{name}/campaign");
    let proclaim_path = ("post", "/v1/elections/{name}/proclaim");
    let resign_path = ("post", "/v1/elections/{name}/resign");
    let withdraw_path = ("delete", "/v1/elections/{name}/candidates/{request_id}");
    let list_path = ("get", "/v1/elections");
    let one_path = ("get", "/v1/elections/{name}");
    let observe_path = ("get", "/v1/elections/{name}/observe");
    let asks = Some("Acquire");
    let says = Some("Proclaim");
    let gives_back = Some("Release");
    vec![
        route(campaign_path, campaign, asks, Json("Grant"), post(elections::campaign)),
        route(proclaim_path, proclaim, says, Json("Election"), post(elections::proclaim)),
        route(resign_path, "Steps down.", gives_back, Json("Released"), post(elections::resign))
            .urgent(),
        route(withdraw_path, WITHDRAW, LEAVES, Json("Withdrawn"), delete(elections::withdraw))
            .urgent(),
        route(list_path, "All elections.", None, Json("Elections"), get(elections::list)),
        route(one_path, "One election.", None, Json("Election"), get(elections::one)),
        route(observe_path, observe, None, Stream("Election"), get(streams::observe)),
    ]
}

fn of_the_node() -> Vec<Route> {
    let value = ("get", "/v1/values/{name}");
    let new_value = ("put", "/v1/values/{name}");
    let change = "Changes a value, unless the fence is stale.";
    let cluster = "The cluster as this node sees it.";
    let events = "What happened lately, and what happens.";
    let this = "This document.";
    let numbers = "Numbers for Prometheus.";
    let ready = "Whether links to a majority stand.";
    vec![
        route(value, "A value that node 1 keeps.", None, Json("Value"), get(values::get)),
        route(new_value, change, Some("NewValue"), Json("Value"), put(values::put)),
        route(("get", "/v1/cluster"), cluster, None, Json("Cluster"), get(sessions::cluster))
            .urgent(),
        route(("get", "/v1/events"), events, None, Stream("LiveEvent"), get(streams::events)),
        route(("get", "/metrics"), numbers, None, Text, get(sessions::metrics)).urgent(),
        route(("get", "/healthz"), "Whether it lives.", None, Text, get(sessions::health)).urgent(),
        route(("get", "/readyz"), ready, None, Text, get(sessions::ready)).urgent(),
        route(("get", "/openapi.json"), this, None, Json("Any"), get(sessions::description)),
    ]
}
