//! Why: the reasons of Ricart and Agrawala's rules, in words.

use super::super::why::{OBSERVED, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ASKED,
    &AGREED,
    &YIELDED,
    &DEFERRED,
    &DEFERRED_INSIDE,
    &OVERTAKEN,
    &WAITS,
    &ENTERED,
    &STALE,
    &LEFT,
    &WITHDREW,
    &RESTARTED,
    &OBSERVED,
    &STRANGER,
];

pub(super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "asks all others for their OK; its request is {own}, (time, node)",
    portuguese: "pede o OK de todos os outros; seu pedido é {own}, (tempo, nó)",
};

pub(super) static AGREED: Why = Why {
    code: "agreed",
    rule: "R2",
    english: "says OK to {from} at once: it does not want to enter itself",
    portuguese: "diz OK a {from} na hora: ele mesmo não quer entrar",
};

pub(super) static YIELDED: Why = Why {
    code: "yielded",
    rule: "R2",
    english: "says OK at once: request {other} is before its own, {own}",
    portuguese: "diz OK na hora: o pedido {other} vem antes do seu, {own}",
};

pub(super) static DEFERRED: Why = Why {
    code: "deferred",
    rule: "R2",
    english: "the OK to {from} has to wait: its own request {own} is before {other}",
    portuguese: "o OK a {from} tem de esperar: seu próprio pedido {own} vem antes de {other}",
};

pub(super) static DEFERRED_INSIDE: Why = Why {
    code: "deferred-inside",
    rule: "R2",
    english: "the OK to {from} has to wait: it is inside, and answers when it leaves",
    portuguese: "o OK a {from} tem de esperar: está dentro, e responde quando sair",
};

pub(super) static OVERTAKEN: Why = Why {
    code: "overtaken",
    rule: "R2",
    english: "ignores it: a later request of {from} came first, so this one was withdrawn",
    portuguese: "ignora: um pedido posterior de {from} chegou antes, logo este foi retirado",
};

pub(super) static WAITS: Why = Why {
    code: "waits",
    rule: "R3",
    english: "waits: OK so far from {granted}; still to come from {missing}",
    portuguese: "espera: OK até agora de {granted}; falta ainda o OK de {missing}",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R3",
    english: "enters: all others have said OK to its request {own}",
    portuguese: "entra: todos os outros disseram OK ao seu pedido {own}",
};

pub(super) static STALE: Why = Why {
    code: "stale",
    rule: "R3",
    english: "ignores it: this OK of {from} answers a request that is over, or was counted already",
    portuguese: "ignora: este OK de {from} responde a um pedido que já acabou, ou já foi contado",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R4",
    english: "leaves, and says OK to those it made wait: {deferred}",
    portuguese: "sai, e diz OK a quem fez esperar: {deferred}",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R4",
    english: "no longer wants in, and says OK to those it made wait: {deferred}",
    portuguese: "já não quer entrar, e diz OK a quem fez esperar: {deferred}",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "R4",
    english: "the crash ended what it wanted or held: says OK to those it made wait: {deferred}",
    portuguese: "o que queria ou tinha acabou com a queda: diz OK a quem fez esperar: {deferred}",
};
