//! What the page can see of and do to the processes of a local cluster: `/up/*`.
//!
//! To do something takes the token of this run, which a page of another site cannot know, and a
//! connection from this machine; to see what was recorded takes the token. The processes belong to
//! the thread that started them (see [`Member::start`](super::Member)), so an action is an order to
//! that thread.

use super::problem::{problem, problem_at};
use super::recording::Recordings;
use super::reverse_proxy::pass_on_to;
use super::roster::{Action, NodeSeen, Roster};
use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::{HeaderMap, Request, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use conclave_client::api::Code;
use conclave_service::http::is_token;
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use tokio::sync::oneshot;

/// What wakes the thread that has the processes.
pub enum Wish {
    /// Somebody wants all of it to stop.
    Stop,
    /// Somebody wants something done to a node.
    Order(Order),
}

/// Something to be done to a node.
pub struct Order {
    /// Which.
    pub id: u32,
    /// What.
    pub action: Action,
    /// Where to say that it was done, or why not.
    pub reply: oneshot::Sender<Result<(), String>>,
}

/// What the routes need.
#[derive(Clone)]
pub struct Desk {
    /// The nodes.
    pub roster: Roster,
    /// The token of this run.
    pub token: Arc<str>,
    /// To the thread that has the processes.
    pub wishes: Sender<Wish>,
    /// Where the nodes write down what they do, if they do.
    pub recordings: Option<Recordings>,
}

impl Desk {
    /// Whether a caller shows the token of this run.
    pub fn is_shown(&self, headers: &HeaderMap) -> bool {
        shows(headers, &self.token)
    }
}

/// What is told somebody who does not.
pub fn unknown_caller() -> Response {
    let words = "this takes the token that 'conclave up' shows: authorization: Bearer TOKEN";
    problem(Code::Unauthorized, words)
}

/// Who is at the other end of a connection.
#[derive(Clone, Copy, Debug)]
pub struct Caller(pub SocketAddr);

/// `GET /up/nodes`
pub async fn nodes(State(desk): State<Desk>) -> Json<Value> {
    let nodes: Vec<Value> = desk.roster.nodes().iter().map(shown).collect();
    Json(json!({ "nodes": nodes, "recorded": desk.recordings.is_some() }))
}

fn shown(node: &NodeSeen) -> Value {
    let possible = Action::ALL.into_iter().filter(|action| node.objection(*action).is_none());
    json!({
        "id": node.id,
        "api": node.api,
        "pid": node.process.pid,
        "state": node.state(),
        "answers": node.health.answers,
        "ready": node.health.ready,
        "heard_ms": u64::try_from(node.health.heard.elapsed().as_millis()).unwrap_or(u64::MAX),
        "can": possible.map(Action::name).collect::<Vec<&str>>(),
        "view": node.health.view.as_deref(),
    })
}

/// `/up/nodes/{id}/v1/*` and `/up/nodes/{id}/metrics`: the API of this very node. With a classic
/// engine each knows its own sessions only.
pub async fn api_of(
    State(desk): State<Desk>,
    Path(parts): Path<Vec<(String, String)>>,
    mut request: Request<Body>,
) -> Response {
    let id = parts.into_iter().next().map(|(_, id)| id).unwrap_or_default();
    let Some(node) = known(&desk, &id) else { return nobody(&id) };
    let Some(own) = own_address(request.uri(), &id) else {
        return problem(Code::BadRequest, "no such address");
    };
    *request.uri_mut() = own;
    match node.health.answers {
        true => pass_on_to(&desk.roster, &node, request).await,
        false => problem(Code::Unavailable, format!("node {id} does not answer")),
    }
}

/// The address as the node has it: all behind its number, as it came.
fn own_address(asked: &Uri, id: &str) -> Option<Uri> {
    let asked = asked.path_and_query()?.as_str();
    asked.strip_prefix("/up/nodes/")?.strip_prefix(id)?.parse().ok()
}

/// `POST /up/nodes/{id}/{action}`
pub async fn act(
    State(desk): State<Desk>,
    Path((id, action)): Path<(String, String)>,
    caller: axum::Extension<Caller>,
    headers: HeaderMap,
) -> Response {
    if !caller.0.0.ip().to_canonical().is_loopback() {
        return problem(Code::Forbidden, "nodes are acted on from their own machine only");
    }
    if !desk.is_shown(&headers) {
        return unknown_caller();
    }
    let Some(node) = known(&desk, &id) else { return nobody(&id) };
    let Some(action) = Action::named(&action) else {
        let all = Action::ALL.map(Action::name).join(", ");
        return problem(Code::NotFound, format!("no such action; there are {all}"));
    };
    let (reply, answer) = oneshot::channel();
    if desk.wishes.send(Wish::Order(Order { id: node.id, action, reply })).is_err() {
        return problem(Code::Unavailable, "the cluster is stopping");
    }
    match answer.await {
        Ok(Ok(())) => {
            let node = desk.roster.node(node.id).unwrap_or(node);
            Json(shown(&node)).into_response()
        }
        Ok(Err(why)) => problem_at(StatusCode::CONFLICT, Code::Conflict, why),
        Err(_) => problem(Code::Unavailable, "the cluster is stopping"),
    }
}

fn known(desk: &Desk, id: &str) -> Option<NodeSeen> {
    id.parse().ok().and_then(|id| desk.roster.node(id))
}

fn nobody(id: &str) -> Response {
    problem(Code::NotFound, format!("there is no node {id:?} here"))
}

fn shows(headers: &HeaderMap, token: &str) -> bool {
    let shown = headers.get(header::AUTHORIZATION).and_then(|shown| shown.to_str().ok());
    let shown = shown.and_then(|shown| shown.split_once(' '));
    shown.is_some_and(|(kind, shown)| kind.eq_ignore_ascii_case("bearer") && is_token(shown, token))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_a_node_is_what_comes_behind_its_number() {
        let own = |asked: &str| own_address(&asked.parse().unwrap(), "12").map(|it| it.to_string());
        let lock = "/up/nodes/12/v1/locks/a%2Fb?explain=true";
        assert_eq!(own(lock), Some("/v1/locks/a%2Fb?explain=true".to_string()));
        assert_eq!(own("/up/nodes/12/metrics"), Some("/metrics".to_string()));
        assert_eq!(own("/up/nodes/3/metrics"), None);
    }

    #[test]
    fn only_the_whole_token_counts() {
        let shows = |value: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::AUTHORIZATION, axum::http::HeaderValue::from_static(value));
            shows(&headers, "secret")
        };
        assert!(shows("Bearer secret") && shows("bearer secret"));
        assert!(!shows("Bearer secre") && !shows("Bearer secrets") && !shows("Basic secret"));
        assert!(!shows("secret") && !shows("Bearer") && !shows(""));
    }
}
