//! The normal form of the ping-pong ring.

use super::{Message, PingPong};
use crate::mutex::normal::messages;
use conclave_core::Snapshot;

/// Numbers are compared with numbers and grow away from zero: the same is taken from all. No token
/// will ever again have a number nearer to zero than those there are, so a node that remembers one
/// remembers nothing. The fence is a count of entries that nobody compares.
pub fn normal(all: &mut Snapshot<PingPong>) {
    let mut least = i64::MAX;
    each_token(all, &mut |number| least = least.min(number.abs()));
    let nearer = |number: i64| match number.abs() {
        size if size < least => 0,
        size => number.signum() * (size - least + 1),
    };
    for node in &mut all.nodes {
        (node.m, node.fence) = (nearer(node.m), 0);
    }
    each_token(all, &mut |number| *number = nearer(*number));
    for (_, _, message) in messages(all) {
        match message {
            Message::Ping { fence, .. } | Message::Pong { fence, .. } => *fence = 0,
        }
    }
}

fn each_token(all: &mut Snapshot<PingPong>, show: &mut dyn FnMut(&mut i64)) {
    for node in all.nodes.iter_mut().filter(|node| node.ping > 0) {
        show(&mut node.ping);
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Ping { number, .. } | Message::Pong { number, .. } => show(number),
        }
    }
}
