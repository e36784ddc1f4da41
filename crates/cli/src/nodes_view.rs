//! The nodes of a cluster, each with what it says of itself, as a table.

use crate::cluster_view::{State, age};
use crate::output::table::Table;
use crate::output::{dim, good, odd, strong, width};
use crate::texts::phrase;
use conclave_client::api::limits::shown;
use conclave_client::api::{Cluster, Node};
use serde::Serialize;

/// A node of a replicated cluster, as it sees itself.
#[derive(Debug, Serialize)]
pub struct Standing {
    /// Its number.
    pub node: u32,
    /// `leader`, `follower`, `candidate` or `learner`.
    pub role: String,
    /// Of a leader: whether it hears of a majority. Without one, another may lead already.
    pub majority: Option<bool>,
    /// The term that it is in.
    pub term: u64,
    /// The last change in its table.
    pub applied: u64,
    /// How many changes it lacks of those that any node knows to be committed.
    pub lag: u64,
}

/// Where the nodes stand that answered; with a classic engine there is nothing to tell.
pub fn standings(views: &[&Cluster]) -> Vec<Standing> {
    let committed = views.iter().filter_map(|view| view.committed).max().unwrap_or_default();
    let standing = |view: &&Cluster| {
        let applied = view.applied?;
        let lag = committed.saturating_sub(applied);
        let Cluster { node, majority, term, .. } = **view;
        Some(Standing { node, role: view.role.clone()?, majority, term, applied, lag })
    };
    views.iter().filter_map(standing).collect()
}

/// For people.
pub fn text(state: &State) -> String {
    if state.nodes.is_empty() {
        let words = "no node belongs to this cluster yet: it begins when its nodes have met";
        return format!("{}\n", dim(words));
    }
    match &*state.replicas {
        [] => classic(state),
        replicas => replicated(state, replicas),
    }
}

fn classic(state: &State) -> String {
    let mut table = Table::new(width(), &["node", "state", "for", "API", ""]).whole(3);
    for node in &state.nodes {
        let leads = state.cluster.leader == Some(node.id) && !is_silent(state, node);
        let leads = if leads { phrase("leads") } else { "" };
        let [id, said, since, api] = common(state, node);
        table.row([id, said, since, api, leads.to_string()]);
    }
    table.render()
}

fn replicated(state: &State, replicas: &[Standing]) -> String {
    let headings = ["node", "state", "for", "role", "term", "applied", "behind", "API"];
    let mut table = Table::new(width(), &headings).right([4, 5, 6]).whole(7);
    for node in &state.nodes {
        let [id, said, since, api] = common(state, node);
        let standing = replicas.iter().find(|standing| standing.node == node.id);
        let told = standing.map(|standing| {
            let Standing { role, majority, term, applied, lag, .. } = standing;
            let role = match &**role {
                "leader" if *majority == Some(false) => odd("no majority"),
                "leader" => strong(phrase("leader")),
                "follower" => phrase("follower").to_string(),
                "candidate" => odd(phrase("candidate")),
                "learner" => phrase("learner").to_string(),
                other => shown(other).into_owned(),
            };
            [role, term.to_string(), applied.to_string(), lag.to_string()]
        });
        let [role, term, applied, lag] = told.unwrap_or_default();
        table.row([id, said, since, role, term, applied, lag, api]);
    }
    table.render()
}

/// Its number, how it is, for how long, and where.
fn common(state: &State, node: &Node) -> [String; 4] {
    let said = match (is_silent(state, node), &*node.state) {
        (true, "unreachable") => odd("no answer"),
        (true, other) => odd(format!("no answer, {}", shown(other))),
        (false, other) => match state.not_ready.get(&node.id) {
            Some(failing) => odd(format!("not ready: {}", shown(&failing.join(", ")))),
            None => good(shown(other)),
        },
    };
    let api = format!("{}{}", state.scheme, shown(&node.api));
    [node.id.to_string(), said, age(node.for_ms), api]
}

fn is_silent(state: &State, node: &Node) -> bool {
    state.silent.contains(&node.id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_client::api::Lock;
    use serde_json::{Value, json};
    use std::collections::BTreeMap;

    fn view(node: u32, role: &str, applied: u64, committed: u64) -> Cluster {
        let nodes: Vec<Value> = (1..=3)
            .map(|id| {
                json!({ "id": id, "address": "a:1", "api": "a:2", "state": "up", "for_ms": 5,
                        "unacknowledged": 0 })
            })
            .collect();
        let view = json!({
            "cluster": "c", "cluster_id": "1", "version": "1", "engine": "replicated",
            "parameters": {}, "node": node, "uptime_ms": 5, "leader": 1, "term": 7, "nodes": nodes,
            "locks": 0, "sessions": 0, "scope": "cluster", "role": role, "applied": applied,
            "committed": committed, "lag": 0
        });
        serde_json::from_value(view).expect("a cluster")
    }

    #[test]
    fn a_node_is_behind_what_any_other_knows_to_be_committed() {
        let views = [view(1, "leader", 100, 100), view(2, "follower", 60, 90)];
        let standings = standings(&views.iter().collect::<Vec<_>>());
        let lags: Vec<(u32, u64)> = standings.iter().map(|it| (it.node, it.lag)).collect();
        assert_eq!(lags, [(1, 0), (2, 40)]);
    }

    /// What these say, and the third node says nothing.
    fn state(views: &[Cluster]) -> State {
        State {
            nodes: views[0].nodes.clone(),
            silent: vec![3],
            not_ready: BTreeMap::new(),
            replicas: standings(&views.iter().collect::<Vec<_>>()),
            cluster: views[0].clone(),
            locks: Vec::new(),
            elections: Vec::new(),
            scheme: "http://",
        }
    }

    #[test]
    fn a_node_that_answers_and_cannot_serve_is_not_just_up() {
        let mut state = state(&[view(1, "leader", 100, 100), view(2, "follower", 60, 90)]);
        state.not_ready = BTreeMap::from([(2, vec!["disk".to_string(), "leader".to_string()])]);
        let text = anstream::adapter::strip_str(&text(&state)).to_string();
        assert!(text.contains("\n2     not ready: disk, leader  5 ms  follower"), "{text}");
        assert!(text.contains("\n1     up  "), "{text}");
    }

    fn lock(name: &str, holders: &[&str]) -> Lock {
        let holder = |(slot, label): (u32, &&str)| {
            json!({ "label": label, "session": "0", "node": 3, "fence": 7, "held_ms": 5,
                    "slot": slot })
        };
        let holders: Vec<Value> = (1..).zip(holders).map(holder).collect();
        let lock = json!({ "name": name, "state": "held", "holder": holders.first(),
            "holders": holders, "waiters": [], "blocked_on": null, "node": 1 });
        serde_json::from_value(lock).expect("a lock")
    }

    #[test]
    fn of_one_lock_all_holders_are_named() {
        let mut state = state(&[view(1, "leader", 100, 100)]);
        state.locks = vec![lock("a", &["one", "two", "three"])];
        let text = crate::cluster_view::detail(&state);
        let text = anstream::adapter::strip_str(&text).to_string();
        for named in ["one at node 3  ", "two at node 3  ", "three at node 3  "] {
            assert!(text.contains(&format!("\n{named}")), "{text}");
        }
        let all = crate::cluster_view::text(&state, true);
        assert!(!all.contains("two at node 3"), "{all}");
    }

    #[test]
    fn a_cluster_that_forgets_free_names_does_not_say_that_there_were_none() {
        let state = state(&[view(1, "leader", 100, 100)]);
        let text = crate::cluster_view::text(&state, true);
        assert!(text.contains("no lock is in use, and free ones are forgotten: "), "{text}");
    }

    /// A leader that hears of no majority is not shown as one that leads.
    #[test]
    fn a_leader_without_a_majority_does_not_lead() {
        let mut deaf = view(1, "leader", 100, 100);
        deaf.majority = Some(false);
        deaf.leader = None;
        let text = crate::cluster_view::text(&state(&[deaf]), false);
        let text = anstream::adapter::strip_str(&text).to_string();
        assert!(text.contains("nobody leads: node 1 hears of no majority\n"), "{text}");
        assert!(text.contains("  no majority  "), "{text}");
        let mut sound = view(1, "leader", 100, 100);
        sound.majority = Some(true);
        let text = crate::cluster_view::text(&state(&[sound]), false);
        assert!(text.contains("node 1 leads, in term 7\n"), "{text}");
    }

    #[test]
    fn a_cluster_that_has_yet_to_begin_says_so_and_shows_no_empty_table() {
        let mut unborn = view(1, "learner", 0, 0);
        (unborn.leader, unborn.nodes) = (None, Vec::new());
        let mut state = state(&[unborn]);
        (state.silent, state.replicas) = (Vec::new(), Vec::new());
        let text = anstream::adapter::strip_str(&text(&state)).to_string();
        let expected = "no node belongs to this cluster yet: it begins when its nodes have met\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn the_table_tells_role_term_and_lag_of_who_answers_and_nothing_of_who_does_not() {
        let state = state(&[view(1, "leader", 100, 100), view(2, "follower", 60, 90)]);
        let text = anstream::adapter::strip_str(&text(&state)).to_string();
        let rows: Vec<Vec<&str>> =
            text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(rows[1][..8], ["1", "up", "5", "ms", "leader", "7", "100", "0"]);
        assert_eq!(rows[2][..8], ["2", "up", "5", "ms", "follower", "7", "60", "40"]);
        assert_eq!(rows[3][..5], ["3", "no", "answer,", "up", "5"]);
        assert!(!rows[3].contains(&"7"), "{text}");
    }
}
