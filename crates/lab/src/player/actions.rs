//! What can be done at a moment, as edits; and what cannot, with the reason. Nothing that is
//! offered changes what came before: it takes effect right after the event at the cursor.

use super::index;
use super::messages::{Message, Messages};
use super::played::Played;
use super::signs::{NodeSigns, Signs};
use crate::player::edit;
use conclave_algorithms::catalog::Family;
use conclave_core::{NodeId, Ticks};
use conclave_sim::trace::{Language, Record};
use conclave_sim::{Options, Plan};
use serde::Serialize;
use std::collections::BTreeSet;

/// Of more messages than this, the last to arrive are left out.
const MESSAGES_MAX: usize = 200;
/// Of more nodes than this, single links are left out.
const LINKS_MAX: usize = 9;
/// How long a pause lasts, and by how much a message is late, if nobody says.
const LATE: Ticks = Ticks::units(10);

/// Something that can be done, or cannot.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Action {
    pub edit: String,
    pub about: About,
    pub verb: &'static str,
    pub label: String,
    pub possible: bool,
    pub why_not: Option<String>,
}

/// What an action is about.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub enum About {
    Message(u64),
    Node(u32),
    Link(u32, u32),
}

/// All actions at a moment. Of a run that no plan decided there are none.
pub fn actions(
    played: &Played,
    messages: &Messages<'_>,
    event: usize,
    signs: &Signs,
    under_way: &[(u64, Ticks)],
    language: Language,
) -> Vec<Action> {
    let Some(plan) = &played.plan else { return Vec::new() };
    let over = played.trace.records[..event].last();
    let over = over.is_some_and(|record| matches!(record, Record::End { .. }));
    let after = if event == 0 { Ticks::ZERO } else { signs.now + Ticks(1) };
    let desk = Desk { played, plan, signs, event, after, over, language };
    let mut actions = Vec::new();
    let mut seen = BTreeSet::new();
    for (number, due) in under_way.iter().take(MESSAGES_MAX) {
        let Some(message) = messages.get(*number).filter(|_| seen.insert(*number)) else {
            continue;
        };
        desk.message(message, *due, messages, under_way, &mut actions);
    }
    for place in (0..signs.nodes.len()).take_while(|_| !played.patience.is_over()) {
        desk.node(NodeId(place as u32), &mut actions);
    }
    desk.links(&mut actions);
    actions
}

struct Desk<'a> {
    played: &'a Played,
    plan: &'a Plan,
    signs: &'a Signs,
    /// After how many events.
    event: usize,
    /// When an action takes effect.
    after: Ticks,
    /// Whether the run is over.
    over: bool,
    language: Language,
}

impl Desk<'_> {
    fn action(
        &self,
        about: About,
        (verb, label): (&'static str, [&str; 2]),
        edit: String,
        why_not: Option<[&str; 2]>,
    ) -> Action {
        let over = ["the run is over", "a execução terminou"];
        let why_not = why_not.or(self.over.then_some(over));
        let told =
            |[english, portuguese]: [&str; 2]| self.language.pick(english, portuguese).to_string();
        Action {
            edit,
            about,
            verb,
            label: told(label),
            possible: why_not.is_none(),
            why_not: why_not.map(told),
        }
    }

    fn message(
        &self,
        message: &Message<'_>,
        due: Ticks,
        messages: &Messages<'_>,
        under_way: &[(u64, Ticks)],
        actions: &mut Vec<Action>,
    ) {
        let about = About::Message(message.sending.number);
        let key = message.key(&self.played.trace.header.names);
        let spent = |until: Ticks| until.since(message.sent);
        let landed = message.landed.iter().any(|landing| *landing <= self.event);
        let copy = landed.then_some(["it has arrived once already", "já chegou uma vez"]);
        let (first, why) = self.first(message, due, messages, under_way);
        let late = format!("{key}=delay:{}", spent(due + LATE));
        let twice = format!("{key}=twice:{}", spent(due + Ticks::UNIT));
        let verbs = [
            (("first", ["deliver it now", "entregá-la agora"]), first, copy.or(why)),
            (("drop", ["drop it", "perdê-la"]), format!("{key}=drop"), copy),
            (("delay", ["delay it", "atrasá-la"]), late, copy),
            (("twice", ["deliver it twice", "entregá-la duas vezes"]), twice, copy),
        ];
        actions.extend(verbs.map(|(verb, edit, why)| self.action(about, verb, edit, why)));
    }

    /// How a message is delivered before all others, and why not.
    fn first(
        &self,
        message: &Message<'_>,
        due: Ticks,
        messages: &Messages<'_>,
        under_way: &[(u64, Ticks)],
    ) -> (String, Option<[&'static str; 2]>) {
        let names = &self.played.trace.header.names;
        let ahead = self.ahead_of(message, messages, under_way);
        let link = |message: &Message<'_>| (message.from, message.sending.to);
        let behind = self.plan.fifo
            && under_way.iter().any(|(other, due)| {
                let before = messages.get(*other).filter(|_| *other < message.sending.number);
                let in_time = *due <= self.signs.now && ahead.is_none();
                before.is_some_and(|before| link(before) == link(message)) && !in_time
            });
        let kept = behind.then_some([
            "one that was sent before it is still under way, and this link keeps their order",
            "uma enviada antes ainda está a caminho, e este canal mantém a ordem",
        ]);
        let next = (due <= self.after && ahead.is_none())
            .then_some(["it arrives next as it is", "já é a próxima a chegar"]);
        let edit = match ahead {
            Some(ahead) => format!("{}=before:{}", message.key(names), ahead.key(names)),
            None => format!("{}=first@{}", message.key(names), self.after),
        };
        (edit, next.or(kept))
    }

    /// The first that arrives at once, and before this one.
    fn ahead_of<'m>(
        &self,
        message: &Message<'_>,
        messages: &'m Messages<'m>,
        under_way: &[(u64, Ticks)],
    ) -> Option<&'m Message<'m>> {
        let soon = under_way.iter().filter(|(_, due)| *due <= self.after);
        let soon = soon.filter_map(|(number, _)| messages.get(*number));
        let landing = |message: &Message<'_>| {
            message.landed.iter().copied().find(|landing| *landing > self.event)
        };
        let next = soon.filter_map(|soon| Some((landing(soon)?, soon)));
        let (lands, next) = next.min_by_key(|(lands, _)| *lands)?;
        let mine = landing(message).unwrap_or(usize::MAX);
        (lands < mine && next.landed.len() == 1).then_some(next)
    }

    fn node(&self, node: NodeId, actions: &mut Vec<Action>) {
        let about = About::Node(index(node));
        let name = self.played.names().name(node);
        let state = &self.signs.nodes[node.index()];
        let at = self.after;
        let down = state.down.then_some(["it is down", "está fora"]);
        let mut add = |verb, edit: String, why| actions.push(self.action(about, verb, edit, why));
        add(("crash", ["crash it", "derrubá-lo"]), format!("crash={name}@{at}"), down);
        let back = (!state.down).then_some(["it is up", "está de pé"]);
        let restart = format!("restart={name}@{at}");
        let no_rule = (state.down && self.refused(&restart)).then_some([
            "this algorithm has no rule for a return with its disk",
            "este algoritmo não tem regra para a volta com o disco",
        ]);
        add(("restart", ["restart it", "reiniciá-lo"]), restart, back.or(no_rule));
        let amnesia = format!("amnesia={name}@{at}");
        add(("amnesia", ["restart it without its disk", "reiniciá-lo sem o disco"]), amnesia, back);
        let paused = state.paused.then_some(["it is paused", "está pausado"]);
        let pause = format!("pause={name}@{at}+{LATE}");
        add(("pause", ["pause it", "pausá-lo"]), pause, down.or(paused));
        add(("cut", ["cut it off", "isolá-lo"]), format!("cut={name}@{at}"), self.alone(node));
        let (ask, why) = self.asks(node, state);
        add(("ask", ask), format!("ask={name}@{at}"), down.or(why));
        let outside = (!state.waiting && state.inside.is_none())
            .then_some(["it is not inside and does not wait", "não está dentro nem espera"]);
        if self.family() == Family::Mutex && self.is_client(node) {
            add(
                ("leave", ["let it leave", "fazê-lo sair"]),
                format!("leave={name}@{at}"),
                down.or(outside),
            );
        }
    }

    fn alone(&self, node: NodeId) -> Option<[&'static str; 2]> {
        let mut others = node.others(self.signs.nodes.len() as u32);
        let words = ["it is cut off already", "já está isolado"];
        others.all(|other| self.signs.is_cut(node, other)).then_some(words)
    }

    fn family(&self) -> Family {
        self.played.experiment.setting.entry.family
    }

    fn is_client(&self, node: NodeId) -> bool {
        node.0 < self.played.names().clients
    }

    /// What the application of a node can ask, and why not.
    fn asks(
        &self,
        node: NodeId,
        state: &NodeSigns,
    ) -> ([&'static str; 2], Option<[&'static str; 2]>) {
        let nobody = ["nobody asks anything on this node", "ninguém pede nada neste nó"];
        let nobody = (!self.is_client(node)).then_some(nobody);
        match self.family() {
            Family::Mutex => {
                let words = ["let it ask to enter", "fazê-lo pedir para entrar"];
                let waits = state.waiting.then_some(["it waits already", "já espera"]);
                let inside = state.inside.map(|_| ["it is inside", "está dentro"]);
                (words, nobody.or(waits).or(inside))
            }
            Family::Election => {
                (["let it call an election", "fazê-lo convocar uma eleição"], nobody)
            }
            Family::Clock => {
                let played = self.played.experiment.play().is_some();
                let own = ["the example has a script of its own", "o exemplo tem roteiro próprio"];
                (["let it do something", "fazê-lo agir"], nobody.or(played.then_some(own)))
            }
            Family::Detector => {
                let words = ["ask it", "perguntar-lhe"];
                let none = ["a detector is asked nothing", "a um detector não se pede nada"];
                (words, Some(none))
            }
        }
    }

    /// Whether the simulator refuses such a plan.
    fn refused(&self, text: &str) -> bool {
        let Ok(edit) = edit::parse(text, self.played.names()) else { return true };
        let mut plan = self.plan.clone();
        let applied = edit.apply(&mut plan, self.family(), None);
        applied.is_err() || self.played.experiment.prepare(&plan, &Options::default()).is_err()
    }

    /// Single links, where there are few.
    fn links(&self, actions: &mut Vec<Action>) {
        let n = self.signs.nodes.len();
        let at = self.after;
        if !self.signs.cut_links().is_empty() {
            let about = About::Node(0);
            let words = ["heal all links", "restaurar todos os canais"];
            actions.push(self.action(about, ("heal-all", words), format!("heal@{at}"), None));
        }
        if n > LINKS_MAX {
            return;
        }
        let name = |node: NodeId| self.played.names().name(node);
        let suspicion = |by: NodeId, of: NodeId| format!("suspect={}:{}@{at}", name(by), name(of));
        let listens = n > 1 && !self.refused(&suspicion(NodeId(0), NodeId(1)));
        for a in (0..n as u32).map(NodeId) {
            for b in (a.0 + 1..n as u32).map(NodeId) {
                let about = About::Link(index(a), index(b));
                let is_cut = self.signs.is_cut(a, b);
                let is = is_cut.then_some(["it is cut already", "já está cortado"]);
                let whole = (!is_cut).then_some(["it is not cut", "não está cortado"]);
                let link = format!("{},{}@{at}", name(a), name(b));
                let words = ("cut", ["cut the link", "cortar o canal"]);
                actions.push(self.action(about, words, format!("cut={link}"), is));
                let words = ("heal", ["heal the link", "restaurar o canal"]);
                actions.push(self.action(about, words, format!("heal={link}"), whole));
                if listens {
                    let words = ["let one suspect the other", "fazer um suspeitar do outro"];
                    let verb = ("suspect", words);
                    actions.push(self.action(about, verb, suspicion(a, b), None));
                    actions.push(self.action(about, verb, suspicion(b, a), None));
                }
            }
        }
    }
}
