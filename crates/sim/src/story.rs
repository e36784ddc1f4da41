//! A run told in words.

use crate::network::Fate;
use crate::plan::Fault;
use crate::trace::words::{details, heard, label, named};
use crate::trace::{Language, Told, erased, plain};
use crate::workload::Exercised;
use conclave_core::{Data, Event, Named, NodeId, Process, Reason, Ticks};

/// One sentence of the story: what a node did or what happened to it. Nodes appear as `{3}` in the
/// text, so that whoever prints it can use other names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// When.
    pub at: Ticks,
    /// To whom; `None` for what concerns all.
    pub node: Option<NodeId>,
    /// What.
    pub text: String,
    /// Whether it is a consequence of the line before.
    pub follows: bool,
    /// Why the node does what it does, where the line says that: its text is the English of it.
    pub why: Option<Reason>,
}

#[derive(Default)]
pub(crate) struct Story {
    pub lines: Vec<Line>,
    now: Ticks,
    node: NodeId,
    /// Equal messages to several nodes make one sentence.
    sending: Option<Sending>,
    quiet: bool,
}

/// A message to one or several nodes, and what becomes of it.
struct Sending {
    what: String,
    receivers: Vec<NodeId>,
    ending: &'static str,
}

impl Story {
    pub fn begins<P: Process<Provides: Exercised>>(
        &mut self,
        now: Ticks,
        node: NodeId,
        event: &Event<P>,
    ) {
        self.now = now;
        self.node = node;
        self.quiet = true;
        let text = match event {
            Event::Start => return,
            Event::Restart => "comes back".to_string(),
            Event::Request(request) => P::Provides::words(request),
            Event::Indication(told) => is_told(told),
            Event::Message { from, message } => {
                format!("receives {} from {}", words(message), from.mark())
            }
            Event::Timer(timer) => format!("timer {} fires", timer_name(timer)),
        };
        self.say(text, false);
    }

    pub fn sends<M: Data + Named>(&mut self, to: NodeId, message: &M, fate: Fate) {
        let ending = match (fate.arrival, fate.again) {
            (None, _) => "; it is lost",
            (Some(_), Some(_)) => "; it will arrive twice",
            (Some(_), None) => "",
        };
        let what = words(message);
        match &mut self.sending {
            Some(same) if same.what == what && same.ending == ending => same.receivers.push(to),
            Some(_) | None => {
                self.flush();
                self.sending = Some(Sending { what, receivers: vec![to], ending });
            }
        }
    }

    pub fn sets_timer<T: Data>(&mut self, timer: &T, span: Ticks) {
        self.flush();
        self.say(format!("sets timer {} for {span}", timer_name(timer)), true);
    }

    /// What the algorithm tells its user.
    pub fn indicates(&mut self, text: String) {
        self.flush();
        self.say(text, true);
    }

    /// Why the node does what it is about to do.
    pub fn explains(&mut self, why: Reason) {
        let text = Language::English.reason(&why);
        let node = Some(self.node);
        self.lines.push(Line { at: self.now, node, text, follows: true, why: Some(why) });
    }

    pub fn ends(&mut self) {
        self.flush();
        let cause = self.lines.iter_mut().rev().find(|line| line.why.is_none());
        if self.quiet
            && let Some(line) = cause
            && line.text.starts_with("receives")
        {
            line.text.push_str(" and sends nothing");
        }
    }

    pub fn goes_in(&mut self, now: Ticks, node: NodeId) {
        self.now = now;
        self.node = node;
        self.say("goes in without asking".to_string(), false);
    }

    pub fn tells(&mut self, now: Ticks, node: NodeId, to: NodeId) {
        self.now = now;
        self.node = node;
        self.say(format!("tells the application on {}", to.mark()), false);
    }

    pub fn lost_at_dead_node(&mut self, at: Ticks, from: NodeId, to: NodeId, kind: &str) {
        let text = format!("is down: {kind} from {} is lost", from.mark());
        self.lines.push(Line { at, node: Some(to), text, follows: false, why: None });
    }

    pub fn happens(&mut self, at: Ticks, fault: &Fault) {
        let (node, text) = match fault {
            Fault::Crash(node) => (Some(*node), "CRASHES".to_string()),
            Fault::Restart { node, amnesia: false } => {
                (Some(*node), "RESTARTS with its disk".to_string())
            }
            Fault::Restart { node, amnesia: true } => {
                (Some(*node), "RESTARTS and remembers nothing".to_string())
            }
            Fault::Pause { node, span } => (Some(*node), format!("is PAUSED for {span}")),
            Fault::Partition { groups, until } => {
                let side = |group: &Vec<NodeId>| {
                    group.iter().map(|node| node.mark()).collect::<Vec<_>>().join(",")
                };
                let sides: Vec<String> = groups.iter().map(side).collect();
                let sides = sides.join(" / ");
                match *until {
                    Fault::NEVER => (None, format!("PARTITION {sides} for ever")),
                    until => (None, format!("PARTITION {sides} until {until}")),
                }
            }
            Fault::Suspect { by, of, .. } => {
                (Some(*by), format!("is told, wrongly, that {} crashed", of.mark()))
            }
        };
        self.lines.push(Line { at, node, text, follows: false, why: None });
    }

    fn flush(&mut self) {
        if let Some(Sending { what, receivers, ending }) = self.sending.take() {
            let receivers: Vec<String> = receivers.iter().map(|node| node.mark()).collect();
            self.say(format!("sends {what} to {}{ending}", receivers.join(", ")), true);
        }
    }

    fn say(&mut self, text: String, follows: bool) {
        self.quiet = !follows;
        self.lines.push(Line { at: self.now, node: Some(self.node), text, follows, why: None });
    }
}

/// The paper's word for a message, then what it carries, as in a diagram: `REQUEST (time: 3)`.
fn words<M: Data + Named>(message: &M) -> String {
    named(message.name(), &details(message), Language::English)
}

/// The name of a timer, without the layers of the process that it went through.
fn timer_name<T: Data>(timer: &T) -> String {
    plain::innermost(&label(timer))
}

/// What the layer below says, as the diagrams have it.
fn is_told<T: Data>(told: &T) -> String {
    let known = Told::of(&erased::value(told));
    if matches!(known, Told::Other(_)) {
        return format!("is told {}", plain::innermost(&label(told)));
    }
    heard(&known, Language::English)
}

/// Nodes print as `NodeId(3)`, counted from 0; whoever shows the text has better names for them.
pub(crate) fn with_marks(debug: &str) -> String {
    let mut pieces = debug.split("NodeId(");
    let mut text = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let (index, rest) = piece.split_once(')').unwrap_or((piece, ""));
        text += &format!("{{{index}}}{rest}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_in_a_message_are_left_to_whoever_shows_it() {
        let debug = "Request { origin: NodeId(3), via: [NodeId(0), NodeId(12)] }";
        assert_eq!(with_marks(debug), "Request { origin: {3}, via: [{0}, {12}] }");
        assert_eq!(with_marks("Token"), "Token");
    }
}
