//! Why: the reasons of the rules of failure detectors, in words.

use conclave_core::Why;

/// All reasons that a step of the detector with a fixed timeout may have.
pub const HEARTBEAT: &[&Why] = &[
    &BEATS, &ALONE, &CAME_BACK, &GRACE, &STRANGER, &STALE, &CAUGHT_UP, &ALIVE, &SUSPECTS, &TRUSTS,
];

/// All reasons that a step of the one with a growing timeout may have.
pub const ADAPTIVE: &[&Why] = &[
    &BEATS,
    &ALONE,
    &CAME_BACK,
    &GRACE,
    &STRANGER,
    &STALE,
    &CAUGHT_UP,
    &ALIVE,
    &SUSPECTS,
    &TRUSTS_LONGER,
];

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R1",
    english: "there is nobody to watch, and nobody watches",
    portuguese: "não há ninguém a observar, e ninguém observa",
};

pub(super) static BEATS: Why = Why {
    code: "beats",
    rule: "R1",
    english: "shows all others that it lives, with heartbeat {number}",
    portuguese: "mostra a todos os outros que vive, com o batimento {number}",
};

pub(super) static GRACE: Why = Why {
    code: "grace",
    rule: "R2",
    english: "everybody has {time} to be heard of for the first time",
    portuguese: "todos têm {time} para serem ouvidos pela primeira vez",
};

pub(super) static CAME_BACK: Why = Why {
    code: "came-back",
    rule: "R1",
    english: "is back: what it believed is out of date, so it begins anew",
    portuguese: "voltou: o que acreditava está ultrapassado, e começa de novo",
};

pub(super) static STRANGER: Why = Why {
    code: "stranger",
    rule: "R2",
    english: "ignores it: {from} is not one of the nodes that this one watches",
    portuguese: "ignora: {from} não é um dos nós que este observa",
};

pub(super) static STALE: Why = Why {
    code: "stale",
    rule: "R2",
    english: "ignores it: heartbeat {number} of {from} is late or came twice, for {heard} has come \
              before",
    portuguese: "ignora: o batimento {number} de {from} está atrasado ou veio duas vezes, pois \
                 {heard} já veio",
};

pub(super) static CAUGHT_UP: Why = Why {
    code: "caught-up",
    rule: "R2",
    english: "counts on from {seen}, the last number that others heard of it before it forgot",
    portuguese: "continua a contar de {seen}, o último número que outros ouviram dele antes de ele \
                 esquecer",
};

pub(super) static ALIVE: Why = Why {
    code: "alive",
    rule: "R2",
    english: "{from} lives, and may be silent for {time} from now on",
    portuguese: "{from} vive, e pode ficar em silêncio por {time} a partir de agora",
};

pub(super) static SUSPECTS: Why = Why {
    code: "suspects",
    rule: "R3",
    english: "{node} has been silent for too long: suspects it",
    portuguese: "{node} está em silêncio há tempo demais: põe-no sob suspeita",
};

pub(super) static TRUSTS: Why = Why {
    code: "trusts",
    rule: "R4",
    english: "{from} is heard of again: it was suspected too soon, or is back",
    portuguese: "{from} é ouvido de novo: foi posto sob suspeita cedo demais, ou voltou",
};

pub(super) static TRUSTS_LONGER: Why = Why {
    code: "trusts-longer",
    rule: "R4",
    english: "{from} is heard of again, so its timeout was too short: gives it {step} more",
    portuguese: "{from} é ouvido de novo, logo seu tempo limite era curto: dá a ele mais {step}",
};
