//! All algorithms side by side: what they cost, and what faults do to them.

pub mod crew;
pub mod elections;
pub mod faults;
pub mod json;
pub mod matrix;
pub mod measure;
pub mod plot;
pub mod table;
