//! Why: the reasons of Hirschberg and Sinclair's rules, in words.

use crate::election::why::{NO_HAND_OVER, ONLY_TOLD, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &PROBES,
    &ALREADY,
    &WOKEN,
    &STOPS,
    &PASSES,
    &REPLIES,
    &PASSES_REPLY,
    &ONE_SIDE,
    &BOTH_SIDES,
    &SAME_ANSWER,
    &LATE_REPLY,
    &ALONE,
    &HOME,
    &HOME_AGAIN,
    &FOLLOWS,
    &UNKNOWN_LEADER,
    &LAP_OVER,
    &NO_HAND_OVER,
    &ONLY_TOLD,
    &STRANGER,
    &WAITS,
];

pub(super) static PROBES: Why = Why {
    code: "probes",
    rule: "R1",
    english: "phase {phase}: asks {reach} hops far on both sides whether anybody is greater than \
              {own}",
    portuguese: "fase {phase}: pergunta a {reach} saltos para os dois lados se alguém é maior que \
                 {own}",
};

pub(super) static ALREADY: Why = Why {
    code: "already",
    rule: "R1",
    english: "the election is being held already: asks no second time",
    portuguese: "a eleição já está em curso: não pergunta outra vez",
};

pub(super) static WOKEN: Why = Why {
    code: "woken",
    rule: "R1",
    english: "did not know of the election: begins to ask, too",
    portuguese: "não sabia da eleição: começa a perguntar também",
};

pub(super) static STOPS: Why = Why {
    code: "stops",
    rule: "R2",
    english: "stops it: own id {own} is greater than {id}, so {id} cannot win",
    portuguese: "detém: o próprio id {own} é maior que {id}, logo {id} não pode vencer",
};

pub(super) static PASSES: Why = Why {
    code: "passes",
    rule: "R2",
    english: "lets the probe of {id} pass, hop {hops} of {reach}: {id} is greater than own id \
              {own}",
    portuguese: "deixa passar a sonda de {id}, salto {hops} de {reach}: {id} é maior que o próprio \
                 id {own}",
};

pub(super) static REPLIES: Why = Why {
    code: "replies",
    rule: "R3",
    english: "the probe of {id} has gone {reach} hops past nobody greater: answers it",
    portuguese: "a sonda de {id} andou {reach} saltos sem achar ninguém maior: responde",
};

pub(super) static PASSES_REPLY: Why = Why {
    code: "passes-reply",
    rule: "R3",
    english: "the answer is for {id}: passes it on",
    portuguese: "a resposta é para {id}: passa-a adiante",
};

pub(super) static ONE_SIDE: Why = Why {
    code: "one-side",
    rule: "R4",
    english: "nobody greater within {reach} hops on one side: waits for the answer of the other",
    portuguese: "ninguém maior a {reach} saltos de um lado: espera a resposta do outro",
};

pub(super) static BOTH_SIDES: Why = Why {
    code: "both-sides",
    rule: "R4",
    english: "nobody greater within {reach} hops on either side: asks twice as far",
    portuguese: "ninguém maior a {reach} saltos dos dois lados: pergunta ao dobro da distância",
};

pub(super) static SAME_ANSWER: Why = Why {
    code: "same-answer",
    rule: "R4",
    english: "ignores it: the answer of this side came before, and the same one twice is one",
    portuguese: "ignora: a resposta deste lado já veio, e a mesma duas vezes é uma só",
};

pub(super) static LATE_REPLY: Why = Why {
    code: "late-reply",
    rule: "R4",
    english: "ignores it: answers phase {phase}, in which this node is not",
    portuguese: "ignora: responde à fase {phase}, em que este nó não está",
};

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R5",
    english: "nobody else is on the ring: this node leads",
    portuguese: "não há mais ninguém no anel: este nó lidera",
};

pub(super) static HOME: Why = Why {
    code: "home",
    rule: "R5",
    english: "own probe went all the way round and nobody stopped it: {own} is the greatest",
    portuguese: "a própria sonda deu a volta inteira e ninguém a deteve: {own} é o maior",
};

pub(super) static HOME_AGAIN: Why = Why {
    code: "home-again",
    rule: "R5",
    english: "does nothing: the probe that went the other way, or the same one, came home before",
    portuguese: "não faz nada: a sonda que foi para o outro lado, ou a mesma, já tinha voltado",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "follows {leader}, and tells the successor",
    portuguese: "segue {leader}, e avisa o sucessor",
};

pub(super) static UNKNOWN_LEADER: Why = Why {
    code: "unknown-leader",
    rule: "R6",
    english: "ignores it: the leader that it names is not of this ring",
    portuguese: "ignora: o líder que ela menciona não é deste anel",
};

pub(super) static LAP_OVER: Why = Why {
    code: "lap-over",
    rule: "R6",
    english: "takes it off the ring: this node knows already that {leader} leads",
    portuguese: "retira do anel: este nó já sabe que {leader} lidera",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run};

    #[test]
    fn every_probe_and_every_answer_is_judged() {
        let probe = |id, hops| message(0, Message::Probe { id, phase: 1, hops, way: Way::Forward });
        let reply = |id, phase, way| message(0, Message::Reply { id, phase, way });
        let mut node = HirschbergSinclair::new(NodeId(1), 3, 20);
        assert_eq!(codes(&mut node, probe(10, 1)), ["stops", "woken", "probes"]);
        assert_eq!(codes(&mut node, probe(10, 1)), ["stops"]);
        assert_eq!(codes(&mut node, probe(30, 1)), ["passes"]);
        assert_eq!(codes(&mut node, probe(30, 2)), ["replies"]);
        assert_eq!(codes(&mut node, reply(30, 1, Way::Back)), ["passes-reply"]);
        assert_eq!(codes(&mut node, reply(20, 0, Way::Back)), ["one-side"]);
        assert_eq!(codes(&mut node, reply(20, 0, Way::Back)), ["same-answer"]);
        assert_eq!(codes(&mut node, reply(20, 0, Way::Forward)), ["both-sides", "probes"]);
        assert_eq!(codes(&mut node, reply(20, 0, Way::Forward)), ["late-reply"]);
        assert_eq!(codes(&mut node, Event::Request(Request::Campaign)), ["already"]);
        assert_eq!(codes(&mut node, probe(20, 3)), ["home"]);
        assert_eq!(codes(&mut node, probe(20, 3)), ["home-again"]);
        assert_eq!(
            codes(&mut node, message(0, Message::Leader { leader: NodeId(1) })),
            ["lap-over"]
        );
    }

    #[test]
    fn who_leads_is_learnt_once() {
        let leader = |leader| message(0, Message::Leader { leader: NodeId(leader) });
        let mut node = HirschbergSinclair::new(NodeId(1), 3, 20);
        assert_eq!(codes(&mut node, leader(7)), ["unknown-leader"]);
        assert_eq!(codes(&mut node, leader(2)), ["follows"]);
        let mut alone = HirschbergSinclair::new(NodeId(0), 1, 10);
        assert_eq!(codes(&mut alone, Event::Request(Request::Campaign)), ["alone"]);
        assert_eq!(run(&mut alone, Event::Request(Request::Campaign)), [], "it leads already");
    }
}
