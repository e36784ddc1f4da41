//! The catalogue of all metrics, in the order of `docs/metrics.md`. No label takes a value that
//! clients choose: their number stays small.

use super::Engines::{Classic, Replicated};
use super::Metric;

/// All metrics.
pub const ALL: &[&Metric] = &[
    &INFO,
    &UPTIME,
    &READY,
    &READY_CHECK,
    &LEADER,
    &LEADS,
    &TERM,
    &LEADER_CHANGES,
    &LEADER_HEARD,
    &ROLE,
    &MEMBERS,
    &LINK_UP,
    &APPLIED,
    &COMMITTED,
    &LAG,
    &MEMBER_LAG,
    &ACQUIRE,
    &HOLD,
    &COMMIT,
    &FORWARD,
    &FSYNC,
    &SYNCED_BYTES,
    &SESSIONS,
    &LOCKS,
    &HOLDS,
    &WAITERS,
    &QUEUE_LONGEST,
    &LEADERSHIPS,
    &PARKED,
    &UNDER_WAY,
    &ENTRIES,
    &EXPIRIES,
    &FORCED,
    &REFUSALS,
    &CONNECTIONS,
    &CONNECTIONS_LIMIT,
    &LOG_BYTES,
    &LOG_SEGMENTS,
    &SNAPSHOT_AGE,
    &SNAPSHOT_INDEX,
    &SNAPSHOT_BYTES,
    &DISK_FREE,
    &DISK_SIZE,
    &STATE_HASH,
    &STATE_HASH_INDEX,
    &CERTIFICATE_END,
    &API_CERTIFICATE_END,
    &AUDIT_LINES,
    &AUDIT_LOST,
    &MESSAGES,
    &UNACKNOWLEDGED,
    &SUSPECTS,
];

/// What this node is.
pub const INFO: Metric = Metric::gauge(
    "conclave_info",
    "Always 1; the labels say which node this is, of which engine and version.",
)
.by(&["engine", "version", "node"]);

/// How long it has been up.
pub const UPTIME: Metric =
    Metric::gauge("conclave_uptime_seconds", "How long this node has been up.");

/// Whether it can serve.
pub const READY: Metric =
    Metric::gauge("conclave_ready", "1 if this node can serve now, as /readyz says; 0 if not.");

/// What of it is so.
pub const READY_CHECK: Metric = Metric::gauge(
    "conclave_ready_check",
    "1 if this check of /readyz passes; 0 if it fails, and the node is not ready.",
)
.by(&["check"]);

/// Who leads.
pub const LEADER: Metric = Metric::gauge(
    "conclave_leader",
    "The number of the node that leads, with a majority, as far as this node knows; 0 if none.",
);

/// Whether this node does.
pub const LEADS: Metric = Metric::gauge(
    "conclave_leads",
    "1 if this node leads the cluster; 0 if not, or if it hears of no majority while it does.",
);

/// The term.
pub const TERM: Metric = Metric::gauge(
    "conclave_term",
    "The term that this node is in; each election begins a new one.",
);

/// How often it changes.
pub const LEADER_CHANGES: Metric = Metric::counter(
    "conclave_leader_changes_total",
    "How often this node saw another leader, or a new term of the same; the first does not count.",
);

/// How long ago it was heard of.
pub const LEADER_HEARD: Metric = Metric::gauge(
    "conclave_leader_heard_seconds",
    "How long ago this node heard of the leader that it follows; 0 at the leader itself.",
)
.of(Replicated);

/// Leader, follower or what.
pub const ROLE: Metric = Metric::gauge(
    "conclave_role",
    "1 for what this node is: leader, follower, candidate or learner; 0 for the others.",
)
.by(&["role"])
.of(Replicated);

/// How many belong to the cluster.
pub const MEMBERS: Metric = Metric::gauge(
    "conclave_members",
    "Nodes of the cluster, as this one knows it: voters, and learners, which have no vote.",
)
.by(&["vote"])
.of(Replicated);

/// Links.
pub const LINK_UP: Metric = Metric::gauge(
    "conclave_link_up",
    "1 if this other node can be reached from this one; 0 if not.",
)
.by(&["node"]);

/// How far this node has come.
pub const APPLIED: Metric = Metric::gauge(
    "conclave_applied_index",
    "The number of the last change of the log that is in this node's table.",
)
.of(Replicated);

/// How far the cluster has come.
pub const COMMITTED: Metric = Metric::gauge(
    "conclave_committed_index",
    "The number of the last change that a majority has on disk, as far as this node knows.",
)
.of(Replicated);

/// The difference.
pub const LAG: Metric = Metric::gauge(
    "conclave_lag",
    "Committed changes that this node has yet to apply: how far it is behind the leader.",
)
.of(Replicated);

/// As the leader sees it.
pub const MEMBER_LAG: Metric = Metric::gauge(
    "conclave_member_lag",
    "At the leader: changes in its log that this member does not have yet.",
)
.by(&["node"])
.of(Replicated);

/// How long it takes to be let in.
pub const ACQUIRE: Metric = Metric::histogram(
    "conclave_acquire_seconds",
    "From a client's request for a lock or leadership to the answer, granted or not; waits count.",
);

/// How long locks are held.
pub const HOLD: Metric = Metric::histogram(
    "conclave_hold_seconds",
    "How long locks and leaderships were held that ended while this node led.",
)
.of(Replicated);

/// How long consensus takes.
pub const COMMIT: Metric = Metric::histogram(
    "conclave_commit_seconds",
    "At the leader: from the proposal of a change until a majority has it and it is applied.",
)
.of(Replicated);

/// How long a hop takes.
pub const FORWARD: Metric = Metric::histogram(
    "conclave_forward_seconds",
    "From a request that this node passed on to the leader to its answer; waits count.",
)
.of(Replicated);

/// How long the disk takes.
pub const FSYNC: Metric = Metric::histogram(
    "conclave_fsync_seconds",
    "How long this node's disk took to make a write durable; a grant waits for a majority's.",
);

/// How much it is given.
pub const SYNCED_BYTES: Metric =
    Metric::counter("conclave_synced_bytes_total", "Bytes of the log that were made durable.")
        .of(Replicated);

/// Sessions.
pub const SESSIONS: Metric = Metric::gauge(
    "conclave_sessions",
    "Sessions that live: of the cluster (replicated engine), or of this node (classic engine).",
);

/// Locks by state.
pub const LOCKS: Metric = Metric::gauge(
    "conclave_locks",
    "Locks by state, as this node knows them; free ones are forgotten by the replicated engine.",
)
.by(&["state"]);

/// Holds.
pub const HOLDS: Metric = Metric::gauge(
    "conclave_holds",
    "Holds of locks and leaderships; one that is shared counts once for each holder.",
);

/// Who waits.
pub const WAITERS: Metric = Metric::gauge(
    "conclave_waiters",
    "Requests that wait for a lock or a leadership, in all queues.",
);

/// Where most wait.
pub const QUEUE_LONGEST: Metric = Metric::gauge(
    "conclave_queue_longest",
    "Requests in the longest queue of a single lock or election.",
);

/// Elections.
pub const LEADERSHIPS: Metric =
    Metric::gauge("conclave_leaderships", "Elections of clients that have a leader.");

/// Who waits here.
pub const PARKED: Metric =
    Metric::gauge("conclave_parked", "Requests that wait at this node because it leads.")
        .of(Replicated);

/// Who was forwarded here.
pub const UNDER_WAY: Metric =
    Metric::gauge("conclave_under_way", "Requests of other nodes that this one is carrying out.")
        .of(Replicated);

/// Grants.
pub const ENTRIES: Metric = Metric::counter(
    "conclave_entries_total",
    "Locks and leaderships granted; with the replicated engine, while this node led.",
);

/// Expiries.
pub const EXPIRIES: Metric = Metric::counter(
    "conclave_expiries_total",
    "Sessions ended by their client's silence; with the replicated engine, while this node led.",
);

/// Force.
pub const FORCED: Metric = Metric::counter(
    "conclave_forced_releases_total",
    "Holds taken away by force; with the replicated engine, while this node led.",
);

/// Refusals.
pub const REFUSALS: Metric =
    Metric::counter("conclave_refusals_total", "Requests that this node refused, by error code.")
        .by(&["code"]);

/// Connections.
pub const CONNECTIONS: Metric = Metric::gauge(
    "conclave_connections",
    "Open connections of clients; those in the reserve may only make urgent requests.",
)
.by(&["room"]);

/// How many there may be.
pub const CONNECTIONS_LIMIT: Metric = Metric::gauge(
    "conclave_connections_limit",
    "How many connections of clients there may be at once; beyond, idle ones are closed.",
)
.by(&["room"]);

/// The log.
pub const LOG_BYTES: Metric = Metric::gauge(
    "conclave_log_bytes",
    "Bytes that the log takes on disk; it shrinks when a snapshot was made.",
)
.of(Replicated);

/// Its files.
pub const LOG_SEGMENTS: Metric =
    Metric::gauge("conclave_log_segments", "Files of the log, of 16 MiB each as a rule.")
        .of(Replicated);

/// The snapshot.
pub const SNAPSHOT_AGE: Metric = Metric::gauge(
    "conclave_snapshot_age_seconds",
    "How long ago the latest snapshot of the table was written; no line while there is none.",
)
.of(Replicated);

/// How far it goes.
pub const SNAPSHOT_INDEX: Metric = Metric::gauge(
    "conclave_snapshot_index",
    "The number of the last change in the latest snapshot; 0 while there is none.",
)
.of(Replicated);

/// How large it is.
pub const SNAPSHOT_BYTES: Metric = Metric::gauge(
    "conclave_snapshot_bytes",
    "Bytes of the latest snapshot; 0 while there is none.",
)
.of(Replicated);

/// The file system.
pub const DISK_FREE: Metric = Metric::gauge(
    "conclave_disk_free_bytes",
    "Bytes that this node could still write on the file system of its data directory.",
);

/// Its size.
pub const DISK_SIZE: Metric = Metric::gauge(
    "conclave_disk_size_bytes",
    "Size of the file system of this node's data directory.",
);

/// What tables are compared by.
pub const STATE_HASH: Metric = Metric::gauge(
    "conclave_state_hash",
    "The lower 32 bits of the latest hash of this node's table: at the same index all must agree.",
)
.of(Replicated);

/// After which change.
pub const STATE_HASH_INDEX: Metric = Metric::gauge(
    "conclave_state_hash_index",
    "The number of the change after which that hash was taken; 0 while there is none.",
)
.of(Replicated);

/// Certificates.
pub const CERTIFICATE_END: Metric = Metric::gauge(
    "conclave_certificate_end_timestamp_seconds",
    "When the certificate of this node's links ends, in seconds since 1970; no line without TLS.",
);

/// That of the API.
pub const API_CERTIFICATE_END: Metric = Metric::gauge(
    "conclave_api_certificate_end_timestamp_seconds",
    "When the certificate of this node's API ends, in seconds since 1970; no line without TLS.",
);

/// The audit log.
pub const AUDIT_LINES: Metric = Metric::counter(
    "conclave_audit_lines_total",
    "Lines that were written to the audit log; no line without one.",
);

/// What it lacks.
pub const AUDIT_LOST: Metric = Metric::counter(
    "conclave_audit_lost_total",
    "Lines of the audit log that could not be written; no line without one.",
);

/// Messages of a classic engine.
pub const MESSAGES: Metric = Metric::counter(
    "conclave_messages_sent_total",
    "Messages of the algorithms to other nodes, by what they are for and their kind.",
)
.by(&["machine", "kind"])
.of(Classic);

/// Those that are still under way.
pub const UNACKNOWLEDGED: Metric = Metric::gauge(
    "conclave_unacknowledged",
    "Messages that this other node has yet to acknowledge.",
)
.by(&["node"])
.of(Classic);

/// Whom it suspects.
pub const SUSPECTS: Metric = Metric::gauge(
    "conclave_suspects",
    "Nodes that the failure detector of this one takes for dead.",
)
.of(Classic);
