//! The normal form of Naimi and Trehel's algorithm.

use super::{Message, NaimiTrehel};
use crate::mutex::normal::messages;
use conclave_core::Snapshot;

/// Nothing counts without end but the entries, and nobody compares that number.
pub fn normal(all: &mut Snapshot<NaimiTrehel>) {
    for node in &mut all.nodes {
        node.fence = 0;
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Token { fence } => *fence = 0,
            Message::Request { .. } => {}
        }
    }
}
