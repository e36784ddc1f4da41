//! Who may enter: mutual exclusion.

pub mod central;
pub mod desk;
pub mod naimi_trehel;
pub mod ping_pong;
pub mod places;
pub mod quorum;
pub mod raymond;
pub mod suzuki_kasami;
pub mod token_ring;
pub mod total_order;
pub mod tree;
pub mod voting;
