//! Why: the reasons that elections share, and what those do that have no rule for crashes.

use conclave_core::detector::{self, Detector};
use conclave_core::election::Election;
use conclave_core::{Context, Process, Why};

/// Passes on what the detector below says, to whoever stands above.
pub(super) fn pass_on<P>(told: detector::Indication, ctx: &mut Context<P>)
where
    P: Process<Provides = Election, Uses = Detector>,
{
    ctx.because(&ONLY_TOLD, ());
    ctx.indicate(told.into());
}

pub(super) static STRANGER: Why = Why {
    code: "stranger",
    rule: "A1",
    english: "ignores it: {from} is not one of the nodes that this one knows",
    portuguese: "ignora: {from} não é um dos nós que este conhece",
};

pub(super) static NO_HAND_OVER: Why = Why {
    code: "no-hand-over",
    rule: "service",
    english: "passes it over: this election cannot hand over; the others elect when they miss the \
              leader",
    portuguese: "desconsidera: esta eleição não sabe passar o cargo; os outros elegem quando derem \
                 falta do líder",
};

pub(super) static ONLY_TOLD: Why = Why {
    code: "only-told",
    rule: "service",
    english: "only passes it on to whoever stands above: this election has no rule for crashes",
    portuguese: "apenas repassa a quem está acima: esta eleição não tem regra para quedas",
};

pub(super) static WAITS: Why = Why {
    code: "waits",
    rule: "service",
    english: "waits: nothing is known of an election here",
    portuguese: "espera: nada se sabe aqui de uma eleição",
};
