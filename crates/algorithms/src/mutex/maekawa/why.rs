//! Why: the reasons of Maekawa's rules, in words.

use super::super::why::{OBSERVED, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ASKED,
    &VOTED,
    &QUEUED,
    &INQUIRED,
    &INQUIRED_BEFORE,
    &DISPLACED,
    &REPEATED,
    &HAS_VOTES,
    &ENTERED,
    &FAILED,
    &WAITS_AND_SEES,
    &YIELDED,
    &NO_VOTE,
    &TOO_LATE,
    &TOOK_BACK,
    &YIELDED_BEFORE,
    &VOTED_INSTEAD,
    &VOTED_NEXT,
    &FREE,
    &WITHDRAWN,
    &LEFT,
    &WITHDREW,
    &RESTARTED,
    &RESTARTED_IDLE,
    &OBSERVED,
    &STRANGER,
];

pub(super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "asks its quorum for their votes: request {own}, (time, node), goes to {quorum}",
    portuguese: "pede os votos do seu quórum: o pedido {own}, (tempo, nó), vai a {quorum}",
};

pub(super) static VOTED: Why = Why {
    code: "voted",
    rule: "R2",
    english: "votes for {request}: its vote is free",
    portuguese: "vota em {request}: seu voto está livre",
};

pub(super) static QUEUED: Why = Why {
    code: "queued",
    rule: "R3",
    english: "queues {request} and says FAILED: the vote is with {voted}, and that one or another \
              in line comes before it",
    portuguese: "põe {request} na fila e diz FAILED: o voto está com {voted}, e este ou outro da \
                 fila vem antes dele",
};

pub(super) static INQUIRED: Why = Why {
    code: "inquired",
    rule: "R3",
    english: "queues {request} as the first: it is before {voted}, which is asked to give the vote \
              back",
    portuguese: "põe {request} como primeiro da fila: vem antes de {voted}, a quem pede o voto de \
                 volta",
};

pub(super) static INQUIRED_BEFORE: Why = Why {
    code: "inquired-before",
    rule: "R3",
    english: "queues {request} as the first: {voted} has been asked to give the vote back already",
    portuguese: "põe {request} como primeiro da fila: a {voted} o voto já foi pedido de volta",
};

pub(super) static DISPLACED: Why = Why {
    code: "displaced",
    rule: "R8",
    english: "tells {request} that it is no longer the first in line (Sanders' rule)",
    portuguese: "avisa {request} de que já não é o primeiro da fila (regra de Sanders)",
};

pub(super) static REPEATED: Why = Why {
    code: "repeated",
    rule: "A1",
    english: "ignores it: request {request} has come before, and waits or has the vote",
    portuguese: "ignora: o pedido {request} já chegou antes, e espera ou tem o voto",
};

pub(super) static HAS_VOTES: Why = Why {
    code: "has-votes",
    rule: "R6",
    english: "has the votes of {votes}; the votes of {missing} are still to come",
    portuguese: "tem os votos de {votes}; faltam ainda os votos de {missing}",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R6",
    english: "enters: its whole quorum has voted for it: {votes}",
    portuguese: "entra: todo o seu quórum votou nele: {votes}",
};

pub(super) static FAILED: Why = Why {
    code: "failed",
    rule: "R4",
    english: "learns that {arbiter} prefers another: it cannot enter yet, so it gives a vote back \
              if asked to",
    portuguese: "fica sabendo que {arbiter} prefere outro: ainda não pode entrar, e devolve um \
                 voto se lhe pedirem",
};

pub(super) static WAITS_AND_SEES: Why = Why {
    code: "waits-and-sees",
    rule: "R4",
    english: "keeps the vote of {arbiter} for now: nobody has said FAILED, so it may yet get all \
              votes",
    portuguese: "por ora fica com o voto de {arbiter}: ninguém disse FAILED, e ainda pode obter \
                 todos",
};

pub(super) static YIELDED: Why = Why {
    code: "yielded",
    rule: "R4",
    english: "gives the vote of {arbiter} back: FAILED came from {failed}, so it cannot enter yet",
    portuguese: "devolve o voto de {arbiter}: veio FAILED de {failed}, então ainda não pode entrar",
};

pub(super) static NO_VOTE: Why = Why {
    code: "no-vote",
    rule: "A4",
    english: "ignores it: has no vote of {arbiter} to give back",
    portuguese: "ignora: não tem voto de {arbiter} a devolver",
};

pub(super) static TOO_LATE: Why = Why {
    code: "too-late",
    rule: "R7",
    english: "ignores it: what {arbiter} says is about a request that is over or has all its votes",
    portuguese: "ignora: o que {arbiter} diz é sobre um pedido que acabou ou já tem todos os votos",
};

pub(super) static TOOK_BACK: Why = Why {
    code: "took-back",
    rule: "R5",
    english: "has its vote back from {request}, which waits in line again",
    portuguese: "recebe de volta o voto de {request}, que volta a esperar na fila",
};

pub(super) static YIELDED_BEFORE: Why = Why {
    code: "yielded-before",
    rule: "A1",
    english: "ignores it: its vote is not with {request} any more",
    portuguese: "ignora: seu voto já não está com {request}",
};

pub(super) static VOTED_INSTEAD: Why = Why {
    code: "voted-instead",
    rule: "R5",
    english: "gives that vote to the first in line, {request}",
    portuguese: "dá esse voto ao primeiro da fila, {request}",
};

pub(super) static VOTED_NEXT: Why = Why {
    code: "voted-next",
    rule: "R7",
    english: "its vote is free again: votes for the first in line, {request}",
    portuguese: "seu voto está livre de novo: vota no primeiro da fila, {request}",
};

pub(super) static FREE: Why = Why {
    code: "free",
    rule: "R7",
    english: "its vote is free again, and nobody waits for it",
    portuguese: "seu voto está livre de novo, e ninguém o espera",
};

pub(super) static WITHDRAWN: Why = Why {
    code: "withdrawn",
    rule: "R7",
    english: "takes {request} out of its line: it was withdrawn",
    portuguese: "tira {request} da fila: foi retirado",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R7",
    english: "leaves, and gives the votes back to {quorum}",
    portuguese: "sai, e devolve os votos a {quorum}",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R7",
    english: "no longer wants in, and tells {quorum}",
    portuguese: "já não quer entrar, e avisa {quorum}",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "R7",
    english: "what it wanted or held ended with the crash: it gives all votes back",
    portuguese: "o que queria ou tinha acabou com a queda: devolve todos os votos",
};

pub(super) static RESTARTED_IDLE: Why = Why {
    code: "restarted-idle",
    rule: "A2",
    english: "is back with its vote and its line on disk, and had asked for nothing",
    portuguese: "volta com seu voto e sua fila no disco, e não tinha pedido nada",
};
