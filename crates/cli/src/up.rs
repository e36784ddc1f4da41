//! A cluster of real processes on this machine.

mod actions;
mod certificates;
mod earlier;
mod follow;
mod health;
mod member;
mod outgoing;
mod ports;
mod problem;
mod recording;
mod reverse_proxy;
mod roster;
mod screen;
mod server;
mod setup;

pub use actions::{Desk, Wish};
pub use follow::{follow, stop, strangers};
pub use member::{Member, in_words};
pub use recording::Recordings;
pub use roster::Roster;
pub use screen::screen;
pub use server::serve;
pub use setup::{Setup, Wanted};
