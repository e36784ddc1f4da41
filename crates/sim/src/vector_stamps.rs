//! Vector timestamps on messages, by which causality (`HB`) is judged.

use crate::plan::Options;
use crate::wheel::SlotId;
use crate::workload::Exercised;
use conclave_core::clock::Vector;
use conclave_core::mutex::Causality;
use conclave_core::{Event, NodeId, Process};

/// By slot: the vector time that the message there carries. Kept only if `HB` is judged.
pub(crate) struct Stamps(Option<Vec<Vector>>);

impl Stamps {
    pub fn new(options: &Options) -> Self {
        Self(options.order.then(Vec::new))
    }

    /// A message, of the algorithm or of its users, waits in this slot.
    #[inline]
    pub fn sent(&mut self, causality: Option<&mut Causality>, slot: SlotId, from: NodeId) {
        if let (Some(stamps), Some(causality)) = (&mut self.0, causality) {
            stamp(stamps, causality, slot as usize, from);
        }
    }

    /// The vector time that came with an event, if it came from another node.
    #[inline]
    pub fn of<P>(&self, slot: SlotId, event: &Event<P>) -> Option<&Vector>
    where
        P: Process<Provides: Exercised>,
    {
        let stamps = self.0.as_ref().filter(|_| carries_stamp(event))?;
        stamps.get(slot as usize)
    }
}

#[cold]
fn stamp(stamps: &mut Vec<Vector>, causality: &mut Causality, slot: usize, from: NodeId) {
    if stamps.len() <= slot {
        stamps.resize_with(slot + 1, Vector::default);
    }
    stamps[slot].copy_from(causality.sent(from));
}

/// Messages carry the sender's vector time; so does what one user tells another.
fn carries_stamp<P: Process<Provides: Exercised>>(event: &Event<P>) -> bool {
    match event {
        Event::Message { .. } => true,
        Event::Request(request) => P::Provides::is_message(request),
        Event::Start | Event::Restart | Event::Indication(_) | Event::Timer(_) => false,
    }
}
