//! The orders of the ids that elections are compared over.

use conclave_lab::compare::elections::orders::{Order, of};
use std::collections::BTreeSet;

#[test]
fn few_nodes_stand_in_every_order_once() {
    let orders = of(5, 10.0);
    let distinct: BTreeSet<&Vec<u32>> = orders.list.iter().map(|order| &order.ids).collect();
    assert!(orders.complete);
    assert_eq!((orders.list.len(), distinct.len()), (120, 120));
    assert!(orders.list.iter().all(|order| order.starters.len() == 5));
}

#[test]
fn many_nodes_stand_in_some_orders_sorted_ones_among_them() {
    let orders = of(20, 100.0);
    assert!(!orders.complete && orders.list.len() == 400);
    assert!(orders.list[0].ids.is_sorted() && orders.list[1].ids.is_sorted_by(|a, b| a > b));
    for Order { ids, .. } in &orders.list {
        assert_eq!(ids.iter().copied().collect::<BTreeSet<u32>>().len(), 20);
    }
}
