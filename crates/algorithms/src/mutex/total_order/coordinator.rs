//! A coordinator of voting through total-order broadcast: what was delivered, and who is in line.

use super::{Broadcast, Message, TotalOrder, why};
use conclave_core::{Context, NodeId};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct Coordinator {
    /// The number of the last broadcast delivered.
    pub(super) delivered: u64,
    /// Broadcasts that came before their turn.
    pub(super) early: BTreeMap<u64, Broadcast>,
    /// Client, its seq and the broadcast number, in order of these numbers.
    pub(super) line: VecDeque<(NodeId, u32, u64)>,
    /// Whether nobody is let into the line behind another.
    refuses: bool,
}

impl Coordinator {
    pub(super) fn new(refuses: bool) -> Self {
        Self { delivered: 0, early: BTreeMap::new(), line: VecDeque::new(), refuses }
    }

    pub(super) fn has_in_line(&self, client: NodeId) -> bool {
        self.line.iter().any(|&(known, _, _)| known == client)
    }

    /// Who waits for whom: those in line for the first of it.
    pub(super) fn waits(&self) -> impl Iterator<Item = (NodeId, NodeId)> + '_ {
        let first = self.line.front().map(|&(first, _, _)| first);
        let behind = self.line.iter().skip(1).map(|&(client, _, _)| client);
        behind.filter_map(move |client| Some((client, first?)))
    }

    pub(super) fn deliver(
        &mut self,
        number: u64,
        broadcast: Broadcast,
        ctx: &mut Context<TotalOrder>,
    ) {
        self.delivered = number;
        let Broadcast { client, seq, release } = broadcast;
        let first = self.line.front().copied();
        if release && first.is_some_and(|(holder, _, _)| holder == client) {
            ctx.because(&why::OUT_OF_LINE, (number, client));
            self.line.pop_front();
        } else if release {
            ctx.because(&why::OUT_OF_LINE, (number, client));
            self.line.retain(|&(waiting, _, _)| waiting != client);
        } else if self.refuses
            && let Some((holder, _, _)) = first
        {
            ctx.because(&why::REFUSED, (client, holder));
            return ctx.send(client, Message::Nok { seq });
        } else {
            self.line.push_back((client, seq, number));
            if let Some((holder, _, _)) = first {
                ctx.because(&why::IN_LINE, (number, client, holder));
            }
        }
        let now = self.line.front().copied();
        if let Some((client, seq, number)) = now.filter(|_| now != first) {
            ctx.because(&why::FIRST, client);
            ctx.send(client, Message::Ok { seq, number });
        }
    }
}
