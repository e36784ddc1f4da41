//! Remote procedure calls on real sockets: what they promise, whom they refuse, what they endure.

mod calls;
mod certificates;
mod deadlines;
mod endings;
mod hostile;
mod kit;
mod limits;
mod peers;
mod raw;
mod refusals;
mod throughput;
