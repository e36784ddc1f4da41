//! Why: the reasons of its clients, in words.

use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ASKED,
    &ASKED_AGAIN,
    &UNKNOWN_YET,
    &JOINS,
    &NO_LEADER,
    &TOLD_PLACE,
    &TOLD_PLACE_LATE,
    &ENTERED,
    &TOO_OLD,
    &GRANTED_BEFORE,
    &GAVE_BACK,
    &LEFT,
    &WITHDREW,
    &ALIVE,
    &GRANT_LOST,
    &REPORTED,
    &REFUSED,
    &OLD_EPOCH,
    &EPOCH_KNOWN,
    &REVOKED,
    &RESTARTED,
];

pub(in super::super) static ASKED: Why = Why {
    code: "asked",
    rule: "R1",
    english: "asks the coordinator, {coordinator}; this is its request number {seq}",
    portuguese: "pede ao coordenador, {coordinator}; este é seu pedido de número {seq}",
};

pub(in super::super) static ASKED_AGAIN: Why = Why {
    code: "asked-again",
    rule: "R1",
    english: "says to {coordinator} again that it waits: the first time may not have been heard",
    portuguese: "diz de novo a {coordinator} que espera: da primeira vez pode não ter sido ouvido",
};

pub(in super::super) static UNKNOWN_YET: Why = Why {
    code: "unknown-yet",
    rule: "R9",
    english: "asks nobody yet: since it came back, no coordinator knows of it",
    portuguese: "ainda não pede a ninguém: desde que voltou, nenhum coordenador sabe dele",
};

pub(in super::super) static JOINS: Why = Why {
    code: "joins",
    rule: "R9",
    english: "speaks to the leader, {leader}, which may not know of it yet",
    portuguese: "fala com o líder, {leader}, que talvez ainda não saiba dele",
};

pub(in super::super) static NO_LEADER: Why = Why {
    code: "no-leader",
    rule: "R9",
    english: "knows of no leader that it could reach, and waits",
    portuguese: "não conhece líder que possa alcançar, e espera",
};

pub(in super::super) static TOLD_PLACE: Why = Why {
    code: "told-place",
    rule: "R2",
    english: "has a place in line, and keeps it even if the coordinator fails",
    portuguese: "tem um lugar na fila, e o mantém mesmo se o coordenador falhar",
};

pub(in super::super) static TOLD_PLACE_LATE: Why = Why {
    code: "told-place-late",
    rule: "R2",
    english: "ignores it: request {seq} is over, or granted",
    portuguese: "ignora: o pedido {seq} acabou, ou foi concedido",
};

pub(in super::super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R3",
    english: "enters: {from} has granted its request, with fence {fence}",
    portuguese: "entra: {from} concedeu seu pedido, com o fencing token {fence}",
};

pub(in super::super) static TOO_OLD: Why = Why {
    code: "too-old",
    rule: "R3",
    english: "does not use the grant: half its lease may be gone, so it asks {from} whether it \
              still holds",
    portuguese: "não usa a concessão: meio arrendamento pode ter passado, e pergunta a {from} se \
                 ainda vale",
};

pub(in super::super) static GRANTED_BEFORE: Why = Why {
    code: "granted-before",
    rule: "R3",
    english: "ignores it: it is inside with this grant already, fence {fence}",
    portuguese: "ignora: já está dentro com esta concessão, fencing token {fence}",
};

pub(in super::super) static GAVE_BACK: Why = Why {
    code: "gave-back",
    rule: "R3",
    english: "does not need it: request {seq} is over, and is released",
    portuguese: "não precisa disso: o pedido {seq} acabou, e é liberado",
};

pub(in super::super) static LEFT: Why = Why {
    code: "left",
    rule: "R4",
    english: "leaves, and tells the coordinator, {coordinator}",
    portuguese: "sai, e avisa o coordenador, {coordinator}",
};

pub(in super::super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R4",
    english: "no longer wants in, and tells the coordinator if one knows of it",
    portuguese: "já não quer entrar, e avisa o coordenador, se algum sabe dele",
};

pub(in super::super) static ALIVE: Why = Why {
    code: "alive",
    rule: "R5",
    english: "tells {from} that it is inside, and alive",
    portuguese: "diz a {from} que está dentro, e vivo",
};

pub(in super::super) static GRANT_LOST: Why = Why {
    code: "grant-lost",
    rule: "R5",
    english: "tells {from} that it still waits: the grant must have been lost",
    portuguese: "diz a {from} que ainda espera: a concessão deve ter se perdido",
};

pub(in super::super) static REPORTED: Why = Why {
    code: "reported",
    rule: "R6",
    english: "tells {from}, the coordinator of epoch {epoch}, what it wants and holds",
    portuguese: "conta a {from}, coordenador da época {epoch}, o que quer e o que tem",
};

pub(in super::super) static REFUSED: Why = Why {
    code: "refused",
    rule: "R8",
    english: "refuses {from}: of epoch {epoch} it obeys nobody, it knows of epoch {known}",
    portuguese: "recusa {from}: não obedece a ninguém da época {epoch}, conhece a época {known}",
};

pub(in super::super) static OLD_EPOCH: Why = Why {
    code: "old-epoch",
    rule: "R8",
    english: "ignores it: {from} speaks in epoch {epoch}, but was replaced, epoch {known} is known",
    portuguese: "ignora: {from} fala na época {epoch}, mas foi substituído, conhece-se a época \
                 {known}",
};

pub(in super::super) static EPOCH_KNOWN: Why = Why {
    code: "epoch-known",
    rule: "R8",
    english: "is told of epoch {epoch}, and knows of epoch {known}",
    portuguese: "é avisado da época {epoch}, e conhece a época {known}",
};

pub(in super::super) static REVOKED: Why = Why {
    code: "revoked",
    rule: "R8",
    english: "stays inside, for nobody can be thrown out: the resource refuses its fence {fence}",
    portuguese: "continua dentro, pois ninguém pode ser expulso: o recurso recusa seu fencing \
                 token {fence}",
};

pub(in super::super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "R9",
    english: "is back with its numbers: what it wanted or held is over, and no coordinator knows \
              of it",
    portuguese: "volta com seus números: o que queria ou tinha acabou, e nenhum coordenador sabe \
                 dele",
};
