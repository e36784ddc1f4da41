//! Real algorithms, killed nodes, dropped connections: nobody may notice.

use super::board::Board;
use super::clients::{Clients, Engine, Watch, machine};
use conclave_core::NodeId;
use conclave_net::recording::{self, Entry, Recording};
use conclave_net::{Automaton, Deed, Input, Key};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

const NODES: u32 = 3;
const PATIENCE: Duration = Duration::from_secs(120);

/// Draws below a bound.
struct Dice(Xoshiro256PlusPlus);

impl Dice {
    fn below(&mut self, bound: u32) -> u32 {
        (self.0.next_u64() % u64::from(bound)) as u32
    }
}

/// Lets all clients have their entries while nodes are killed and connections dropped, and gives
/// back the recordings of all lives of all nodes.
async fn survive(engine: Engine) -> Vec<Recording> {
    let watch = Watch::default();
    let seen = watch.clone();
    let mut board = Board::new(NODES, move |me| Clients::new(engine, me, NODES, seen.clone()));
    let mut dice = Dice(Xoshiro256PlusPlus::seed_from_u64(5));
    let (mut until_fault, mut kills, began) = (100, 0, Instant::now());
    while watch.finished() < 8 * NODES as usize {
        assert!(began.elapsed() < PATIENCE, "{engine:?}: stuck after {:?}", watch.entries());
        board.carry().await;
        until_fault -= 1;
        if until_fault <= 0 {
            until_fault = 20 + dice.below(200) as i32;
            let node = NodeId(dice.below(NODES));
            match dice.below(4) {
                0 => board.cut(node, node.successor(NODES)),
                1 => board.heal(),
                _ => {
                    board.kill(node).await;
                    board.start(node);
                    kills += 1;
                }
            }
        }
    }
    assert_eq!(watch.wrong(), [""; 0], "{engine:?}");
    assert_eq!(watch.entries(), [40 * NODES as usize; 8], "{engine:?}: each entry once");
    assert!(kills >= 5, "{engine:?}: only {kills} kills");
    let place = board.stop().await;
    let files = std::fs::read_dir(&place.0).expect("it is there");
    let paths = files.map(|file| file.expect("a name").path());
    let recordings = paths.filter(|path| path.extension().is_some_and(|end| end == "rec"));
    recordings.map(|path| read(&path)).collect()
}

fn read(path: &std::path::Path) -> Recording {
    let bytes = std::fs::read(path).expect("a file");
    recording::read(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Runs all machines of a recording again.
fn run_again(engine: Engine, recording: &Recording) {
    let me = recording.header.node;
    let mut machines: BTreeMap<Key, Box<dyn Automaton>> = BTreeMap::new();
    for entry in &recording.entries {
        match entry {
            Entry::Restored(restored) => {
                let mut fresh = machine(engine, me, NODES);
                fresh.restore(&restored.saved).expect("a state of this algorithm");
                machines.insert(restored.key.clone(), fresh);
            }
            Entry::Step(step) => {
                if step.input == Input::Start {
                    machines.insert(step.key.clone(), machine(engine, me, NODES));
                }
                let again = machines.get_mut(&step.key).expect("it began");
                again.script(&step.choices);
                let stepped = again.step(&step.input).expect("what it took before");
                let deeds: Vec<Deed> = step.deeds.iter().map(|done| done.deed.clone()).collect();
                assert_eq!((stepped.deeds, stepped.choices), (deeds, step.choices.clone()));
            }
            Entry::Stopped(_) => unreachable!("it is not given back"),
        }
    }
}

/// Every life but the last of each node was cut short, and all of it can be run again.
fn look_at(engine: Engine, recordings: &[Recording]) {
    let whole = recordings.iter().filter(|recording| !recording.cut);
    let mut nodes: Vec<u32> = whole.map(|recording| recording.header.node.0).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, (0..NODES).collect::<Vec<u32>>());
    recordings.iter().for_each(|recording| run_again(engine, recording));
    let entries: usize = recordings.iter().map(|recording| recording.entries.len()).sum();
    assert!(entries > 1_000, "{entries} entries");
}

#[tokio::test]
async fn central_survives_kills_and_cuts() {
    look_at(Engine::Central, &survive(Engine::Central).await);
}

#[tokio::test]
async fn ricart_agrawala_survives_kills_and_cuts() {
    look_at(Engine::RicartAgrawala, &survive(Engine::RicartAgrawala).await);
}

#[tokio::test]
async fn suzuki_kasami_survives_kills_and_cuts() {
    look_at(Engine::SuzukiKasami, &survive(Engine::SuzukiKasami).await);
}
