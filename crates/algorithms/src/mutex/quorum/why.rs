//! Why: the reasons of the rules of a quorum of coordinators, in words.

use super::super::why::{MISDIRECTED, NO_CLOCK, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ALONE,
    &ASKED,
    &ASKED_AGAIN,
    &ASKED_ANEW,
    &GRANTED,
    &GRANTED_AGAIN,
    &QUEUED,
    &WAITS_HERE,
    &OVER,
    &FREE,
    &WITHDRAWN,
    &COUNTED,
    &ENTERED,
    &NOT_NEEDED,
    &GAVE_BACK,
    &ABORTED,
    &LEFT,
    &WITHDREW,
    &RESTARTED,
    &NO_CLOCK,
    &MISDIRECTED,
    &STRANGER,
];

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R1",
    english: "enters at once: there is nobody to be kept out, and nobody to ask",
    portuguese: "entra na hora: não há ninguém a manter fora, nem a quem pedir",
};

pub(super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "asks all coordinators; it needs {votes} grants",
    portuguese: "pede a todos os coordenadores; precisa de {votes} concessões",
};

pub(super) static ASKED_AGAIN: Why = Why {
    code: "asked-again",
    rule: "R1",
    english: "asks those again that did not answer: granted so far by {granted}",
    portuguese: "pede de novo aos que não responderam: concederam até agora {granted}",
};

pub(super) static ASKED_ANEW: Why = Why {
    code: "asked-anew",
    rule: "R4",
    english: "asks all coordinators anew, with number {seq}: its pause is over",
    portuguese: "pede de novo a todos os coordenadores, com o número {seq}: sua pausa acabou",
};

pub(super) static GRANTED: Why = Why {
    code: "granted",
    rule: "R2",
    english: "grants {client}: nobody has its grant, and this is the first in its line",
    portuguese: "concede a {client}: ninguém tem sua concessão, e é o primeiro da sua fila",
};

pub(super) static GRANTED_AGAIN: Why = Why {
    code: "granted-again",
    rule: "R2",
    english: "grants {from} once more: it has the grant, which may have been lost on its way",
    portuguese: "concede a {from} mais uma vez: a concessão é dele, mas pode ter se perdido no \
                 caminho",
};

pub(super) static QUEUED: Why = Why {
    code: "queued",
    rule: "R2",
    english: "puts {from} in its line: its grant is with {holder}",
    portuguese: "põe {from} na sua fila: sua concessão está com {holder}",
};

pub(super) static WAITS_HERE: Why = Why {
    code: "waits-here",
    rule: "R2",
    english: "request {seq} of {from} is in its line already: this is a copy",
    portuguese: "o pedido {seq} de {from} já está na sua fila: isto é uma cópia",
};

pub(super) static OVER: Why = Why {
    code: "over",
    rule: "R5",
    english: "request {seq} of {from} is over already: this is late, or a copy",
    portuguese: "o pedido {seq} de {from} já acabou: isto é tardio, ou uma cópia",
};

pub(super) static FREE: Why = Why {
    code: "free",
    rule: "R2",
    english: "its grant is free, and nobody waits for it",
    portuguese: "sua concessão está livre, e ninguém a espera",
};

pub(super) static WITHDRAWN: Why = Why {
    code: "withdrawn",
    rule: "R5",
    english: "takes the request of {from} out of its line, should it be there: it is over",
    portuguese: "tira da fila o pedido de {from}, se lá estiver: acabou",
};

pub(super) static COUNTED: Why = Why {
    code: "counted",
    rule: "R3",
    english: "has the grants of {granted}; it needs {votes} grants in all",
    portuguese: "tem as concessões de {granted}; precisa de {votes} concessões ao todo",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R3",
    english: "enters: {granted} have granted, and {votes} grants are enough",
    portuguese: "entra: {granted} concederam, e bastam {votes} concessões",
};

pub(super) static NOT_NEEDED: Why = Why {
    code: "not-needed",
    rule: "R3",
    english: "is inside already and does not need this grant; it goes back with the others",
    portuguese: "já está dentro e não precisa desta concessão; ela volta com as outras",
};

pub(super) static GAVE_BACK: Why = Why {
    code: "gave-back",
    rule: "R3",
    english: "gives the grant of {from} back: it is for request {seq}, which is over",
    portuguese: "devolve a concessão de {from}: é para o pedido {seq}, que acabou",
};

pub(super) static ABORTED: Why = Why {
    code: "aborted",
    rule: "R4",
    english: "has waited too long with the grants of {granted} only, and {votes} grants are \
              needed: gives all back",
    portuguese: "esperou demais com as concessões só de {granted}, e são precisas {votes} \
                 concessões: devolve tudo",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R5",
    english: "leaves, and gives its grants back to all coordinators",
    portuguese: "sai, e devolve as concessões a todos os coordenadores",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R5",
    english: "no longer wants in, and tells all coordinators that its request is over",
    portuguese: "já não quer entrar, e avisa todos os coordenadores do fim do seu pedido",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with its disk: what it had asked for or held ended with the crash",
    portuguese: "volta com seu disco: o que tinha pedido ou obtido acabou com a queda",
};
