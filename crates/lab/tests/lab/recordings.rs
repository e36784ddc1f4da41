//! Recordings of real nodes, put together.

mod judge;
mod post;
