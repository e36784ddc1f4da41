//! The rules of the three programs of lecture notes 001, without their HTTP.
//!
//! The programs are a lock kept by a coordinator, a ring that elects, and a task that is handed
//! from clock to clock. Each file below lets a state machine of the lab speak the little that the
//! original says on the wire. What is served and called over HTTP is in `commands/mc714`.

pub mod access;
pub mod circle;
pub mod digits;
pub mod operations;
pub mod semaphore;
