//! Why: the reasons of the rules of ping and pong, in words.

use super::super::why::NO_CLOCK;
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MINTED,
    &COMES_BY,
    &FOUND_HERE,
    &ENTERED,
    &COPY,
    &MET,
    &PONG_LOST,
    &PING_LOST,
    &PASSED_PONG,
    &LEFT,
    &UNWANTED,
    &RESTS,
    &RESTED,
    &WITHDREW,
    &RESTARTED,
    &RESTARTED_WITHOUT,
    &NO_CLOCK,
];

pub(super) static MINTED: Why = Why {
    code: "minted",
    rule: "R1",
    english: "mints ping, which lets in, and pong, which watches over it",
    portuguese: "cria ping, que deixa entrar, e pong, que vigia o ping",
};

pub(super) static COMES_BY: Why = Why {
    code: "comes-by",
    rule: "R2",
    english: "waits: ping goes round and will come by",
    portuguese: "espera: ping circula e vai passar por aqui",
};

pub(super) static FOUND_HERE: Why = Why {
    code: "found-here",
    rule: "R2",
    english: "enters at once: ping rests here",
    portuguese: "entra na hora: ping repousa aqui",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R2",
    english: "enters: it waited for ping, and here it is",
    portuguese: "entra: esperava ping, e ele chegou",
};

pub(super) static COPY: Why = Why {
    code: "copy",
    rule: "A1",
    english: "ignores it: ping is here already, so this is a copy",
    portuguese: "ignora: ping já está aqui, logo este é uma cópia",
};

pub(super) static MET: Why = Why {
    code: "met",
    rule: "(a)",
    english: "ping and pong meet here: both numbers grow, and pong goes on",
    portuguese: "ping e pong se encontram aqui: os dois números crescem, e pong segue",
};

pub(super) static PONG_LOST: Why = Why {
    code: "pong-lost",
    rule: "(b)",
    english: "makes a new pong: ping came round with number {number} and pong has not passed: it \
              is lost",
    portuguese: "cria um novo pong: ping deu a volta com o número {number} e pong não passou: \
                 perdeu-se",
};

pub(super) static PING_LOST: Why = Why {
    code: "ping-lost",
    rule: "(b)",
    english: "makes a new ping: pong came round with number {number} and ping has not passed: it \
              is lost",
    portuguese: "cria um novo ping: pong deu a volta com o número {number} e ping não passou: \
                 perdeu-se",
};

pub(super) static PASSED_PONG: Why = Why {
    code: "passed-pong",
    rule: "(c)",
    english: "passes pong on: ping has been here since pong came last, so it is not lost",
    portuguese: "passa pong adiante: ping esteve aqui desde a última vez de pong, logo não se \
                 perdeu",
};

pub(super) static LEFT: Why = Why {
    code: "left",
    rule: "R3",
    english: "leaves, and passes ping on to {successor}, even if it should want in again",
    portuguese: "sai, e passa ping adiante a {successor}, mesmo que queira entrar de novo",
};

pub(super) static UNWANTED: Why = Why {
    code: "unwanted",
    rule: "R4",
    english: "passes ping on to {successor}: it does not want to enter",
    portuguese: "passa ping adiante a {successor}: não quer entrar",
};

pub(super) static RESTS: Why = Why {
    code: "rests",
    rule: "R4",
    english: "does not want to enter: ping rests here for a while, then goes on",
    portuguese: "não quer entrar: ping repousa aqui um pouco, depois segue",
};

pub(super) static RESTED: Why = Why {
    code: "rested",
    rule: "R4",
    english: "passes ping on: it has rested here long enough, and nobody here wants it",
    portuguese: "passa ping adiante: já repousou o bastante, e ninguém aqui o quer",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R2",
    english: "no longer wants to enter: ping will pass by",
    portuguese: "já não quer entrar: ping vai passar direto",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with ping on its disk; what it used it for ended with the crash",
    portuguese: "volta com ping no disco; aquilo para que o usava acabou com a queda",
};

pub(super) static RESTARTED_WITHOUT: Why = Why {
    code: "restarted-without",
    rule: "A2",
    english: "is back, without ping: what it wanted ended with the crash",
    portuguese: "volta, sem ping: o que queria acabou com a queda",
};
