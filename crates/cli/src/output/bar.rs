//! A progress bar on stderr.

use indicatif::{ProgressBar, ProgressStyle};

/// Shows how many pieces of work are done; goes away when it is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar of no length yet.
    pub fn new() -> Self {
        let bar = ProgressBar::new(0);
        if let Ok(style) = ProgressStyle::with_template("{wide_bar} {pos}/{len}, {eta} left") {
            bar.set_style(style);
        }
        Self(bar)
    }

    /// What the work tells how far it is.
    pub fn progress(&self) -> impl Fn(usize, usize) + Sync {
        |done, all| {
            self.0.set_length(all as u64);
            self.0.set_position(done as u64);
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
