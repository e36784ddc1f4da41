//! Who may enter: mutual exclusion.

pub mod central;
pub mod desk;
pub mod places;
pub mod quorum;
pub mod total_order;
pub mod voting;
