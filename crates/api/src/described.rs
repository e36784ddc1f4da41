//! The JSON schemas of the API, derived from its types (with schemars). What a type of Rust does
//! not say is added here: lengths, ranges, letters and closed lists, out of [`crate::limits`].
//!
//! Only tests derive them. What they find is kept in `schemas.json`, which a node carries; so
//! nobody who builds the program has to build schemars.
#![allow(dead_code, reason = "the types of this file are described, and never made")]

mod patterns;
pub mod rules;

use crate::limits::{
    ADDRESS_MAX, FENCE_END, GRACE_MS_MAX, GRACE_MS_MIN, LABEL_MAX, NAME_MAX, NAMED_MAX,
    OPENING_ID_MIN, OWNER_MAX, PAGE_MAX, PERMITS_MAX, PROCLAIMED_MAX, REASON_MAX, REQUEST_ID_MAX,
    STREAM_MAX, TTL_MS_MAX, TTL_MS_MIN, WAIT_MS_MAX, WANTED_MAX,
};
use crate::{acquire, cluster, elections, error, events, locks, members, sessions, values};
use patterns::{address, all_shown, number_up_to};
use schemars::JsonSchema;
use schemars::generate::{Contract, SchemaGenerator, SchemaSettings};
use serde_json::{Map, Value};
use std::path::Path;

/// The name of a lock, an election or a value. In a path, a `/` is written `%2F`.
#[derive(JsonSchema)]
pub struct Name(
    #[schemars(length(min = 1, max = NAME_MAX), regex(pattern = "^[A-Za-z0-9._:/-]+$"))] String,
);

/// The id of a session: a secret.
#[derive(JsonSchema)]
pub struct SessionId(#[schemars(regex(pattern = "^[0-9a-f]{32}$"))] String);

/// A short hash of a session's id, which is no secret.
#[derive(JsonSchema)]
pub struct SessionHash(#[schemars(regex(pattern = "^[0-9a-f]{8}$"))] String);

/// What people see of a session.
#[derive(JsonSchema)]
pub struct Label(#[schemars(length(max = LABEL_MAX), regex(pattern = all_shown()))] String);

/// A repeat with the same id is the same request.
#[derive(JsonSchema)]
pub struct RequestId(
    #[schemars(length(max = REQUEST_ID_MAX), regex(pattern = all_shown()))] String,
);

/// A [`RequestId`] where the engine is the replicated one: a number, which rises from request to
/// request.
#[derive(JsonSchema)]
pub struct NumberedId(#[schemars(regex(pattern = number_up_to(FENCE_END - 1)))] String);

/// The id of a request that was granted; of one that had none, the cluster's own number.
#[derive(JsonSchema)]
pub struct GrantedId(#[schemars(regex(pattern = "^[0-9]{1,20}$"))] String);

/// The id of the request that opens a session. Drawn at random: whoever repeats it is told the
/// session's id.
#[derive(JsonSchema)]
pub struct OpeningId(
    #[schemars(
        length(min = OPENING_ID_MIN, max = REQUEST_ID_MAX),
        regex(pattern = all_shown())
    )]
    String,
);

/// What a leader is known by. The length is in bytes.
#[derive(JsonSchema)]
pub struct Proclaimed(
    #[schemars(length(max = PROCLAIMED_MAX), regex(pattern = all_shown()))] String,
);

/// Why force is used, for the record.
#[derive(JsonSchema)]
pub struct Reason(
    #[schemars(length(min = 1, max = REASON_MAX), regex(pattern = all_shown()))] String,
);

/// The number of an entry: larger than at every earlier one of the same name, whoever made it.
#[derive(JsonSchema)]
pub struct Fence(#[schemars(range(min = 0, max = FENCE_END - 1))] u64);

/// How long a session lives without a keepalive, in milliseconds.
#[derive(JsonSchema)]
pub struct TimeToLive(#[schemars(range(min = TTL_MS_MIN, max = TTL_MS_MAX))] u64);

/// How long to wait at most, in milliseconds.
#[derive(JsonSchema)]
pub struct WaitMs(#[schemars(range(min = 0, max = WAIT_MS_MAX))] u64);

/// How many may hold a lock at once.
#[derive(JsonSchema)]
pub struct Permits(#[schemars(range(min = 1, max = PERMITS_MAX))] u32);

/// How many of a list at most.
#[derive(JsonSchema)]
pub struct PageLimit(#[schemars(range(min = 1, max = PAGE_MAX))] u64);

/// The number of a node.
#[derive(JsonSchema)]
pub struct NodeNumber(#[schemars(range(min = 1, max = u32::MAX))] u32);

/// The number of a session's stream, which rises from one to the next.
#[derive(JsonSchema)]
pub struct StreamNumber(#[schemars(range(min = 0, max = STREAM_MAX))] u64);

/// The thread of control that asks: what has the same one may enter again.
#[derive(JsonSchema)]
pub struct Owner(#[schemars(length(max = OWNER_MAX), regex(pattern = all_shown()))] String);

/// The locks that one request asks for.
#[derive(JsonSchema)]
#[schemars(transform = rules::no_repeats)]
pub struct WantedLocks(#[schemars(length(min = 1, max = WANTED_MAX))] Vec<acquire::WantedLock>);

/// `POST /v1/elections/{name}/campaign`: as for a lock, but there is one leader.
#[derive(JsonSchema)]
#[schemars(transform = rules::exclusive)]
pub struct Campaign(acquire::Acquire);

/// The requests that a client still knows.
#[derive(JsonSchema)]
pub struct OpenRequests(#[schemars(length(max = NAMED_MAX))] Vec<RequestId>);

/// How long a session outlives its stream, in milliseconds.
#[derive(JsonSchema)]
pub struct Grace(#[schemars(range(min = GRACE_MS_MIN, max = GRACE_MS_MAX))] u64);

/// The random number of a node's disk.
#[derive(JsonSchema)]
pub struct DiskId(#[schemars(regex(pattern = "^[0-9a-fA-F]{32}$"))] String);

/// The beginning of the random number of a node's disk.
#[derive(JsonSchema)]
pub struct DiskBeginning(#[schemars(regex(pattern = "^[0-9a-f]{8}$"))] String);

/// `host:port`
#[derive(JsonSchema)]
pub struct Address(#[schemars(length(max = ADDRESS_MAX), regex(pattern = address()))] String);

/// How a lock is asked for. A classic engine knows only the first way.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum AskedMode {
    Exclusive,
    Shared,
}

/// How a lock is held.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum Mode {
    Exclusive,
    Shared,
    Permits,
}

/// A lock and an election of the same name have nothing to do with each other.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum Kind {
    Lock,
    Election,
}

/// Why somebody is in another's way.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum Obstacle {
    Holds,
    Earlier,
}

/// What a node of a replicated cluster is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum Role {
    Leader,
    Follower,
    Candidate,
    Learner,
}

/// What comes on the stream of a session: that it counts, and perhaps that its session has ended.
#[derive(JsonSchema)]
#[schemars(untagged)]
pub enum SessionStream {
    Attached(sessions::StreamBegun),
    Ended(sessions::SessionEnded),
}

/// Why a session has ended.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum EndReason {
    Closed,
    Expired,
    Lapsed,
    Unknown,
}

/// Whether a member counts for majorities.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum Vote {
    Voter,
    Learner,
}

/// What can be said of a lock whose holder was deprived of it.
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub enum Safety {
    FenceOnly,
    Lease,
}

/// Whose knowledge an answer is.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum Scope {
    Node,
    Cluster,
}

/// A lock as one node knows it.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum LockState {
    Free,
    Waiting,
    Held,
}

/// A node as another sees it.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum NodeState {
    #[schemars(rename = "self")]
    Itself,
    Up,
    Suspected,
    Unreachable,
}

/// What an event is about; also its name in the stream.
#[derive(JsonSchema)]
#[schemars(rename_all = "snake_case")]
pub enum EventKind {
    SessionOpened,
    SessionClosed,
    Expired,
    Queued,
    Cancelled,
    Granted,
    Released,
    Lost,
    Revoked,
    Forced,
    Leader,
    Suspected,
    Trusted,
    Connected,
    Disconnected,
    Member,
}

fn generator(contract: Contract) -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.contract = contract;
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
    });
    settings.into_generator()
}

/// All types by name: what a request must say, and what an answer always says.
fn derived() -> Map<String, Value> {
    let mut taken = generator(Contract::Deserialize);
    taken.subschema_for::<sessions::NewSession>();
    taken.subschema_for::<sessions::KeepAlive>();
    taken.subschema_for::<sessions::Ping>();
    taken.subschema_for::<acquire::Acquire>();
    taken.subschema_for::<acquire::AcquireAll>();
    taken.subschema_for::<Campaign>();
    taken.subschema_for::<locks::Release>();
    taken.subschema_for::<locks::Withdraw>();
    taken.subschema_for::<locks::Force>();
    taken.subschema_for::<locks::Verify>();
    taken.subschema_for::<PageLimit>();
    taken.subschema_for::<locks::Order>();
    taken.subschema_for::<NumberedId>();
    taken.subschema_for::<elections::Proclaim>();
    taken.subschema_for::<elections::HandOver>();
    taken.subschema_for::<members::NewMember>();
    taken.subschema_for::<members::Promote>();
    taken.subschema_for::<members::Transfer>();
    taken.subschema_for::<values::NewValue>();
    let mut given = generator(Contract::Serialize);
    given.subschema_for::<sessions::Session>();
    given.subschema_for::<sessions::Sessions>();
    given.subschema_for::<SessionStream>();
    given.subschema_for::<acquire::Grants>();
    given.subschema_for::<locks::Released>();
    given.subschema_for::<locks::Withdrawn>();
    given.subschema_for::<locks::Forced>();
    given.subschema_for::<locks::Verified>();
    given.subschema_for::<locks::Locks>();
    given.subschema_for::<elections::Elections>();
    given.subschema_for::<elections::HandedOver>();
    given.subschema_for::<members::Members>();
    given.subschema_for::<values::Value>();
    given.subschema_for::<cluster::Cluster>();
    given.subschema_for::<events::LiveEvent>();
    given.subschema_for::<error::Failure>();
    together(taken.take_definitions(true), given.take_definitions(true))
}

/// Both, in which a name means one thing.
fn together(mut all: Map<String, Value>, given: Map<String, Value>) -> Map<String, Value> {
    for (name, schema) in given {
        let known = all.insert(name.clone(), schema.clone());
        let same = known.is_none_or(|known| known == schema);
        assert!(same, "a request and an answer mean different things by {name}");
    }
    all
}

#[test]
fn the_kept_schemas_are_those_of_the_types() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/schemas.json");
    let derived = derived();
    if std::env::var_os("REWRITE").is_some() {
        let text = serde_json::to_string_pretty(&derived).expect("plain data");
        std::fs::write(&file, text + "\n").expect("it can be written");
    }
    let kept = std::fs::read_to_string(&file).unwrap_or_default();
    let kept: Map<String, Value> = serde_json::from_str(&kept).unwrap_or_default();
    for (name, schema) in &derived {
        let again = "write them anew: REWRITE=1 cargo test -p conclave-api";
        assert_eq!(kept.get(name), Some(schema), "{name} has changed; {again}");
    }
    assert_eq!(kept.len(), derived.len(), "one more is kept than there are types");
}

#[test]
fn requests_are_closed_and_answers_say_all_that_they_always_say() {
    let derived = derived();
    let of_locks = ["Acquire", "AcquireAll", "Release", "Withdraw", "Force", "Verify"];
    let of_others = ["NewSession", "KeepAlive", "Proclaim", "HandOver", "NewMember", "Transfer"];
    for name in of_locks.into_iter().chain(of_others) {
        assert_eq!(derived[name]["additionalProperties"], false, "{name}");
    }
    let required = derived["Election"]["required"].as_array();
    assert!(required.is_some_and(|names| names.contains(&"leader".into())));
}
