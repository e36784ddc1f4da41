//! Why: the reasons of the ring election's rules, in words.

use crate::election::why::{NO_HAND_OVER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &CAME_BACK,
    &BEGINS,
    &PASSES_LIST,
    &ADDS_ITSELF,
    &FINDS_ITSELF,
    &CUT_OFF,
    &ALONE,
    &ELECTS,
    &NOBODY_MAY_LEAD,
    &FORGOTTEN,
    &HOME,
    &SEEN,
    &PASSED_AS_PRINTED,
    &OLDER_RESULT,
    &HEALED,
    &FOLLOWS,
    &LEADER_LOST,
    &NOT_FOR_ME,
    &REPLACED,
    &NOBODY_LEFT,
    &REPEATS_LIST,
    &REPEATS_RESULT,
    &IS_BETTER,
    &TELLS_SUCCESSOR,
    &OTHERS_TELL,
    &NOTHING_TO_TELL,
    &NOT_OF_THIS_RING,
    &NO_HAND_OVER,
    &WAITS,
];

pub(super) static CAME_BACK: Why = Why {
    code: "came-back",
    rule: "R1",
    english: "is back, and does not know who leads",
    portuguese: "voltou, e não sabe quem lidera",
};

pub(super) static BEGINS: Why = Why {
    code: "begins",
    rule: "R1",
    english: "sends a list with itself alone round the ring",
    portuguese: "manda uma lista só com si mesmo pelo anel",
};

pub(super) static PASSES_LIST: Why = Why {
    code: "passes-list",
    rule: "R2",
    english: "sends the list on to {next}, the next on the ring that is not suspected",
    portuguese: "passa a lista a {next}, o próximo do anel que não está sob suspeita",
};

pub(super) static ADDS_ITSELF: Why = Why {
    code: "adds-itself",
    rule: "R2",
    english: "is not in the list yet: adds itself as number {count}",
    portuguese: "ainda não está na lista: acrescenta-se como número {count}",
};

pub(super) static FINDS_ITSELF: Why = Why {
    code: "finds-itself",
    rule: "R3",
    english: "finds itself in the list: it has been everywhere, and the round is closed",
    portuguese: "encontra-se na lista: ela já passou por todos, e a rodada se fecha",
};

pub(super) static CUT_OFF: Why = Why {
    code: "cut-off",
    rule: "R3",
    english: "{first}, which began the list, did not close it, so it has died since: it is cut \
              from the list",
    portuguese: "{first}, que começou a lista, não a fechou, logo caiu depois: é cortado da lista",
};

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R3",
    english: "all others are suspected: the list has been everywhere",
    portuguese: "todos os outros estão sob suspeita: a lista já passou por todos",
};

pub(super) static ELECTS: Why = Why {
    code: "elects",
    rule: "R3",
    english: "{leader} is the best of the {count} in the list: elected in round {round}",
    portuguese: "{leader} é o melhor dos {count} da lista: eleito na rodada {round}",
};

pub(super) static NOBODY_MAY_LEAD: Why = Why {
    code: "nobody-may-lead",
    rule: "R3",
    english: "gives up: nobody in the list may lead",
    portuguese: "desiste: ninguém da lista pode liderar",
};

pub(super) static FORGOTTEN: Why = Why {
    code: "forgotten",
    rule: "R4",
    english: "has forgotten that it announced {leader}, which others still believe: begins again",
    portuguese: "esqueceu que anunciou {leader}, em que outros ainda acreditam: começa de novo",
};

pub(super) static HOME: Why = Why {
    code: "home",
    rule: "R4",
    english: "takes it from the ring: its own announcement has been everywhere",
    portuguese: "retira do anel: seu próprio anúncio já passou por todos",
};

pub(super) static SEEN: Why = Why {
    code: "seen",
    rule: "R4",
    english: "takes it from the ring: the announcement that {origin} made in round {round} was \
              here before",
    portuguese: "retira do anel: o anúncio que {origin} fez na rodada {round} já passou por aqui",
};

pub(super) static PASSED_AS_PRINTED: Why = Why {
    code: "passed-as-printed",
    rule: "R4",
    english: "passes it on: as slides print it, only {origin}, which made it, takes it from the \
              ring",
    portuguese: "passa adiante: como os slides imprimem, só {origin}, que o fez, o retira do anel",
};

pub(super) static OLDER_RESULT: Why = Why {
    code: "older-result",
    rule: "R5",
    english: "does not follow {leader} of round {round}: {other}, of round {known}, came later",
    portuguese: "não segue {leader} da rodada {round}: {other}, da rodada {known}, veio depois",
};

pub(super) static HEALED: Why = Why {
    code: "healed",
    rule: "R5",
    english: "yet {leader} is better and not suspected; perhaps a part of the ring that was cut \
              off is back: begins",
    portuguese: "mas {leader} é melhor e não está sob suspeita; talvez tenha voltado uma parte do \
                 anel que estava isolada: começa",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R5",
    english: "follows {leader} of round {round}, and sends the announcement on",
    portuguese: "segue {leader} da rodada {round}, e passa o anúncio adiante",
};

pub(super) static LEADER_LOST: Why = Why {
    code: "leader-lost",
    rule: "R6",
    english: "{leader} led, and no live node is between: it is for this one to begin",
    portuguese: "{leader} liderava, e não há nó vivo entre os dois: cabe a este começar",
};

pub(super) static NOT_FOR_ME: Why = Why {
    code: "not-for-me",
    rule: "R6",
    english: "does nothing: {node} is no leader that this node must replace, and nothing sent to \
              it may be lost",
    portuguese: "não faz nada: {node} não é um líder que caiba a este nó substituir, nem lhe foi \
                 mandado algo que possa ter se perdido",
};

pub(super) static REPLACED: Why = Why {
    code: "replaced",
    rule: "R6",
    english: "a later result has replaced the one that {node} may have missed: nobody else gets \
              that",
    portuguese: "um resultado posterior substituiu o que {node} talvez não tenha recebido: \
                 ninguém mais o recebe",
};

pub(super) static NOBODY_LEFT: Why = Why {
    code: "nobody-left",
    rule: "R6",
    english: "nobody is left to be told who leads",
    portuguese: "não resta ninguém a quem dizer quem lidera",
};

pub(super) static REPEATS_LIST: Why = Why {
    code: "repeats-list",
    rule: "R6",
    english: "the list last sent to {node} may be lost: it goes on without {node}",
    portuguese: "a lista mandada por último a {node} pode ter se perdido: segue sem {node}",
};

pub(super) static REPEATS_RESULT: Why = Why {
    code: "repeats-result",
    rule: "R6",
    english: "the result last sent to {node} may be lost: {next} gets it",
    portuguese: "o resultado mandado por último a {node} pode ter se perdido: {next} o recebe",
};

pub(super) static IS_BETTER: Why = Why {
    code: "is-better",
    rule: "R7",
    english: "does not follow {leader}, being better than it: nobody knew that this node lives",
    portuguese: "não segue {leader}, pois é melhor que ele: ninguém sabia que este nó vive",
};

pub(super) static TELLS_SUCCESSOR: Why = Why {
    code: "tells-successor",
    rule: "R7",
    english: "{node} is back and comes next: tells it who leads",
    portuguese: "{node} voltou e é o próximo: diz a ele quem lidera",
};

pub(super) static OTHERS_TELL: Why = Why {
    code: "others-tell",
    rule: "R7",
    english: "leaves {node} to whoever comes before it on the ring",
    portuguese: "deixa {node} a quem o precede no anel",
};

pub(super) static NOTHING_TO_TELL: Why = Why {
    code: "nothing-to-tell",
    rule: "R7",
    english: "{node} is back and comes next, but this node knows of no leader",
    portuguese: "{node} voltou e é o próximo, mas este nó não sabe de nenhum líder",
};

pub(super) static NOT_OF_THIS_RING: Why = Why {
    code: "not-of-this-ring",
    rule: "A3",
    english: "ignores it: comes from, or names, a node that this ring does not have",
    portuguese: "ignora: vem de um nó que este anel não tem, ou o menciona",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run};

    const CAMPAIGN: Event<Ring> = Event::Request(Request::Campaign);

    fn node(me: u32, n: u32) -> Ring {
        Ring::new(NodeId(me), Ranking::by_key(n, |node| node), None)
    }

    fn list(nodes: &[u32]) -> Box<[NodeId]> {
        nodes.iter().copied().map(NodeId).collect()
    }

    fn election(nodes: &[u32]) -> Event<Ring> {
        message(0, Message::Election { counter: 0, list: list(nodes) })
    }

    fn coordinator(round: u64, leader: u32, origin: u32) -> Event<Ring> {
        let told = Announcement {
            round,
            leader: NodeId(leader),
            origin: NodeId(origin),
            list: list(&[leader]),
        };
        message(0, Message::Coordinator(told))
    }

    fn suspect(node: u32) -> Event<Ring> {
        Event::Indication(detector::Indication::Suspect(NodeId(node)))
    }

    #[test]
    fn a_list_is_passed_on_closed_or_cut() {
        let mut node = node(1, 4);
        assert_eq!(codes(&mut node, CAMPAIGN), ["begins", "passes-list"]);
        assert_eq!(codes(&mut node, election(&[0])), ["adds-itself", "passes-list"]);
        assert_eq!(codes(&mut node, election(&[1, 2])), ["finds-itself", "elects"]);
        assert_eq!(codes(&mut node, election(&[0, 1, 2])), ["finds-itself", "cut-off", "elects"]);
        assert_eq!(codes(&mut node, election(&[9])), ["not-of-this-ring"]);
    }

    #[test]
    fn an_announcement_is_believed_or_it_is_said_why_not() {
        let mut second = node(1, 4);
        assert_eq!(codes(&mut second, coordinator(2, 2, 3)), ["follows"]);
        assert_eq!(codes(&mut second, coordinator(2, 2, 3)), ["seen"]);
        assert_eq!(codes(&mut second, coordinator(1, 2, 2)), ["older-result"]);
        let better = ["older-result", "healed", "begins", "passes-list"];
        assert_eq!(codes(&mut second, coordinator(1, 3, 0)), better);
        assert_eq!(
            codes(&mut second, coordinator(3, 0, 2)),
            ["is-better", "begins", "passes-list"]
        );
        let mut maker = node(1, 2);
        run(&mut maker, election(&[1, 0]));
        assert_eq!(codes(&mut maker, coordinator(1, 1, 1)), ["home"]);
    }

    #[test]
    fn a_death_on_the_ring_matters_to_whoever_comes_before_it() {
        let mut node = Ring::new(NodeId(1), Ranking::by_key(4, |node| node), Some(NodeId(3)));
        assert_eq!(codes(&mut node, suspect(0)), ["not-for-me"]);
        run(&mut node, CAMPAIGN);
        assert_eq!(codes(&mut node, suspect(2)), ["repeats-list", "passes-list"]);
        assert_eq!(codes(&mut node, suspect(3)), ["leader-lost", "begins", "alone", "elects"]);
        let trust = |node| Event::Indication(detector::Indication::Trust(NodeId(node)));
        assert_eq!(codes(&mut node, trust(2)), ["tells-successor"]);
        assert_eq!(codes(&mut node, trust(3)), ["others-tell"]);
    }
}
