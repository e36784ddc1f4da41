//! Parallel work: many pieces on all cores, the results in the order of the pieces.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Is told how many pieces are done, and of how many.
pub type Progress<'a> = &'a (dyn Fn(usize, usize) + Sync);

/// Does every piece of work.
pub fn each<T: Sync, R: Send>(
    pieces: &[T],
    progress: Progress<'_>,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let threads = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::with_capacity(pieces.len()));
    progress(0, pieces.len());
    std::thread::scope(|scope| {
        for _ in 0..threads.min(pieces.len()) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(piece) = pieces.get(index) else { break };
                    let result = work(piece);
                    let mut done = done.lock().expect("nobody panics holding the lock");
                    done.push((index, result));
                    progress(done.len(), pieces.len());
                }
            });
        }
    });
    let mut done = done.into_inner().expect("nobody panics holding the lock");
    done.sort_unstable_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, result)| result).collect()
}
