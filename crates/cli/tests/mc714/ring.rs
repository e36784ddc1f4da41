//! The ring of `conclave mc714`, of our processes and those of a script.

use crate::peers::{Peer, addresses, ours, python_is_missing, script};

const POLL: &str = "50ms";

/// Who plays process 1, 2 and so on.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Ours,
    Script,
}
use Kind::{Ours, Script};

struct Ring {
    members: Vec<(Kind, Peer)>,
    urls: Vec<String>,
}

impl Ring {
    /// Those that start slowly come first, then ours from the last to the first: nobody is taken
    /// for dead because it has not begun, but perhaps the first by the last, which it forgives.
    fn start(kinds: &[Kind]) -> Self {
        Self::start_led_by(kinds.len(), kinds)
    }

    fn start_led_by(leader: usize, kinds: &[Kind]) -> Self {
        let (ports, peers) = addresses(kinds.len());
        let leader = leader.to_string();
        let mut members: Vec<Option<(Kind, Peer)>> = kinds.iter().map(|_| None).collect();
        for started in [Script, Ours] {
            for (index, &kind) in kinds.iter().enumerate().rev() {
                if kind != started {
                    continue;
                }
                let (id, port) = ((index + 1).to_string(), &ports[index]);
                let listen = format!("127.0.0.1:{port}");
                let mut member = match kind {
                    Ours => ours(&[
                        "ring", "--id", &id, "--leader", &leader, "--listen", &listen, "--peers",
                        &peers, "--poll", POLL,
                    ]),
                    Script => script(&["ring", &id, &leader, port, &peers, "2"]),
                };
                member.url();
                members[index] = Some((kind, member));
            }
        }
        let urls = peers.split(',').map(str::to_string).collect();
        Self { members: members.into_iter().flatten().collect(), urls }
    }

    fn at(&mut self, id: usize) -> &mut Peer {
        &mut self.members[id - 1].1
    }

    fn status(&self, id: usize, path: &str) -> u16 {
        let config = ureq::Agent::config_builder().http_status_as_error(false).build();
        let agent = ureq::Agent::new_with_config(config);
        let answer = agent.get(format!("{}{path}", self.urls[id - 1])).call();
        answer.expect("an answer").status().as_u16()
    }

    /// Waits until this process says who leads.
    fn hears(&mut self, id: usize, leader: usize) {
        let words = match self.members[id - 1].0 {
            Ours => format!("{leader} leads"),
            Script => format!("leader {leader} "),
        };
        self.at(id).says(&words);
    }
}

fn elects_when_the_leader_is_killed(kinds: &[Kind]) {
    if kinds.contains(&Script) && python_is_missing() {
        return;
    }
    let mut ring = Ring::start(kinds);
    let n = kinds.len();
    assert_eq!((ring.status(n, "/health_check"), ring.status(n, "/kill")), (200, 200));
    assert_eq!((ring.status(n, "/health_check"), ring.status(n, "/kill")), (500, 500));
    assert_eq!(ring.status(n, "/no_such_thing"), 500);
    for id in 1..n {
        ring.hears(id, n - 1);
    }
}

#[test]
fn five_of_ours_elect_the_highest_that_is_left() {
    elects_when_the_leader_is_killed(&[Ours; 5]);
}

#[test]
fn a_mixed_ring_elects_when_one_of_ours_notices() {
    elects_when_the_leader_is_killed(&[Script, Ours, Script, Ours, Script]);
}

#[test]
fn a_mixed_ring_elects_when_the_script_notices() {
    elects_when_the_leader_is_killed(&[Ours, Script, Ours, Script, Ours]);
}

/// 3 leads and dies, then 5, which was elected in its place. The first is a script: it says when it
/// is looked at, and so when 4 has looked again at 5, which stays dead.
#[test]
fn who_was_elected_and_died_does_not_lead_again() {
    if python_is_missing() {
        return;
    }
    for kinds in [[Script, Ours, Ours, Ours, Ours], [Script, Ours, Script, Ours, Script]] {
        let mut ring = Ring::start_led_by(3, &kinds);
        for (killed, leader, live) in [(3, 5, &[1, 2, 4, 5][..]), (5, 4, &[1, 2, 4])] {
            ring.status(killed, "/kill");
            live.iter().for_each(|&id| ring.hears(id, leader));
        }
        (0..4).for_each(|_| drop(ring.at(1).says("is looked at")));
        let mut said = ring.at(1).all_said().iter().rev();
        let last = said.find(|line| line.starts_with("leader ")).cloned();
        assert_eq!(last.as_deref(), Some("leader 4 alive [1, 2, 4]"));
    }
}

#[test]
fn the_wire_carries_what_the_original_sends() {
    if python_is_missing() {
        return;
    }
    let mut ring = Ring::start(&[Script, Ours, Script, Ours, Ours]);
    ring.status(5, "/kill");
    let list = ring.at(1).says("list");
    assert_eq!(list, "list {\"clients\": [4]}");
    let told = ring.at(1).says("result");
    assert_eq!(told, "result {\"clients\": [1, 2, 3, 4], \"coordinator\": 4, \"starter\": 4}");
    assert_eq!(ring.at(3).says("list"), "list {\"clients\": [4, 1, 2]}");
}

#[test]
fn a_dead_process_that_does_not_lead_is_only_skipped() {
    let mut ring = Ring::start(&[Ours; 4]);
    ring.status(2, "/kill");
    ring.at(1).says("2 is dead, it is skipped");
    // Whoever is asked holds an election nevertheless, and the list goes past the dead.
    let agent = ureq::Agent::new_with_defaults();
    let start = format!("{}/start_election", ring.urls[0]);
    let body = serde_json::json!({ "clients": [] });
    assert_eq!(agent.post(start).send_json(body).expect("an answer").status().as_u16(), 200);
    for id in [1, 3, 4] {
        ring.at(id).says("4 leads");
    }
    let elections = |peer: &mut Peer| {
        peer.all_said().iter().filter(|line| line.contains("is asked to hold")).count()
    };
    if elections(ring.at(1)) == 0 {
        ring.at(1).says("is asked to hold"); // Said after what came of it.
    }
    assert_eq!(elections(ring.at(1)), 1);
    assert!(ring.at(3).all_said().iter().all(|line| !line.contains("is dead")));
}

#[test]
fn a_process_that_vanishes_is_as_dead_as_one_that_answers_500() {
    let mut ring = Ring::start(&[Ours; 3]);
    drop(ring.members.pop()); // Killed for good: nobody listens there any more.
    ring.at(2).says("3 is dead, it led: an election");
    ring.hears(2, 2);
    ring.hears(1, 2);
}

#[test]
fn two_dead_neighbours_are_skipped_and_the_last_one_leads_alone() {
    let mut ring = Ring::start(&[Ours; 4]);
    ring.status(3, "/kill");
    ring.at(2).says("3 is dead, it is skipped");
    ring.status(4, "/kill");
    ring.hears(2, 2);
    ring.hears(1, 2);
    ring.status(2, "/kill");
    ring.hears(1, 1);
}

#[test]
fn what_is_not_of_this_ring_is_refused() {
    let ring = Ring::start(&[Ours; 2]);
    let config = ureq::Agent::config_builder().http_status_as_error(false).build();
    let agent = ureq::Agent::new_with_config(config);
    let post = |path: &str, body: &str| {
        let mut answer =
            agent.post(format!("{}{path}", ring.urls[0])).send(body).expect("an answer");
        (answer.status().as_u16(), answer.body_mut().read_to_string().expect("text"))
    };
    for (path, body, why) in [
        ("/start_election", "{\"clients\": [3]}", "3 is no id from 1 to 2"),
        ("/start_election", "{\"clients\": [0]}", "0 is no id from 1 to 2"),
        ("/start_election", "{\"clients\": [1e99]}", "1e+99 is no id from 1 to 2"),
        ("/start_election", "{\"clients\": [2, 2]}", "clients has 2 twice"),
        ("/start_election", "{\"clients\": [1, 2, 1]}", "clients has more than 2 ids"),
        ("/start_election", "{\"clients\": \"1\"}", "clients must be a list of ids"),
        ("/inform_results", "{\"clients\": [1]}", "null is no id from 1 to 2"),
        (
            "/inform_results",
            "{\"clients\": [1], \"coordinator\": 2, \"starter\": 1}",
            "the coordinator 2 is not among the clients",
        ),
    ] {
        assert_eq!(post(path, body), (400, format!("{why}\n")), "{body}");
    }
    assert_eq!(post("/start_election", "nonsense").0, 400);
    assert_eq!(ring.status(1, "/health_check"), 200);
}
