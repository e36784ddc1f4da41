//! Edits: what is to be different in a run, in one line each, `1>3:REQUEST#2=drop` or
//! `crash=2@31`. Each is turned into rules, faults and acts of the [`Plan`].
//!
//! What came before an edit stays as it was. Chance is drawn by keys, so that no other message has
//! another fate. But a link may keep its messages in order, and one that is taken out no longer
//! holds up those behind it: these are told to take the time that they took.

use super::Refused;
use super::messages::{Message, Messages};
use super::played::Played;
use conclave_algorithms::catalog::Family;
use conclave_core::{NodeId, Ticks};
use conclave_sim::{Act, Action, Fault, MessageRule, Names, Plan, ScriptLine, parse};

/// What an edit takes, for people.
const ACCEPTED: &str = "FROM>TO:KIND#NTH=drop, =twice:T, =first@T, =before:MESSAGE or =delay:T; \
    crash=ID@T, \
    restart=ID@T, amnesia=ID@T, pause=ID@T+D, cut=A,B@T, cut=ID@T, heal=A,B@T, heal@T, ask=ID@T, \
    leave=ID@T or suspect=A:B@T";

/// Something that is to be different.
#[derive(Clone, Debug, PartialEq)]
pub enum Edit {
    /// Something happens to a message.
    Message {
        /// From, to, kind, and which of these; and what happens, unless it is to be early.
        which: MessageRule,
        /// If it is to arrive before it would.
        early: Option<Early>,
    },
    /// Something goes wrong.
    Fault(Ticks, Fault),
    /// What passes between two nodes is lost no more, or between any.
    Heal(Ticks, Option<(NodeId, NodeId)>),
    /// The application of a node asks, or leaves.
    Ask(Ticks, NodeId),
    /// Whoever is inside leaves, whoever waits gives up.
    Leave(Ticks, NodeId),
}

/// When a message arrives that is delivered first.
#[derive(Clone, Debug, PartialEq)]
pub enum Early {
    /// At this time.
    At(Ticks),
    /// Before this one, which is put off by the least there is, with all that arrive at the same
    /// time behind it.
    Before(MessageRule),
}

/// Reads an edit.
pub fn parse(text: &str, names: &Names) -> Result<Edit, Refused> {
    let wrong = || Refused::new("edits", format!("{}: takes {ACCEPTED}", shown(text)));
    let told = |error: conclave_sim::Error| Refused::new("edits", error);
    if let Some(at) = text.strip_prefix("heal@") {
        return Ok(Edit::Heal(time(at).ok_or_else(wrong)?, None));
    }
    let (verb, rest) = text.split_once('=').ok_or_else(wrong)?;
    if verb.contains('>') {
        return message(text, names);
    }
    let (who, at) = rest.rsplit_once('@').ok_or_else(wrong)?;
    let at_time = || time(at).ok_or_else(wrong);
    let node = || names.node("edit", who).map_err(told);
    let fault = |(at, fault)| Edit::Fault(at, fault);
    match verb {
        "crash" => parse::crash(rest, names).map(fault).map_err(told),
        "restart" => parse::restart(rest, names).map(fault).map_err(told),
        "amnesia" => parse::restart(&format!("{rest}:amnesia"), names).map(fault).map_err(told),
        "pause" => parse::pause(rest, names).map(fault).map_err(told),
        "suspect" => parse::suspect(rest, names).map(fault).map_err(told),
        "cut" => cut(who, at_time()?, names).map_err(told),
        "heal" => {
            let (a, b) = who.split_once(',').ok_or_else(wrong)?;
            let node = |name| names.node("edit", name).map_err(told);
            Ok(Edit::Heal(at_time()?, Some((node(a)?, node(b)?))))
        }
        "ask" => Ok(Edit::Ask(at_time()?, node()?)),
        "leave" => Ok(Edit::Leave(at_time()?, node()?)),
        _ => Err(wrong()),
    }
}

fn time(text: &str) -> Option<Ticks> {
    Ticks::parse(text)
}

/// The beginning of what somebody wrote.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(60).collect()
}

fn message(text: &str, names: &Names) -> Result<Edit, Refused> {
    let wrong = || Refused::new("edits", format!("{}: takes {ACCEPTED}", shown(text)));
    let (which, action) = text.rsplit_once('=').ok_or_else(wrong)?;
    let rule = |which: &str, action: &str| {
        let rule = parse::rule(&format!("{which}={action}"), names);
        let rule = rule.map_err(|error| Refused::new("edits", error))?;
        let exact = rule.from.is_some() && rule.to.is_some() && rule.kind.is_some();
        if exact && rule.nth.is_some() { Ok(rule) } else { Err(wrong()) }
    };
    let early = if let Some(at) = action.strip_prefix("first@") {
        Some(Early::At(time(at).ok_or_else(wrong)?))
    } else if let Some(other) = action.strip_prefix("before:") {
        Some(Early::Before(rule(other, "drop")?))
    } else {
        None
    };
    let action = match (&early, action.strip_prefix("delay:")) {
        (Some(_), _) => "drop", // It stands for what is worked out when the message is found.
        (None, Some(delay)) => delay,
        (None, None) => action,
    };
    Ok(Edit::Message { which: rule(which, action)?, early })
}

/// A link, or all links of a node.
fn cut(who: &str, at: Ticks, names: &Names) -> Result<Edit, conclave_sim::Error> {
    let groups = match who.split_once(',') {
        Some((a, b)) => vec![vec![names.node("edit", a)?], vec![names.node("edit", b)?]],
        None => {
            let node = names.node("edit", who)?;
            let all = (0..names.clients + names.coordinators).map(NodeId);
            vec![vec![node], all.filter(|other| *other != node).collect()]
        }
    };
    Ok(Edit::Fault(at, Fault::Partition { groups, until: Fault::NEVER }))
}

impl Edit {
    /// Whether the run before it must be known to make it.
    pub fn needs_parent(&self) -> bool {
        matches!(self, Self::Message { .. } | Self::Leave(..))
    }

    /// The plan with this edit. `parent` is the run without it, where [`Edit::needs_parent`].
    pub fn apply(
        self,
        plan: &mut Plan,
        family: Family,
        parent: Option<&Played>,
    ) -> Result<(), Refused> {
        match self {
            Self::Message { which, early } => {
                let lost = || Refused::new("edits", "the run before the edit is not known");
                return meddle(plan, which, early, parent.ok_or_else(lost)?);
            }
            Self::Fault(at, fault) => {
                plan.faults.push((at, fault));
                parse::in_order(&mut plan.faults);
            }
            Self::Heal(at, None) => heal_all(plan, at),
            Self::Heal(at, Some((a, b))) => heal(plan, at, a, b),
            Self::Ask(at, node) => {
                let act = match family {
                    Family::Election => Act::Campaign,
                    Family::Clock => Act::Event,
                    Family::Mutex | Family::Detector => Act::Acquire,
                };
                add(plan, ScriptLine { at, node, act });
            }
            Self::Leave(at, node) => {
                let waits = parent.is_some_and(|parent| parent.waits_at(node, at));
                let act = if waits { Act::Cancel } else { Act::Release };
                add(plan, ScriptLine { at, node, act });
            }
        }
        Ok(())
    }
}

fn add(plan: &mut Plan, line: ScriptLine) {
    plan.acts.push(line);
    plan.acts = parse::sorted(std::mem::take(&mut plan.acts));
}

/// Something happens to a message of the parent. The newest rule is obeyed first.
fn meddle(
    plan: &mut Plan,
    mut rule: MessageRule,
    early: Option<Early>,
    parent: &Played,
) -> Result<(), Refused> {
    let messages = Messages::of(&parent.trace);
    let message = find(&messages, &rule)?;
    let mut later = Vec::new();
    if let Some(early) = early {
        let at = match early {
            Early::At(at) => at,
            Early::Before(other) => {
                let other = find(&messages, &other)?;
                let never = || Refused::new("edits", "that one never arrives");
                let theirs = other.sending.arrival.ok_or_else(never)?;
                // Of those that arrive at their time some may have come already.
                let at_once = message.sending.arrival == Some(theirs);
                let at = if at_once { theirs } else { theirs + Ticks(1) };
                later = put_off(&messages, other, message, at);
                at
            }
        };
        rule.action = arrives_at(message, at);
    }
    let pins: Vec<MessageRule> = match (plan.fifo, rule.action) {
        (true, Action::Drop | Action::Delay(_)) => held_up(&messages, message),
        (true, Action::Duplicate | Action::Again(_)) | (false, _) => Vec::new(),
    };
    let already = |pin: &MessageRule, plan: &Plan| {
        plan.rules.iter().any(|known| {
            (known.from, known.to, &known.kind, known.nth) == (pin.from, pin.to, &pin.kind, pin.nth)
        })
    };
    let pins: Vec<MessageRule> = pins.into_iter().filter(|pin| !already(pin, plan)).collect();
    plan.rules.splice(0..0, std::iter::once(rule).chain(later).chain(pins));
    Ok(())
}

/// The message that a rule names.
fn find<'a, 'b>(
    messages: &'a Messages<'b>,
    rule: &MessageRule,
) -> Result<&'a Message<'b>, Refused> {
    let is = |message: &&Message<'_>| {
        rule.from == Some(message.from)
            && rule.to == Some(message.sending.to)
            && rule.kind.as_deref() == Some(message.sending.label.as_str())
            && rule.nth == Some(message.nth)
    };
    let none = || Refused::new("edits", "there is no such message in this run");
    messages.iter().find(is).ok_or_else(none)
}

fn arrives_at(message: &Message<'_>, at: Ticks) -> Action {
    Action::Delay(at.since(message.sent).max(Ticks(1)))
}

/// This one and those behind it come right after the one that is to be first, which comes now.
fn put_off(
    messages: &Messages<'_>,
    behind: &Message<'_>,
    first: &Message<'_>,
    at: Ticks,
) -> Vec<MessageRule> {
    let behind = messages.iter().filter(|message| {
        message.sending.arrival >= behind.sending.arrival
            && message.sending.arrival.is_some_and(|arrival| arrival <= at)
            && message.landed.first() >= behind.landed.first()
            && message.sending.number != first.sending.number
    });
    behind.map(|message| rule(message, arrives_at(message, at + Ticks(1)))).collect()
}

fn rule(message: &Message<'_>, action: Action) -> MessageRule {
    MessageRule {
        from: Some(message.from),
        to: Some(message.sending.to),
        kind: Some(message.sending.label.clone()),
        nth: Some(message.nth),
        action,
    }
}

/// Those behind a message that took as long as they did because it was in front of them.
fn held_up(messages: &Messages<'_>, front: &Message<'_>) -> Vec<MessageRule> {
    let Some(last) = front.sending.arrivals().max() else { return Vec::new() };
    let behind = messages.iter().filter(|message| {
        message.sending.number > front.sending.number
            && (message.from, message.sending.to) == (front.from, front.sending.to)
            && message.sending.arrival == Some(last)
    });
    behind.map(|message| rule(message, arrives_at(message, last))).collect()
}

/// Every partition that is there at this time ends.
fn heal_all(plan: &mut Plan, now: Ticks) {
    for (at, fault) in &mut plan.faults {
        if let Fault::Partition { until, .. } = fault
            && *at <= now
            && *until > now
        {
            *until = now;
        }
    }
}

/// What passes between two nodes is lost no more; what parts others stays.
fn heal(plan: &mut Plan, now: Ticks, a: NodeId, b: NodeId) {
    let mut rest = Vec::new();
    for (at, fault) in &mut plan.faults {
        let Fault::Partition { groups, until } = fault else { continue };
        let side = |node: NodeId| groups.iter().position(|group| group.contains(&node));
        let parted = matches!((side(a), side(b)), (Some(a), Some(b)) if a != b);
        if !parted || *at > now || *until <= now {
            continue;
        }
        let without: Vec<Vec<NodeId>> = groups.iter().map(|group| others(group, a)).collect();
        let own = side(a);
        let apart = groups.iter().enumerate().filter(|(place, _)| Some(*place) != own);
        let far: Vec<NodeId> = apart.flat_map(|(_, group)| others(group, b)).collect();
        rest.push((without, *until));
        rest.push((vec![vec![a], far], *until));
        *until = now;
    }
    for (groups, until) in rest {
        let groups: Vec<Vec<NodeId>> =
            groups.into_iter().filter(|group| !group.is_empty()).collect();
        if groups.len() > 1 {
            plan.faults.push((now, Fault::Partition { groups, until }));
        }
    }
    parse::in_order(&mut plan.faults);
}

fn others(group: &[NodeId], one: NodeId) -> Vec<NodeId> {
    group.iter().copied().filter(|node| *node != one).collect()
}
