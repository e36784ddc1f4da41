//! A progress bar on stderr.

use crate::texts::remark;
use indicatif::{ProgressBar, ProgressStyle};

/// Shows how many pieces of work are done; goes away when it is dropped.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar of no length yet.
    pub fn new() -> Self {
        let bar = ProgressBar::new(0);
        let template = format!("{{wide_bar}} {}", remark("{pos}/{len}, {eta} left"));
        if let Ok(style) = ProgressStyle::with_template(&template) {
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
