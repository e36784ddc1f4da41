//! Why: the reasons of Suzuki and Kasami's rules, in words.

use super::super::why::{NO_CLOCK, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MINTED,
    &FOUND_HERE,
    &ASKED,
    &ASKED_BEFORE,
    &REMEMBERED,
    &REMEMBERED_INSIDE,
    &SERVED,
    &SENT,
    &ENTERED,
    &UNWANTED,
    &COPY,
    &PASSED,
    &KEEPS,
    &WITHDREW,
    &RESTARTED,
    &NO_CLOCK,
    &STRANGER,
];

pub(super) static MINTED: Why = Why {
    code: "minted",
    rule: "R1",
    english: "mints the token: it has it at first",
    portuguese: "cria o token: é quem o tem no começo",
};

pub(super) static FOUND_HERE: Why = Why {
    code: "found-here",
    rule: "R1",
    english: "enters at once: the token is here, nobody need be asked",
    portuguese: "entra na hora: o token está aqui, não é preciso pedir a ninguém",
};

pub(super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "sends everybody its request, number {number}: it does not know where the token is",
    portuguese: "envia a todos seu pedido, de número {number}: não sabe onde está o token",
};

pub(super) static ASKED_BEFORE: Why = Why {
    code: "asked-before",
    rule: "R1",
    english: "sends nothing: its withdrawn request number {number} is still out, and wanted again",
    portuguese: "não envia nada: seu pedido retirado, de número {number}, ainda está em curso, e \
                 volta a valer",
};

pub(super) static REMEMBERED: Why = Why {
    code: "remembered",
    rule: "R2",
    english: "remembers that {from} made request number {number}: it has no token to give",
    portuguese: "lembra que {from} fez o pedido número {number}: não tem token a dar",
};

pub(super) static REMEMBERED_INSIDE: Why = Why {
    code: "remembered-inside",
    rule: "R2",
    english: "remembers that {from} made request number {number}: it is inside, and passes on \
              later",
    portuguese: "lembra que {from} fez o pedido número {number}: está dentro, e passa o token \
                 depois",
};

pub(super) static SERVED: Why = Why {
    code: "served",
    rule: "R2",
    english: "keeps the token: by its list, {from} with number {number} was served already",
    portuguese: "fica com o token: pela sua lista, {from} com o número {number} já foi atendido",
};

pub(super) static SENT: Why = Why {
    code: "sent",
    rule: "R2",
    english: "sends the token to {from}: it has it, and does not want it",
    portuguese: "envia o token a {from}: está com ele, e não o quer",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R3",
    english: "enters: it waited for the token, and here it is",
    portuguese: "entra: esperava o token, e ele chegou",
};

pub(super) static UNWANTED: Why = Why {
    code: "unwanted",
    rule: "R4",
    english: "does not want the token any more: it gave its request up",
    portuguese: "já não quer o token: retirou seu pedido",
};

pub(super) static COPY: Why = Why {
    code: "copy",
    rule: "A1",
    english: "ignores it: the token is here already, so this is a copy",
    portuguese: "ignora: o token já está aqui, logo este é uma cópia",
};

pub(super) static PASSED: Why = Why {
    code: "passed",
    rule: "R4",
    english: "passes the token to {first}, the first in the token's queue; behind it there: \
              {queue}",
    portuguese: "passa o token a {first}, primeiro da fila do token; atrás dele: {queue}",
};

pub(super) static KEEPS: Why = Why {
    code: "keeps",
    rule: "R4",
    english: "keeps the token: nobody is known to wait",
    portuguese: "fica com o token: não sabe de ninguém que espere",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R4",
    english: "no longer wants in: the token will come all the same, and be passed on",
    portuguese: "já não quer entrar: o token virá assim mesmo, e será passado adiante",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with what it had on disk; if it was inside, that ended with the crash",
    portuguese: "volta com o que tinha no disco; se estava dentro, isso acabou com a queda",
};
