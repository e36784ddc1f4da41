//! Rings of such processes, and what each says.

use super::*;
use std::collections::VecDeque;

fn outcome(clients: &[u32], coordinator: u32, starter: u32) -> Outcome {
    Outcome { clients: clients.to_vec(), coordinator, starter }
}

fn list(to: u32, clients: &[u32]) -> Act {
    Act::StartElection { to, clients: clients.to_vec() }
}

fn result(to: u32, outcome: &Outcome) -> Act {
    Act::InformResults { to, outcome: outcome.clone() }
}

/// A ring whose messages arrive at once; the dead answer nothing.
struct World {
    circles: Vec<Circle>,
    dead: Vec<u32>,
    /// How many lists and results arrived, and how often a dead process was called.
    lists: usize,
    results: usize,
    calls_lost: usize,
}

impl World {
    fn new(n: u32, leader: u32) -> Self {
        let circles = (1..=n).map(|me| Circle::new(me, n, leader)).collect();
        Self { circles, dead: Vec::new(), lists: 0, results: 0, calls_lost: 0 }
    }

    fn at(&mut self, id: u32) -> &mut Circle {
        &mut self.circles[id as usize - 1]
    }

    /// Carries out what this process does, and all that follows.
    fn settle(&mut self, by: u32, acts: Vec<Act>) {
        let mut open: VecDeque<(u32, Act)> = acts.into_iter().map(|act| (by, act)).collect();
        for _ in 0..10_000 {
            let Some((by, act)) = open.pop_front() else { return };
            let to = match &act {
                Act::StartElection { to, .. } | Act::InformResults { to, .. } => *to,
                Act::Elected(_) => continue,
            };
            let (who, more) = if self.dead.contains(&to) {
                self.calls_lost += 1;
                (by, self.at(by).on_dead(to))
            } else {
                (to, self.deliver(act))
            };
            open.extend(more.into_iter().map(|act| (who, act)));
        }
        panic!("it never ends");
    }

    fn deliver(&mut self, act: Act) -> Vec<Act> {
        match act {
            Act::StartElection { to, clients } => {
                self.lists += 1;
                self.at(to).on_list(&clients)
            }
            Act::InformResults { to, outcome } => {
                self.results += 1;
                self.at(to).on_outcome(outcome)
            }
            Act::Elected(_) => Vec::new(),
        }
    }

    /// Every live process looks after its successor once.
    fn poll(&mut self) {
        for id in 1..=self.circles.len() as u32 {
            if self.dead.contains(&id) {
                continue;
            }
            for watched in self.at(id).watched() {
                let acts = match self.dead.contains(&watched) {
                    true => self.at(id).on_dead(watched), // Each time anew, as the program does.
                    false => self.at(id).on_alive(watched),
                };
                self.settle(id, acts);
            }
        }
    }

    fn leaders(&self) -> Vec<u32> {
        let live = (1..).zip(&self.circles).filter(|(id, _)| !self.dead.contains(id));
        live.map(|(_, circle)| circle.leader()).collect()
    }
}

#[test]
fn when_the_leader_dies_the_one_before_it_starts_and_the_highest_of_the_rest_leads() {
    let mut world = World::new(5, 5);
    world.dead = vec![5];
    world.poll();
    assert_eq!(world.leaders(), [4, 4, 4, 4]);
    // A lap of 4, and one that leaves out the last hop, to the process that started.
    assert_eq!((world.lists, world.results, world.calls_lost), (4, 3, 0));
}

#[test]
fn when_another_dies_there_is_no_election() {
    let mut world = World::new(5, 5);
    world.dead = vec![3];
    world.poll();
    world.poll();
    assert_eq!(world.leaders(), [5; 4]);
    assert_eq!(world.lists, 0);
    assert_eq!(world.at(2).watched(), [3, 4]);
}

#[test]
fn two_dead_neighbours_are_both_skipped() {
    let mut world = World::new(5, 5);
    world.dead = vec![4, 5];
    world.poll();
    world.poll();
    assert_eq!(world.leaders(), [3; 3]);
    assert_eq!(world.at(3).watched(), [4, 5, 1]);
}

#[test]
fn one_that_is_found_dead_under_way_is_skipped_by_the_list() {
    let mut world = World::new(5, 5);
    world.dead = vec![2, 5];
    let acts = world.at(4).on_dead(5);
    assert_eq!(acts, [list(1, &[4])]);
    world.settle(4, acts);
    assert_eq!(world.leaders(), [4; 3]);
    assert_eq!(world.calls_lost, 1);
}

#[test]
fn a_list_goes_on_with_the_own_id_at_its_end() {
    assert_eq!(Circle::new(3, 5, 5).on_list(&[1, 2]), [list(4, &[1, 2, 3])]);
    assert_eq!(Circle::new(5, 5, 5).on_list(&[]), [list(1, &[5])]);
}

#[test]
fn a_list_with_the_own_id_is_closed_and_those_before_it_have_died() {
    let mut circle = Circle::new(2, 5, 5);
    let found = outcome(&[2, 3, 4], 4, 2);
    let acts = circle.on_list(&[1, 2, 3, 4]);
    assert_eq!(acts, [Act::Elected(found.clone()), result(3, &found)]);
    assert_eq!(circle.leader(), 4);
}

#[test]
fn a_result_goes_neither_to_the_one_that_started_nor_past_it() {
    let found = outcome(&[1, 2, 3, 4], 4, 4);
    let elected = Act::Elected(found.clone());
    let told = |me| Circle::new(me, 5, 5).on_outcome(found.clone());
    assert_eq!(told(1), [elected.clone(), result(2, &found)]);
    assert_eq!(told(3), vec![elected]);
    let mut circle = Circle::new(3, 5, 5);
    circle.on_dead(4);
    let late = circle.on_outcome(outcome(&[1, 2, 3], 3, 4));
    assert_eq!(late.len(), 1, "4 died after it started, so nobody is left to be told");
}

#[test]
fn a_result_that_was_here_goes_no_further() {
    let found = outcome(&[1, 2, 3, 4], 4, 4);
    let mut circle = Circle::new(1, 5, 5);
    assert_eq!(circle.on_outcome(found.clone()).len(), 2);
    assert_eq!(circle.on_outcome(found), []);
}

#[test]
fn the_last_one_alive_leads_alone() {
    let mut circle = Circle::new(1, 2, 2);
    assert_eq!(circle.on_dead(2), [Act::Elected(outcome(&[1], 1, 1))]);
    assert_eq!(Circle::new(1, 1, 1).on_list(&[]), [Act::Elected(outcome(&[1], 1, 1))]);
}

#[test]
fn a_leader_that_comes_back_is_told_and_leads_again() {
    let mut world = World::new(5, 5);
    world.dead = vec![5];
    world.poll();
    world.dead.clear();
    *world.at(5) = Circle::new(5, 5, 5);
    world.poll();
    assert_eq!(world.leaders(), [5; 5]);
}

#[test]
fn one_that_comes_back_with_an_old_belief_learns_the_new_leader() {
    let mut world = World::new(5, 5);
    world.dead = vec![2, 5];
    world.poll();
    world.dead = vec![5];
    *world.at(2) = Circle::new(2, 5, 5);
    world.poll();
    assert_eq!(world.leaders(), [4; 4]);
}

#[test]
fn the_same_outcome_may_come_again_after_another() {
    let mut world = World::new(5, 5);
    for dead in [vec![5], vec![4, 5], vec![5], vec![], vec![5]] {
        let back: Vec<u32> = (1..=5).filter(|id| !dead.contains(id)).collect();
        for id in back {
            if world.dead.contains(&id) {
                *world.at(id) = Circle::new(id, 5, 5);
            }
        }
        world.dead = dead;
        world.poll();
        world.poll();
        let highest = (1..=5).rev().find(|id| !world.dead.contains(id));
        assert_eq!(world.leaders(), vec![highest.unwrap_or(0); 5 - world.dead.len()]);
    }
}

#[test]
fn every_ring_agrees_after_every_pattern_of_deaths_and_returns() {
    for n in 2..=5_u32 {
        for before in 0..1_u32 << n {
            for after in 0..(1_u32 << n) - 1 {
                let dead = |mask: u32| (1..=n).filter(move |id| mask >> (id - 1) & 1 == 1);
                let mut world = World::new(n, n);
                world.dead = dead(before).collect();
                (0..3).for_each(|_| world.poll());
                for id in dead(before & !after) {
                    *world.at(id) = Circle::new(id, n, n);
                }
                world.dead = dead(after).collect();
                (0..n + 2).for_each(|_| world.poll());
                let highest = (1..=n).rev().find(|id| after >> (id - 1) & 1 == 0);
                let agreed = world.leaders().iter().all(|&leader| Some(leader) == highest);
                assert!(agreed, "n {n}, dead {before:b} then {after:b}: {:?}", world.leaders());
            }
        }
    }
}

/// Who leads after this death: the dead are known, and only the death of the leader is an election.
fn next_leader(leader: u32, dead: &[u32], n: u32) -> u32 {
    match dead.contains(&leader) {
        true => (1..=n).rev().find(|id| !dead.contains(id)).expect("somebody lives"),
        false => leader,
    }
}

#[test]
fn an_old_result_dies_with_the_election_that_replaced_it() {
    for n in 3..=6 {
        let pairs = (1..=n).flat_map(|one| (1..=n).map(move |other| (one, other)));
        for (first, (one, other)) in (1..=n).flat_map(|f| pairs.clone().map(move |p| (f, p))) {
            if one == other {
                continue;
            }
            let mut world = World::new(n, first);
            let mut leader = first;
            for dead in [vec![one], vec![one, other]] {
                leader = next_leader(leader, &dead, n);
                world.dead = dead;
                for look in 1..=4 {
                    world.poll();
                    let live = n as usize - world.dead.len();
                    let what = format!("n {n}, {first} led, {:?} dead, {look}", world.dead);
                    assert_eq!(world.leaders(), vec![leader; live], "{what}");
                }
            }
        }
    }
}

#[test]
fn an_old_result_dies_though_its_receiver_came_back_between() {
    let mut world = World::new(5, 3);
    for dead in [vec![3], vec![3, 5], vec![3], vec![3, 4], vec![3, 4, 5]] {
        for id in 1..=5 {
            if world.dead.contains(&id) && !dead.contains(&id) {
                *world.at(id) = Circle::new(id, 5, 3);
            }
        }
        world.dead = dead;
        (0..4).for_each(|_| world.poll());
        let leader = (1..=5).rev().find(|id| !world.dead.contains(id)).unwrap_or(0);
        assert_eq!(world.leaders(), vec![leader; 5 - world.dead.len()], "{:?}", world.dead);
    }
}
