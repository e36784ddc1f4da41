//! The machines of a real node, made from the catalogue.

mod settings;

use conclave_algorithms::catalog::{ENTRIES, Family};
use conclave_core::{NodeId, Ticks};
use conclave_lab::Usage;
use conclave_lab::machines::{Chosen, ELECTION, Machines, SILENCE_MAX, Settings};
use conclave_net::{AnyIndication, AnyRequest, Deed, Input, Key, Limits};
use std::collections::VecDeque;

fn settings(engine: &str, set: &[(&str, &str)]) -> Settings {
    let chosen = |id: &str, set: &[(&str, &str)]| Chosen {
        id: id.to_string(),
        set: set.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
    };
    Settings {
        nodes: 5,
        engine: chosen(engine, set),
        election: chosen("majority", &[]),
        detector: chosen("phi-accrual", &[]),
    }
}

fn machines(settings: &Settings) -> Result<Machines, Usage> {
    Machines::new(settings, NodeId(0))
}

fn refused(settings: &Settings) -> String {
    machines(settings).err().expect("must be refused").to_string()
}

#[test]
fn every_lock_and_every_election_of_the_catalogue_can_be_had() {
    for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Mutex) {
        let engine = machines(&settings(entry.id, &[])).expect(entry.id);
        let lock: Key = "lock/a".into();
        assert!(engine.machine(&lock, false).is_some(), "{}", entry.id);
        assert!(engine.machine(&"other".into(), false).is_none());
    }
    for entry in ENTRIES.iter().filter(|entry| entry.family == Family::Election) {
        let mut chosen = settings("ricart-agrawala", &[]);
        chosen.election.id = entry.id.to_string();
        machines(&chosen).expect(entry.id);
    }
}

#[test]
fn the_first_leader_has_the_term_that_its_election_counts_from() {
    // Bully and ring number by round and rank: round 1, rank 4 of 5.
    for (election, first) in
        [("majority", Some(1)), ("bully", Some(9)), ("ring", Some(9)), ("echo", None)]
    {
        let mut chosen = settings("ricart-agrawala", &[]);
        chosen.election.id = election.to_string();
        let leader = machines(&chosen).expect(election).first_leader();
        assert_eq!(leader, first.map(|term| (NodeId(4), term)), "{election}");
    }
}

#[test]
fn a_session_lives_for_half_a_lease_at_most_less_the_time_to_notice() {
    let longest = |engine, set: &[_]| machines(&settings(engine, set)).expect(engine).ttl_max();
    let lease = [("lease", "6000")];
    assert_eq!(longest("central-failover", &lease), Some(Ticks::units(2_000)));
    assert_eq!(longest("token-ring-regenerating", &lease), Some(Ticks::units(2_000)));
    assert_eq!(longest("central-failover", &[("mode", "strict")]), None);
    assert_eq!(longest("ricart-agrawala", &[]), None);
}

#[test]
fn a_lease_is_longer_than_it_takes_to_notice_a_dead_link_and_to_stop() {
    assert!(SILENCE_MAX > Ticks(Limits::default().silence.as_micros() as u64));
    assert!(refused(&settings("central-failover", &[("lease", "3000")])).contains("two seconds"));
    assert!(refused(&settings("central-failover", &[("lease", "4500")])).contains("5s will do"));
    assert!(machines(&settings("central-failover", &[("lease", "5000")])).is_ok());
    assert!(machines(&settings("token-ring-regenerating", &[("lease", "5000")])).is_ok());
}

#[test]
fn only_who_stands_on_the_election_begins_as_one_that_came_back_when_made_late() {
    let first = |id, late| {
        let engine = machines(&settings(id, &[])).expect(id);
        engine.machine(&"lock/a".into(), late).expect("a lock").1
    };
    assert_eq!(first("central-failover", false), Input::Start);
    assert_eq!(first("central-failover", true), Input::Restart);
    assert_eq!(first("token-ring", true), Input::Start);
}

#[test]
fn what_cannot_be_is_refused_in_one_line() {
    let separate = settings("central", &[("coordinator", "separate")]);
    assert!(refused(&separate).contains("coordinators live on the nodes"));
    assert!(refused(&settings("bully", &[])).contains("it says who leads, not who may enter"));
    assert!(refused(&settings("centrall", &[])).contains("did you mean central"));
    let other = settings("central-failover", &[("election", "bully")]);
    assert_eq!(refused(&other), "--set election: it is the cluster's, --election majority");
    let mut unfit = settings("central-failover", &[]);
    unfit.election.id = "chang-roberts".to_string();
    assert!(refused(&unfit).contains("election"), "{}", refused(&unfit));
    assert!(refused(&settings("maekawa", &[("quorum", "x")])).contains("maekawa takes"));
    let hasty = settings("central-failover", &[("lease", "3s")]);
    assert!(refused(&hasty).starts_with("--set lease: it must be at least"));
}

#[test]
fn two_clusters_that_differ_in_a_parameter_differ_in_words() {
    let words = |set: &[(&str, &str)]| {
        let engine = machines(&settings("central-failover", set)).expect("an engine");
        engine.text().to_string()
    };
    assert!(words(&[]).contains("lease=8000"), "{}", words(&[]));
    assert_ne!(words(&[]), words(&[("lease", "9s")]));
}

#[test]
fn an_election_by_majority_asks_before_it_deposes_a_leader_unless_that_is_set() {
    let words = |id, set: &[(&str, &str)], election: &str, of_election: &[(&str, &str)]| {
        let mut chosen = settings(id, set);
        chosen.election.id = election.to_string();
        let own = of_election.iter().map(|(name, value)| (name.to_string(), value.to_string()));
        chosen.election.set = own.collect();
        machines(&chosen).expect("an engine").text().to_string()
    };
    for engine in ["central-failover", "token-ring-regenerating"] {
        assert!(words(engine, &[], "majority", &[]).contains(" prevote=on"), "{engine}");
        let off = [("prevote", "off")];
        assert!(words(engine, &off, "majority", &[]).contains(" prevote=off"), "{engine}");
    }
    let textbook = |election, set| words("maekawa", &[], election, set);
    let asks = "; election majority period=100 timeout=1000 prevote=on;";
    assert!(textbook("majority", &[]).contains(asks), "{}", textbook("majority", &[]));
    assert!(textbook("majority", &[("prevote", "off")]).contains(" prevote=off;"));
    assert!(!textbook("bully", &[]).contains("prevote"), "it has no votes");
}

#[test]
fn a_split_vote_of_colocated_coordinators_ends_unless_that_is_set() {
    let words = |id, set: &[(&str, &str)]| {
        machines(&settings(id, set)).expect("an engine").text().to_string()
    };
    let quorum = words("quorum", &[]);
    assert!(quorum.contains("abort_after=500") && quorum.contains("retransmit=none"), "{quorum}");
    assert!(words("quorum", &[("abort_after", "none")]).contains("abort_after=none"));
    assert!(words("voting", &[]).contains("attempt=2000"), "a coordinator may be down");
}

#[test]
fn the_words_are_enough_to_make_the_same_machines_again() {
    for (id, election) in [
        ("central-failover", "majority"),
        ("maekawa", "bully"),
        ("central", "echo"),
        ("central", "majority"),
    ] {
        let mut chosen = settings(id, &[]);
        chosen.election.id = election.to_string();
        let engine = machines(&chosen).expect(id);
        let again: Settings = engine.text().parse().expect("they can be read");
        assert_eq!(machines(&again).expect(id).text(), engine.text());
    }
}

#[test]
fn what_is_lent_lapses_and_nothing_else_does() {
    let lease = |engine, set: &[_]| machines(&settings(engine, set)).expect(engine).lease();
    for engine in ["central-failover", "token-ring-regenerating"] {
        assert_eq!(lease(engine, &[("lease", "7s")]), Some(Ticks::units(7_000)));
    }
    assert_eq!(lease("central-failover", &[("mode", "strict")]), None);
    assert_eq!(lease("voting", &[]), None);
}

#[test]
fn rounds_are_as_long_as_messages_of_a_network_take() {
    let mut flooding = settings("lamport", &[]);
    flooding.election.id = "flood-max".to_string();
    let text = machines(&flooding).expect("it can be had").text().to_string();
    assert!(text.contains("flood-max") && text.contains(" round=1000"), "{text}");
}

/// The longest message when all of 99 nodes ask this of their machines at once, and those that
/// enter leave again.
fn longest_message(chosen: Settings, key: &str, asked: AnyRequest) -> usize {
    let chosen = Settings { nodes: 99, ..chosen };
    let key: Key = key.into();
    let machine = |me| {
        let engine = Machines::new(&chosen, NodeId(me)).expect("an engine");
        engine.machine(&key, false).expect("a machine").0
    };
    let mut machines: Vec<_> = (0..99).map(machine).collect();
    let everybody = || (0..99).map(NodeId);
    let mut inputs: VecDeque<_> = everybody().map(|node| (node, Input::Start)).collect();
    inputs.extend(everybody().map(|node| (node, Input::Request(asked))));
    let mut longest = 0;
    for _ in 0..30_000 {
        let Some((from, input)) = inputs.pop_front() else { break };
        for deed in machines[from.index()].step(&input).expect("its own words").deeds {
            match deed {
                Deed::Send { to, bytes, .. } => {
                    longest = longest.max(bytes.len());
                    inputs.push_back((to, Input::Message { from, bytes }));
                }
                Deed::Indicate(AnyIndication::Entered { .. }) => {
                    inputs.push_back((from, Input::Request(AnyRequest::Release)));
                }
                Deed::Indicate(_) | Deed::Request(_) => {}
                Deed::SetTimer { .. } | Deed::CancelTimer { .. } => {}
            }
        }
    }
    longest
}

#[test]
fn no_message_of_the_largest_cluster_comes_near_the_limit_of_a_frame() {
    let of = |family| ENTRIES.iter().filter(move |entry| entry.family == family);
    let locks = of(Family::Mutex).map(|entry| {
        (entry.id, longest_message(settings(entry.id, &[]), "lock/a", AnyRequest::Acquire))
    });
    let elections = of(Family::Election).map(|entry| {
        let mut chosen = settings("lamport", &[]);
        chosen.election.id = entry.id.to_string();
        (entry.id, longest_message(chosen, ELECTION, AnyRequest::Campaign))
    });
    for (id, longest) in locks.chain(elections) {
        assert!(longest > 0, "{id} says nothing");
        // Numbers get longer with time, from one byte to ten.
        assert!(10 * longest < Limits::default().frame_max / 8, "{id}: {longest} bytes");
    }
}
