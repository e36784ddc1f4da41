//! A trace in people's words.

use super::{Cause, Effect, Header, Language, Record, Sending, Step, Told, plain};
use crate::story::with_marks;
use conclave_core::{Named, NodeId, Reason};
use serde_json::Value;
use std::fmt::Debug;

/// A text with marks such as `{3}`, which stands for the node of index 3, in people's words.
pub(super) fn tell(text: &str, names: &[String]) -> String {
    let mut pieces = text.split('{');
    let mut told = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        let marked = piece.split_once('}').and_then(|(index, rest)| {
            let plain = index.bytes().all(|byte| byte.is_ascii_digit());
            let name = names.get(index.parse::<usize>().ok().filter(|_| plain)?)?;
            Some((name, rest))
        });
        match marked {
            Some((name, rest)) => {
                told.push_str(name);
                told.push_str(rest);
            }
            None => {
                told.push('{');
                told.push_str(piece);
            }
        }
    }
    told
}

/// Coordinators are called `c1`, `c2` and so on; no other node may be.
pub(super) fn is_coordinator(name: &str) -> bool {
    let number = name.strip_prefix('c');
    number.is_some_and(|n| !n.is_empty() && n.bytes().all(|byte| byte.is_ascii_digit()))
}

/// What people call a node, so that it cannot be taken for a number or a word of Mermaid's.
pub(super) fn who(header: &Header, node: NodeId, language: Language) -> String {
    let name = header.name(node);
    match is_coordinator(name) {
        true => name.to_string(),
        false => format!("{} {name}", language.pick("node", "nó")),
    }
}

/// The name of a timer: that of its layer, where there are several.
pub(crate) fn label(value: &impl Debug) -> String {
    inner(&with_marks(&format!("{value:?}"))).to_string()
}

/// What a message carries: its fields without its name, `time: 3`.
pub(crate) fn details(message: &(impl Debug + Named)) -> String {
    let debug = with_marks(&format!("{message:?}"));
    let inner = inner(&debug);
    let Some(open) = inner.find([' ', '(']) else { return String::new() };
    let fields = inner[open..].trim();
    let braces = fields.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let brackets = fields.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    braces.or(brackets).unwrap_or(fields).trim().to_string()
}

/// What an arrow is called: the paper's word, and the time or the id that it carries, since these
/// decide what becomes of it. The rest is left to longer texts.
pub(super) fn caption(label: &str, details: &str) -> String {
    match own_time(details).or_else(|| carried(details, &["id: ", "term: ", "rank: "])) {
        Some(value) => format!("{label} {value}"),
        None => label.to_string(),
    }
}

/// The time that a message carries, if the algorithm has a clock of its own.
pub(super) fn own_time(details: &str) -> Option<&str> {
    carried(details, &["time: ", "clock: "])
}

/// A short number under one of these names, at the beginning or after what counts requests.
fn carried<'a>(details: &'a str, telling: &[&str]) -> Option<&'a str> {
    let mut fields = details.split(", ");
    let first = fields.find(|field| !COUNTS.iter().any(|count| field.starts_with(count)))?;
    let value = telling.iter().find_map(|field| first.strip_prefix(field));
    let short = |value: &&str| value.len() <= 4 && value.bytes().all(|b| b.is_ascii_digit());
    value.filter(short)
}

/// Fields that tell a request from the next one of the same node.
const COUNTS: [&str; 1] = ["request: "];

/// Without the layers that it is wrapped in.
fn inner(debug: &str) -> &str {
    let unwrapped =
        ["Upper(", "Lower("].iter().find_map(|layer| debug.strip_prefix(layer)?.strip_suffix(')'));
    unwrapped.map_or(debug, inner)
}

/// What an application asks, as the words of the services have it.
fn asks(request: &str, language: Language) -> String {
    let told = match request {
        "Acquire" => language.pick("asks to enter", "pede para entrar"),
        "Release" => language.pick("leaves", "sai"),
        "Cancel" => language.pick("no longer wants to enter", "já não quer entrar"),
        "Campaign" => language.pick("calls an election", "convoca uma eleição"),
        other => return language.fill("is asked @", "recebe o pedido @", &plain::innermost(other)),
    };
    told.to_string()
}

/// Why a node acts.
pub(crate) fn cause(step: &Step, language: Language) -> String {
    let told =
        match &step.cause {
            Cause::Start => language.pick("starts", "começa"),
            Cause::Restart => language.pick("comes back", "volta"),
            Cause::Tell => language
                .pick("sends a message of the application", "envia uma mensagem da aplicação"),
            Cause::Unseen => language
                .pick("does something that was not recorded", "faz algo que não foi gravado"),
            Cause::Request(request) => return asks(request, language),
            Cause::Indication(label) => return is_told(&step.event, label, language),
            Cause::Message { from, label, .. } => {
                let told = language.fill("receives @ from", "recebe @ de", label);
                return format!("{told} {}", from.mark());
            }
            Cause::Timer(timer) => {
                let timer = language.timer(&plain::innermost(timer));
                return language.fill("timer @ fires", "o temporizador @ dispara", &timer);
            }
        };
    told.to_string()
}

/// What the layer below tells a node: an event of this kind, or where that is not known, this.
fn is_told(event: &Value, label: &str, language: Language) -> String {
    match event.get("Indication").map(Told::of) {
        Some(Told::Other(_)) | None => {
            language.fill("is told @", "é avisado: @", &plain::innermost(label))
        }
        Some(told) => heard(&told, language),
    }
}

/// What a layer below says, as the one above hears it.
pub(crate) fn heard(told: &Told, language: Language) -> String {
    let who = |node: &NodeId| node.mark();
    match told {
        Told::Entered { fence } => language.fill(
            "is told that it may enter, with fence @",
            "é avisado de que pode entrar, com o fencing token @",
            &fence.to_string(),
        ),
        Told::Elected { leader, term } => {
            let told =
                language.fill("is told that @ leads", "é avisado de que @ lidera", &who(leader));
            format!("{told}{}", in_term(*term, language))
        }
        Told::Deposed => language
            .pick("is told that it no longer leads", "é avisado de que já não lidera")
            .to_string(),
        Told::Suspect(node) => {
            language.fill("is told that @ crashed", "é avisado de que @ caiu", &who(node))
        }
        Told::Trust(node) => {
            language.fill("is told that @ is up", "é avisado de que @ está de pé", &who(node))
        }
        Told::Other(what) => language.fill("is told @", "é avisado: @", what),
    }
}

fn in_term(term: u64, language: Language) -> String {
    language.fill(", term @", ", mandato @", &term.to_string())
}

/// A step in a sentence: why, then what it led to.
pub(super) fn sentence(step: &Step, language: Language) -> String {
    let mut clauses = vec![cause(step, language)];
    clauses.extend(consequences(step, language, |sending| sending_words(sending, language)));
    clauses.join("; ")
}

/// Why a step did what it did, each reason with the rule that it comes from.
pub(super) fn reasons(reasons: &[Reason], language: Language) -> String {
    let told = |reason: &Reason| {
        format!("{}: {}", language.rule(reason.why.rule), language.reason(reason))
    };
    reasons.iter().map(told).collect::<Vec<_>>().join("; ")
}

/// What a step led to, each in a clause; messages in these words.
pub(crate) fn consequences(
    step: &Step,
    language: Language,
    words: impl Fn(&Sending) -> String,
) -> Vec<String> {
    let mut clauses = Vec::new();
    let mut last: Option<(String, Vec<NodeId>)> = None;
    let flush = |last: &mut Option<(String, Vec<NodeId>)>, clauses: &mut Vec<String>| {
        if let Some((what, receivers)) = last.take() {
            let receivers: Vec<String> = receivers.iter().map(|node| node.mark()).collect();
            let told = language.fill("sends @ to", "envia @ a", &what);
            clauses.push(format!("{told} {}", receivers.join(", ")));
        }
    };
    for effect in &step.effects {
        if let Effect::Send(sending) = effect {
            let what = words(sending);
            match &mut last {
                Some((same, receivers)) if *same == what => receivers.push(sending.to),
                Some(_) | None => {
                    flush(&mut last, &mut clauses);
                    last = Some((what, vec![sending.to]));
                }
            }
            continue;
        }
        flush(&mut last, &mut clauses);
        clauses.extend(effect_words(effect, language));
    }
    flush(&mut last, &mut clauses);
    clauses
}

fn sending_words(sending: &Sending, language: Language) -> String {
    let lost = language.pick(", which is lost,", ", que se perde,");
    let lost = if sending.arrival.is_none() { lost } else { "" };
    format!("{}{lost}", message(sending, language))
}

/// A message with what it carries.
pub(crate) fn message(sending: &Sending, language: Language) -> String {
    named(&sending.label, &sending.details, language)
}

/// The paper's word for a message, with what it carries.
pub(crate) fn named(label: &str, details: &str, language: Language) -> String {
    let carried = plain::carried(label, details, language);
    if carried.is_empty() { label.to_string() } else { format!("{label} ({carried})") }
}

/// What a message carries, in people's words.
pub fn contents(label: &str, details: &str, header: &Header, language: Language) -> String {
    header.tell(&plain::carried(label, details, language))
}

/// The name of a timer, in people's words.
pub fn timer(label: &str, header: &Header, language: Language) -> String {
    header.tell(&language.timer(&plain::innermost(label)))
}

fn effect_words(effect: &Effect, language: Language) -> Option<String> {
    match effect {
        Effect::Send(_) | Effect::Request { .. } => None,
        Effect::SetTimer { label, .. } => {
            let timer = language.timer(&plain::innermost(label));
            Some(language.fill("sets timer @", "arma o temporizador @", &timer))
        }
        Effect::CancelTimer { label, .. } => {
            let timer = language.timer(&plain::innermost(label));
            Some(language.fill("stops timer @", "desarma o temporizador @", &timer))
        }
        Effect::Indicate { effect } => Some(told(&Told::of(effect), language)),
    }
}

/// What a node tells the layer above.
pub(super) fn told(told: &Told, language: Language) -> String {
    match told {
        Told::Entered { fence } => {
            language.fill("ENTERS with fence @", "ENTRA com o fencing token @", &fence.to_string())
        }
        Told::Elected { leader, term } => {
            let told = language.fill("takes @ for the leader", "toma @ por líder", &leader.mark());
            format!("{told}{}", in_term(*term, language))
        }
        Told::Deposed => language.pick("no longer leads", "já não lidera").to_string(),
        Told::Suspect(node) => language.fill("suspects @", "suspeita de @", &node.mark()),
        Told::Trust(node) => language.fill("trusts @ again", "volta a confiar em @", &node.mark()),
        Told::Other(what) => language.fill("says @", "diz @", what),
    }
}

/// Groups of a partition, `1,2 / 3`.
pub(super) fn groups(groups: &[Vec<NodeId>], header: &Header) -> String {
    let side = |group: &Vec<NodeId>| {
        group.iter().map(|node| header.name(*node)).collect::<Vec<_>>().join(",")
    };
    groups.iter().map(side).collect::<Vec<_>>().join(" / ")
}

/// Whatever happened, in one sentence that begins with whom it happened to.
pub fn record(record: &Record, header: &Header, language: Language) -> String {
    let of = |node: &NodeId, what: &str| format!("{} {what}", header.name(*node));
    match record {
        Record::Step(step) => header.tell(&of(&step.node, &sentence(step, language))),
        Record::Lost { node, .. } => of(
            node,
            language.pick("is down: what reaches it is lost", "está fora: o que chega se perde"),
        ),
        Record::Dead { node } => {
            of(node, language.pick("is dead from the beginning", "está morto desde o começo"))
        }
        Record::Crash { node, .. } => of(node, language.pick("CRASHES", "CAI")),
        Record::Restart { node, amnesia, .. } => of(node, returns(*amnesia, language)),
        Record::Pause { node, .. } => of(node, language.pick("is PAUSED", "é PAUSADO")),
        Record::Resume { node, .. } => of(node, language.pick("goes on", "continua")),
        Record::Partition { groups: sides, .. } => {
            language.fill("PARTITION @", "PARTIÇÃO @", &groups(sides, header))
        }
        Record::Heal { .. } => {
            language.pick("the partition HEALS", "a partição TERMINA").to_string()
        }
        Record::Suspect { by, of: whom, .. } => of(by, &wrongly(header.name(*whom), language)),
        Record::Violation(broken) => {
            let told = language.pick("is VIOLATED", "é VIOLADA");
            match language {
                Language::English => {
                    format!("{} {told}: {}", broken.property, header.tell(&broken.what))
                }
                // What a monitor has to say is in English.
                Language::Portuguese => format!("{} {told}", broken.property),
            }
        }
        Record::End { .. } => language.pick("the end", "o fim").to_string(),
    }
}

/// How a node comes back.
pub(crate) fn returns(amnesia: bool, language: Language) -> &'static str {
    match amnesia {
        false => language.pick("RESTARTS with its disk", "VOLTA com seu disco"),
        true => language.pick("RESTARTS and remembers nothing", "VOLTA sem lembrar de nada"),
    }
}

/// That a node is told something false.
pub(super) fn wrongly(whom: &str, language: Language) -> String {
    language.fill("is told, wrongly, that @ crashed", "é avisado, sem razão, de que @ caiu", whom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_core::Layer;

    #[derive(Debug)]
    #[allow(dead_code, reason = "only printed")]
    enum Message {
        Plain,
        Grant(u64),
        Request { time: u64, origin: NodeId },
    }

    impl Named for Message {
        fn name(&self) -> &'static str {
            "ANY"
        }
    }

    #[test]
    fn what_a_message_carries_is_told_without_its_name() {
        assert_eq!(details(&Message::Plain), "");
        assert_eq!(details(&Message::Grant(5)), "5");
        let request = Message::Request { time: 3, origin: NodeId(1) };
        assert_eq!(details(&request), "time: 3, origin: {1}");
        let stacked: Layer<Message, Layer<Message, Message>> =
            Layer::Lower(Layer::Upper(Message::Grant(7)));
        assert_eq!(details(&stacked), "7");
    }

    #[test]
    fn an_arrow_shows_the_time_or_the_id_that_it_carries() {
        assert_eq!(caption("REQUEST", "time: 3, seq: 1"), "REQUEST 3");
        assert_eq!(caption("ELECTION", "id: 24, hops: 2"), "ELECTION 24");
        assert_eq!(caption("GRANT", "seq: 1, fence: 0"), "GRANT");
        assert_eq!(caption("TOKEN", "time: {3}"), "TOKEN");
        assert_eq!(caption("TOKEN", ""), "TOKEN");
    }

    #[test]
    fn marks_become_names_and_other_braces_stay() {
        let names = ["a".to_string(), "c1".to_string()];
        assert_eq!(tell("{0} to {1}: {9} {x} {} {", &names), "a to c1: {9} {x} {} {");
        assert!(is_coordinator("c12") && !is_coordinator("c") && !is_coordinator("cat"));
    }
}
