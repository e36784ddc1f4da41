//! Many pieces of work on all cores, the results in the order of the pieces.

use indicatif::{ProgressBar, ProgressStyle};
use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does every piece of work, and shows on stderr how far it is.
pub fn each<T: Sync, R: Send>(pieces: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let bar = ProgressBar::new(pieces.len() as u64);
    if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len}, {eta} left") {
        bar.set_style(style);
    }
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(pieces.len()));
    std::thread::scope(|scope| {
        for _ in 0..threads.min(pieces.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(piece) = pieces.get(index) else { break };
                    let result = work(piece);
                    done.lock().expect("nobody panics holding the lock").push((index, result));
                    bar.inc(1);
                }
            });
        }
    });
    bar.finish_and_clear();
    let mut done = done.into_inner().expect("nobody panics holding the lock");
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_pieces() {
        let pieces: Vec<u32> = (0..1_000).collect();
        assert_eq!(each(&pieces, |piece| piece * 2), (0..2_000).step_by(2).collect::<Vec<_>>());
        assert!(each(&[], |piece: &u32| *piece).is_empty());
    }
}
