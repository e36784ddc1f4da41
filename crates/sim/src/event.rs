//! Events, as the event queue (the wheel) holds them.

use crate::wheel::Item;
use crate::workload::Exercised;
use conclave_core::{Event, Process};

impl<P: Process> Item for Event<P> {
    /// Nodes start before time does, so no start is ever scheduled.
    const VACANT: Self = Self::Start;

    #[inline]
    fn is_vacant(&self) -> bool {
        matches!(self, Self::Start)
    }
}

/// Of what users ask at one time, some comes first.
pub(crate) fn rank<P: Process<Provides: Exercised>>(event: &Event<P>) -> u8 {
    match event {
        Event::Request(request) => P::Provides::rank(request),
        Event::Start
        | Event::Restart
        | Event::Indication(_)
        | Event::Message { .. }
        | Event::Timer(_) => u8::MAX,
    }
}
