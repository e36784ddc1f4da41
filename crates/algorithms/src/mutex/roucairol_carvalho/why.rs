//! Why: the reasons of Carvalho and Roucairol's rules, in words.

use super::super::why::{OBSERVED, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ASKED,
    &GAVE,
    &YIELDED,
    &DEFERRED,
    &DEFERRED_INSIDE,
    &OVERTAKEN,
    &ASKED_BACK,
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
    english: "makes request {own}, (time, node), and asks all but those whose permission it holds: \
              {held}",
    portuguese: "faz o pedido {own}, (tempo, nó), e pede a todos, menos àqueles cuja permissão \
                 tem: {held}",
};

pub(super) static GAVE: Why = Why {
    code: "gave",
    rule: "R2",
    english: "gives {from} the permission at once: it does not want to enter itself",
    portuguese: "dá a permissão a {from} na hora: ele mesmo não quer entrar",
};

pub(super) static YIELDED: Why = Why {
    code: "yielded",
    rule: "R2",
    english: "gives the permission at once: request {other} is before its own, {own}",
    portuguese: "dá a permissão na hora: o pedido {other} vem antes do seu, {own}",
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

pub(super) static ASKED_BACK: Why = Why {
    code: "asked-back",
    rule: "R3",
    english: "asks {from} for the permission that it just gave away: it waits itself, and never \
              asked",
    portuguese: "pede a {from} a permissão que acaba de dar: ele mesmo espera, e nunca a tinha \
                 pedido",
};

pub(super) static WAITS: Why = Why {
    code: "waits",
    rule: "R4",
    english: "waits: holds the permissions of {held}; those of {missing} are still to come",
    portuguese: "espera: tem as permissões de {held}; faltam ainda as de {missing}",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R4",
    english: "enters: it holds the permissions of all others",
    portuguese: "entra: tem as permissões de todos os outros",
};

pub(super) static STALE: Why = Why {
    code: "stale",
    rule: "R4",
    english: "ignores it: this OK of {from} answers a request that was withdrawn, or counted \
              already",
    portuguese: "ignora: este OK de {from} responde a um pedido retirado, ou já contado",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R5",
    english: "leaves, keeps its permissions, and gives those it made wait theirs: {deferred}",
    portuguese: "sai, fica com as permissões que tem, e dá as suas a quem fez esperar: {deferred}",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R5",
    english: "no longer wants in, and gives those it made wait their permissions: {deferred}",
    portuguese: "já não quer entrar, e dá as permissões a quem fez esperar: {deferred}",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "R5",
    english: "what it wanted or held ended with the crash: gives permissions to those it made \
              wait: {deferred}",
    portuguese: "o que queria ou tinha acabou com a queda: dá as permissões a quem fez esperar: \
                 {deferred}",
};
