//! The orders of the ids that elections are compared over.

use conclave_lab::compare::Estimate;
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

/// Student's t for 2 and 10 degrees of freedom is 4.303 and 2.228.
#[test]
fn the_interval_of_a_mean_is_students() {
    let half = |values: &[f64]| Estimate::of(values).and_then(|it| it.half);
    assert_eq!((Estimate::of(&[]), half(&[7.0])), (None, None), "one run says nothing of others");
    let of = |values: &[f64]| half(values).expect("several");
    assert_eq!(of(&[5.0; 4]), 0.0);
    assert!((of(&[1.0, 2.0, 3.0]) - 4.303 / 3_f64.sqrt()).abs() < 1e-9);
    let eleven: Vec<f64> = (0..11).map(f64::from).collect(); // Their variance is 11.
    assert!((of(&eleven) - 2.228).abs() < 1e-3, "{}", of(&eleven));
}
