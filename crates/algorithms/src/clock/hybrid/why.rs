//! Why: the reasons of a hybrid clock's rules, in words.

use crate::clock::timekeeper::why::{
    ABSURD, LETTER_DUE, NOT_MY_STEP, STARTS, STRANGER, TAKES_TASK, TASK_DONE, TOO_FAR_AHEAD,
};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &FOLLOWS_PHYSICAL,
    &COUNTS,
    &GOES_BEYOND,
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

pub(super) static FOLLOWS_PHYSICAL: Why = Why {
    code: "follows-physical",
    rule: "R1",
    english: "an event: the physical clock is ahead of {before}, and is followed",
    portuguese: "um evento: o relógio físico está adiante de {before}, e é seguido",
};

pub(super) static COUNTS: Why = Why {
    code: "counts",
    rule: "R1",
    english: "an event: the physical clock is not ahead of {before}, so the count rises",
    portuguese: "um evento: o relógio físico não está adiante de {before}, então a contagem sobe",
};

pub(super) static GOES_BEYOND: Why = Why {
    code: "goes-beyond",
    rule: "R2",
    english: "the message carries {theirs} and the clock reads {before}: takes the greatest \
              physical time of both and of its own, and counts what shares it",
    portuguese: "a mensagem traz {theirs} e o relógio marca {before}: toma o maior tempo físico \
                 dos dois e do seu, e conta o que o compartilha",
};

pub(super) static TICKS: Why = Why {
    code: "ticks",
    rule: "R3",
    english: "the physical clock gains {gain}; before that this one read {before}",
    portuguese: "o relógio físico ganha {gain}; antes disso este marcava {before}",
};
