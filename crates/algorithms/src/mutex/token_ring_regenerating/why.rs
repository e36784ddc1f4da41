//! Why: the reasons of the rules of the ring that makes lost tokens anew, in words.

use super::super::why::{NO_CLOCK, STRANGER};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &MINTED,
    &AWAITS,
    &ENTERED,
    &WITHDREW,
    &PASSED,
    &STAYS,
    &RESTS,
    &TOOK_OVER,
    &REPLACED,
    &FENCED,
    &SEEN,
    &EPOCH_KNOWN,
    &EPOCH_LEARNT,
    &ACKNOWLEDGED,
    &ACKNOWLEDGED_BEFORE,
    &SENT_AGAIN,
    &SKIPS,
    &TRUSTS,
    &SUSPECTED_BEFORE,
    &PASSED_TO_DEAD,
    &AWAY_TOO_LONG,
    &USED_UP,
    &PROBES,
    &NO_LEADER,
    &BEING_MADE,
    &TELLS_EPOCH,
    &NOT_LEADER,
    &LEADS,
    &FOLLOWS,
    &ELECTED_LATE,
    &TERM_TOO_LARGE,
    &DEPOSED,
    &GIVES_UP,
    &FREEZES,
    &REFUSED,
    &TOKEN_WAS_HERE,
    &OBEYS,
    &PROMISED_LATE,
    &WAITS_FOR_PROMISES,
    &MADE,
    &GAVE_TO_HOLDER,
    &NO_FENCES,
    &ASKS_SILENT,
    &LAPSED,
    &DESTROYED,
    &CUT_OFF,
    &RESTARTED,
    &NO_CLOCK,
    &STRANGER,
];

pub(super) static MINTED: Why = Why {
    code: "minted",
    rule: "R1",
    english: "mints the first token",
    portuguese: "cria o primeiro token",
};

pub(super) static AWAITS: Why = Why {
    code: "awaits",
    rule: "R2",
    english: "waits for the token to come by; if it takes longer than a lap, it is taken for lost",
    portuguese: "espera o token passar; se demorar mais que uma volta, será dado por perdido",
};

pub(super) static ENTERED: Why = Why {
    code: "entered",
    rule: "R2",
    english: "enters, with fence {fence}: it wanted in, and has the token",
    portuguese: "entra, com o fencing token {fence}: queria entrar, e tem o token",
};

pub(super) static WITHDREW: Why = Why {
    code: "withdrew",
    rule: "R2",
    english: "no longer wants to enter: the token will pass by",
    portuguese: "já não quer entrar: o token vai passar direto",
};

pub(super) static PASSED: Why = Why {
    code: "passed",
    rule: "R2",
    english: "passes the token on to {to}, the next that seems to be there",
    portuguese: "passa o token adiante a {to}, o próximo que parece estar de pé",
};

pub(super) static STAYS: Why = Why {
    code: "stays",
    rule: "R2",
    english: "keeps the token: nobody else seems to be there",
    portuguese: "fica com o token: ninguém mais parece estar de pé",
};

pub(super) static RESTS: Why = Why {
    code: "rests",
    rule: "R2",
    english: "does not want to enter: the token rests here for a while, then goes on",
    portuguese: "não quer entrar: o token repousa aqui um pouco, depois segue",
};

pub(super) static TOOK_OVER: Why = Why {
    code: "took-over",
    rule: "R4",
    english: "is inside: the token of epoch {epoch} takes the place of the one in use",
    portuguese: "está dentro: o token da época {epoch} toma o lugar do que está em uso",
};

pub(super) static REPLACED: Why = Why {
    code: "replaced",
    rule: "R4",
    english: "passes nothing on: its token was replaced while it was inside, epoch {epoch} is \
              known",
    portuguese: "não passa nada adiante: seu token foi substituído enquanto estava dentro; \
                 conhece-se a época {epoch}",
};

pub(super) static FENCED: Why = Why {
    code: "fenced",
    rule: "R4",
    english: "takes no token of epoch {epoch}: it was replaced, epoch {known} is known here",
    portuguese: "não aceita token da época {epoch}: foi substituído, aqui se conhece a época \
                 {known}",
};

pub(super) static SEEN: Why = Why {
    code: "seen",
    rule: "R4",
    english: "lets nobody in with it: a token of hop {hop} or later was here already, so this is a \
              copy",
    portuguese: "não deixa ninguém entrar com ele: um token do salto {hop} ou posterior já esteve \
                 aqui; é cópia",
};

pub(super) static EPOCH_KNOWN: Why = Why {
    code: "epoch-known",
    rule: "R4",
    english: "ignores it: epoch {epoch} is known, or of no use to it",
    portuguese: "ignora: a época {epoch} é conhecida, ou não lhe serve",
};

pub(super) static EPOCH_LEARNT: Why = Why {
    code: "epoch-learnt",
    rule: "R4",
    english: "learns of epoch {epoch}: older tokens do not count any more",
    portuguese: "fica sabendo da época {epoch}: tokens mais antigos já não valem",
};

pub(super) static ACKNOWLEDGED: Why = Why {
    code: "acknowledged",
    rule: "R3",
    english: "{from} has the token: it need not be sent again",
    portuguese: "{from} tem o token: não é preciso enviá-lo de novo",
};

pub(super) static ACKNOWLEDGED_BEFORE: Why = Why {
    code: "acknowledged-before",
    rule: "R3",
    english: "ignores it: {from} acknowledges a copy, or a token that is not waited for any more",
    portuguese: "ignora: {from} confirma uma cópia, ou um token pelo qual já não se espera",
};

pub(super) static SENT_AGAIN: Why = Why {
    code: "sent-again",
    rule: "R3",
    english: "sends {to} the token again: it was not acknowledged in time",
    portuguese: "envia o token de novo a {to}: não foi confirmado a tempo",
};

pub(super) static SKIPS: Why = Why {
    code: "skips",
    rule: "R2",
    english: "passes the token by {node} from now on: it seems to have crashed",
    portuguese: "daqui em diante pula {node} ao passar o token: parece ter caído",
};

pub(super) static TRUSTS: Why = Why {
    code: "trusts",
    rule: "R2",
    english: "counts on {node} again: it seems to be up",
    portuguese: "volta a contar com {node}: parece estar de pé",
};

pub(super) static SUSPECTED_BEFORE: Why = Why {
    code: "suspected-before",
    rule: "R2",
    english: "nothing new: {node} was taken for crashed already",
    portuguese: "nada de novo: {node} já era dado por caído",
};

pub(super) static PASSED_TO_DEAD: Why = Why {
    code: "passed-to-dead",
    rule: "R5",
    english: "takes the token for lost: it was on its way to {node}, which seems to have crashed",
    portuguese: "dá o token por perdido: estava a caminho de {node}, que parece ter caído",
};

pub(super) static AWAY_TOO_LONG: Why = Why {
    code: "away-too-long",
    rule: "R5",
    english: "takes the token for lost: it has been away for longer than a lap",
    portuguese: "dá o token por perdido: está fora há mais tempo que uma volta",
};

pub(super) static USED_UP: Why = Why {
    code: "used-up",
    rule: "R5",
    english: "takes the token for lost: it has used up all fences of its term",
    portuguese: "dá o token por perdido: gastou todos os fencing tokens do seu mandato",
};

pub(super) static PROBES: Why = Why {
    code: "probes",
    rule: "R5",
    english: "reports the loss to the leader, {leader}",
    portuguese: "comunica a perda ao líder, {leader}",
};

pub(super) static NO_LEADER: Why = Why {
    code: "no-leader",
    rule: "R5",
    english: "knows no leader to report it to: it tries again later",
    portuguese: "não conhece líder a quem comunicar: tenta de novo depois",
};

pub(super) static BEING_MADE: Why = Why {
    code: "being-made",
    rule: "R6",
    english: "ignores it: a new token is being made already",
    portuguese: "ignora: um novo token já está sendo feito",
};

pub(super) static TELLS_EPOCH: Why = Why {
    code: "tells-epoch",
    rule: "R6",
    english: "tells {from} of epoch {epoch}, of which it has not heard; should that be lost too, \
              it will ask again",
    portuguese: "fala a {from} da época {epoch}, que ele não conhecia; se também essa se perder, \
                 pedirá de novo",
};

pub(super) static NOT_LEADER: Why = Why {
    code: "not-leader",
    rule: "R6",
    english: "ignores the loss that {from} reports: it does not lead",
    portuguese: "ignora a perda que {from} comunica: não é o líder",
};

pub(super) static LEADS: Why = Why {
    code: "leads",
    rule: "R6",
    english: "leads now: if the token is lost, it makes a new one",
    portuguese: "agora lidera: se o token se perder, faz um novo",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "takes {leader} for the leader: that is who makes a new token",
    portuguese: "toma {leader} por líder: é quem faz um novo token",
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

pub(super) static DEPOSED: Why = Why {
    code: "deposed",
    rule: "R6",
    english: "no longer leads, and makes no token",
    portuguese: "já não lidera, e não faz token",
};

pub(super) static GIVES_UP: Why = Why {
    code: "gives-up",
    rule: "R6",
    english: "makes no token: a later leader is known, or there may be one",
    portuguese: "não faz token: conhece-se um líder posterior, ou pode haver um",
};

pub(super) static FREEZES: Why = Why {
    code: "freezes",
    rule: "R6",
    english: "claims epoch {epoch}, and has everybody promise to obey no older token",
    portuguese: "reivindica a época {epoch}, e faz todos prometerem não obedecer a token mais \
                 antigo",
};

pub(super) static REFUSED: Why = Why {
    code: "refused",
    rule: "R6",
    english: "refuses {from}: its epoch {epoch} is old, epoch {known} is known here",
    portuguese: "recusa {from}: sua época {epoch} é antiga, aqui se conhece a época {known}",
};

pub(super) static TOKEN_WAS_HERE: Why = Why {
    code: "token-was-here",
    rule: "R6",
    english: "ignores it: the token of epoch {epoch} was here already, so nobody waits for a \
              promise",
    portuguese: "ignora: o token da época {epoch} já esteve aqui, ninguém espera uma promessa",
};

pub(super) static OBEYS: Why = Why {
    code: "obeys",
    rule: "R6",
    english: "promises to obey no token older than epoch {epoch}",
    portuguese: "promete não obedecer a token mais antigo que a época {epoch}",
};

pub(super) static PROMISED_LATE: Why = Why {
    code: "promised-late",
    rule: "R7",
    english: "ignores the promise of {from}: it is counted already, or no longer waited for",
    portuguese: "ignora a promessa de {from}: já foi contada, ou já não é esperada",
};

pub(super) static WAITS_FOR_PROMISES: Why = Why {
    code: "waits-for-promises",
    rule: "R7",
    english: "makes no token yet: promised so far by {reports}",
    portuguese: "ainda não faz o token: prometeram até agora {reports}",
};

pub(super) static MADE: Why = Why {
    code: "made",
    rule: "R7",
    english: "makes a new token, of epoch {epoch}: no older one can let anybody in",
    portuguese: "faz um novo token, da época {epoch}: nenhum mais antigo pode deixar alguém entrar",
};

pub(super) static GAVE_TO_HOLDER: Why = Why {
    code: "gave-to-holder",
    rule: "R7",
    english: "gives the new token to {holder}, which is inside with the old one",
    portuguese: "dá o novo token a {holder}, que está dentro com o antigo",
};

pub(super) static NO_FENCES: Why = Why {
    code: "no-fences",
    rule: "R7",
    english: "makes no token: its term has no fences left, a new term is needed",
    portuguese: "não faz token: seu mandato não tem mais fencing tokens, é preciso um novo",
};

pub(super) static ASKS_SILENT: Why = Why {
    code: "asks-silent",
    rule: "R7",
    english: "asks those again that have not promised; promised so far by {reports}",
    portuguese: "pede de novo a quem não prometeu; prometeram até agora {reports}",
};

pub(super) static LAPSED: Why = Why {
    code: "lapsed",
    rule: "R7",
    english: "waits for the silent no longer: whatever they may hold has lapsed",
    portuguese: "não espera mais pelos calados: o que possam ter já venceu",
};

pub(super) static DESTROYED: Why = Why {
    code: "destroyed",
    rule: "R8",
    english: "destroys its token: with {suspects} out of reach, it may be cut off from a majority",
    portuguese: "destrói seu token: com {suspects} fora de alcance, pode estar isolado da maioria",
};

pub(super) static CUT_OFF: Why = Why {
    code: "cut-off",
    rule: "R8",
    english: "may be cut off from a majority, with {suspects} out of reach: it gives up any token",
    portuguese: "pode estar isolado da maioria, com {suspects} fora de alcance: abre mão de \
                 qualquer token",
};

pub(super) static RESTARTED: Why = Why {
    code: "restarted",
    rule: "A2",
    english: "is back with its numbers; a token that it had is lost, and what it wanted is over",
    portuguese: "volta com seus números; um token que tivesse está perdido, e o que queria acabou",
};
