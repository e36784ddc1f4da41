//! Why: the reasons of the coordinator that can be replaced, in words.

mod client;

pub use client::WHY as CLIENT;
pub(super) use client::*;

use super::super::why::{NO_CLOCK, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &GRANTED,
    &GRANTED_AGAIN,
    &QUEUED,
    &QUEUED_EARLY,
    &PLACE_KNOWN,
    &SENDER_KNOWS_LESS,
    &FREE,
    &RELEASED,
    &PROBES,
    &STILL_INSIDE,
    &ANSWERED_LATE,
    &LAPSED,
    &FREED,
    &SUSPECTS,
    &SUSPECTED_BEFORE,
    &TRUSTS,
    &TRUSTED_BEFORE,
    &BEGINS,
    &STAYS,
    &FOLLOWS,
    &ELECTED_LATE,
    &TERM_TOO_LARGE,
    &NOT_COORDINATOR,
    &ANNOUNCES,
    &WANTS_NOTHING,
    &WAITS,
    &HOLDS,
    &IS_INSIDE,
    &WANTED,
    &REPORTED_LATE,
    &NO_FENCES,
    &WAITS_FOR_REPORTS,
    &ASKS_SILENT,
    &LAPSED_UNHEARD,
    &ACTIVE,
    &DEPOSED,
    &GIVES_UP,
    &OUTBIDS,
    &OUTBID,
    &REVOKES,
    &NO_CLOCK,
    &STRANGER,
];

pub(super) static GRANTED: Why = Why {
    code: "granted",
    rule: "R2",
    english: "lets {client} in, with fence {fence}: nobody is inside, and it is next",
    portuguese: "deixa {client} entrar, com o fencing token {fence}: ninguém está dentro, e é a \
                 vez dele",
};

pub(super) static GRANTED_AGAIN: Why = Why {
    code: "granted-again",
    rule: "R2",
    english: "tells {from} again that it may enter: the first grant was lost, or is too old",
    portuguese: "diz de novo a {from} que pode entrar: a primeira concessão se perdeu, ou é velha \
                 demais",
};

pub(super) static QUEUED: Why = Why {
    code: "queued",
    rule: "R2",
    english: "{from} has to wait in line: {holder} is inside",
    portuguese: "{from} tem de esperar na fila: {holder} está dentro",
};

pub(super) static QUEUED_EARLY: Why = Why {
    code: "queued-early",
    rule: "R7",
    english: "{from} has to wait in line: it is not known yet what everybody holds",
    portuguese: "{from} tem de esperar na fila: ainda não se sabe o que cada um tem",
};

pub(super) static PLACE_KNOWN: Why = Why {
    code: "place-known",
    rule: "R2",
    english: "need not answer {from}: it knows its place in line",
    portuguese: "não precisa responder a {from}: ele sabe seu lugar na fila",
};

pub(super) static SENDER_KNOWS_LESS: Why = Why {
    code: "sender-knows-less",
    rule: "R6",
    english: "tells {from} how things stand: that request is over, or of another epoch",
    portuguese: "conta a {from} como estão as coisas: aquele pedido acabou, ou é de outra época",
};

pub(super) static FREE: Why = Why {
    code: "free",
    rule: "R2",
    english: "lets nobody in: nobody waits that could be reached",
    portuguese: "não deixa ninguém entrar: não há quem espere que se possa alcançar",
};

pub(super) static RELEASED: Why = Why {
    code: "released",
    rule: "R4",
    english: "request {seq} of {from} is over",
    portuguese: "o pedido {seq} de {from} acabou",
};

pub(super) static PROBES: Why = Why {
    code: "probes",
    rule: "R5",
    english: "asks {client}, which is inside, for a sign of life",
    portuguese: "pede um sinal de vida a {client}, que está dentro",
};

pub(super) static STILL_INSIDE: Why = Why {
    code: "still-inside",
    rule: "R5",
    english: "{from} is inside and alive: its lease begins anew",
    portuguese: "{from} está dentro e vivo: seu arrendamento recomeça",
};

pub(super) static ANSWERED_LATE: Why = Why {
    code: "answered-late",
    rule: "R5",
    english: "ignores it: it does not wait for a sign of life of {from}",
    portuguese: "ignora: não espera sinal de vida de {from}",
};

pub(super) static LAPSED: Why = Why {
    code: "lapsed",
    rule: "R5",
    english: "{client} gave no sign of life for a lease: its hold ends once it is suspected too",
    portuguese: "{client} não deu sinal de vida por um arrendamento: sua posse acaba quando também \
                 for suspeito",
};

pub(super) static FREED: Why = Why {
    code: "freed",
    rule: "R5",
    english: "takes the hold of {client} for ended: it seems to have crashed",
    portuguese: "dá por encerrada a posse de {client}: parece ter caído",
};

pub(super) static SUSPECTS: Why = Why {
    code: "suspects",
    rule: "R5",
    english: "takes {node} for crashed: it is passed over from now on",
    portuguese: "dá {node} por caído: daqui em diante é preterido",
};

pub(super) static SUSPECTED_BEFORE: Why = Why {
    code: "suspected-before",
    rule: "R5",
    english: "nothing new: {node} was taken for crashed already",
    portuguese: "nada de novo: {node} já era dado por caído",
};

pub(super) static TRUSTS: Why = Why {
    code: "trusts",
    rule: "R5",
    english: "counts on {node} again: it seems to be up",
    portuguese: "volta a contar com {node}: parece estar de pé",
};

pub(super) static TRUSTED_BEFORE: Why = Why {
    code: "trusted-before",
    rule: "R5",
    english: "nothing new: {node} was not taken for crashed",
    portuguese: "nada de novo: {node} não era dado por caído",
};

pub(super) static BEGINS: Why = Why {
    code: "begins",
    rule: "R6",
    english: "coordinates from now on: claims epoch {epoch}, and asks everybody what it wants and \
              holds",
    portuguese: "passa a coordenar: reivindica a época {epoch}, e pergunta a todos o que querem e \
                 o que têm",
};

pub(super) static STAYS: Why = Why {
    code: "stays",
    rule: "R6",
    english: "was elected, and coordinates already: nothing changes",
    portuguese: "foi eleito, e já coordena: nada muda",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "takes {leader} for the coordinator to be, which will speak to it",
    portuguese: "toma {leader} pelo futuro coordenador, que falará com ele",
};

pub(super) static ELECTED_LATE: Why = Why {
    code: "elected-late",
    rule: "R6",
    english: "ignores it: a later leader than {leader} is known",
    portuguese: "ignora: conhece-se um líder posterior a {leader}",
};

pub(super) static TERM_TOO_LARGE: Why = Why {
    code: "term-too-large",
    rule: "R6",
    english: "ignores it: term {term} is too large to have fences",
    portuguese: "ignora: o mandato {term} é grande demais para ter fencing tokens",
};

pub(super) static NOT_COORDINATOR: Why = Why {
    code: "not-coordinator",
    rule: "R6",
    english: "ignores it: it does not coordinate; {from} will hear from who does",
    portuguese: "ignora: não é coordenador; {from} terá notícia de quem é",
};

pub(super) static ANNOUNCES: Why = Why {
    code: "announces",
    rule: "R6",
    english: "tells {from} that it coordinates, in epoch {epoch}",
    portuguese: "diz a {from} que é o coordenador, na época {epoch}",
};

pub(super) static WANTS_NOTHING: Why = Why {
    code: "wants-nothing",
    rule: "R6",
    english: "learns that {from} wants nothing, and holds nothing",
    portuguese: "fica sabendo que {from} não quer nada, e não tem nada",
};

pub(super) static WAITS: Why = Why {
    code: "waits",
    rule: "R6",
    english: "learns that {from} waits, and gives it its place in line",
    portuguese: "fica sabendo que {from} espera, e lhe dá seu lugar na fila",
};

pub(super) static HOLDS: Why = Why {
    code: "holds",
    rule: "R6",
    english: "{from} says that it waits, but was let in: a sign of life will tell",
    portuguese: "{from} diz que espera, mas foi deixado entrar: um sinal de vida dirá",
};

pub(super) static IS_INSIDE: Why = Why {
    code: "is-inside",
    rule: "R6",
    english: "learns that {from} is inside, with fence {fence}",
    portuguese: "fica sabendo que {from} está dentro, com o fencing token {fence}",
};

pub(super) static WANTED: Why = Why {
    code: "wanted",
    rule: "R6",
    english: "request {seq} of {from} is over by now: its release came first",
    portuguese: "o pedido {seq} de {from} já acabou: sua liberação chegou antes",
};

pub(super) static REPORTED_LATE: Why = Why {
    code: "reported-late",
    rule: "R6",
    english: "ignores it: {from} answers an earlier round, and is asked again",
    portuguese: "ignora: {from} responde a uma rodada anterior, e será perguntado de novo",
};

pub(super) static NO_FENCES: Why = Why {
    code: "no-fences",
    rule: "R6",
    english: "lets nobody in: its term has no fences left, a new term is needed",
    portuguese: "não deixa ninguém entrar: seu mandato não tem mais fencing tokens, é preciso um \
                 novo",
};

pub(super) static WAITS_FOR_REPORTS: Why = Why {
    code: "waits-for-reports",
    rule: "R7",
    english: "lets nobody in yet: answered so far by {reports}",
    portuguese: "ainda não deixa ninguém entrar: responderam até agora {reports}",
};

pub(super) static ASKS_SILENT: Why = Why {
    code: "asks-silent",
    rule: "R7",
    english: "asks those again that have not answered; answered so far by {reports}",
    portuguese: "pergunta de novo a quem não respondeu; responderam até agora {reports}",
};

pub(super) static LAPSED_UNHEARD: Why = Why {
    code: "lapsed-unheard",
    rule: "R7",
    english: "waits for the silent no longer: whatever they may hold has lapsed",
    portuguese: "não espera mais pelos calados: o que possam ter já venceu",
};

pub(super) static ACTIVE: Why = Why {
    code: "active",
    rule: "R7",
    english: "goes to work: it knows enough of everybody, by the answers of {reports}",
    portuguese: "começa a trabalhar: sabe o bastante de todos, pelas respostas de {reports}",
};

pub(super) static DEPOSED: Why = Why {
    code: "deposed",
    rule: "R8",
    english: "no longer leads: somebody else may let clients in now",
    portuguese: "já não lidera: agora outro pode deixar clientes entrar",
};

pub(super) static GIVES_UP: Why = Why {
    code: "gives-up",
    rule: "R8",
    english: "does not coordinate: a later leader is known, or there may be one",
    portuguese: "não coordena: conhece-se um líder posterior, ou pode haver um",
};

pub(super) static OUTBIDS: Why = Why {
    code: "outbids",
    rule: "R8",
    english: "hears of epoch {epoch}, greater than its {own}: it leads, and claims a greater one",
    portuguese: "ouve falar da época {epoch}, maior que a sua, {own}: é o líder, e reivindica uma \
                 maior",
};

pub(super) static OUTBID: Why = Why {
    code: "outbid",
    rule: "R8",
    english: "hears of epoch {epoch}, greater than its {own}: it coordinates no longer",
    portuguese: "ouve falar da época {epoch}, maior que a sua, {own}: já não coordena",
};

pub(super) static REVOKES: Why = Why {
    code: "revokes",
    rule: "R8",
    english: "tells {old} that its hold is void: {new} is inside with a larger fence",
    portuguese: "avisa {old} de que sua posse não vale: {new} está dentro com fencing token maior",
};
