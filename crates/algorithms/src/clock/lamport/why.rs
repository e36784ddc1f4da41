//! Why: the reasons of Lamport's clock's rules, in words.

use crate::clock::timekeeper::why::{
    ABSURD, LETTER_DUE, NOT_MY_STEP, STARTS, STRANGER, TAKES_TASK, TASK_DONE, TOO_FAR_AHEAD,
};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MOVES_ON,
    &GOES_BEYOND,
    &PUT_LATER,
    &IN_ORDER,
    &SLIPS_THROUGH,
    &NEVER_CORRECTED,
    &STANDS,
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

pub(super) static MOVES_ON: Why = Why {
    code: "moves-on",
    rule: "R1",
    english: "an event: the clock goes from {before} to the next number",
    portuguese: "um evento: o relógio vai de {before} ao próximo número",
};

pub(super) static GOES_BEYOND: Why = Why {
    code: "goes-beyond",
    rule: "R2",
    english: "the message carries {theirs} and the clock reads {before}: goes one beyond the \
              greater, so that the receipt is later than the sending",
    portuguese: "a mensagem traz {theirs} e o relógio marca {before}: vai um além do maior, para \
                 que o recebimento seja posterior ao envio",
};

pub(super) static PUT_LATER: Why = Why {
    code: "put-later",
    rule: "R2",
    english: "the message carries {theirs}, and the clock, at {before}, is behind: the receipt \
              would not be later than the sending, so the clock is put one beyond {theirs}",
    portuguese: "a mensagem traz {theirs}, e o relógio, em {before}, está atrasado: o recebimento \
                 não seria posterior ao envio, então o relógio é posto um além de {theirs}",
};

pub(super) static IN_ORDER: Why = Why {
    code: "in-order",
    rule: "R2",
    english: "the message carries {theirs}, and the clock, at {before}, is later: nothing to \
              correct",
    portuguese: "a mensagem traz {theirs}, e o relógio, em {before}, é posterior: nada a corrigir",
};

pub(super) static SLIPS_THROUGH: Why = Why {
    code: "slips-through",
    rule: "R2",
    english: "the message carries {theirs}, just what the clock reads, {before}: by the printed \
              rule nothing is corrected, and the receipt is not later than the sending",
    portuguese: "a mensagem traz {theirs}, justo o que o relógio marca, {before}: pela regra \
                 impressa nada se corrige, e o recebimento não é posterior ao envio",
};

pub(super) static NEVER_CORRECTED: Why = Why {
    code: "never-corrected",
    rule: "R2",
    english: "the message carries {theirs}, and the clock reads {before}: it is never corrected, \
              so effects may seem to come before causes",
    portuguese: "a mensagem traz {theirs}, e o relógio marca {before}: nunca é corrigido, e \
                 efeitos podem parecer vir antes das causas",
};

pub(super) static STANDS: Why = Why {
    code: "stands",
    rule: "R3",
    english: "an event: this clock, at {before}, moves by itself alone",
    portuguese: "um evento: este relógio, em {before}, só anda por si",
};

pub(super) static TICKS: Why = Why {
    code: "ticks",
    rule: "R3",
    english: "the clock gains {gain} by itself, from {before}",
    portuguese: "o relógio ganha {gain} por si, a partir de {before}",
};
