//! A cluster of real processes on this machine.

mod certificates;
mod earlier;
mod follow;
mod member;
mod ports;
mod screen;
mod setup;

pub use follow::{follow, stop, strangers};
pub use member::{Member, in_words};
pub use screen::screen;
pub use setup::{Setup, Wanted};
