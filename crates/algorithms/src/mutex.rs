//! Mutual exclusion: who may enter the critical section.

pub mod central;
pub mod central_failover;
pub mod desk;
pub mod epoch;
pub mod lamport;
pub mod maekawa;
pub mod naimi_trehel;
mod normal;
pub mod ping_pong;
pub mod places;
pub mod quorum;
pub mod quorums;
pub mod raymond;
pub mod ricart_agrawala;
pub mod roucairol_carvalho;
pub mod suzuki_kasami;
mod symmetry;
pub mod token_ring;
pub mod token_ring_regenerating;
pub mod total_order;
pub mod tree;
pub mod voting;
mod why;
