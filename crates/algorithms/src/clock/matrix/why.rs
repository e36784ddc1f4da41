//! Why: the reasons of a matrix clock's rules, in words.

use crate::clock::timekeeper::why::{
    ABSURD, LETTER_DUE, NOT_MY_STEP, STARTS, STRANGER, TAKES_TASK, TASK_DONE, TOO_FAR_AHEAD,
};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &COUNTS,
    &MERGES,
    &TICKS,
    &STARTS,
    &TASK_DONE,
    &LETTER_DUE,
    &TAKES_TASK,
    &NOT_MY_STEP,
    &STRANGER,
    &ABSURD,
    &TOO_FAR_AHEAD,
];

pub(super) static COUNTS: Why = Why {
    code: "counts",
    rule: "R1",
    english: "an event: counts it in its own place of its own row, in {before}",
    portuguese: "um evento: conta-o em seu próprio lugar de sua própria linha, em {before}",
};

pub(super) static MERGES: Why = Why {
    code: "merges",
    rule: "R2",
    english: "the message carries {theirs} and the clock reads {before}: learns all rows, adds the \
              sender's to its own, then counts the receipt",
    portuguese: "a mensagem traz {theirs} e o relógio marca {before}: aprende todas as linhas, \
                 soma a do remetente à sua, depois conta o recebimento",
};

pub(super) static TICKS: Why = Why {
    code: "ticks",
    rule: "R3",
    english: "the clock gains {gain} by itself in its own place of {before}",
    portuguese: "o relógio ganha {gain} por si em seu próprio lugar de {before}",
};
