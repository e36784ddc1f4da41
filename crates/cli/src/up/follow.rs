//! Tells what becomes of a cluster, until somebody wants it to stop.

use super::member::{Member, in_words};
use super::setup::Setup;
use crate::failure::Exit;
use crate::invocation::{called, word};
use crate::output::{bad, good, odd, print, typed};
use crate::texts::tr;
use rustix::process::Signal;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// How often to look.
const EVERY: Duration = Duration::from_millis(500);
/// How long one node may take to answer meanwhile.
const PATIENCE: Duration = Duration::from_millis(400);

/// As wide as the time of day that a line begins with.
const INDENT: usize = 11;

/// What is known of the nodes.
struct Known {
    /// Whether each runs as our child, and whether each answers.
    runs: Vec<bool>,
    answers: Vec<bool>,
    leader: (Option<u32>, u64),
}

/// Follows the cluster until a signal comes, or until no node is left.
pub fn follow(
    setup: &Setup,
    members: &mut [Member],
    leader: (Option<u32>, u64),
    signals: &Receiver<Signal>,
) -> anyhow::Result<Exit> {
    let count = members.len();
    let mut known = Known { runs: vec![true; count], answers: vec![true; count], leader };
    loop {
        match signals.recv_timeout(EVERY) {
            Ok(_) => return Ok(Exit::Done),
            Err(RecvTimeoutError::Disconnected) => return Ok(Exit::Failed),
            Err(RecvTimeoutError::Timeout) => {}
        }
        for (index, member) in members.iter_mut().enumerate() {
            look_at(setup, member, index, &mut known)?;
        }
        look_for_leader(members, &mut known)?;
        if !known.runs.contains(&true) && !known.answers.contains(&true) {
            let left = word(&setup.directory);
            let logs = tr("their logs are in");
            say(&format!("{}; {logs} {left}", bad("no node is left")))?;
            return Ok(Exit::Failed);
        }
    }
}

fn look_at(
    setup: &Setup,
    member: &mut Member,
    index: usize,
    known: &mut Known,
) -> anyhow::Result<()> {
    let id = member.id;
    if known.runs[index]
        && let Some(status) = member.ended()
    {
        known.runs[index] = false;
        known.answers[index] = false;
        let reason = member.reason().map(|reason| format!(": {reason}")).unwrap_or_default();
        let how = in_words(status);
        say(&format!("{} {}{reason}", bad(format!("node {id}")), tr(&how)))?;
        let again = format!("{} node --config {}", called(), word(&setup.file(id)));
        print(&format!("{:INDENT$}{} {}\n", "", tr("to start it again:"), typed(again)))?;
    }
    let answers = member.client.is_ready_within(PATIENCE);
    if answers != known.answers[index] {
        known.answers[index] = answers;
        match answers {
            true => say(&format!("{} {}", good(format!("node {id}")), tr("is back")))?,
            false => say(&format!("{} {}", odd(format!("node {id}")), tr("is not ready")))?,
        }
    }
    Ok(())
}

fn look_for_leader(members: &[Member], known: &mut Known) -> anyhow::Result<()> {
    let answering = members.iter().zip(&known.answers).filter(|(_, answers)| **answers);
    let views = answering.filter_map(|(member, _)| member.client.cluster().ok());
    // The newest term is the one that counts; who is behind will follow.
    let Some(view) = views.max_by_key(|view| (view.term, view.leader.is_some())) else {
        return Ok(());
    };
    let leader = (view.leader, view.term);
    if leader != known.leader && leader.1 >= known.leader.1 {
        known.leader = leader;
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
