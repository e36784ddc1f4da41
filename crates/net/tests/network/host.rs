//! Hosts with real disks, and links that are played: connections drop, nodes are killed at any
//! point between batches or between a commit and what should leave after it, and come back.

mod board;
mod clients;
mod crashes;
mod hosts;
mod places;
mod toy;
