//! One file per command: what it takes, and what it does.

pub mod algorithms;
pub mod bench;
pub mod check;
pub mod compare;
pub mod quorum;
pub mod replay;
pub mod scenario;
pub mod sim;
pub mod timeout;
pub mod tour;
