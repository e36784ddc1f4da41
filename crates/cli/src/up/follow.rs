//! Tells what becomes of a cluster, until somebody wants it to stop.

use super::actions::{Order, Wish};
use super::member::{Member, in_words};
use super::roster::{Action, NodeSeen, Roster};
use super::setup::Setup;
use crate::failure::Exit;
use crate::invocation::{called, word};
use crate::output::{bad, good, odd, print, typed};
use crate::texts::tr;
use rustix::process::Signal;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often to look.
const EVERY: Duration = Duration::from_millis(200);
/// How long one node may take to answer at the end.
const PATIENCE: Duration = Duration::from_millis(400);

/// As wide as the time of day that a line begins with.
const INDENT: usize = 11;

/// What was told of the nodes.
struct Told {
    /// Whether each runs as our child, and whether each is ready.
    runs: Vec<bool>,
    ready: Vec<bool>,
    leader: (Option<u32>, u64),
    /// Whether it was said that none is left.
    none_left: bool,
}

/// Follows the cluster, and does what is wished, until somebody wants it to stop. Without a node it
/// goes on: one can be started again from the page. If none is left at the end, that was a failure,
/// and the logs are kept.
pub fn follow(
    setup: &Setup,
    members: &mut [Member],
    roster: &Roster,
    leader: (Option<u32>, u64),
    wishes: &Receiver<Wish>,
) -> anyhow::Result<Exit> {
    let count = members.len();
    let mut told =
        Told { runs: vec![true; count], ready: vec![true; count], leader, none_left: false };
    loop {
        match wishes.recv_timeout(EVERY) {
            Ok(Wish::Stop) if told.none_left => return Ok(Exit::Failed),
            Ok(Wish::Stop) => return Ok(Exit::Done),
            Ok(Wish::Order(order)) => obey(setup, members, roster, order)?,
            Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Failed),
            Err(RecvTimeoutError::Timeout) => {}
        }
        let seen = roster.nodes();
        for (index, (member, seen)) in members.iter_mut().zip(&seen).enumerate() {
            look_at(setup, member, seen, index, &mut told)?;
            let process = member.process();
            if process != seen.process {
                roster.set_process(member.id, process);
            }
        }
        look_for_leader(&seen, &mut told)?;
        look_for_anybody(setup, &seen, &mut told)?;
    }
}

/// Does something to a node, and says so: whoever is at the terminal sees what the page does.
fn obey(
    setup: &Setup,
    members: &mut [Member],
    roster: &Roster,
    order: Order,
) -> anyhow::Result<()> {
    let Order { id, action, reply } = order;
    let found = members.iter_mut().find(|member| member.id == id).zip(roster.node(id));
    let Some((member, seen)) = found else {
        let _ = reply.send(Err(format!("there is no node {id}"))); // The asker may be gone.
        return Ok(());
    };
    let _ = member.ended(); // It may have ended just now.
    let seen = NodeSeen { process: member.process(), ..seen };
    let done = match seen.objection(action) {
        Some(why) => Err(format!("node {id}: {why}")),
        None => act(setup, member, action).map_err(|error| format!("node {id}: {error:#}")),
    };
    let process = member.process();
    roster.set_process(id, process);
    if done.is_ok() {
        let what = match action {
            Action::Kill => "is killed, by the page",
            Action::Pause => "is paused, by the page",
            Action::Resume => "goes on, by the page",
            Action::Restart => "is started again, by the page",
            Action::Isolate => "is cut off from the others, by the page",
            Action::Heal => "can reach the others again, by the page",
        };
        say(&format!("{} {}", odd(format!("node {id}")), tr(what)))?;
    }
    let _ = reply.send(done); // The asker may be gone.
    Ok(())
}

fn act(setup: &Setup, member: &mut Member, action: Action) -> anyhow::Result<()> {
    match action {
        Action::Kill => {
            member.signal(Signal::KILL);
            member.wait(); // So that whoever asks next sees that it is gone.
        }
        Action::Pause => member.pause(true),
        Action::Resume => member.pause(false),
        Action::Restart => member.restart(setup)?,
        Action::Isolate => member.isolate(true)?,
        Action::Heal => member.isolate(false)?,
    }
    Ok(())
}

fn look_at(
    setup: &Setup,
    member: &mut Member,
    seen: &NodeSeen,
    index: usize,
    told: &mut Told,
) -> anyhow::Result<()> {
    let id = member.id;
    match member.ended() {
        Some(status) if told.runs[index] => {
            told.runs[index] = false;
            told.ready[index] = false;
            let reason = member.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
            let how = in_words(status);
            say(&format!("{} {}{reason}", bad(format!("node {id}")), tr(&how)))?;
            let again = format!("{} node --config {}", called(), word(&setup.file(id)));
            return print(&format!(
                "{:INDENT$}{} {}\n",
                "",
                tr("to start it again:"),
                typed(again)
            ));
        }
        Some(_) => {}
        None => told.runs[index] = true,
    }
    let ready = seen.health.ready && seen.health.answers;
    // What was heard before the end says nothing.
    let heard = member.process() == seen.process;
    if heard && ready != told.ready[index] {
        told.ready[index] = ready;
        match ready {
            true => say(&format!("{} {}", good(format!("node {id}")), tr("is back")))?,
            false => say(&format!("{} {}", odd(format!("node {id}")), tr("is not ready")))?,
        }
    }
    Ok(())
}

fn look_for_leader(seen: &[NodeSeen], told: &mut Told) -> anyhow::Result<()> {
    let answering = seen.iter().filter(|node| node.health.answers && node.health.ready);
    let views = answering.filter_map(|node| node.health.view.as_deref());
    let views = views.map(|view| (view["leader"].as_u64(), view["term"].as_u64().unwrap_or(0)));
    // The newest term is the one that counts; who is behind will follow.
    let Some((leader, term)) = views.max_by_key(|(leader, term)| (*term, leader.is_some())) else {
        return Ok(());
    };
    let leader = (leader.and_then(|leader| u32::try_from(leader).ok()), term);
    if leader != told.leader && leader.1 >= told.leader.1 {
        told.leader = leader;
        match leader {
            (Some(node), term) => {
                let leads = format!("leads, in term {term}");
                say(&format!("{} {}", good(format!("node {node}")), tr(&leads)))?;
            }
            (None, _) => say(&odd("nobody leads"))?,
        }
    }
    Ok(())
}

/// Says once that no node is left, and what can be done about it.
fn look_for_anybody(setup: &Setup, seen: &[NodeSeen], told: &mut Told) -> anyhow::Result<()> {
    let answers = seen.iter().any(|node| node.health.answers);
    if told.runs.contains(&true) || answers {
        told.none_left = false;
        return Ok(());
    }
    if told.none_left {
        return Ok(());
    }
    told.none_left = true;
    let left = word(&setup.directory);
    let logs = tr("their logs are in");
    say(&format!("{}; {logs} {left}", bad("no node is left")))?;
    let page = tr("the page can start one again; Ctrl-C ends it all");
    print(&format!("{:INDENT$}{page}\n", ""))
}

/// The nodes that run on though all that were started here have ended: somebody started them again.
pub fn strangers(members: &[Member]) -> Vec<u32> {
    let lives = |member: &&Member| member.client.is_alive_within(PATIENCE);
    members.iter().filter(lives).map(|member| member.id).collect()
}

/// Asks all nodes to stop, and ends those that do not.
pub fn stop(members: &mut [Member], patience: Duration) {
    members.iter().for_each(|member| {
        member.signal(Signal::TERM);
        member.signal(Signal::CONT); // Who is stopped could not hear it.
    });
    let end = Instant::now() + patience;
    while Instant::now() < end && members.iter_mut().any(|member| member.ended().is_none()) {
        std::thread::sleep(Duration::from_millis(20));
    }
    members.iter().for_each(|member| member.signal(Signal::KILL));
    members.iter_mut().for_each(Member::wait);
}

/// One line, with the time of day.
fn say(what: &str) -> anyhow::Result<()> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let hour = seconds / 3_600 % 24;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    print(&format!("{hour:02}:{minute:02}:{second:02}Z  {what}\n"))
}
