//! All algorithms side by side: what they cost, and what faults do to them.

pub mod csv;
pub mod elections;
pub mod json;
pub mod matrix;
pub mod plot;
pub mod table;
pub mod words;
