//! `conclave mc714 coordinator`: keeps a value, and lets in one client at a time.
//!
//! An answer to `/request_access` is the grant: until then the request stays open. A client that
//! hangs up drops its handler, and with it the [`Place`] in line.

use super::log::{Log, words};
use super::serving::{self, Parameters, Refused, parameter};
use crate::failure::{Exit, ip_port};
use crate::mc714::access::{Access, Line, Release, Ticket, Withdrawal};
use crate::mc714::semaphore::Semaphore;
use axum::extract::{Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::future;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;

/// What the resource is at first.
const FIRST_VALUE: i32 = 10;

/// Keep a value and let in one client at a time
///
/// GET /request_access?id=C answers when C is let in, GET /release_access?id=C lets the next in,
/// GET /get_resource?id=C reads the value, and POST /change_resource sets it.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave mc714 coordinator --listen 127.0.0.1:5000")]
pub struct Coordinator {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:5000", value_parser = ip_port)]
    listen: SocketAddr,
    /// How long each read or write of the value takes; the original's took 5s
    #[arg(long, value_name = "TIME", default_value = "0s", value_parser = super::span)]
    work: Duration,
    /// As the original was: anybody may release, whoever hung up still waits, in any order; and 0,
    /// false, "", [] and {} are no values
    #[arg(long)]
    literal: bool,
}

/// Serves until it is stopped.
pub async fn run(arguments: &Coordinator) -> anyhow::Result<Exit> {
    let (listener, address) = serving::listen(arguments.listen).await?;
    let access = if arguments.literal {
        Access::Literal(Semaphore::new())
    } else {
        Access::Line(Line::new())
    };
    let desk = Desk {
        books: Arc::new(Mutex::new(Books {
            access,
            waiting: BTreeMap::new(),
            value: FIRST_VALUE.into(),
        })),
        work: arguments.work,
        log: Log::new("coordinator"),
    };
    let how = if arguments.literal { ", as the original was" } else { "" };
    desk.log.say(format!("listens on http://{address}{how}; the value is {FIRST_VALUE}"));
    let log = desk.log.clone();
    let router = Router::new()
        .route("/request_access", get(request_access))
        .route("/release_access", get(release_access))
        .route("/get_resource", get(get_resource))
        .route("/change_resource", post(change_resource))
        .with_state(desk);
    serving::serve_while(listener, router, future::pending::<()>()).await?;
    log.say("stopped");
    Ok(Exit::Done)
}

#[derive(Clone)]
struct Desk {
    books: Arc<Mutex<Books>>,
    work: Duration,
    log: Log,
}

struct Books {
    access: Access,
    /// Those who are told when they are let in.
    waiting: BTreeMap<Ticket, (u32, oneshot::Sender<()>)>,
    value: Value,
}

impl Desk {
    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stands in line for a client.
    fn ask(&self, client: u32) -> Result<(Place, oneshot::Receiver<()>), Refused> {
        let mut books = self.books();
        let Some(ticket) = books.access.request(client) else {
            let why = "too many wait already; ask again later".to_string();
            return Err(Refused(StatusCode::SERVICE_UNAVAILABLE, why));
        };
        self.log.say(format!("client {client} asks for access"));
        let (tell, turn) = oneshot::channel();
        books.waiting.insert(ticket, (client, tell));
        self.tell_granted(&mut books);
        Ok((Place { desk: self.clone(), ticket, client, kept: false }, turn))
    }

    /// Tells those who have been let in.
    fn tell_granted(&self, books: &mut Books) {
        while let Some(ticket) = books.access.next_granted() {
            let Some((client, tell)) = books.waiting.remove(&ticket) else { continue };
            self.log.say(format!("client {client} is let in"));
            if tell.send(()).is_err() {
                // Its place in line is about to be dropped, and gives this back.
                self.log.say(format!("client {client} is no longer there"));
            }
        }
    }
}

/// A place in line, given up when it is dropped before its client could be answered.
struct Place {
    desk: Desk,
    ticket: Ticket,
    client: u32,
    kept: bool,
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.kept {
            return;
        }
        let mut books = self.desk.books();
        let became = match books.access.withdraw(self.ticket) {
            Withdrawal::LeftTheLine => {
                books.waiting.remove(&self.ticket);
                "and leaves the line"
            }
            Withdrawal::GaveBack => "just when it was let in",
            Withdrawal::Unnoticed => "and nobody takes notice",
        };
        self.desk.log.say(format!("client {} hangs up, {became}", self.client));
        self.desk.tell_granted(&mut books);
    }
}

async fn request_access(
    State(desk): State<Desk>,
    Query(parameters): Query<Parameters>,
) -> Result<StatusCode, Refused> {
    let client = client_of(parameter(&parameters, "id")?)?;
    let (mut place, turn) = desk.ask(client)?;
    let told = turn.await;
    place.kept = told.is_ok();
    let gone = |_| Refused(StatusCode::INTERNAL_SERVER_ERROR, "the coordinator stops".to_string());
    told.map(|()| StatusCode::OK).map_err(gone)
}

async fn release_access(
    State(desk): State<Desk>,
    Query(parameters): Query<Parameters>,
) -> Result<StatusCode, Refused> {
    let client = client_of(parameter(&parameters, "id")?)?;
    let mut books = desk.books();
    match books.access.release(client) {
        Release::Freed => {
            desk.log.say(format!("client {client} releases"));
            desk.tell_granted(&mut books);
            Ok(StatusCode::OK)
        }
        Release::NotYours { holder } => {
            let holder = holder.map_or("nobody".to_string(), |holder| format!("client {holder}"));
            let why = format!("client {client} does not hold the resource; {holder} does");
            desk.log.say(format!("refused: {why}"));
            Err(Refused(StatusCode::CONFLICT, why))
        }
    }
}

async fn get_resource(
    State(desk): State<Desk>,
    Query(parameters): Query<Parameters>,
) -> Result<Json<Value>, Refused> {
    let client = client_of(parameter(&parameters, "id")?)?;
    let outside = outside(&desk.books().access, client);
    tokio::time::sleep(desk.work).await;
    let value = desk.books().value.clone();
    desk.log.say(format!("client {client} reads {}{outside}", words(&value.to_string())));
    Ok(Json(json!({ "value": value })))
}

async fn change_resource(State(desk): State<Desk>, request: Request) -> Result<Response, Refused> {
    let body = serving::json_of(request).await?;
    let value = body.get("value").cloned().unwrap_or_default();
    let literal = matches!(desk.books().access, Access::Literal(_));
    if value.is_null() || literal && is_falsy(&value) {
        let why = "there is no value to write".to_string();
        return Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, why));
    }
    let client = match body.get("id") {
        Some(Value::String(id)) => client_of(id)?,
        Some(id) => client_of(&id.to_string())?,
        None => return Err(Refused::bad("the field id is missing")),
    };
    let outside = outside(&desk.books().access, client);
    tokio::time::sleep(desk.work).await;
    desk.log.say(format!("client {client} writes {}{outside}", words(&value.to_string())));
    desk.books().value = value;
    Ok(Response::default())
}

/// The original does not mind who reads and writes; here it is at least said.
fn outside(access: &Access, client: u32) -> &'static str {
    if access.holds(client) { "" } else { ", though it was not let in" }
}

/// What the original's language takes for no value.
fn is_falsy(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(truth) => !truth,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
    }
}

fn client_of(id: &str) -> Result<u32, Refused> {
    super::id(id).map_err(|takes| Refused::bad(format!("the id {} is none: it {takes}", words(id))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_is_what_python_takes_for_false() {
        for falsy in [json!(null), json!(false), json!(0), json!(0.0), json!(""), json!([])] {
            assert!(is_falsy(&falsy), "{falsy}");
        }
        for truthy in [json!(true), json!(17), json!("0"), json!([0]), json!({ "a": 0 })] {
            assert!(!is_falsy(&truthy), "{truthy}");
        }
    }
}
