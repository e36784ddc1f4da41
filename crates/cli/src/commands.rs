//! One file per command: what it takes, and what it does.

pub mod algorithms;
pub mod bench;
pub mod cert;
pub mod check;
pub mod cluster;
pub mod compare;
pub mod completions;
pub mod elect;
pub mod exec_child;
pub mod lab;
pub mod lock;
pub mod man;
pub mod mc714;
pub mod node;
pub mod quorum;
pub mod replay;
pub mod scenario;
pub mod sim;
pub mod status;
pub mod timeout;
pub mod token;
pub mod tour;
pub mod up;
