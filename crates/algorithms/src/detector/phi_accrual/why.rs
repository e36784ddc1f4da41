//! Why: the reasons of the phi accrual detector's rules, in words.

use crate::detector::why::{ALONE, BEATS, CAME_BACK, CAUGHT_UP, STALE, STRANGER, TRUSTS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &FIRST_HEARD,
    &REMEMBERS,
    &NEVER_HEARD,
    &TOO_SILENT,
    &SAMPLED,
    &BEATS,
    &ALONE,
    &CAME_BACK,
    &STRANGER,
    &STALE,
    &CAUGHT_UP,
    &TRUSTS,
];

pub(super) static FIRST_HEARD: Why = Why {
    code: "first-heard",
    rule: "R2",
    english: "{from} is heard of for the first time",
    portuguese: "{from} é ouvido pela primeira vez",
};

pub(super) static REMEMBERS: Why = Why {
    code: "remembers",
    rule: "R2",
    english: "{from} lives; that it was silent for {gap} samples goes into its window",
    portuguese: "{from} vive; que ficou em silêncio por {gap} amostras entra em sua janela",
};

pub(super) static NEVER_HEARD: Why = Why {
    code: "never-heard",
    rule: "R3",
    english: "{node} was not heard of within the grace of {time}: suspects it",
    portuguese: "{node} não foi ouvido dentro da tolerância de {time}: põe-no sob suspeita",
};

pub(super) static TOO_SILENT: Why = Why {
    code: "too-silent",
    rule: "R3",
    english: "{node} has been silent for {silence} samples; phi is {phi}, above {threshold}: \
              suspects it",
    portuguese: "{node} está em silêncio há {silence} amostras; phi é {phi}, acima de {threshold}: \
                 põe-no sob suspeita",
};

pub(super) static SAMPLED: Why = Why {
    code: "sampled",
    rule: "R3",
    english: "has looked at all others: phi is above {threshold}, or was, for {nodes}",
    portuguese: "olhou todos os outros: phi está, ou esteve, acima de {threshold} para {nodes}",
};
