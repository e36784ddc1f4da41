//! Following causes: vector times for `HB`, and the messages of each request for `BW`.

use crate::metrics::same;
use crate::plan::Options;
use crate::wheel::SlotId;
use conclave_core::clock::Vector;
use conclave_core::mutex::{Monitor, Mutex, Request};
use conclave_core::{Event, Named, NodeId, Process};

/// By slot: the vector time that the message there carries. Kept only if `HB` is judged.
pub(crate) struct Stamps(Option<Vec<Vector>>);

impl Stamps {
    pub fn new(options: &Options) -> Self {
        Self(options.order.then(Vec::new))
    }

    /// A message, of the algorithm or the application's own, waits in this slot.
    #[inline]
    pub fn sent(&mut self, monitor: &mut Monitor, slot: SlotId, from: NodeId) {
        if let Some(stamps) = &mut self.0 {
            stamp(stamps, monitor, slot as usize, from);
        }
    }

    /// The vector time that came with an event, if it came from another node.
    #[inline]
    pub fn of<P>(&self, slot: SlotId, event: &Event<P>) -> Option<&Vector>
    where
        P: Process<Provides = Mutex>,
    {
        let stamps = self.0.as_ref().filter(|_| carries_stamp(event))?;
        stamps.get(slot as usize)
    }
}

#[cold]
fn stamp(stamps: &mut Vec<Vector>, monitor: &mut Monitor, slot: usize, from: NodeId) {
    if let Some(causality) = monitor.causality() {
        if stamps.len() <= slot {
            stamps.resize_with(slot + 1, Vector::default);
        }
        stamps[slot].copy_from(causality.sent(from));
    }
}

/// Messages carry the sender's vector time; so does what one application tells another.
fn carries_stamp<P: Process<Provides = Mutex>>(event: &Event<P>) -> bool {
    match event {
        Event::Message { .. } => true,
        Event::Request(Request::Observe(clock)) => crate::application::is_told(*clock),
        Event::Request(Request::Acquire | Request::Release | Request::Cancel)
        | Event::Start
        | Event::Restart
        | Event::Indication(_)
        | Event::Timer(_) => false,
    }
}

/// Follows the messages that each request sends until all have arrived: then it is registered, and
/// `BW` begins to count. What is passed on afterwards is the algorithm's own business.
pub(crate) struct Registration {
    /// What a request sends; there is one such kind in every algorithm.
    kind: Option<&'static str>,
    /// By node: how many of those are under way.
    under_way: Vec<u32>,
}

impl Registration {
    pub fn new(n: u32) -> Self {
        Self { kind: None, under_way: vec![0; n as usize] }
    }

    /// A request sends a message.
    pub fn sent(&mut self, from: NodeId, kind: &'static str) {
        self.kind = self.kind.or(Some(kind));
        self.under_way[from.index()] += u32::from(self.follows(kind));
    }

    /// A request was made; what it sends is under way by now.
    pub fn made(&self, monitor: &mut Monitor, node: NodeId) {
        if self.under_way[node.index()] == 0 {
            monitor.registered(node);
        }
    }

    /// A message arrives, perhaps the last of a request.
    #[inline]
    pub fn arrived<M: Named>(&mut self, monitor: &mut Monitor, from: NodeId, message: &M) {
        // Token algorithms may ask without a word.
        if self.kind.is_none() || !self.follows(message.name()) {
            return;
        }
        let under_way = &mut self.under_way[from.index()];
        if *under_way > 0 {
            *under_way -= 1;
            self.made(monitor, from);
        }
    }

    fn follows(&self, kind: &'static str) -> bool {
        self.kind.is_some_and(|followed| same(followed, kind))
    }
}
