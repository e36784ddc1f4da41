//! Why: the reasons of Echo's rules, in words.

use crate::election::why::{NO_HAND_OVER, ONLY_TOLD, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &BEGINS,
    &IN_A_WAVE,
    &JOINS,
    &JOINS_GREATER,
    &EXTINCT,
    &COUNTS,
    &ECHOES,
    &LEADS,
    &DECIDED,
    &FOLLOWS,
    &TOLD_AGAIN,
    &STILL_FOLLOWS,
    &NO_HAND_OVER,
    &ONLY_TOLD,
    &STRANGER,
    &WAITS,
];

pub(super) static BEGINS: Why = Why {
    code: "begins",
    rule: "R1",
    english: "begins a wave of its own, and waits until it comes back from all neighbours",
    portuguese: "começa uma onda sua, e espera que ela volte de todos os vizinhos",
};

pub(super) static IN_A_WAVE: Why = Why {
    code: "in-a-wave",
    rule: "R1",
    english: "begins no wave: is in that of {wave} already",
    portuguese: "não começa uma onda: já está na de {wave}",
};

pub(super) static JOINS: Why = Why {
    code: "joins",
    rule: "R2",
    english: "joins the wave of {wave}, the first it meets: {from} is its parent",
    portuguese: "entra na onda de {wave}, a primeira que encontra: {from} é seu pai",
};

pub(super) static JOINS_GREATER: Why = Why {
    code: "joins-greater",
    rule: "R2",
    english: "leaves the wave of {current} for that of {wave}, which is greater: {from} is its \
              parent",
    portuguese: "deixa a onda de {current} pela de {wave}, que é maior: {from} é seu pai",
};

pub(super) static EXTINCT: Why = Why {
    code: "extinct",
    rule: "R3",
    english: "swallows it: the wave of {wave} is smaller than that of {current}, so {wave} cannot \
              win",
    portuguese: "engole: a onda de {wave} é menor que a de {current}, logo {wave} não pode vencer",
};

pub(super) static COUNTS: Why = Why {
    code: "counts",
    rule: "R4",
    english: "the wave of {wave} has come from {count} of {awaited} neighbours: waits for the \
              others",
    portuguese: "a onda de {wave} veio de {count} de {awaited} vizinhos: espera os outros",
};

pub(super) static ECHOES: Why = Why {
    code: "echoes",
    rule: "R4",
    english: "the wave of {wave} has come from all other neighbours: sends it back to its parent \
              {parent}",
    portuguese: "a onda de {wave} veio de todos os outros vizinhos: devolve-a ao pai {parent}",
};

pub(super) static LEADS: Why = Why {
    code: "leads",
    rule: "R5",
    english: "its own wave came back from all neighbours, and nowhere met a greater one: leads",
    portuguese: "sua própria onda voltou de todos os vizinhos, e em lugar nenhum encontrou uma \
                 maior: lidera",
};

pub(super) static DECIDED: Why = Why {
    code: "decided",
    rule: "R6",
    english: "ignores it: {leader} leads already, no wave matters any more",
    portuguese: "ignora: {leader} já lidera, nenhuma onda importa mais",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "follows {leader}, and tells all other neighbours",
    portuguese: "segue {leader}, e avisa todos os outros vizinhos",
};

pub(super) static TOLD_AGAIN: Why = Why {
    code: "told-again",
    rule: "R6",
    english: "ignores it: knows already that {leader} leads",
    portuguese: "ignora: já sabe que {leader} lidera",
};

pub(super) static STILL_FOLLOWS: Why = Why {
    code: "still-follows",
    rule: "R6",
    english: "knew before the crash that {leader} leads",
    portuguese: "sabia antes da queda que {leader} lidera",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run};

    const CAMPAIGN: Event<Echo> = Event::Request(Request::Campaign);

    fn rank(node: u32) -> Rank {
        Rank::of(NodeId(node), u64::from(node) + 1)
    }

    fn node() -> Echo {
        Echo::new(rank(1), &[NodeId(0), NodeId(2)])
    }

    fn tok(from: u32, wave: u32) -> Event<Echo> {
        message(from, Message::Tok(rank(wave)))
    }

    #[test]
    fn every_wave_is_joined_counted_or_swallowed_for_a_reason() {
        let mut inner = node();
        assert_eq!(codes(&mut inner, tok(0, 0)), ["joins", "counts"]);
        assert_eq!(codes(&mut inner, CAMPAIGN), ["in-a-wave"]);
        assert_eq!(codes(&mut inner, tok(2, 2)), ["joins-greater", "counts"]);
        assert_eq!(codes(&mut inner, tok(0, 0)), ["extinct"]);
        assert_eq!(codes(&mut inner, tok(0, 2)), ["echoes"]);
        assert_eq!(codes(&mut inner, message(2, Message::Ldr(rank(2)))), ["follows"]);
        assert_eq!(codes(&mut inner, message(0, Message::Ldr(rank(2)))), ["told-again"]);
        assert_eq!(codes(&mut inner, tok(0, 2)), ["decided"]);
        assert_eq!(codes(&mut inner, Event::Restart), ["still-follows"]);
        let mut first = node();
        assert_eq!(codes(&mut first, CAMPAIGN), ["begins", "counts"]);
        run(&mut first, tok(0, 1));
        assert_eq!(codes(&mut first, tok(2, 1)), ["leads"]);
    }
}
