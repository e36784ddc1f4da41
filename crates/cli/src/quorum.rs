//! The calculator of `conclave quorum`: how likely two are let in when coordinators forget.

pub mod plot;
pub mod report;
