//! Why: the reasons of the token ring's rules, in words.

use super::super::why::NO_CLOCK;
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MINTED,
    &FOUND_HERE,
    &ENTERED,
    &COMES_UNCALLED,
    &LEFT,
    &UNWANTED,
    &RESTS,
    &RESTED,
    &CALLED,
    &PARKED,
    &CALLS,
    &MARKED,
    &CALLED_INSIDE,
    &CALLED_BEFORE,
    &LATE_WAKE,
    &COPY,
    &SECOND_TOKEN,
    &WITHDREW,
    &RESTARTED,
    &RESTARTED_WITHOUT,
    &NO_CLOCK,
];

pub(super) static MINTED: Why = Why {
    code: "minted",
    rule: "R1",
    english: "mints the one token there is: who has it may enter",
    portuguese: "cria o único token que há: quem o tem pode entrar",
};

pub(super) static FOUND_HERE: Why = Why {
    code: "found-here",
    rule: "R2",
    english: "enters at once, with fence {fence}: the token rests here",
    portuguese: "entra na hora, com o fencing token {fence}: o token repousa aqui",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R2",
    english: "enters, with fence {fence}: it waited for the token, and here it is",
    portuguese: "entra, com o fencing token {fence}: esperava o token, e ele chegou",
};

pub(super) static COMES_UNCALLED: Why = Why {
    code: "comes-uncalled",
    rule: "R2",
    english: "waits: the token goes round and will come by",
    portuguese: "espera: o token circula e vai passar por aqui",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R3",
    english: "leaves, and passes the token on to {successor}, even if it should want in again",
    portuguese: "sai, e passa o token adiante a {successor}, mesmo que queira entrar de novo",
};

pub(super) static UNWANTED: Why = Why {
    code: "unwanted",
    rule: "R4",
    english: "passes the token on to {successor}: it does not want to enter",
    portuguese: "passa o token adiante a {successor}: não quer entrar",
};

pub(super) static RESTS: Why = Why {
    code: "rests",
    rule: "R4",
    english: "does not want to enter: the token rests here for a while, then goes on",
    portuguese: "não quer entrar: o token repousa aqui um pouco, depois segue",
};

pub(super) static RESTED: Why = Why {
    code: "rested",
    rule: "R4",
    english: "passes the token on: it has rested here long enough, and nobody here wants it",
    portuguese: "passa o token adiante: ele já repousou o bastante, e ninguém aqui o quer",
};

pub(super) static CALLED: Why = Why {
    code: "called",
    rule: "R5",
    english: "passes the token on: somebody ahead called for it, up to hop {hop}",
    portuguese: "passa o token adiante: alguém à frente o chamou, até o salto {hop}",
};

pub(super) static PARKED: Why = Why {
    code: "parked",
    rule: "R5",
    english: "keeps the token where it is: nobody has called for it",
    portuguese: "deixa o token onde está: ninguém o chamou",
};

pub(super) static CALLS: Why = Why {
    code: "calls",
    rule: "R5",
    english: "sends WAKE after the token: it must make hop {hop}, where somebody waits",
    portuguese: "manda WAKE atrás do token: ele deve dar o salto {hop}, onde alguém espera",
};

pub(super) static MARKED: Why = Why {
    code: "marked",
    rule: "R5",
    english: "sends no WAKE: the token comes by here before hop {hop}, and finds the mark",
    portuguese: "não manda WAKE: o token passa por aqui antes do salto {hop}, e acha a marca",
};

pub(super) static CALLED_INSIDE: Why = Why {
    code: "called-inside",
    rule: "R5",
    english: "is inside with the token: when it leaves, the token goes on, up to hop {hop}",
    portuguese: "está dentro com o token: quando sair, o token segue, até o salto {hop}",
};

pub(super) static CALLED_BEFORE: Why = Why {
    code: "called-before",
    rule: "R5",
    english: "need not call for hop {hop}: an earlier call leads the token to hop {called}",
    portuguese: "não precisa chamar para o salto {hop}: uma chamada anterior leva o token até o \
                 {called}",
};

pub(super) static LATE_WAKE: Why = Why {
    code: "late-wake",
    rule: "R5",
    english: "ignores it: it calls for hop {hop}, but the token made hop {seen} since",
    portuguese: "ignora: chama para o salto {hop}, mas o token já deu o salto {seen}",
};

pub(super) static COPY: Why = Why {
    code: "copy",
    rule: "A1",
    english: "ignores it: a copy of the token, at hop {hop}, though it was here at hop {seen} \
              already",
    portuguese: "ignora: uma cópia do token, no salto {hop}, embora ele já tenha estado aqui no \
                 salto {seen}",
};

pub(super) static SECOND_TOKEN: Why = Why {
    code: "second-token",
    rule: "A1",
    english: "is inside with a token already: this is a second one",
    portuguese: "está dentro e já tem um token: este é um segundo",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R2",
    english: "no longer wants to enter: the token will pass by",
    portuguese: "já não quer entrar: o token vai passar direto",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with the token on its disk; what it used it for ended with the crash",
    portuguese: "volta com o token no disco; aquilo para que o usava acabou com a queda",
};

pub(super) static RESTARTED_WITHOUT: Why = Why {
    code: "restarted-without",
    rule: "A2",
    english: "is back, without the token: what it wanted ended with the crash",
    portuguese: "volta, sem o token: o que queria acabou com a queda",
};
