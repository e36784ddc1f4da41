//! Why: the reasons of Naimi and Trehel's rules, in words.

use super::super::why::NO_CLOCK;
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MINTED,
    &FOUND_HERE,
    &ASKED,
    &ASKED_BEFORE,
    &FORWARDED,
    &NEXT,
    &GIVEN,
    &OWN_COPY,
    &ENTERED,
    &UNWANTED,
    &COPY,
    &PASSED,
    &KEEPS,
    &WITHDREW,
    &RESTARTED,
    &NO_CLOCK,
];

pub(super) static MINTED: Why = Why {
    code: "minted",
    rule: "R1",
    english: "is the first root: it has the token at first",
    portuguese: "é a primeira raiz: é quem tem o token no começo",
};

pub(super) static FOUND_HERE: Why = Why {
    code: "found-here",
    rule: "R1",
    english: "enters at once: the token is here",
    portuguese: "entra na hora: o token está aqui",
};

pub(super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "asks its father {father}, the last it knows to have asked; from now on it is a root",
    portuguese: "pede a seu pai {father}, o último que sabe ter pedido; daqui em diante é raiz",
};

pub(super) static ASKED_BEFORE: Why = Why {
    code: "asked-before",
    rule: "R1",
    english: "sends nothing: its withdrawn request is still in line, and is wanted again",
    portuguese: "não envia nada: seu pedido retirado ainda está na fila, e volta a valer",
};

pub(super) static FORWARDED: Why = Why {
    code: "forwarded",
    rule: "R2",
    english: "passes the request of {origin} on to its father {father}; {origin} is its father now",
    portuguese: "passa o pedido de {origin} a seu pai {father}; agora seu pai é {origin}",
};

pub(super) static NEXT: Why = Why {
    code: "next",
    rule: "R3",
    english: "is the last in line: {origin} is its next, and gets the token after it",
    portuguese: "é o último da fila: {origin} é seu próximo, e recebe o token depois dele",
};

pub(super) static GIVEN: Why = Why {
    code: "given",
    rule: "R3",
    english: "gives {origin} the token at once: it is here, and not wanted here",
    portuguese: "dá o token a {origin} na hora: está aqui, e aqui não é querido",
};

pub(super) static OWN_COPY: Why = Why {
    code: "own-copy",
    rule: "A1",
    english: "ignores it: its own request came back, so this is a copy",
    portuguese: "ignora: seu próprio pedido voltou, logo é uma cópia",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R4",
    english: "enters: it waited for the token, and here it is",
    portuguese: "entra: esperava o token, e ele chegou",
};

pub(super) static UNWANTED: Why = Why {
    code: "unwanted",
    rule: "R5",
    english: "does not want the token any more: it gave its request up",
    portuguese: "já não quer o token: retirou seu pedido",
};

pub(super) static COPY: Why = Why {
    code: "copy",
    rule: "A1",
    english: "is inside with the token already: this is a copy",
    portuguese: "está dentro e já tem o token: este é uma cópia",
};

pub(super) static PASSED: Why = Why {
    code: "passed",
    rule: "R5",
    english: "passes the token on to its next, {next}",
    portuguese: "passa o token a seu próximo, {next}",
};

pub(super) static KEEPS: Why = Why {
    code: "keeps",
    rule: "R5",
    english: "keeps the token: nobody is next",
    portuguese: "fica com o token: não há próximo",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R5",
    english: "no longer wants in: its request stays in line, and the token will be passed on",
    portuguese: "já não quer entrar: seu pedido fica na fila, e o token será passado adiante",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with what it had on disk; if it was inside, that ended with the crash",
    portuguese: "volta com o que tinha no disco; se estava dentro, isso acabou com a queda",
};
