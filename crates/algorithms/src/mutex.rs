//! Who may enter: mutual exclusion.

pub mod naimi_trehel;
pub mod ping_pong;
pub mod raymond;
pub mod suzuki_kasami;
pub mod token_ring;
pub mod tree;
