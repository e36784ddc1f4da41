//! Why: the reasons of the majority election's rules, in words.

use crate::election::why::STRANGER;
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &CAME_BACK,
    &MISSES_LEADER,
    &WAITS,
    &SPLIT,
    &ONLY_VOTES,
    &LEADER_STANDS,
    &STANDS,
    &VOTES,
    &VOTED_ALREADY,
    &OLD_REQUEST,
    &FIRST_LEADER,
    &COUNTS,
    &ELECTED,
    &LATE_VOTE,
    &REFUSED,
    &NEWER_TERM,
    &STEPS_DOWN,
    &OLD_TERM,
    &STALE_LEADER,
    &FOLLOWS,
    &STILL_FOLLOWS,
    &BEATS,
    &MAY_LOSE,
    &ALONE,
    &MAJORITY_ANSWERS,
    &NEVER_SENT,
    &LOST_MAJORITY,
    &ANSWERED,
    &DOUBTS,
    &ASKS_FIRST,
    &PRE_VOTES,
    &HEARS_LEADER,
    &PRE_VOTE_BEHIND,
    &PRE_COUNTS,
    &PRE_ELECTED,
    &LATE_PRE_VOTE,
    &PRE_REFUSED,
    &ASKED_IN_VAIN,
    &DOES_NOT_LEAD,
    &NOBODY_TO_FOLLOW,
    &HANDS_OVER,
    &TOLD_TO_STAND,
    &TWO_LEADERS,
    &ONLY_TOLD,
    &STRANGER,
];

pub(super) static CAME_BACK: Why = Why {
    code: "came-back",
    rule: "R1",
    english: "is back: keeps its term {term} and its vote, and must first hear who leads",
    portuguese: "voltou: conserva seu mandato {term} e seu voto, e precisa primeiro saber quem \
                 lidera",
};

pub(super) static MISSES_LEADER: Why = Why {
    code: "misses-leader",
    rule: "R1",
    english: "heard of no leader within the timeout: takes it for dead",
    portuguese: "não ouviu nenhum líder dentro do tempo limite: toma-o por morto",
};

pub(super) static WAITS: Why = Why {
    code: "waits",
    rule: "R1",
    english: "waits for a leader, at least {time}: not all for the same time, so that one stands \
              first",
    portuguese: "espera um líder, no mínimo {time}: nem todos o mesmo tempo, para que um se \
                 candidate primeiro",
};

pub(super) static SPLIT: Why = Why {
    code: "split",
    rule: "R1",
    english: "got only {votes} of the votes in time, perhaps since votes were split: tries again",
    portuguese: "só teve {votes} dos votos a tempo, talvez porque os votos se dividiram: tenta \
                 de novo",
};

pub(super) static ONLY_VOTES: Why = Why {
    code: "only-votes",
    rule: "R2",
    english: "does not stand: this node only votes",
    portuguese: "não se candidata: este nó só vota",
};

pub(super) static LEADER_STANDS: Why = Why {
    code: "leader-stands",
    rule: "R2",
    english: "led, and needs a new term: steps down and stands",
    portuguese: "liderava, e precisa de um novo mandato: deixa o cargo e se candidata",
};

pub(super) static STANDS: Why = Why {
    code: "stands",
    rule: "R2",
    english: "stands in term {term}: votes for itself, and leads with {needed} of {n} votes",
    portuguese: "candidata-se no mandato {term}: vota em si, e lidera com {needed} de {n} votos",
};

pub(super) static VOTES: Why = Why {
    code: "votes",
    rule: "R3",
    english: "votes for {from}: has given nobody else its vote of term {term}",
    portuguese: "vota em {from}: não deu a mais ninguém seu voto do mandato {term}",
};

pub(super) static VOTED_ALREADY: Why = Why {
    code: "voted-already",
    rule: "R3",
    english: "refuses {from}: has voted for {other} in term {term}, and has one vote a term",
    portuguese: "recusa {from}: já votou em {other} no mandato {term}, e tem um voto por mandato",
};

pub(super) static OLD_REQUEST: Why = Why {
    code: "old-request",
    rule: "R3",
    english: "refuses {from}: term {old} is past, this node is in term {term}",
    portuguese: "recusa {from}: o mandato {old} passou, este nó está no mandato {term}",
};

pub(super) static FIRST_LEADER: Why = Why {
    code: "first-leader",
    rule: "R4",
    english: "is the first leader: shows itself",
    portuguese: "é o primeiro líder: mostra-se",
};

pub(super) static COUNTS: Why = Why {
    code: "counts",
    rule: "R4",
    english: "has {votes} of the {needed} votes that it needs",
    portuguese: "tem {votes} dos {needed} votos de que precisa",
};

pub(super) static ELECTED: Why = Why {
    code: "elected",
    rule: "R4",
    english: "has {votes} of {n} votes, a majority: leads in term {term}, and nobody else can",
    portuguese: "tem {votes} de {n} votos, uma maioria: lidera no mandato {term}, e mais ninguém \
                 pode",
};

pub(super) static LATE_VOTE: Why = Why {
    code: "late-vote",
    rule: "R4",
    english: "ignores it: one vote more than were needed, or for a candidacy that is over",
    portuguese: "ignora: um voto a mais que o necessário, ou para uma candidatura que acabou",
};

pub(super) static REFUSED: Why = Why {
    code: "refused",
    rule: "R4",
    english: "{from} refuses its vote",
    portuguese: "{from} nega seu voto",
};

pub(super) static NEWER_TERM: Why = Why {
    code: "newer-term",
    rule: "R5",
    english: "term {term} is greater than own term {known}: enters it, with its vote free",
    portuguese: "o mandato {term} é maior que o seu, {known}: entra nele, com o voto livre",
};

pub(super) static STEPS_DOWN: Why = Why {
    code: "steps-down",
    rule: "R5",
    english: "leads no longer in term {term}",
    portuguese: "já não lidera no mandato {term}",
};

pub(super) static OLD_TERM: Why = Why {
    code: "old-term",
    rule: "R5",
    english: "ignores it: from term {old}, which term {term} has replaced",
    portuguese: "ignora: do mandato {old}, que o mandato {term} substituiu",
};

pub(super) static STALE_LEADER: Why = Why {
    code: "stale-leader",
    rule: "R5",
    english: "{from} leads in term {old}, which is past: tells it of term {term}",
    portuguese: "{from} lidera no mandato {old}, que passou: avisa-o do mandato {term}",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "follows {from}, which leads in term {term}",
    portuguese: "segue {from}, que lidera no mandato {term}",
};

pub(super) static STILL_FOLLOWS: Why = Why {
    code: "still-follows",
    rule: "R6",
    english: "{from} still leads: waits for its next heartbeat",
    portuguese: "{from} ainda lidera: espera seu próximo batimento",
};

pub(super) static BEATS: Why = Why {
    code: "beats",
    rule: "R7",
    english: "shows itself with heartbeat {number}, before anybody misses it",
    portuguese: "mostra-se com o batimento {number}, antes que alguém dê falta dele",
};

pub(super) static MAY_LOSE: Why = Why {
    code: "may-lose",
    rule: "R7",
    english: "no majority has answered lately: steps down in {time} unless it does",
    portuguese: "nenhuma maioria respondeu há pouco: deixa o cargo em {time} se ela não o fizer",
};

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R7",
    english: "there is nobody to show itself to",
    portuguese: "não há ninguém a quem se mostrar",
};

pub(super) static MAJORITY_ANSWERS: Why = Why {
    code: "majority-answers",
    rule: "R7",
    english: "a majority answers in time: does not step down",
    portuguese: "uma maioria responde a tempo: não deixa o cargo",
};

pub(super) static NEVER_SENT: Why = Why {
    code: "never-sent",
    rule: "R7",
    english: "ignores it: leads no longer in this term, or never sent that heartbeat",
    portuguese: "ignora: já não lidera neste mandato, ou nunca mandou esse batimento",
};

pub(super) static LOST_MAJORITY: Why = Why {
    code: "lost-majority",
    rule: "R7",
    english: "no majority answered for a timeout, and another may lead by now: steps down",
    portuguese: "nenhuma maioria respondeu por um tempo limite, e outro já pode liderar: deixa o \
                 cargo",
};

pub(super) static ANSWERED: Why = Why {
    code: "answered",
    rule: "R7",
    english: "{from} has heard heartbeat {number}",
    portuguese: "{from} ouviu o batimento {number}",
};

pub(super) static DOUBTS: Why = Why {
    code: "doubts",
    rule: "R8",
    english: "heard of no leader for {time}: would vote for another from now on, and asks later",
    portuguese: "não ouviu nenhum líder por {time}: votaria em outro daqui em diante, e pergunta \
                 depois",
};

pub(super) static ASKS_FIRST: Why = Why {
    code: "asks-first",
    rule: "R8",
    english: "asks who would vote for it in term {term}; its own term stays {known}",
    portuguese: "pergunta quem votaria nele no mandato {term}; seu mandato continua {known}",
};

pub(super) static PRE_VOTES: Why = Why {
    code: "pre-votes",
    rule: "R8",
    english: "would vote for {from}: hears of no leader, and term {term} is greater than its own",
    portuguese: "votaria em {from}: não ouve nenhum líder, e o mandato {term} é maior que o seu",
};

pub(super) static HEARS_LEADER: Why = Why {
    code: "hears-leader",
    rule: "R8",
    english: "would not vote for {from}: hears of a leader in term {term}",
    portuguese: "não votaria em {from}: ouve um líder no mandato {term}",
};

pub(super) static PRE_VOTE_BEHIND: Why = Why {
    code: "pre-vote-behind",
    rule: "R8",
    english: "would not vote for {from}: term {old} is not greater than its own, {term}",
    portuguese: "não votaria em {from}: o mandato {old} não é maior que o seu, {term}",
};

pub(super) static PRE_COUNTS: Why = Why {
    code: "pre-counts",
    rule: "R8",
    english: "would get {votes} of the {needed} votes that it needs",
    portuguese: "teria {votes} dos {needed} votos de que precisa",
};

pub(super) static PRE_ELECTED: Why = Why {
    code: "pre-elected",
    rule: "R8",
    english: "a majority of {votes} nodes misses the leader, too: stands",
    portuguese: "uma maioria de {votes} nós também deu falta do líder: candidata-se",
};

pub(super) static LATE_PRE_VOTE: Why = Why {
    code: "late-pre-vote",
    rule: "R8",
    english: "ignores it: does not ask any more, or asks for another term",
    portuguese: "ignora: já não pergunta, ou pergunta por outro mandato",
};

pub(super) static PRE_REFUSED: Why = Why {
    code: "pre-refused",
    rule: "R8",
    english: "{from} would not vote for it",
    portuguese: "{from} não votaria nele",
};

pub(super) static ASKED_IN_VAIN: Why = Why {
    code: "asked-in-vain",
    rule: "R8",
    english: "would get only {votes} of the votes: tries again",
    portuguese: "só teria {votes} dos votos: tenta de novo",
};

pub(super) static DOES_NOT_LEAD: Why = Why {
    code: "does-not-lead",
    rule: "R9",
    english: "nothing to hand over: this node does not lead",
    portuguese: "nada a passar: este nó não lidera",
};

pub(super) static NOBODY_TO_FOLLOW: Why = Why {
    code: "nobody-to-follow",
    rule: "R9",
    english: "nothing to hand over to: this node is alone",
    portuguese: "ninguém a quem passar: este nó está só",
};

pub(super) static HANDS_OVER: Why = Why {
    code: "hands-over",
    rule: "R9",
    english: "hands over to {node}, which answered last, and leads no longer",
    portuguese: "passa o cargo a {node}, que respondeu por último, e já não lidera",
};

pub(super) static TOLD_TO_STAND: Why = Why {
    code: "told-to-stand",
    rule: "R9",
    english: "{from} hands over: stands at once, without missing it first",
    portuguese: "{from} passa o cargo: candidata-se logo, sem antes dar falta dele",
};

pub(super) static TWO_LEADERS: Why = Why {
    code: "two-leaders",
    rule: "A1",
    english: "ignores it: two lead in term {term}, so somebody forgot its vote",
    portuguese: "ignora: dois lideram no mandato {term}, logo alguém esqueceu seu voto",
};

pub(super) static ONLY_TOLD: Why = Why {
    code: "only-told",
    rule: "R10",
    english: "only passes it on to whoever stands above: heartbeats tell what is needed here",
    portuguese: "apenas repassa a quem está acima: os batimentos dizem o que é preciso aqui",
};
