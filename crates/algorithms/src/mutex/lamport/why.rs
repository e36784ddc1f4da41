//! Why: the reasons of Lamport's rules, in words.

use super::super::why::{OBSERVED, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ASKED,
    &QUEUED,
    &SAVED,
    &REPEATED,
    &LATE_REPLY,
    &WAITS,
    &ENTERED,
    &LEFT,
    &WITHDREW,
    &RELEASED,
    &RELEASED_BEFORE,
    &RESTARTED,
    &RESTARTED_IDLE,
    &OBSERVED,
    &STRANGER,
];

pub(super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "sends its request {own}, (time, node), to all others, and queues it itself",
    portuguese: "envia seu pedido {own}, (tempo, nó), a todos os outros, e o põe na própria fila",
};

pub(super) static QUEUED: Why = Why {
    code: "queued",
    rule: "R2",
    english: "queues {request} and answers: any request of its own from now on is later",
    portuguese: "põe {request} na fila e responde: qualquer pedido seu daqui em diante é posterior",
};

pub(super) static SAVED: Why = Why {
    code: "saved",
    rule: "R2",
    english: "need not answer {from}: it has sent it something later already, with time {sent}",
    portuguese: "não precisa responder a {from}: já lhe enviou algo posterior, com tempo {sent}",
};

pub(super) static REPEATED: Why = Why {
    code: "repeated",
    rule: "A4",
    english: "does not queue it: something later of {from} came first, so this is a copy, and may \
              be over",
    portuguese: "não o põe na fila: algo posterior de {from} chegou antes, logo é uma cópia, e \
                 pode ter acabado",
};

pub(super) static LATE_REPLY: Why = Why {
    code: "late-reply",
    rule: "R5",
    english: "learns the time only: it does not wait, so the answer of {from} has nothing to \
              decide",
    portuguese: "só aprende a hora: não está esperando, e a resposta de {from} não decide nada",
};

pub(super) static WAITS: Why = Why {
    code: "waits",
    rule: "R5",
    english: "its request {own} waits; before it in the queue: {ahead}; not heard from since: \
              {unheard}",
    portuguese: "seu pedido {own} espera; antes dele na fila: {ahead}; sem dar notícia desde \
                 então: {unheard}",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R5",
    english: "enters: {own} is the first in its queue, and all others have sent something later",
    portuguese: "entra: {own} é o primeiro da sua fila, e todos os outros já enviaram algo \
                 posterior",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R3",
    english: "leaves: takes its request {own} out of the queue and tells all others",
    portuguese: "sai: tira seu pedido {own} da fila e avisa todos os outros",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R3",
    english: "no longer wants in: takes its request {own} out of the queue and tells all others",
    portuguese: "já não quer entrar: tira seu pedido {own} da fila e avisa todos os outros",
};

pub(super) static RELEASED: Why = Why {
    code: "released",
    rule: "R4",
    english: "takes the request of {from} out of its queue: it is over",
    portuguese: "tira da fila o pedido de {from}: ele acabou",
};

pub(super) static RELEASED_BEFORE: Why = Why {
    code: "released-before",
    rule: "R4",
    english: "has no request of {from} to take out of its queue that this could be about",
    portuguese: "não tem na fila nenhum pedido de {from} a que isto possa se referir",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "R3",
    english: "what it wanted or held ended with the crash: its request {own} is over, and all are \
              told",
    portuguese: "o que queria ou tinha acabou com a queda: seu pedido {own} terminou, e todos são \
                 avisados",
};

pub(super) static RESTARTED_IDLE: Why = Why {
    code: "restarted-idle",
    rule: "A2",
    english: "is back with its queue on disk, and had asked for nothing",
    portuguese: "volta com a fila no disco, e não tinha pedido nada",
};
