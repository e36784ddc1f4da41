//! What the catalogue says of each algorithm, held against simulated runs: its costs, its promises
//! while its assumptions hold, and that the faults which must break it do break it.

mod common;
#[path = "conformance/support.rs"]
mod support;

#[path = "conformance/clocks.rs"]
mod clocks;
#[path = "conformance/detectors.rs"]
mod detectors;
#[path = "conformance/determinism.rs"]
mod determinism;
#[path = "conformance/elections.rs"]
mod elections;
#[path = "conformance/failover.rs"]
mod failover;
#[path = "conformance/faults.rs"]
mod faults;
#[path = "conformance/formulas.rs"]
mod formulas;
#[path = "conformance/graphs.rs"]
mod graphs;
#[path = "conformance/oracles.rs"]
mod oracles;
#[path = "conformance/prevote.rs"]
mod prevote;
#[path = "conformance/rings.rs"]
mod rings;
#[path = "conformance/seeds.rs"]
mod seeds;
#[path = "conformance/stacks.rs"]
mod stacks;
#[path = "conformance/stories.rs"]
mod stories;
#[path = "conformance/storms.rs"]
mod storms;
#[path = "conformance/traces.rs"]
mod traces;
