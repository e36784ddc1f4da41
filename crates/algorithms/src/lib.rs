//! The classic algorithms of distributed coordination, one published algorithm per file.
//!
//! ```
//! use conclave_algorithms::catalog;
//!
//! let entry = catalog::find("ricart-agrawala")?;
//! let setting = entry.setting(7, &[])?;
//! let cost = entry.cost.mutex().expect("it is one");
//! assert_eq!((cost.heavy.range)(&setting), (12.0, 12.0)); // 2(N-1)
//! # Ok::<(), conclave_algorithms::Error>(())
//! ```

pub mod catalog;
pub mod clock;
pub mod detector;
mod edges;
pub mod election;
mod error;
pub mod mutex;

pub use error::Error;
