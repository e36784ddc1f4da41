//! Why: the reasons of Raymond's rules, in words.

use super::super::why::NO_CLOCK;
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MINTED,
    &OLD_PLACE,
    &REPEATED,
    &COPY,
    &PASSED,
    &ENTERED,
    &SKIPPED,
    &BUSY,
    &KEEPS,
    &ASKS,
    &ASKED_BEFORE,
    &WITHDREW,
    &RESTARTED,
    &LOST,
    &NO_CLOCK,
];

pub(super) static MINTED: Why = Why {
    code: "minted",
    rule: "R2",
    english: "is the root of the tree: it has the privilege at first",
    portuguese: "é a raiz da árvore: é quem tem o privilégio no começo",
};

pub(super) static OLD_PLACE: Why = Why {
    code: "old-place",
    rule: "R1",
    english: "is in its queue already, from a wish that it gave up: it keeps that place",
    portuguese: "já está na própria fila, por um pedido que retirou: fica com aquele lugar",
};

pub(super) static REPEATED: Why = Why {
    code: "repeated",
    rule: "A1",
    english: "ignores it: {from} is in its queue already",
    portuguese: "ignora: {from} já está na fila",
};

pub(super) static COPY: Why = Why {
    code: "copy",
    rule: "A1",
    english: "ignores it: the privilege is not on the side of {from}, so this is a copy",
    portuguese: "ignora: o privilégio não está do lado de {from}; é uma cópia",
};

pub(super) static PASSED: Why = Why {
    code: "passed",
    rule: "R2",
    english: "passes the privilege to {first}, the first in its queue, and points to it from now \
              on",
    portuguese: "passa o privilégio a {first}, primeiro da sua fila, e passa a apontar para ele",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R2",
    english: "enters: it has the privilege and is the first in its own queue",
    portuguese: "entra: tem o privilégio e é o primeiro da própria fila",
};

pub(super) static SKIPPED: Why = Why {
    code: "skipped",
    rule: "R2",
    english: "skips itself in its queue: it gave its wish up",
    portuguese: "pula a si mesmo na fila: retirou seu pedido",
};

pub(super) static BUSY: Why = Why {
    code: "busy",
    rule: "R2",
    english: "is inside: until it leaves, these wait in its queue: {queue}",
    portuguese: "está dentro: até que saia, esperam na sua fila: {queue}",
};

pub(super) static KEEPS: Why = Why {
    code: "keeps",
    rule: "R2",
    english: "keeps the privilege: nobody waits in its queue",
    portuguese: "fica com o privilégio: ninguém espera na sua fila",
};

pub(super) static ASKS: Why = Why {
    code: "asks",
    rule: "R3",
    english: "asks {holder}, on whose side the privilege is, for those in its queue: {queue}",
    portuguese: "pede a {holder}, de cujo lado está o privilégio, por quem está na sua fila: \
                 {queue}",
};

pub(super) static ASKED_BEFORE: Why = Why {
    code: "asked-before",
    rule: "R3",
    english: "has asked {holder} already: one REQUEST at a time is enough, whoever waits",
    portuguese: "já pediu a {holder}: um REQUEST de cada vez basta, seja quem for que espera",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R1",
    english: "no longer wants in: its place in the queue stays, and is skipped in its turn",
    portuguese: "já não quer entrar: seu lugar na fila fica, e será pulado na sua vez",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with its queue on disk; if it was inside, that ended with the crash",
    portuguese: "volta com a fila no disco; se estava dentro, isso acabou com a queda",
};

pub(super) static LOST: Why = Why {
    code: "lost",
    rule: "A2",
    english: "can only wait: with its disk it lost the way to the privilege",
    portuguese: "só pode esperar: com o disco perdeu o caminho para o privilégio",
};
