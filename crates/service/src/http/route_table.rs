//! The table of all routes.

use super::routes::{Gives, LIVES, Parameter, Route, Takes};
use super::{elections, locks, members, metrics, session_stream, sessions, streams, values};
use crate::rights::Right;
use axum::routing::{delete, get, post, put};
use conclave_api::{Code, SESSION_HEADER, STREAM_HEADER};

/// All routes.
pub fn table() -> Vec<Route> {
    let mut all = of_sessions();
    all.extend(of_locks());
    all.extend(views_of_locks());
    all.extend(of_elections());
    all.extend(views_of_elections());
    all.extend(of_values());
    all.extend(of_the_node());
    all.extend(of_members());
    all
}

const WITHDRAW: &str = "A request that waits leaves the line; 409 if it was granted before.";

/// Why somebody does not get what he waits for.
const IN_VAIN: &[Code] = &[
    Code::Unsupported,
    Code::NoSession,
    Code::Held,
    Code::Timeout,
    Code::TooMany,
    Code::Blocked,
    Code::ModeConflict,
    Code::Deadlock,
    Code::Quota,
    Code::Internal,
];
const NOT_ELECTED: &[Code] = &[
    Code::Unsupported,
    Code::NoSession,
    Code::NotLeader,
    Code::Held,
    Code::Timeout,
    Code::TooMany,
    Code::Deadlock,
    Code::Quota,
    Code::Internal,
];
const NOT_GIVEN_BACK: &[Code] = &[Code::NoSession, Code::NotHolder, Code::Quota, Code::Internal];
const NOT_HANDED_OVER: &[Code] = &[Code::NoSession, Code::NotHolder, Code::NotFound, Code::Quota];
const NOT_WRITTEN: &[Code] = &[Code::NoSession, Code::StaleFence, Code::TooMany, Code::Quota];
const NOT_WITHDRAWN: &[Code] = &[Code::NoSession, Code::NotFound, Code::Granted, Code::Quota];

/// Of lists.
const LISTED: &[Parameter] = &[
    Parameter::query("limit", "PageLimit"),
    Parameter::query("after", "Name"),
    Parameter::query("stale", "boolean"),
    Parameter::query("search", "Name"),
    Parameter::query("sort", "Order"),
];
/// Of a list of sessions.
const LISTED_SESSIONS: &[Parameter] = &[
    Parameter::query("limit", "PageLimit"),
    Parameter::query("search", "Label"),
    Parameter::query("stale", "boolean"),
];
/// Of one lock.
const LOOKED: &[Parameter] = &[
    Parameter::query("explain", "boolean"),
    Parameter::query("stale", "boolean"),
    Parameter::query("brief", "boolean"),
];
/// Of a session's stream.
const STREAMED: &[Parameter] = &[
    Parameter::header(SESSION_HEADER, "SessionId"),
    Parameter::header(STREAM_HEADER, "StreamNumber"),
];

fn of_sessions() -> Vec<Route> {
    let opens = "Opens a session at this node.";
    let lists = "Who is there; a part of them, if there are many.";
    let keeps = "Lets a session live for another ttl.";
    let ends = "Ends a session and all that it holds or waits for.";
    let streams = "The stream of a session that ends soon after it does (replicated engine).";
    let pings = "Whether this node still has the stream (replicated engine).";
    vec![
        Route::new("post", "/v1/sessions", post(sessions::open), opens)
            .takes("NewSession")
            .gives("Session")
            .refuses(&[Code::Conflict, Code::TooMany, Code::Unsupported, Code::Internal])
            .opens(),
        Route::new("get", "/v1/sessions", get(sessions::list), lists)
            .reads_also(LISTED_SESSIONS)
            .gives("Sessions")
            .needs_all(Right::Read),
        Route::new("post", "/v1/sessions/{id}/keepalive", post(sessions::keep_alive), keeps)
            .reads(Takes::Maybe("KeepAlive"))
            .gives("Session")
            .refuses(&[Code::NoSession])
            .urgent(),
        Route::new("delete", "/v1/sessions/{id}", delete(sessions::close), ends)
            .reads(Takes::Ignored)
            .refuses(&[Code::NoSession])
            .urgent(),
        Route::new("get", "/v1/session/stream", get(session_stream::stream), streams)
            .reads_also(STREAMED)
            .answers(Gives::Stream("SessionStream"))
            .refuses(&[Code::NoSession, Code::Conflict, Code::TooMany])
            .replicated(),
        Route::new("post", "/v1/session/ping", post(session_stream::ping), pings)
            .takes("Ping")
            .refuses(&[Code::NoSession, Code::NotFound])
            .replicated()
            .urgent(),
    ]
}

fn of_locks() -> Vec<Route> {
    let acquire = "Takes a lock; answers when it is granted or the wait is over.";
    let several = "Takes several locks, all or none (replicated engine).";
    let force = "Takes a lock from its holder; needs the right to admin.";
    let leave = "/v1/locks/{name}/waiters/{request_id}";
    vec![
        Route::new("post", "/v1/locks/{name}/acquire", post(locks::acquire), acquire)
            .needs(Right::Acquire)
            .takes("Acquire")
            .gives("Grant")
            .refuses(IN_VAIN)
            .numbered(),
        Route::new("post", "/v1/acquire", post(locks::acquire_all), several)
            .takes("AcquireAll")
            .gives("Grants")
            .refuses(IN_VAIN)
            .replicated()
            .numbered(),
        Route::new("post", "/v1/locks/{name}/release", post(locks::release), "Gives a lock back.")
            .takes("Release")
            .gives("Released")
            .refuses(NOT_GIVEN_BACK)
            .numbered()
            .urgent(),
        Route::new("delete", leave, delete(locks::withdraw), WITHDRAW)
            .takes("Withdraw")
            .gives("Withdrawn")
            .refuses(NOT_WITHDRAWN)
            .numbered()
            .urgent(),
        Route::new("delete", "/v1/locks/{name}/holders", delete(locks::force), force)
            .takes("Force")
            .gives("Forced")
            .refuses(&[Code::NotFound])
            .needs(Right::Admin)
            .urgent(),
    ]
}

fn views_of_locks() -> Vec<Route> {
    let verify = "Whether a fence is that of a holder, at this instant.";
    vec![
        Route::new("post", "/v1/locks/{name}/verify", post(locks::verify), verify)
            .needs(Right::Read)
            .takes("Verify")
            .gives("Verified"),
        Route::new("get", "/v1/locks", get(locks::list), "All locks, in pages.")
            .gives("Locks")
            .reads_also(LISTED),
        Route::new("get", "/v1/locks/{name}", get(locks::one), "One lock.")
            .needs(Right::Read)
            .reads_also(LOOKED)
            .gives("Lock")
            .refuses(&[Code::NotFound]),
    ]
}

fn of_elections() -> Vec<Route> {
    let campaign = "Stands in an election; answers when it is won or the wait is over.";
    let proclaim = "Changes what the leader is known by.";
    let pass_on = "The leader lets a candidate lead next (replicated engine).";
    let leave = "/v1/elections/{name}/candidates/{request_id}";
    vec![
        Route::new("post", "/v1/elections/{name}/campaign", post(elections::campaign), campaign)
            .needs(Right::Acquire)
            .takes("Campaign")
            .gives("Grant")
            .refuses(NOT_ELECTED)
            .numbered(),
        Route::new("post", "/v1/elections/{name}/proclaim", post(elections::proclaim), proclaim)
            .needs(Right::Acquire)
            .takes("Proclaim")
            .gives("Election")
            .refuses(NOT_GIVEN_BACK)
            .numbered(),
        Route::new("post", "/v1/elections/{name}/hand-over", post(elections::pass_on), pass_on)
            .needs(Right::Acquire)
            .takes("HandOver")
            .gives("HandedOver")
            .replicated()
            .refuses(NOT_HANDED_OVER)
            .numbered(),
        Route::new("post", "/v1/elections/{name}/resign", post(elections::resign), "Steps down.")
            .takes("Release")
            .gives("Released")
            .refuses(NOT_GIVEN_BACK)
            .numbered()
            .urgent(),
        Route::new("delete", leave, delete(elections::withdraw), WITHDRAW)
            .takes("Withdraw")
            .gives("Withdrawn")
            .refuses(NOT_WITHDRAWN)
            .numbered()
            .urgent(),
    ]
}

fn views_of_elections() -> Vec<Route> {
    let observe = "An election now, and again whenever it changes.";
    vec![
        Route::new("get", "/v1/elections", get(elections::list), "All elections, in pages.")
            .gives("Elections")
            .reads_also(LISTED),
        Route::new("get", "/v1/elections/{name}", get(elections::one), "One election.")
            .needs(Right::Read)
            .gives("Election"),
        Route::new("get", "/v1/elections/{name}/observe", get(streams::observe), observe)
            .needs(Right::Read)
            .answers(Gives::Stream("Election")),
    ]
}

fn of_values() -> Vec<Route> {
    let change = "Changes a value, unless the fence is stale.";
    let forget = "Empties a value; its name and fence stay (replicated engine).";
    vec![
        Route::new(
            "get",
            "/v1/values/{name}",
            get(values::get),
            "A value; with a classic engine, node 1 keeps it.",
        )
        .needs(Right::Read)
        .gives("Value")
        .refuses(&[Code::NotFound, Code::Unsupported]),
        Route::new("put", "/v1/values/{name}", put(values::put), change)
            .needs(Right::Acquire)
            .takes("NewValue")
            .gives("Value")
            .refuses(NOT_WRITTEN)
            .numbered(),
        Route::new("delete", "/v1/values/{name}", delete(values::forget), forget)
            .reads(Takes::Ignored)
            .gives("Value")
            .refuses(&[Code::NotFound])
            .replicated()
            .needs(Right::Admin),
    ]
}

fn of_the_node() -> Vec<Route> {
    let cluster = "The cluster as this node sees it.";
    let events = "What happened lately, and what happens.";
    let ready = "Whether this node can serve now.";
    vec![
        Route::new("get", "/v1/cluster", get(sessions::cluster), cluster).gives("Cluster").urgent(),
        Route::new("get", "/v1/events", get(streams::events), events)
            .answers(Gives::Stream("LiveEvent")),
        Route::new("get", "/metrics", get(metrics::metrics), "Numbers for Prometheus.")
            .needs_metrics()
            .answers(Gives::Text)
            .urgent(),
        Route::new("get", LIVES, get(sessions::health), "Whether it lives.")
            .free()
            .answers(Gives::Text)
            .urgent(),
        Route::new("get", "/readyz", get(sessions::ready), ready)
            .free()
            .answers(Gives::Text)
            .urgent(),
        Route::new("get", "/openapi.json", get(sessions::description), "This document.")
            .free()
            .answers(Gives::AnyJson),
    ]
}

fn of_members() -> Vec<Route> {
    let all = "/v1/cluster/members";
    let add = "Takes a node with an empty disk in, without a vote (replicated engine).";
    let promote = "Gives a node its vote (replicated engine).";
    let transfer = "Has another node lead (replicated engine).";
    let backup = "A backup of this node's table (replicated engine).";
    let one = "/v1/cluster/members/{member}";
    let refused = &[Code::NotFound, Code::Conflict];
    let changed =
        |route: Route| route.gives("Members").refuses(refused).needs_all(Right::Admin).replicated();
    vec![
        Route::new("get", all, get(members::list), "Who belongs to the cluster.")
            .gives("Members")
            .replicated(),
        changed(Route::new("post", all, post(members::add), add).takes("NewMember")),
        changed(
            Route::new("delete", one, delete(members::remove), "A member leaves.")
                .reads(Takes::Ignored),
        ),
        changed(
            Route::new("post", "/v1/cluster/promote", post(members::promote), promote)
                .takes("Promote"),
        ),
        changed(
            Route::new("post", "/v1/cluster/transfer", post(members::transfer), transfer)
                .takes("Transfer"),
        ),
        Route::new("post", "/v1/cluster/snapshot", post(members::snapshot), backup)
            .reads(Takes::Ignored)
            .answers(Gives::Bytes)
            .replicated()
            .needs_all(Right::Admin),
    ]
}
