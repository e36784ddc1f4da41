//! The services (mutual exclusion, election, failure detection, logical time): requests and
//! indications of each, and the monitor that judges it.

pub mod detector;
pub mod election;
pub mod mutex;
pub mod timekeeping;
