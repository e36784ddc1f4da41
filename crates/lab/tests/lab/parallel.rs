//! Work on all cores.

use conclave_lab::parallel::each;
use std::sync::atomic::{AtomicUsize, Ordering};

#[test]
fn results_come_in_the_order_of_the_pieces() {
    let pieces: Vec<u32> = (0..1_000).collect();
    let most = AtomicUsize::new(0);
    let progress = |done: usize, _: usize| {
        most.fetch_max(done, Ordering::Relaxed);
    };
    let doubled = each(&pieces, &progress, |piece| piece * 2);
    assert_eq!(doubled, (0..2_000).step_by(2).collect::<Vec<_>>());
    assert_eq!(most.into_inner(), 1_000);
    assert!(each(&[], &|_, _| {}, |piece: &u32| *piece).is_empty());
}
