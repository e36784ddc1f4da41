//! In which order ids may stand, and who may begin.

use conclave_core::NodeId;
use conclave_sim::Stream;

/// All orders are tried up to so many nodes; of more, some.
const ALL_ORDERS_MAX: u32 = 6;
/// So many messages may be spent on one election with so many nodes.
const BUDGET: f64 = 4e6;
const ORDERS_MIN: u32 = 6;
const ORDERS_MAX: u32 = 400;

/// One order: the id of each node, and who begins alone.
pub struct Order {
    /// By node.
    pub ids: Vec<u32>,
    /// Each in a run of its own.
    pub starters: Vec<NodeId>,
}

/// Some orders.
pub struct Orders {
    /// Each with those who begin.
    pub list: Vec<Order>,
    /// Whether these are all there are.
    pub complete: bool,
}

/// The orders to try with so many nodes, when an election takes so many messages.
pub fn of(n: u32, messages: f64) -> Orders {
    if n <= ALL_ORDERS_MAX {
        let mut list = Vec::new();
        permute(&mut (1..=n).collect(), 0, &mut |ids| {
            list.push(Order { ids: ids.to_vec(), starters: (0..n).map(NodeId).collect() });
        });
        return Orders { list, complete: true };
    }
    let many = ((BUDGET / messages / 4.0) as u32).clamp(ORDERS_MIN, ORDERS_MAX);
    let mut random = Stream::new(u64::from(n), 0);
    let ascending: Vec<u32> = (1..=n).collect();
    let descending: Vec<u32> = (1..=n).rev().collect();
    let mut list = vec![with_extremes(ascending.clone()), with_extremes(descending)];
    for _ in 2..many {
        let mut ids = ascending.clone();
        shuffle(&mut ids, &mut random);
        let starter = NodeId(random.below(u64::from(n)) as u32);
        list.push(Order { ids, starters: vec![starter] });
    }
    Orders { list, complete: false }
}

/// Sorted ids show the extremes: whoever is just before or just behind the greatest begins, or the
/// least or the one below the greatest.
fn with_extremes(ids: Vec<u32>) -> Order {
    let n = ids.len() as u32;
    let starters = [0, 1, n / 2, n - 2, n - 1].map(NodeId).to_vec();
    Order { ids, starters }
}

fn shuffle(ids: &mut [u32], random: &mut Stream) {
    for last in (1..ids.len()).rev() {
        ids.swap(last, random.below(last as u64 + 1) as usize);
    }
}

fn permute(ids: &mut Vec<u32>, from: usize, found: &mut impl FnMut(&[u32])) {
    if from + 1 >= ids.len() {
        return found(ids);
    }
    for index in from..ids.len() {
        ids.swap(from, index);
        permute(ids, from + 1, found);
        ids.swap(from, index);
    }
}
