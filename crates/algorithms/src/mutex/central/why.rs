//! Why: the reasons of the centralised algorithm's rules, in words.

use super::super::why::{MISDIRECTED, NO_CLOCK, OBSERVED, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ALONE,
    &ASKED,
    &ASKED_AGAIN,
    &GRANTED,
    &GRANTED_AGAIN,
    &QUEUED,
    &REFUSED,
    &OVER,
    &WAITS_HERE,
    &FREE,
    &RELEASED,
    &WITHDRAWN,
    &RELEASED_ANYBODY,
    &TOLD_PLACE,
    &ACKNOWLEDGED,
    &ENTERED,
    &GRANTED_BEFORE,
    &GAVE_BACK,
    &PAUSES,
    &REFUSED_LATE,
    &LEFT,
    &WITHDREW,
    &RESTARTED,
    &NO_CLOCK,
    &OBSERVED,
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
    english: "asks the coordinator; this is its request number {seq}",
    portuguese: "pede ao coordenador; este é seu pedido de número {seq}",
};

pub(super) static ASKED_AGAIN: Why = Why {
    code: "asked-again",
    rule: "R3",
    english: "asks the coordinator again: the pause after the refusal is over",
    portuguese: "pede de novo ao coordenador: a pausa após a recusa acabou",
};

pub(super) static GRANTED: Why = Why {
    code: "granted",
    rule: "R2",
    english: "lets {client} in, with fence {fence}: nobody is inside, and it is next",
    portuguese: "deixa {client} entrar, com o fencing token {fence}: ninguém está dentro, e é a \
                 vez dele",
};

pub(super) static GRANTED_AGAIN: Why = Why {
    code: "granted-again",
    rule: "R2",
    english: "tells {from} once more that it may enter: the first grant may be lost",
    portuguese: "diz a {from} mais uma vez que pode entrar: a primeira concessão pode ter se \
                 perdido",
};

pub(super) static QUEUED: Why = Why {
    code: "queued",
    rule: "R3",
    english: "puts {from} in line, at place {position}: {holder} is inside",
    portuguese: "põe {from} na fila, no lugar {position}: {holder} está dentro",
};

pub(super) static REFUSED: Why = Why {
    code: "refused",
    rule: "R3",
    english: "refuses {from}: {holder} is inside, and nobody may wait here",
    portuguese: "recusa {from}: {holder} está dentro, e aqui ninguém pode esperar",
};

pub(super) static OVER: Why = Why {
    code: "over",
    rule: "R5",
    english: "request {seq} of {from} is over already: this is late, or a copy",
    portuguese: "o pedido {seq} de {from} já acabou: isto é tardio, ou uma cópia",
};

pub(super) static WAITS_HERE: Why = Why {
    code: "waits-here",
    rule: "R3",
    english: "request {seq} of {from} is in line already: this is a copy",
    portuguese: "o pedido {seq} de {from} já está na fila: isto é uma cópia",
};

pub(super) static FREE: Why = Why {
    code: "free",
    rule: "R2",
    english: "the resource is free, and nobody waits for it",
    portuguese: "o recurso está livre, e ninguém o espera",
};

pub(super) static RELEASED: Why = Why {
    code: "released",
    rule: "R5",
    english: "has the resource back: {from} has left",
    portuguese: "tem o recurso de volta: {from} saiu",
};

pub(super) static WITHDRAWN: Why = Why {
    code: "withdrawn",
    rule: "R5",
    english: "takes the request of {from} out of the line, should it be there: it was withdrawn",
    portuguese: "tira da fila o pedido de {from}, se lá estiver: foi retirado",
};

pub(super) static RELEASED_ANYBODY: Why = Why {
    code: "released-anybody",
    rule: "R5",
    english: "takes {holder} to have left: here a release names nobody, and only frees the \
              resource",
    portuguese: "toma {holder} por ter saído: aqui uma liberação não diz de quem é, e só libera o \
                 recurso",
};

pub(super) static TOLD_PLACE: Why = Why {
    code: "told-place",
    rule: "R3",
    english: "is told that it stands in line, at place {position}: it goes on waiting",
    portuguese: "é avisado de que está na fila, no lugar {position}: continua esperando",
};

pub(super) static ACKNOWLEDGED: Why = Why {
    code: "acknowledged",
    rule: "R5",
    english: "is told that the coordinator knows of the end of its request {seq}: nothing is left \
              to do",
    portuguese: "é avisado de que o coordenador sabe do fim do seu pedido {seq}: nada mais a fazer",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R4",
    english: "enters: the coordinator has granted its request, with fence {fence}",
    portuguese: "entra: o coordenador concedeu seu pedido, com o fencing token {fence}",
};

pub(super) static GRANTED_BEFORE: Why = Why {
    code: "granted-before",
    rule: "R4",
    english: "ignores it: it is inside with this grant already, fence {fence}",
    portuguese: "ignora: já está dentro com esta concessão, fencing token {fence}",
};

pub(super) static GAVE_BACK: Why = Why {
    code: "gave-back",
    rule: "R4",
    english: "gives the grant back: it is for request {seq}, which was withdrawn",
    portuguese: "devolve a concessão: é para o pedido {seq}, que foi retirado",
};

pub(super) static PAUSES: Why = Why {
    code: "pauses",
    rule: "R3",
    english: "was refused: it asks again after a pause",
    portuguese: "foi recusado: pede de novo após uma pausa",
};

pub(super) static REFUSED_LATE: Why = Why {
    code: "refused-late",
    rule: "R3",
    english: "ignores it: the refused request {seq} is not waiting",
    portuguese: "ignora: o pedido recusado, {seq}, não está esperando",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R5",
    english: "leaves, and tells the coordinator",
    portuguese: "sai, e avisa o coordenador",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R5",
    english: "no longer wants in, and tells the coordinator if it waits there",
    portuguese: "já não quer entrar, e avisa o coordenador se espera lá",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with its disk: what it had asked for or held ended with the crash",
    portuguese: "volta com seu disco: o que tinha pedido ou obtido acabou com a queda",
};
