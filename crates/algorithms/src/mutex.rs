//! Who may enter: mutual exclusion.

pub mod lamport;
pub mod maekawa;
pub mod quorums;
pub mod ricart_agrawala;
pub mod roucairol_carvalho;
