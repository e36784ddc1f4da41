//! The normal form of Suzuki and Kasami's algorithm.

use super::{Message, SuzukiKasami, Token};
use crate::mutex::normal::{keep, messages};
use conclave_core::Snapshot;

/// A request number is compared with one more than the number served, and that only rises: what is
/// not above the number served was served, and waits nowhere. So a `REQUEST` with such a number is
/// forgotten, whatever smaller was heard of becomes the number served, and that is taken from all.
/// Once the token is lost, nobody will be served and no number counts. The fence is a count of
/// entries that nobody compares.
pub fn normal(all: &mut Snapshot<SuzukiKasami>) {
    let never = || vec![u32::MAX; all.nodes.len()];
    let served = served_by_all(all).unwrap_or_else(never);
    keep(all, |_, from, _, message| match message {
        Message::Request { number } => *number > served[from.index()],
        Message::Token(_) => true,
    });
    for (from, _, message) in messages(all) {
        match message {
            Message::Request { number } => *number -= served[from.index()],
            Message::Token(token) => token.set_back(&served),
        }
    }
    for node in &mut all.nodes {
        for (number, served) in node.requested.iter_mut().zip(&served) {
            *number = number.saturating_sub(*served);
        }
        if let Some(token) = &mut node.token {
            token.set_back(&served);
        }
    }
}

/// Per node, the number of its last request that was served according to the token; to every copy
/// of it, should there be some.
fn served_by_all(all: &Snapshot<SuzukiKasami>) -> Option<Vec<u32>> {
    let under_way = all.links.iter().flat_map(|(_, _, messages)| messages);
    let sent = under_way.filter_map(|message| match message {
        Message::Token(token) => Some(token),
        Message::Request { .. } => None,
    });
    let tokens = all.nodes.iter().filter_map(|node| node.token.as_ref()).chain(sent);
    let least = |a: Vec<u32>, b: Vec<u32>| a.into_iter().zip(b).map(|(a, b)| a.min(b)).collect();
    tokens.map(|token| token.served.clone()).reduce(least)
}

impl Token {
    fn set_back(&mut self, served: &[u32]) {
        self.fence = 0;
        for (number, served) in self.served.iter_mut().zip(served) {
            *number -= served;
        }
    }
}
