//! `conclave mc714 ring`: one process of a ring that elects a leader.
//!
//! A list or a result is answered 200 as soon as it is understood, and sent on afterwards. The
//! original sends it on first, so that each process waits for all behind it; with a limit on
//! waiting, one process that hangs would make all before it look dead.

use super::calling::{Answer, Base, Bases, Caller};
use super::log::{Log, words};
use super::serving::{self, Refused};
use crate::failure::{Exit, Usage, ip_port};
use crate::mc714::circle::{Act, Circle, Outcome};
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::mpsc;

/// The longest ring.
const PROCESSES_MAX: u32 = 1_000;
/// How much may wait to be sent; what comes on top is refused.
const OUTBOX_MAX: usize = 1_024;

/// One process of a ring that elects a leader
///
/// Looks after its successor; if that is the leader and dies, an election goes round. GET
/// /health_check says that it is well, and GET /kill makes it answer 500 to all that follows.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example, one of two processes:\n  \
    conclave mc714 ring --id 1 --leader 2 --listen 127.0.0.1:5001 \\\n    \
    --peers http://127.0.0.1:5001,http://127.0.0.1:5002")]
pub struct Ring {
    /// Its id, from 1
    #[arg(long, value_name = "K", value_parser = super::id)]
    id: u32,
    /// Who leads at first
    #[arg(long, value_name = "L", value_parser = super::id)]
    leader: u32,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", value_parser = ip_port)]
    listen: SocketAddr,
    /// All processes in the order of their ids, this one included
    #[arg(long, value_name = "URL,URL,...", value_parser = Base::parse_all)]
    peers: Bases,
    /// From one look at the successor to the next
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = super::positive_span)]
    poll: Duration,
    /// How long to wait for an answer; without one, a process is dead
    #[arg(long, value_name = "TIME", default_value = "3s", value_parser = super::positive_span)]
    timeout: Duration,
}

/// Serves until it is stopped.
pub async fn run(arguments: &Ring) -> anyhow::Result<Exit> {
    let n = arguments.peers.n();
    let me = arguments.id;
    if n > PROCESSES_MAX {
        let takes = format!("takes at most {PROCESSES_MAX}");
        return Err(Usage::flag("--peers", format!("of {n}"), takes).into());
    }
    for (flag, id) in [("--id", me), ("--leader", arguments.leader)] {
        if id > n {
            return Err(Usage::flag(flag, id, format!("--peers names {n} processes")).into());
        }
    }
    let (listener, address) = serving::listen(arguments.listen).await?;
    let (outbox, letters) = mpsc::channel(OUTBOX_MAX);
    let node = Node {
        me,
        n,
        circle: Arc::new(Mutex::new(Circle::new(me, n, arguments.leader))),
        killed: Arc::new(AtomicBool::new(false)),
        outbox,
        peers: arguments.peers.clone(),
        caller: Caller::new(arguments.timeout),
        log: Log::new(format!("ring {me}")),
    };
    node.log.say(format!("listens on http://{address}; the leader is {}", arguments.leader));
    let router = router(&node);
    let log = node.log.clone();
    let poll = arguments.poll;
    tokio::spawn(node.clone().send_all(letters));
    serving::serve_while(listener, router, node.watch(poll)).await?;
    log.say("stopped");
    Ok(Exit::Done)
}

fn router(node: &Node) -> Router {
    Router::new()
        .route("/health_check", get(async || StatusCode::OK))
        .route("/kill", get(kill))
        .route("/start_election", post(start_election))
        .route("/inform_results", post(inform_results))
        .layer(middleware::from_fn_with_state(node.clone(), answer_if_alive))
        .with_state(node.clone())
}

#[derive(Clone)]
struct Node {
    me: u32,
    n: u32,
    circle: Arc<Mutex<Circle>>,
    killed: Arc<AtomicBool>,
    outbox: mpsc::Sender<Act>,
    peers: Bases,
    caller: Caller,
    log: Log,
}

impl Node {
    fn circle(&self) -> MutexGuard<'_, Circle> {
        self.circle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_killed(&self) -> bool {
        self.killed.load(Ordering::SeqCst)
    }

    /// One step of the state machine; what it wants sent is put in the outbox.
    fn step(&self, step: impl FnOnce(&mut Circle) -> Vec<Act>) -> Result<(), Refused> {
        let mut circle = self.circle();
        for act in step(&mut circle) {
            if let Act::Elected(outcome) = &act {
                self.log.say(elected(self.me, outcome));
            } else if self.outbox.try_send(act).is_err() {
                let why = "too much waits to be sent".to_string();
                self.log.say(&why);
                return Err(Refused(StatusCode::SERVICE_UNAVAILABLE, why));
            }
        }
        Ok(())
    }

    /// Sends what is in the outbox, one after the other.
    async fn send_all(self, mut letters: mpsc::Receiver<Act>) {
        while let Some(act) = letters.recv().await {
            if self.is_killed() {
                continue; // The dead send nothing.
            }
            let (to, path, body) = match act {
                Act::StartElection { to, clients } => {
                    self.log.say(format!("passes the list {clients:?} to {to}"));
                    (to, "/start_election", json!({ "clients": clients }))
                }
                Act::InformResults { to, outcome } => {
                    let Outcome { clients, coordinator, starter } = outcome;
                    let body = json!({
                        "clients": clients, "coordinator": coordinator, "starter": starter,
                    });
                    self.log.say(format!("tells {to} that {coordinator} leads"));
                    (to, "/inform_results", body)
                }
                Act::Elected(_) => continue, // Said already.
            };
            if let Err(why) =
                self.call(to, move |caller, base| caller.post_json(base, path, &body)).await
            {
                self.find_dead(to, &why);
            }
        }
    }

    /// Looks after the successor for ever.
    async fn watch(self, poll: Duration) {
        let mut looks = tokio::time::interval_at(tokio::time::Instant::now() + poll, poll);
        looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if self.is_killed() {
                return std::future::pending().await;
            }
            let watched = self.circle().watched();
            for process in watched {
                let look =
                    self.call(process, |caller, base| caller.get(base, "/health_check", &[]));
                match look.await {
                    Ok(_) => self.find_alive(process),
                    Err(why) => self.find_dead(process, &why),
                }
            }
        }
    }

    /// Calls a process; whatever comes but a good answer is a reason to take it for dead.
    async fn call(
        &self,
        to: u32,
        call: impl FnOnce(&Caller, &Base) -> Result<Answer, String> + Send + 'static,
    ) -> Result<(), String> {
        let caller = self.caller.clone();
        let base = self.peers.of(to).cloned();
        let base = base.ok_or("is no process of this ring")?;
        let called = tokio::task::spawn_blocking(move || call(&caller, &base)?.good()).await;
        called.map_err(|error| error.to_string())?.map(|_| ())
    }

    fn find_dead(&self, process: u32, why: &str) {
        if self.is_killed() {
            return;
        }
        let (known, leader) = {
            let circle = self.circle();
            (circle.is_dead(process), circle.leader())
        };
        if !known {
            let so = if process == leader { "it led: an election" } else { "it is skipped" };
            self.log.say(format!("{process} is dead, {so} ({})", words(why)));
        }
        // If nothing can be sent now, the next look at it will find that out again.
        let _ = self.step(|circle| circle.on_dead(process));
    }

    fn find_alive(&self, process: u32) {
        if self.circle().is_dead(process) {
            self.log.say(format!("{process} is back"));
            let _ = self.step(|circle| circle.on_alive(process));
        }
    }
}

fn elected(me: u32, outcome: &Outcome) -> String {
    let Outcome { clients, coordinator, starter } = outcome;
    let who = if me == *coordinator { "leads now" } else { "leads" };
    format!("{coordinator} {who}; alive are {clients:?}, found by {starter}")
}

/// Whoever was killed answers 500, whatever is asked.
async fn answer_if_alive(State(node): State<Node>, request: Request, next: Next) -> Response {
    if node.is_killed() {
        return StatusCode::INTERNAL_SERVER_ERROR.into_response();
    }
    next.run(request).await
}

async fn kill(State(node): State<Node>) -> StatusCode {
    node.killed.store(true, Ordering::SeqCst);
    node.log.say("is killed, and answers 500 from now on");
    StatusCode::OK
}

async fn start_election(State(node): State<Node>, request: Request) -> Result<StatusCode, Refused> {
    let body = serving::json_of(request).await?;
    let clients = match body.get("clients") {
        None | Some(Value::Null) => Vec::new(),
        Some(clients) => ids(clients, node.n)?,
    };
    node.log.say(if clients.is_empty() {
        "is asked to hold an election".to_string()
    } else {
        format!("gets the list {clients:?}")
    });
    node.step(|circle| circle.on_list(&clients))?;
    Ok(StatusCode::OK)
}

async fn inform_results(State(node): State<Node>, request: Request) -> Result<StatusCode, Refused> {
    let body = serving::json_of(request).await?;
    let mut clients = ids(body.get("clients").unwrap_or(&Value::Null), node.n)?;
    clients.sort_unstable();
    let field = |name| id(body.get(name).unwrap_or(&Value::Null), node.n);
    let coordinator = field("coordinator")?;
    let starter = field("starter")?;
    if !clients.contains(&coordinator) {
        return Err(Refused::bad(format!(
            "the coordinator {coordinator} is not among the clients"
        )));
    }
    node.step(|circle| circle.on_outcome(Outcome { clients, coordinator, starter }))?;
    Ok(StatusCode::OK)
}

fn ids(list: &Value, n: u32) -> Result<Vec<u32>, Refused> {
    let list = list.as_array().ok_or_else(|| Refused::bad("clients must be a list of ids"))?;
    if list.len() > n as usize {
        return Err(Refused::bad(format!("clients has more than {n} ids")));
    }
    let ids = list.iter().map(|value| id(value, n)).collect::<Result<Vec<u32>, Refused>>()?;
    match (1..).zip(&ids).find(|&(after, id)| ids[after..].contains(id)) {
        Some((_, twice)) => Err(Refused::bad(format!("clients has {twice} twice"))),
        None => Ok(ids),
    }
}

fn id(value: &Value, n: u32) -> Result<u32, Refused> {
    let id = value.as_u64().and_then(|id| u32::try_from(id).ok());
    id.filter(|id| (1..=n).contains(id)).ok_or_else(|| {
        Refused::bad(format!("{} is no id from 1 to {n}", words(&value.to_string())))
    })
}
