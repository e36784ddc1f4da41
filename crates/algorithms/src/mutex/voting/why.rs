//! Why: the reasons of the rules of voting, in words.

use super::super::why::{MISDIRECTED, NO_CLOCK, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ALONE,
    &TRIED,
    &TRIED_AGAIN,
    &VOTED,
    &REFUSED,
    &OVERTAKEN,
    &COUNTED,
    &ENTERED,
    &NOT_NEEDED,
    &GAVE_BACK,
    &REFUSED_LATE,
    &STILL_HOPES,
    &FAILED,
    &TOOK_TOO_LONG,
    &LEFT,
    &WITHDREW,
    &RETURNED,
    &RETURNED_BEFORE,
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

pub(super) static TRIED: Why = Why {
    code: "tried",
    rule: "R1",
    english: "asks all coordinators for their votes; it needs {votes} votes",
    portuguese: "pede os votos de todos os coordenadores; precisa de {votes} votos",
};

pub(super) static TRIED_AGAIN: Why = Why {
    code: "tried-again",
    rule: "R4",
    english: "asks all coordinators again: its pause is over, and this is try number {number}",
    portuguese: "pede de novo a todos os coordenadores: a pausa acabou, e esta é a tentativa \
                 {number}",
};

pub(super) static VOTED: Why = Why {
    code: "voted",
    rule: "R2",
    english: "gives its vote to {from}: it is free, or {from} has it already",
    portuguese: "dá seu voto a {from}: está livre, ou já é de {from}",
};

pub(super) static REFUSED: Why = Why {
    code: "refused",
    rule: "R2",
    english: "refuses {from}: its vote is with {voted}, and nobody waits here",
    portuguese: "recusa {from}: seu voto está com {voted}, e aqui ninguém espera",
};

pub(super) static OVERTAKEN: Why = Why {
    code: "overtaken",
    rule: "R2",
    english: "ignores it: try {attempt} of {from} is over, as a later message has said",
    portuguese: "ignora: a tentativa {attempt} de {from} acabou, como disse uma mensagem posterior",
};

pub(super) static COUNTED: Why = Why {
    code: "counted",
    rule: "R3",
    english: "has the votes of {ok}; it needs {votes} votes in all",
    portuguese: "tem os votos de {ok}; precisa de {votes} votos ao todo",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R3",
    english: "enters: {ok} voted for it, and {votes} votes are enough",
    portuguese: "entra: {ok} votaram nele, e bastam {votes} votos",
};

pub(super) static NOT_NEEDED: Why = Why {
    code: "not-needed",
    rule: "R3",
    english: "is inside already and does not need this vote; it goes back with the others",
    portuguese: "já está dentro e não precisa deste voto; ele volta com os outros",
};

pub(super) static GAVE_BACK: Why = Why {
    code: "gave-back",
    rule: "R3",
    english: "gives the vote of {from} back: it is for try {attempt}, which is over",
    portuguese: "devolve o voto de {from}: é para a tentativa {attempt}, que acabou",
};

pub(super) static REFUSED_LATE: Why = Why {
    code: "refused-late",
    rule: "R4",
    english: "ignores it: try {attempt} was decided without this refusal",
    portuguese: "ignora: a tentativa {attempt} foi decidida sem esta recusa",
};

pub(super) static STILL_HOPES: Why = Why {
    code: "still-hopes",
    rule: "R4",
    english: "goes on: {nok} refused, but {votes} votes are still within reach",
    portuguese: "continua: {nok} recusaram, mas {votes} votos ainda são possíveis",
};

pub(super) static FAILED: Why = Why {
    code: "failed",
    rule: "R4",
    english: "gives its votes back and pauses: {nok} refused, so {votes} votes are out of reach",
    portuguese: "devolve os votos e faz uma pausa: {nok} recusaram, e {votes} votos já não são \
                 possíveis",
};

pub(super) static TOOK_TOO_LONG: Why = Why {
    code: "took-too-long",
    rule: "R4",
    english: "gives this try up: it took too long, with the votes of {ok} only",
    portuguese: "desiste desta tentativa: demorou demais, com os votos só de {ok}",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R5",
    english: "leaves, and gives the votes back to {ok}",
    portuguese: "sai, e devolve os votos a {ok}",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R5",
    english: "no longer wants in, and gives back what votes it has",
    portuguese: "já não quer entrar, e devolve os votos que tem",
};

pub(super) static RETURNED: Why = Why {
    code: "returned",
    rule: "R5",
    english: "has its vote back from {from}: it is free for whoever asks next",
    portuguese: "tem seu voto de volta de {from}: está livre para quem pedir em seguida",
};

pub(super) static RETURNED_BEFORE: Why = Why {
    code: "returned-before",
    rule: "R5",
    english: "has no vote out for try {attempt} of {from}, or for an earlier one",
    portuguese: "não tem voto emprestado para a tentativa {attempt} de {from}, nem para anterior",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with its disk: all its tries so far are over, and the coordinators are told",
    portuguese: "volta com seu disco: todas as tentativas até aqui acabaram, e os coordenadores \
                 são avisados",
};
