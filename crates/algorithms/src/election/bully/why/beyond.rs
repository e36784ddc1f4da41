//! Why: the reasons of votes and of second looks, in words.

use conclave_core::Why;

pub(in crate::election::bully) static RECHECKS: Why = Why {
    code: "rechecks",
    rule: "R7",
    english: "a better node is not suspected: looks at it once more in {time}",
    portuguese: "um nó melhor não está sob suspeita: volta a olhar em {time}",
};

pub(in crate::election::bully) static FOLLOWS_SUSPECT: Why = Why {
    code: "follows-suspect",
    rule: "R7",
    english: "{from} is suspected all the same: asks after it in {time}",
    portuguese: "{from} continua sob suspeita: pergunta por ele em {time}",
};

pub(in crate::election::bully) static STEPS_DOWN: Why = Why {
    code: "steps-down",
    rule: "R6",
    english: "steps down: {count} of {n} are suspected, and a majority may elect another",
    portuguese: "deixa o cargo: {count} de {n} estão sob suspeita, e uma maioria pode eleger outro",
};

pub(in crate::election::bully) static NEVER_SUSPECTED: Why = Why {
    code: "never-suspected",
    rule: "R7",
    english: "does nothing: {node} was not suspected",
    portuguese: "não faz nada: {node} não estava sob suspeita",
};

pub(in crate::election::bully) static LEADER_TELLS: Why = Why {
    code: "leader-tells",
    rule: "R7",
    english: "leaves it to the leader to tell {node}",
    portuguese: "deixa que o líder avise {node}",
};

pub(in crate::election::bully) static TRIES_AGAIN: Why = Why {
    code: "tries-again",
    rule: "R6",
    english: "nobody leads, and a majority may be in touch again",
    portuguese: "ninguém lidera, e uma maioria pode estar de novo em contato",
};

pub(in crate::election::bully) static TELLS_RETURNED: Why = Why {
    code: "tells-returned",
    rule: "R7",
    english: "{node} is back: tells it who leads",
    portuguese: "{node} voltou: diz a ele quem lidera",
};

pub(in crate::election::bully) static BETTER_SPEAKS_FIRST: Why = Why {
    code: "better-speaks-first",
    rule: "R7",
    english: "{node} is back: tells it in {time}, unless a better one is back, too, and objects",
    portuguese: "{node} voltou: avisa-o em {time}, a menos que um melhor também tenha voltado e se \
                 oponha",
};

pub(in crate::election::bully) static CHALLENGES: Why = Why {
    code: "challenges",
    rule: "R7",
    english: "{node} is better and not suspected: tells it, and if it lives, it objects",
    portuguese: "{node} é melhor e não está sob suspeita: avisa-o, e se ele vive, opõe-se",
};

pub(in crate::election::bully) static DOUBTS: Why = Why {
    code: "doubts",
    rule: "R7",
    english: "{node} leads and is still suspected: asks once more who lives",
    portuguese: "{node} lidera e ainda está sob suspeita: pergunta mais uma vez quem vive",
};

pub(in crate::election::bully) static TRUSTED_AGAIN: Why = Why {
    code: "trusted-again",
    rule: "R7",
    english: "does nothing: the leader is not suspected any more",
    portuguese: "não faz nada: o líder já não está sob suspeita",
};

pub(in crate::election::bully) static STANDS: Why = Why {
    code: "stands",
    rule: "R6",
    english: "asks all for their votes: leads if {needed} of {n} vote for it with counter \
              {counter}",
    portuguese: "pede os votos de todos: lidera se {needed} de {n} votarem nele com o contador \
                 {counter}",
};

pub(in crate::election::bully) static VOTES: Why = Why {
    code: "votes",
    rule: "R6",
    english: "votes for {from}: has given no vote for counter {counter}, and knows nobody better",
    portuguese: "vota em {from}: não votou para o contador {counter}, e não conhece ninguém melhor",
};

pub(in crate::election::bully) static VOTED_ALREADY: Why = Why {
    code: "voted-already",
    rule: "R6",
    english: "refuses {from}: has voted for {other} with counter {known}",
    portuguese: "recusa {from}: já votou em {other} com o contador {known}",
};

pub(in crate::election::bully) static KNOWS_BETTER: Why = Why {
    code: "knows-better",
    rule: "R6",
    english: "refuses {from}: {other} is better, and not suspected",
    portuguese: "recusa {from}: {other} é melhor, e não está sob suspeita",
};

pub(in crate::election::bully) static OBJECTS: Why = Why {
    code: "objects",
    rule: "R6",
    english: "{from} cannot have heard that this node, which is better, lives",
    portuguese: "{from} não pode ter sabido que este nó, que é melhor, vive",
};

pub(in crate::election::bully) static COUNTS: Why = Why {
    code: "counts",
    rule: "R6",
    english: "has {votes} of the {needed} votes that it needs",
    portuguese: "tem {votes} dos {needed} votos de que precisa",
};

pub(in crate::election::bully) static LATE_VOTE: Why = Why {
    code: "late-vote",
    rule: "R6",
    english: "ignores it: a vote for an earlier try, or one more than were needed",
    portuguese: "ignora: um voto para uma tentativa anterior, ou um a mais que o necessário",
};

pub(in crate::election::bully) static REFUSED: Why = Why {
    code: "refused",
    rule: "R6",
    english: "{from} refuses; the next try goes on from its counter, {counter}",
    portuguese: "{from} recusa; a próxima tentativa parte do contador {counter} dele",
};

pub(in crate::election::bully) static TOO_FEW_VOTES: Why = Why {
    code: "too-few-votes",
    rule: "R6",
    english: "{votes} of {needed} votes within T are too few: tries again after a while, which is \
              drawn",
    portuguese: "{votes} de {needed} votos dentro de T são poucos: tenta de novo após um tempo \
                 sorteado",
};

pub(in crate::election::bully) static NO_MAJORITY: Why = Why {
    code: "no-majority",
    rule: "R6",
    english: "gives up: {count} of {n} are suspected, so nobody can win until one is trusted again",
    portuguese: "desiste: {count} de {n} estão sob suspeita, e ninguém pode vencer até que algum \
                 deixe de estar",
};

pub(in crate::election::bully) static NOBODY_CHALLENGED: Why = Why {
    code: "nobody-challenged",
    rule: "R7",
    english: "whoever is better is suspected by now; tells those that came back meanwhile: {nodes}",
    portuguese: "quem é melhor já está sob suspeita; avisa os que voltaram nesse meio tempo: \
                 {nodes}",
};
