//! Why: the reasons of the rules of voting through total-order broadcast, in words.

use super::super::why::{MISDIRECTED, NO_CLOCK, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ALONE,
    &ASKED,
    &ASKED_AGAIN,
    &NUMBERED,
    &NUMBERED_RELEASE,
    &KNOWN,
    &RELEASED_EARLY,
    &REPEATED,
    &EARLY,
    &IN_LINE,
    &OUT_OF_LINE,
    &FIRST,
    &REFUSED,
    &COUNTED,
    &ENTERED,
    &NOT_NEEDED,
    &STILL_HOPES,
    &PAUSES,
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
    english: "has its request broadcast by the sequencer; it must be first at {votes} coordinators",
    portuguese: "faz difundir seu pedido pelo sequenciador; precisa ser o primeiro em {votes} \
                 coordenadores",
};

pub(super) static ASKED_AGAIN: Why = Why {
    code: "asked-again",
    rule: "R4",
    english: "asks again: its pause is over, and this is try number {number}",
    portuguese: "pede de novo: a pausa acabou, e esta é a tentativa {number}",
};

pub(super) static NUMBERED: Why = Why {
    code: "numbered",
    rule: "R1",
    english: "the request of {client} is broadcast number {number}: all coordinators see it in \
              that place",
    portuguese: "o pedido de {client} é a difusão número {number}: todos os coordenadores a veem \
                 nessa ordem",
};

pub(super) static NUMBERED_RELEASE: Why = Why {
    code: "numbered-release",
    rule: "R5",
    english: "the end of the request of {client} is broadcast number {number}",
    portuguese: "o fim do pedido de {client} é a difusão número {number}",
};

pub(super) static KNOWN: Why = Why {
    code: "known",
    rule: "R1",
    english: "ignores it: request {seq} of {client} has its number, or is over already",
    portuguese: "ignora: o pedido {seq} de {client} já tem número, ou já acabou",
};

pub(super) static RELEASED_EARLY: Why = Why {
    code: "released-early",
    rule: "R5",
    english: "remembers that request {seq} of {client} is over before it has come: it will be \
              dropped",
    portuguese: "lembra que o pedido {seq} de {client} acabou antes de chegar: será descartado",
};

pub(super) static REPEATED: Why = Why {
    code: "repeated",
    rule: "R2",
    english: "ignores it: broadcast {number} was delivered already",
    portuguese: "ignora: a difusão {number} já foi entregue",
};

pub(super) static EARLY: Why = Why {
    code: "early",
    rule: "R2",
    english: "lays broadcast {number} aside: number {next} comes first",
    portuguese: "deixa de lado a difusão {number}: antes vem a de número {next}",
};

pub(super) static IN_LINE: Why = Why {
    code: "in-line",
    rule: "R3",
    english: "delivers broadcast {number}: {client} goes to the end of its line, {first} is first",
    portuguese: "entrega a difusão {number}: {client} vai para o fim da fila, {first} é o primeiro",
};

pub(super) static OUT_OF_LINE: Why = Why {
    code: "out-of-line",
    rule: "R5",
    english: "delivers broadcast {number}: {client} is taken out of its line",
    portuguese: "entrega a difusão {number}: {client} sai da fila",
};

pub(super) static FIRST: Why = Why {
    code: "first",
    rule: "R3",
    english: "says OK to {client}: it is first in line here",
    portuguese: "diz OK a {client}: é o primeiro da fila aqui",
};

pub(super) static REFUSED: Why = Why {
    code: "refused",
    rule: "R3",
    english: "refuses {client}: {first} is first, and nobody waits here",
    portuguese: "recusa {client}: {first} é o primeiro, e aqui ninguém espera",
};

pub(super) static COUNTED: Why = Why {
    code: "counted",
    rule: "R4",
    english: "is first at {ok}; it must be at {votes} coordinators in all",
    portuguese: "é o primeiro em {ok}; precisa ser em {votes} coordenadores ao todo",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R4",
    english: "enters: it is first at {ok}, and {votes} coordinators are enough",
    portuguese: "entra: é o primeiro em {ok}, e bastam {votes} coordenadores",
};

pub(super) static NOT_NEEDED: Why = Why {
    code: "not-needed",
    rule: "R4",
    english: "ignores it: request {seq} is decided or over, and needs no further answer",
    portuguese: "ignora: o pedido {seq} está decidido ou acabou, e não precisa de mais respostas",
};

pub(super) static STILL_HOPES: Why = Why {
    code: "still-hopes",
    rule: "R4",
    english: "goes on: {nok} refused, but {votes} coordinators are still within reach",
    portuguese: "continua: {nok} recusaram, mas {votes} coordenadores ainda são possíveis",
};

pub(super) static PAUSES: Why = Why {
    code: "pauses",
    rule: "R4",
    english: "pauses and asks again later: {nok} refused, so not enough are left",
    portuguese: "faz uma pausa e pede de novo depois: {nok} recusaram, e os que restam não bastam",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R5",
    english: "leaves, and has that broadcast",
    portuguese: "sai, e faz difundir isso",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R5",
    english: "no longer wants in, and has that broadcast if it stands in line",
    portuguese: "já não quer entrar, e faz difundir isso se está na fila",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with its disk: what it had asked for or held ended with the crash",
    portuguese: "volta com seu disco: o que tinha pedido ou obtido acabou com a queda",
};
