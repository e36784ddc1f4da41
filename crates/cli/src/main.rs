//! `conclave`: locks, leaders and logical time from the command line.

fn main() {}
