//! Elections over the number of nodes, as people and programs read them.

pub mod json;
pub mod matrix;
pub mod table;
