//! `conclave cluster`: who belongs to a replicated cluster, who leads it, and its backups.

mod restore;

use crate::connection::{self, Connection};
use crate::failure::{Exit, Usage};
use crate::holding;
use crate::output::table::Table;
use crate::output::{self, good, json, odd, width};
use crate::texts::{phrase, tr};
use anyhow::Context;
use conclave_client::api::limits::{self, shown};
use conclave_client::api::{Member, Members, NewMember};
use conclave_client::{Client, Error};
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// A leader that is well tells sooner than this.
const LOOK: Duration = Duration::from_secs(1);
/// Who leads after a hand-over is asked so often, and after such a pause.
const LED_LOOKS: usize = 20;
const LED_PAUSE: Duration = Duration::from_millis(100);

/// Who belongs to a replicated cluster, who leads it, and its backups
#[derive(Debug, clap::Args)]
#[command(disable_help_subcommand = true)]
#[command(after_help = "Examples:\n  \
    conclave cluster members\n  \
    conclave cluster transfer --to 2 --admin-token-file admin-token\n  \
    conclave cluster snapshot backup.snap --admin-token-file admin-token")]
pub struct ClusterArguments {
    #[command(subcommand)]
    act: Act,
}

#[derive(Debug, clap::Subcommand)]
enum Act {
    Members(List),
    Add(Add),
    Remove(Remove),
    Promote(Promote),
    Transfer(Transfer),
    Snapshot(Snapshot),
    Restore(restore::Restore),
}

/// Where the cluster is, and what shows that this may be asked of it.
#[derive(Debug, clap::Args)]
struct Admin {
    #[command(flatten)]
    connection: Connection,
    /// The file with the admin token; without, CONCLAVE_ADMIN_TOKEN_FILE
    #[arg(long, value_name = "FILE")]
    admin_token_file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The nodes that belong to the cluster, with their votes and how far behind they are
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave cluster members")]
struct List {
    #[command(flatten)]
    admin: Admin,
}

/// Takes a node with an empty disk in, as a learner without a vote
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    conclave cluster add 4 --peer 10.0.0.4:7100 --api 10.0.0.4:7070 \
    --admin-token-file admin-token")]
struct Add {
    /// Its number, which no member has
    #[arg(value_name = "ID")]
    id: u32,
    /// Where other nodes reach it
    #[arg(long, value_name = "HOST:PORT")]
    peer: String,
    /// Where its API is
    #[arg(long, value_name = "HOST:PORT")]
    api: String,
    /// The number of its disk, which it prints when it starts; without, it is asked
    #[arg(long, value_name = "HEX")]
    disk: Option<String>,
    #[command(flatten)]
    admin: Admin,
}

/// A node belongs to the cluster no longer
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave cluster remove 3 --admin-token-file admin-token")]
struct Remove {
    /// Its number
    #[arg(value_name = "ID")]
    id: u32,
    #[command(flatten)]
    admin: Admin,
}

/// Gives a learner its vote
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  conclave cluster promote 4 --admin-token-file admin-token")]
struct Promote {
    /// Its number
    #[arg(value_name = "ID")]
    id: u32,
    #[command(flatten)]
    admin: Admin,
}

/// Has another node lead
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Example:\n  conclave cluster transfer --to 2 --admin-token-file admin-token"
)]
struct Transfer {
    /// Which; without, the voter that is least behind
    #[arg(long, value_name = "ID")]
    to: Option<u32>,
    #[command(flatten)]
    admin: Admin,
}

/// Writes a backup of the table into a file
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  \
    conclave cluster snapshot backup.snap --admin-token-file admin-token")]
struct Snapshot {
    /// The file; one that is there is not overwritten
    #[arg(value_name = "FILE")]
    file: PathBuf,
    #[command(flatten)]
    admin: Admin,
}

/// Asks the cluster, and tells who belongs to it then.
pub fn run(arguments: &ClusterArguments) -> anyhow::Result<Exit> {
    match &arguments.act {
        Act::Members(List { admin }) => admin.show(Client::members),
        Act::Add(arguments) => add(arguments),
        Act::Remove(Remove { id, admin }) => {
            admin.show(|client| client.remove_member(*id).map(|left| once_led(client, left, None)))
        }
        Act::Promote(Promote { id, admin }) => admin.show(|client| client.promote(*id)),
        Act::Transfer(Transfer { to, admin }) => {
            admin.show(|client| client.transfer(*to).map(|moved| once_led(client, moved, *to)))
        }
        Act::Snapshot(arguments) => snapshot(arguments),
        Act::Restore(arguments) => restore::run(arguments),
    }
}

impl Admin {
    fn client(&self) -> anyhow::Result<Client> {
        let typed = self.admin_token_file.clone();
        let Some(file) = typed.or_else(|| connection::set("CONCLAVE_ADMIN_TOKEN_FILE")) else {
            return self.connection.client();
        };
        let token = fs::read_to_string(&file)
            .with_context(|| format!("--admin-token-file {}: cannot be read", file.display()))?;
        let token = token.trim();
        let plain = !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic());
        if !plain {
            let words = format!("--admin-token-file {}: holds no token", file.display());
            return Err(Usage(words).into());
        }
        self.connection.client_with(Some(token))
    }

    fn show(&self, ask: impl Fn(&Client) -> Result<Members, Error>) -> anyhow::Result<Exit> {
        let client = self.client()?;
        let members = ask(&client).map_err(explained)?;
        let members = as_the_leader_knows(&client, members);
        output::print(&if self.json { json::pretty(&members)? } else { text(&members) })?;
        Ok(Exit::Done)
    }
}

/// Who led has handed over, and it takes a moment until all know to whom.
fn once_led(client: &Client, mut members: Members, to: Option<u32>) -> Members {
    for _ in 0..LED_LOOKS {
        let leader = members.members.iter().find(|member| member.leads);
        if leader.is_some_and(|leader| to.is_none_or(|to| to == leader.id)) {
            break;
        }
        thread::sleep(LED_PAUSE);
        members = client.members().unwrap_or(members);
    }
    members
}

/// Only the leader knows how far behind the others are.
fn as_the_leader_knows(client: &Client, members: Members) -> Members {
    let leader = members.members.iter().find(|member| member.leads);
    if leader.is_none() || members.members.iter().any(|member| member.lag.is_some()) {
        return members;
    }
    let there = leader.and_then(|leader| client.at(&leader.api).ok());
    let asked = there.and_then(|there| there.within(LOOK).members().ok());
    asked.filter(|asked| asked.as_of_index >= members.as_of_index).unwrap_or(members)
}

/// The same error, with the flag that helps.
fn explained(error: Error) -> anyhow::Error {
    let flag = "--admin-token-file FILE or CONCLAVE_ADMIN_TOKEN_FILE names its file";
    let Error::Refused { status: 401, failure, .. } = &error else {
        return holding::explained(error);
    };
    match failure.error.message.contains("admin token") {
        true => anyhow::anyhow!("{error}; {flag}"), // Another token would not do.
        false => anyhow::anyhow!("{}; {flag}", holding::explained(error)),
    }
}

fn add(arguments: &Add) -> anyhow::Result<Exit> {
    let member = NewMember {
        id: arguments.id,
        peer: arguments.peer.clone(),
        api: arguments.api.clone(),
        disk: arguments.disk.clone(),
    };
    limits::member(&member).map_err(|error| Usage(error.to_string()))?;
    arguments.admin.show(|client| client.add_member(&member))
}

fn snapshot(arguments: &Snapshot) -> anyhow::Result<Exit> {
    let Snapshot { file, admin } = arguments;
    let failed = || format!("{}: cannot be written", file.display());
    // For its owner alone: the ids of sessions are in it, and who has one can use what it holds.
    let options = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
    let mut written = options.open(file).with_context(failed)?; // Before it is asked for.
    let bytes = admin.client().and_then(|client| client.snapshot().map_err(explained));
    let bytes = bytes.inspect_err(|_| drop(fs::remove_file(file)))?;
    let kept = std::io::Write::write_all(&mut written, &bytes).and_then(|()| written.sync_all());
    kept.with_context(failed)?;
    if conclave_replica::is_undated(&bytes) {
        output::warn(
            "the node reached no leader, so its table may be old: a cluster that is restored from \
             this backup begins with fences far above the others",
        );
    }
    let length = bytes.len();
    let path = file.display();
    output::print(&match admin.json {
        true => json::pretty(&serde_json::json!({ "file": path.to_string(), "bytes": length }))?,
        false => format!("{}\n", tr(&format!("{length} bytes in {path}"))),
    })?;
    Ok(Exit::Done)
}

fn text(members: &Members) -> String {
    let headings = ["node", "vote", "behind", "API", "links", "disk", ""];
    let mut table = Table::new(width(), &headings);
    for member in &members.members {
        let Member { id, disk, peer, api, vote, leads, lag } = member;
        let vote = if vote == "voter" { good(shown(vote)) } else { odd(shown(vote)) };
        table.row([
            id.to_string(),
            vote,
            lag.map(|lag| lag.to_string()).unwrap_or_default(),
            shown(api).into_owned(),
            shown(peer).into_owned(),
            disk.chars().take(8).collect(),
            leads.then(|| phrase("leads")).unwrap_or_default().to_string(),
        ]);
    }
    table.render()
}
