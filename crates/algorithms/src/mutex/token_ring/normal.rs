//! The normal form of the token ring.

use super::{Idle, Message, TokenRing};
use crate::mutex::normal::{keep, messages, set_back};
use conclave_core::Snapshot;

/// Hops are compared with hops, and only counted on: the same is taken from all. A token or a call
/// that names a hop already made does nothing, nor does a mark that was left for one, so these are
/// forgotten. The fence is a count of entries that nobody compares.
pub fn normal(all: &mut Snapshot<TokenRing>) {
    keep(all, |nodes, _, to, message| match *message {
        Message::Token { hop, .. } | Message::Wake { hop } => hop > nodes[to.index()].hop,
    });
    for node in &mut all.nodes {
        node.fence = 0;
        if let Idle::Park { called } = &mut node.idle {
            *called = node.hop.max(*called);
        }
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Token { fence, .. } => *fence = 0,
            Message::Wake { .. } => {}
        }
    }
    set_back(all, each_hop);
}

fn each_hop(all: &mut Snapshot<TokenRing>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        show(&mut node.hop);
        match &mut node.idle {
            Idle::Park { called } => show(called),
            Idle::Circulate { .. } => {}
        }
    }
    for (_, _, message) in messages(all) {
        match message {
            Message::Token { hop, .. } | Message::Wake { hop } => show(hop),
        }
    }
}
