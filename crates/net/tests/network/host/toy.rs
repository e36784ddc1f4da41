//! A process that says what happens to it, and an application that passes that on.

use conclave_core::mutex::{Indication, Mutex, Request};
use conclave_core::{Context, Delay, Event, Named, Never, NodeId, Process, Recovery, Ticks};
use conclave_net::{
    AnyIndication, AnyRequest, Application, Automaton, HostContext, Input, Key, Machine, Survival,
};
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc;

/// What it says, as fences.
pub const STARTED: u64 = 1_000;
pub const RESTARTED: u64 = 2_000;
pub const RANG: u64 = 3_000;
pub const HEARD: u64 = 4_000;

/// Counts what it is asked. To acquire sets its timer, to release sends its count to the next node,
/// to cancel stops the timer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Toy {
    asked: u64,
    n: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Count(u64);

impl Named for Count {
    fn name(&self) -> &'static str {
        "COUNT"
    }
}

impl Process for Toy {
    type Provides = Mutex;
    type Uses = Never;
    type Message = Count;
    type Timer = u8;

    fn step(&mut self, event: Event<Self>, ctx: &mut Context<Self>) {
        let mut say = |fence| ctx.indicate(Indication::Entered { fence });
        match event {
            Event::Start => say(STARTED),
            Event::Restart => say(RESTARTED + self.asked),
            Event::Timer(_) => say(RANG),
            Event::Message { message: Count(count), .. } => say(HEARD + count),
            Event::Request(Request::Acquire) => {
                self.asked += 1;
                ctx.set_timer(0, Delay::exactly(Ticks::units(1_500)));
            }
            Event::Request(Request::Release) => {
                self.asked += 1;
                (1..self.n).for_each(|node| ctx.send(NodeId(node), Count(self.asked)));
            }
            Event::Request(Request::Cancel) => ctx.cancel_timer(0),
            Event::Request(Request::Observe(_)) => self.asked += 1,
        }
    }

    fn after_crash(&self) -> Recovery<Self> {
        Recovery::State(self.clone())
    }
}

pub fn count(count: u64) -> Vec<u8> {
    postcard::to_allocvec(&Count(count)).expect("a number")
}

/// Asks its machines whatever it is told to, and passes on what they say.
pub struct Teller {
    pub survival: Survival,
    /// Whether the machines are to be made at other nodes, too.
    pub everywhere: bool,
    pub told: mpsc::UnboundedSender<(Key, u64)>,
}

impl Application for Teller {
    type Command = (&'static str, AnyRequest);

    fn machine(&mut self, key: &Key) -> Option<(Box<dyn Automaton>, Input)> {
        let heard = AnyIndication::to_oracle::<Never>;
        let process = Toy { asked: 0, n: 2 };
        let machine = Machine::new(NodeId(0), process, self.survival, heard, 1);
        let machine: Box<dyn Automaton> = Box::new(machine);
        ["toy", "other"].contains(&&**key).then_some((machine, Input::Start))
    }

    fn told(&mut self, key: &Key, told: AnyIndication, host: &mut dyn HostContext) {
        let AnyIndication::Entered { fence } = told else { return };
        let (key, teller) = (key.clone(), self.told.clone());
        host.afterwards(Box::new(move || {
            let _ = teller.send((key, fence));
        }));
    }

    fn command(&mut self, (key, asked): (&'static str, AnyRequest), host: &mut dyn HostContext) {
        if self.everywhere {
            host.open(&key.into());
        }
        host.ask(&key.into(), asked);
    }

    fn begin(&mut self, _: Vec<(String, Vec<u8>)>, _: &mut dyn HostContext) {}
    fn created(&mut self, _: &Key, _: &mut dyn HostContext) {}
    fn asked(&mut self, _: &Key, _: AnyRequest, _: &mut dyn HostContext) {}
    fn link(&mut self, _: NodeId, _: bool, _: &mut dyn HostContext) {}
    fn wake(&mut self, _: &mut dyn HostContext) {}
}
