//! Why: the reasons that several algorithms share.

use conclave_core::Why;

pub(super) static STRANGER: Why = Why {
    code: "stranger",
    rule: "A1",
    english: "ignores it: {from} is none of those that could have sent this",
    portuguese: "ignora: {from} não é nenhum dos que poderiam ter enviado isto",
};

pub(super) static MISDIRECTED: Why = Why {
    code: "misdirected",
    rule: "A1",
    english: "ignores it: what {from} says is not for this node to decide",
    portuguese: "ignora: o que {from} diz não cabe a este nó decidir",
};

pub(super) static OBSERVED: Why = Why {
    code: "observed",
    rule: "clock",
    english: "a message of the application carries time {time}: its own clock is at {clock} now",
    portuguese: "uma mensagem da aplicação traz o tempo {time}: seu relógio agora está em {clock}",
};

pub(super) static NO_CLOCK: Why = Why {
    code: "no-clock",
    rule: "clock",
    english: "takes no notice of the application's message: this algorithm has no clock to move",
    portuguese: "não faz nada com a mensagem da aplicação: este algoritmo não tem relógio a avançar",
};
