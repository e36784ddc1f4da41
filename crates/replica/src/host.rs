//! What a node stands on: a clock, and hands that do its disk's work. The default is the real
//! machine; a simulation brings its own.

use crate::disk::{DiskOptions, Hands, Threads};
pub use crate::lease::Reading;
use std::fmt;
use std::sync::Arc;

/// Reads the clocks that leases run on.
pub trait Clock: Send + Sync + 'static {
    /// What they read now.
    fn read(&self) -> Reading;
}

/// The clocks of the system.
pub struct SystemClock;

impl Clock for SystemClock {
    fn read(&self) -> Reading {
        Reading::now()
    }
}

/// The machine of one node.
#[derive(Clone)]
pub struct Host {
    /// Its clocks.
    pub clock: Arc<dyn Clock>,
    /// Who does its disk's work.
    pub hands: Arc<dyn Hands>,
    /// How much is kept where.
    pub disk: DiskOptions,
}

impl Default for Host {
    fn default() -> Self {
        let disk = DiskOptions::default();
        Self { clock: Arc::new(SystemClock), hands: Arc::new(Threads), disk }
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Host").field("disk", &self.disk).finish_non_exhaustive()
    }
}
