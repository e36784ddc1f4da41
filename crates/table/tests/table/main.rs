//! The table from outside: its rules one by one, and against a slow and obvious model.

mod deadlocks;
mod histories;
mod kit;
mod leases;
mod locks;
mod model;
mod random;
mod refusals;
mod restored;
mod unrecorded;
