//! Following causes: vector times for `HB`, and the messages of each request for `BW`.

use crate::plan::Options;
use crate::wheel::SlotId;
use conclave_core::clock::Vector;
use conclave_core::mutex::{Monitor, Mutex, Request};
use conclave_core::{Event, Named, NodeId, Process};

/// What is known of the causes of everything under way.
pub(crate) struct Causes {
    /// By slot: the vector time that the message carries.
    stamps: Option<Vec<Vector>>,
    registration: Option<Registration>,
}

/// Follows the messages of each request until all have arrived: then it is registered.
struct Registration {
    /// By slot: whose request this message belongs to.
    waves: Vec<u32>,
    in_flight: Vec<u32>,
}

const NOBODY: u32 = u32::MAX;

/// Whose request a step serves: the request itself, or the arrival of a message of this kind.
/// What such a step sends of the same kind belongs to the request too.
#[derive(Clone, Copy)]
pub(crate) struct Wave {
    pub requester: NodeId,
    pub kind: Option<&'static str>,
}

impl Causes {
    pub fn new(options: &Options, n: u32) -> Self {
        let registration = Registration { waves: Vec::new(), in_flight: vec![0; n as usize] };
        Self {
            stamps: options.order.then(Vec::new),
            registration: options.bypass_bound.map(|_| registration),
        }
    }

    /// A message, of the algorithm or the application's own, waits in this slot.
    #[inline]
    pub fn sent(&mut self, monitor: &mut Monitor, slot: SlotId, from: NodeId, wave: Option<Wave>) {
        if let Some(stamps) = &mut self.stamps
            && let Some(causality) = monitor.causality()
        {
            if stamps.len() <= slot as usize {
                stamps.resize_with(slot as usize + 1, Vector::default);
            }
            stamps[slot as usize].copy_from(causality.sent(from));
        }
        if let Some(registration) = &mut self.registration {
            if registration.waves.len() <= slot as usize {
                registration.waves.resize(slot as usize + 1, NOBODY);
            }
            registration.waves[slot as usize] = wave.map_or(NOBODY, |wave| wave.requester.0);
            if let Some(wave) = wave {
                registration.in_flight[wave.requester.index()] += 1;
            }
        }
    }

    /// The vector time that came with an event, if it came from another node.
    #[inline]
    pub fn stamp<P>(&self, slot: SlotId, event: &Event<P>) -> Option<&Vector>
    where
        P: Process<Provides = Mutex>,
    {
        let stamps = self.stamps.as_ref().filter(|_| carries_stamp(event))?;
        stamps.get(slot as usize)
    }

    /// The request that an event belongs to.
    #[inline]
    pub fn wave<P: Process>(&self, slot: SlotId, event: &Event<P>) -> Option<Wave> {
        let registration = self.registration.as_ref()?;
        let Event::Message { message, .. } = event else { return None };
        let requester = registration.waves[slot as usize];
        let wave = Wave { requester: NodeId(requester), kind: Some(message.name()) };
        (requester != NOBODY).then_some(wave)
    }

    /// When nothing of a request is in flight any more, it is registered.
    #[inline]
    pub fn settle(&mut self, monitor: &mut Monitor, wave: Wave) {
        let Some(registration) = &mut self.registration else { return };
        let in_flight = &mut registration.in_flight[wave.requester.index()];
        *in_flight -= u32::from(wave.kind.is_some());
        if *in_flight == 0 {
            monitor.registered(wave.requester);
        }
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
