//! Why: the reasons of a node with a clock, whichever clock it is, in words.

use conclave_core::Why;
use conclave_core::clock::Refusal;

pub(in crate::clock) static STARTS: Why = Why {
    code: "starts",
    rule: "R3",
    english: "its clock reads {reading}",
    portuguese: "seu relógio marca {reading}",
};

pub(in crate::clock) static TASK_DONE: Why = Why {
    code: "task-done",
    rule: "R4",
    english: "has held the task for long enough: hands it to whoever does the next step",
    portuguese: "segurou a tarefa por tempo bastante: entrega-a a quem faz o próximo passo",
};

pub(in crate::clock) static LETTER_DUE: Why = Why {
    code: "letter-due",
    rule: "R4",
    english: "the example has it write to {to} after tick {tick}",
    portuguese: "o exemplo o faz escrever a {to} depois do tique {tick}",
};

pub(in crate::clock) static TAKES_TASK: Why = Why {
    code: "takes-task",
    rule: "R4",
    english: "does step {step} of the task, and holds it for {time}",
    portuguese: "faz o passo {step} da tarefa, e a segura por {time}",
};

pub(in crate::clock) static NOT_MY_STEP: Why = Why {
    code: "not-my-step",
    rule: "R4",
    english: "has nothing more to do: step {step} of the task is not its own, or was done before",
    portuguese: "nada mais tem a fazer: o passo {step} da tarefa não é seu, ou já foi feito",
};

pub(in crate::clock) static STRANGER: Why = Why {
    code: "stranger",
    rule: "R2",
    english: "ignores it: no clock here has a place for {from}",
    portuguese: "ignora: nenhum relógio aqui tem lugar para {from}",
};

pub(in crate::clock) static ABSURD: Why = Why {
    code: "absurd",
    rule: "R2",
    english: "refuses it: no clock of this cluster can read what {from} put on it; its own stays \
              as it is",
    portuguese: "recusa: nenhum relógio deste cluster pode marcar o que {from} pôs nela; o seu \
                 fica como está",
};

pub(in crate::clock) static TOO_FAR_AHEAD: Why = Why {
    code: "too-far-ahead",
    rule: "R2",
    english: "refuses it: {from} is further ahead of the physical clock than is allowed; its own \
              stays as it is",
    portuguese: "recusa: {from} está mais adiante do relógio físico do que se permite; o seu fica \
                 como está",
};

/// Why a time is not believed.
pub(super) fn refused(refusal: Refusal) -> &'static Why {
    match refusal {
        Refusal::Absurd => &ABSURD,
        Refusal::TooFarAhead => &TOO_FAR_AHEAD,
    }
}
