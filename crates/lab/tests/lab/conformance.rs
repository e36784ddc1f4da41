//! What the catalogue says of each algorithm, held against simulated runs: its costs, its promises
//! while its assumptions hold, and that the faults which must break it do break it.

mod clocks;
mod detectors;
mod determinism;
mod elections;
mod failover;
mod faults;
mod fences;
mod formulas;
mod graphs;
mod needs;
mod oracles;
mod prevote;
mod resign;
mod rings;
mod seeds;
mod stacks;
mod stories;
mod storms;
mod support;
mod traces;
