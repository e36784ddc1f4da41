//! Cluster status: the answers of all nodes, merged into one view.

use crate::nodes_view::{self, Standing};
use crate::output::numbers::local;
use crate::output::table::Table;
use crate::output::{dim, odd, strong, width};
use crate::texts::tr;
use conclave_client::api::limits::shown;
use conclave_client::api::{Cluster, Election, Holder, Lock, Node};
use conclave_client::{Client, Error, Known};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::thread;

/// The cluster with everything in it.
#[derive(Debug, Serialize)]
pub struct State {
    /// As the first node that answers sees it, with the newest leader that any of them knows.
    pub cluster: Cluster,
    /// All nodes; those that answer are up.
    pub nodes: Vec<Node>,
    /// The nodes whose API does not answer.
    pub silent: Vec<u32>,
    /// The nodes that answer and cannot serve now, with the checks that fail.
    pub not_ready: BTreeMap<u32, Vec<String>>,
    /// Replicated engine: where each node that answers stands.
    pub replicas: Vec<Standing>,
    /// What each node knows of each lock, by name and node.
    pub locks: Vec<Lock>,
    /// What the leading node knows of each election.
    pub elections: Vec<Election>,
    /// How the nodes are spoken to.
    #[serde(skip)]
    pub scheme: &'static str,
}

/// What one node says.
struct View {
    cluster: Cluster,
    locks: Vec<Lock>,
    elections: Vec<Election>,
    failing: Vec<String>,
}

/// Asks every node.
pub fn gather(client: &Client) -> Result<State, Error> {
    let cluster = client.cluster()?;
    let here = client.at(client.server())?;
    let place = |node: &Node| match node.id == cluster.node {
        true => Ok(here.clone()), // It may be known by another address from afar.
        false => client.at(&node.api),
    };
    let ask = |node: &Node| {
        let client = place(node);
        thread::spawn(move || view(&client.ok()?).ok())
    };
    let asked: Vec<_> = cluster.nodes.iter().map(ask).collect();
    let views: Vec<Option<View>> =
        asked.into_iter().map(|thread| thread.join().ok().flatten()).collect();
    let silent = silent(&cluster, &views);
    let nodes = cluster.nodes.iter().zip(&views).map(|(node, view)| seen(node, view.as_ref()));
    let nodes = nodes.collect();
    let told: Vec<&Cluster> = views.iter().flatten().map(|view| &view.cluster).collect();
    let replicas = nodes_view::standings(&told);
    let not_ready = not_ready(&views);
    let (leader, term) = leader(&cluster, &told);
    let cluster = Cluster { leader, term, ..cluster };
    let mut locks = Vec::new();
    let mut elections = BTreeMap::new();
    for view in telling(&cluster, views.into_iter().flatten().collect()) {
        locks.extend(view.locks);
        for election in view.elections {
            let better = |known: &Election| known.leader.is_none() && known.term <= election.term;
            let known = elections.get(&election.name);
            if known.is_none_or(better) {
                elections.insert(election.name.clone(), election);
            }
        }
    }
    locks.sort_by(|a, b| (&a.name, a.node).cmp(&(&b.name, b.node)));
    let elections = elections.into_values().collect();
    let scheme = client.scheme();
    Ok(State { cluster, nodes, silent, not_ready, replicas, locks, elections, scheme })
}

fn silent(cluster: &Cluster, views: &[Option<View>]) -> Vec<u32> {
    let silent = cluster.nodes.iter().zip(views).filter(|(_, view)| view.is_none());
    silent.map(|(node, _)| node.id).collect()
}

/// The nodes that answer and cannot serve, and why.
fn not_ready(views: &[Option<View>]) -> BTreeMap<u32, Vec<String>> {
    let failing = views.iter().flatten().filter(|view| !view.failing.is_empty());
    failing.map(|view| (view.cluster.node, view.failing.clone())).collect()
}

/// Who leads, and in which term: who knows of the newest term knows; the others will follow.
fn leader(cluster: &Cluster, told: &[&Cluster]) -> (Option<u32>, u64) {
    let newest = told.iter().max_by_key(|seen| (seen.term, seen.leader.is_some()));
    newest.map_or((cluster.leader, cluster.term), |seen| (seen.leader, seen.term))
}

/// The views that tell of locks: all, where each node knows its own sessions; the one that is least
/// behind, where all know the same.
fn telling(cluster: &Cluster, mut views: Vec<View>) -> Vec<View> {
    if cluster.scope == "cluster" {
        views.sort_by_key(|view| view.cluster.applied);
        views.drain(..views.len().saturating_sub(1));
    }
    views
}

impl State {
    /// Whether the cluster knows no locks and elections but those that somebody has or waits for.
    pub fn forgets(&self) -> bool {
        self.cluster.scope == "cluster"
    }

    /// Only what is known of the lock or election of this name; nothing if nobody knows any.
    pub fn only(mut self, name: &str) -> Option<Self> {
        self.locks.retain(|lock| lock.name == name);
        self.elections.retain(|election| election.name == name);
        (!self.locks.is_empty() || !self.elections.is_empty()).then_some(self)
    }
}

fn view(client: &Client) -> Result<View, Error> {
    let cluster = client.cluster()?;
    let known = if cluster.scope == "cluster" { Known::AtNode } else { Known::Now };
    let locks = client.locks(known)?.locks;
    let elections = client.elections(known)?.elections;
    let failing = client.failing_checks().unwrap_or_default();
    Ok(View { cluster, locks, elections, failing })
}

/// A node that answers knows best how it is; of another, the asked one knows.
fn seen(node: &Node, view: Option<&View>) -> Node {
    match view {
        Some(view) => {
            Node { state: "up".to_string(), for_ms: view.cluster.uptime_ms, ..node.clone() }
        }
        None => node.clone(),
    }
}

/// For people; `free` for those too that nobody holds or waits for.
pub fn text(state: &State, free: bool) -> String {
    let cluster = &state.cluster;
    let mut text = format!("{}  {}\n", strong(shown(&cluster.cluster)), tr(&engine(cluster)));
    let _ = writeln!(text, "{}\n", who_leads(state));
    text += &nodes_view::text(state);
    text += &locks(state, free);
    text += &elections(&state.elections, free);
    text
}

fn who_leads(state: &State) -> String {
    let Cluster { leader, term, .. } = &state.cluster;
    let deaf = state.replicas.iter().find(|node| node.majority == Some(false));
    match (leader, deaf) {
        (Some(leader), _) => tr(&format!("node {leader} leads, in term {term}")).into_owned(),
        (None, Some(Standing { node, .. })) => {
            odd(format!("nobody leads: node {node} hears of no majority"))
        }
        (None, None) => odd("nobody leads"),
    }
}

/// The engine of a cluster, and what it stands on.
pub fn engine(cluster: &Cluster) -> String {
    let engine = shown(&cluster.engine);
    match (&cluster.election, &cluster.detector) {
        (Some(election), Some(detector)) => {
            format!("{engine}, election {}, detector {}", shown(election), shown(detector))
        }
        _ => engine.into_owned(),
    }
}

/// One lock or election for people, with everybody who waits for it.
pub fn detail(state: &State) -> String {
    let at_one = state.cluster.scope != "cluster"; // Otherwise all nodes know who waits.
    let columns = ["waiting", "place", "for", "may take", "node"];
    let columns = if at_one { &columns[..] } else { &columns[..4] };
    let mut table = Table::new(width(), columns);
    let at_locks = state.locks.iter().map(|lock| (lock.node, &lock.waiters));
    let stand = |election: &Election| election.leading_node.unwrap_or(state.cluster.node);
    let at_elections = state.elections.iter().map(|it| (stand(it), &it.candidates));
    let mut anybody = false;
    for (node, waiter) in
        at_locks.chain(at_elections).flat_map(|(node, all)| all.iter().map(move |it| (node, it)))
    {
        anybody = true;
        let cells = [
            shown(&waiter.label).into_owned(),
            waiter.position.to_string(),
            age(waiter.waited_ms),
            waiter.eta_ms.map(age).unwrap_or_default(),
            node.to_string(),
        ];
        table.row(cells.into_iter().take(columns.len()));
    }
    let mut text = String::new();
    if !state.locks.is_empty() {
        text += &locks(state, true);
        text += &holders(&state.locks);
    }
    text += &elections(&state.elections, true);
    if anybody {
        text += &format!("\n{}", table.render());
    }
    text.trim_start().to_string()
}

/// Who has it, as people see it.
fn name_of(holder: Option<&Holder>) -> String {
    let name = |holder: &Holder| match holder.node {
        Some(node) => at_node(&holder.label, node),
        None => shown(&holder.label).into_owned(),
    };
    holder.map_or("-".to_string(), name)
}

/// The same where several hold it at once.
fn names_of(first: Option<&Holder>, all: usize) -> String {
    let first = name_of(first);
    match all.saturating_sub(1) {
        0 => first,
        others => tr(&format!("{first} and {others} more")).into_owned(),
    }
}

fn at_node(who: &str, node: u32) -> String {
    tr(&format!("{} at node {node}", shown(who))).into_owned()
}

/// All who hold locks that several hold at once.
fn holders(locks: &[Lock]) -> String {
    let shared: Vec<&Lock> = locks.iter().filter(|lock| lock.holders.len() > 1).collect();
    if shared.is_empty() {
        return String::new();
    }
    let mut table = Table::new(width(), &["holder", "for", "fence", "slot"]);
    for holder in shared.iter().flat_map(|lock| &lock.holders) {
        table.row([
            name_of(Some(holder)),
            age(holder.held_ms),
            holder.fence.to_string(),
            holder.slot.map(|slot| slot.to_string()).unwrap_or_default(),
        ]);
    }
    format!("\n{}", table.render())
}

fn locks(state: &State, free: bool) -> String {
    let mut by_name: BTreeMap<&str, Vec<&Lock>> = BTreeMap::new();
    for lock in &state.locks {
        by_name.entry(&lock.name).or_default().push(lock);
    }
    if by_name.is_empty() {
        return format!("\n{}\n", dim(no_locks(state)));
    }
    let idle = |lock: &&Lock| {
        lock.holder.is_none() && lock.waiters.is_empty() && lock.blocked_on.is_none()
    };
    let known = by_name.len();
    by_name.retain(|_, known| free || !known.iter().all(idle));
    let hidden = hidden(known - by_name.len());
    if by_name.is_empty() {
        return format!("\n{hidden}");
    }
    let mut table = Table::new(width(), &["lock", "holder", "for", "fence", "waiting", "longest"]);
    let mut blocked = String::new();
    for (name, known) in by_name {
        let holder = known.iter().find_map(|lock| lock.holder.as_ref());
        let waiters = known.iter().flat_map(|lock| &lock.waiters);
        let longest = waiters.clone().map(|waiter| waiter.waited_ms).max();
        table.row([
            shown(name).into_owned(),
            names_of(holder, known.iter().map(|lock| lock.holders.len()).sum()),
            holder.map_or(String::new(), |holder| age(holder.held_ms)),
            holder.map_or(String::new(), |holder| holder.fence.to_string()),
            waiters.count().to_string(),
            longest.map(age).unwrap_or_default(),
        ]);
        for lock in known {
            if let Some(on) = &lock.blocked_on {
                let message = odd(shown(&on.message));
                let _ = writeln!(blocked, "{}: {message}", at_node(name, lock.node));
            }
        }
    }
    format!("\n{}{blocked}{hidden}", table.render())
}

fn no_locks(state: &State) -> &'static str {
    match state.forgets() {
        true => "no lock is in use, and free ones are forgotten: conclave lock NAME -- CMD",
        false => "no locks yet: conclave lock NAME -- CMD",
    }
}

/// How many locks there are that nobody holds or waits for.
fn hidden(locks: usize) -> String {
    match locks {
        0 => String::new(),
        1 => format!("{}\n", dim("1 free lock: --all shows it")),
        locks => format!("{}\n", dim(format!("{locks} free locks: --all shows them"))),
    }
}

fn elections(elections: &[Election], free: bool) -> String {
    let sought =
        |election: &&Election| free || election.leader.is_some() || !election.candidates.is_empty();
    let elections: Vec<&Election> = elections.iter().filter(sought).collect();
    if elections.is_empty() {
        return String::new();
    }
    let mut table = Table::new(width(), &["election", "leader", "for", "fence", "standing"]);
    for election in elections {
        let leader = election.leader.as_ref();
        table.row([
            shown(&election.name).into_owned(),
            name_of(leader),
            leader.map_or(String::new(), |leader| age(leader.held_ms)),
            leader.map_or(String::new(), |leader| leader.fence.to_string()),
            election.candidates.len().to_string(),
        ]);
    }
    format!("\n{}", table.render())
}

/// A span in the unit that suits it.
pub fn age(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..60_000 => local(&format!("{:.1} s", milliseconds as f64 / 1_000.0)),
        60_000..3_600_000 => format!("{} min", milliseconds / 60_000),
        _ => format!("{} h {} min", milliseconds / 3_600_000, milliseconds / 60_000 % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_short() {
        let ages: Vec<String> = [999, 1_500, 61_000, 7_260_000].into_iter().map(age).collect();
        assert_eq!(ages, ["999 ms", "1.5 s", "1 min", "2 h 1 min"]);
    }
}
