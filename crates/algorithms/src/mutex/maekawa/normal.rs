//! The normal form of Maekawa's algorithm.

use super::{Body, Maekawa, Message, Phase};
use crate::mutex::normal::{messages, set_back};
use conclave_core::Snapshot;

/// Times are compared with times, and every clock only counts on from the largest it has seen: the
/// same is taken from all. The time of a request counts until it is released. Nobody compares
/// fences but to find the largest.
pub fn normal(all: &mut Snapshot<Maekawa>) {
    for node in &mut all.nodes {
        node.fence = 0;
        if node.phase == Phase::Idle {
            node.asked = 0;
        }
    }
    for (_, _, message) in messages(all) {
        match &mut message.body {
            Body::Grant { fence } | Body::Release { fence } => *fence = 0,
            Body::Request | Body::Failed | Body::Inquire | Body::Yield => {}
        }
    }
    set_back(all, each_time);
}

fn each_time(all: &mut Snapshot<Maekawa>, show: &mut dyn FnMut(&mut u64)) {
    for node in &mut all.nodes {
        show(&mut node.clock.0);
        if node.phase != Phase::Idle {
            show(&mut node.asked);
        }
        let queued = node.queue.iter_mut().map(|queued| &mut queued.request);
        queued.chain(&mut node.voted).for_each(|request| show(&mut request.time));
    }
    for (_, _, Message { request, clock, .. }) in messages(all) {
        show(request);
        show(clock);
    }
}
