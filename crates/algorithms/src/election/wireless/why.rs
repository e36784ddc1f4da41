//! Why: the reasons of the ad hoc network election's rules, in words.

use crate::election::why::{NO_HAND_OVER, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &NEVER_BEGAN,
    &CAME_BACK,
    &BEGINS,
    &ALREADY,
    &JOINS,
    &OLD_WAVE,
    &NO_CHILD,
    &REFUSES,
    &CHILD,
    &NOT_CHILD,
    &REPORTS,
    &WAITS_FOR_ACKS,
    &DECIDES,
    &FOLLOWS,
    &NOT_AWAITED,
    &WINNER_LOST,
    &LEADER_LOST,
    &NOT_MISSED,
    &PARENT_LOST,
    &NEIGHBOUR_LOST,
    &AGAIN,
    &WORD_FROM_LOST,
    &NEIGHBOUR_BACK,
    &UNANSWERED,
    &AFTER_THIS_WAVE,
    &NOTHING_TO_HOLD,
    &NO_HAND_OVER,
    &STRANGER,
    &WAITS,
];

pub(super) static NEVER_BEGAN: Why = Why {
    code: "never-began",
    rule: "R1",
    english: "begins no wave: never saw an election",
    portuguese: "não começa uma onda: nunca viu uma eleição",
};

pub(super) static CAME_BACK: Why = Why {
    code: "came-back",
    rule: "R1",
    english: "is back, and asks who leads",
    portuguese: "voltou, e pergunta quem lidera",
};

pub(super) static BEGINS: Why = Why {
    code: "begins",
    rule: "R1",
    english: "begins wave {number}, one more than the greatest it has met",
    portuguese: "começa a onda {number}, uma a mais que a maior que encontrou",
};

pub(super) static ALREADY: Why = Why {
    code: "already",
    rule: "R1",
    english: "begins no wave: one is under way, and this node is in it",
    portuguese: "não começa uma onda: há uma em andamento, e este nó está nela",
};

pub(super) static JOINS: Why = Why {
    code: "joins",
    rule: "R2",
    english: "joins wave {number} of {source}, the greatest it has met: {from} is its parent",
    portuguese: "entra na onda {number} de {source}, a maior que encontrou: {from} é seu pai",
};

pub(super) static OLD_WAVE: Why = Why {
    code: "old-wave",
    rule: "R2",
    english: "ignores it: belongs to wave {number} of {source}, which is over here or was left for \
              a greater one",
    portuguese: "ignora: é da onda {number} de {source}, que aqui acabou ou foi trocada por uma \
                 maior",
};

pub(super) static NO_CHILD: Why = Why {
    code: "no-child",
    rule: "R3",
    english: "answers {from} with an ACK of none: is in this wave already, with another parent",
    portuguese: "responde a {from} com um ACK vazio: já está nesta onda, com outro pai",
};

pub(super) static REFUSES: Why = Why {
    code: "refuses",
    rule: "R3",
    english: "answers {from} with an ACK of none: its wave {number} is smaller than wave {known} \
              of {source}",
    portuguese: "responde a {from} com um ACK vazio: sua onda {number} é menor que a onda {known} \
                 de {source}",
};

pub(super) static CHILD: Why = Why {
    code: "child",
    rule: "R4",
    english: "{from} is a child: {best} is the best there and below",
    portuguese: "{from} é um filho: {best} é o melhor ali e abaixo",
};

pub(super) static NOT_CHILD: Why = Why {
    code: "not-child",
    rule: "R4",
    english: "{from} has another parent: is not awaited any more",
    portuguese: "{from} tem outro pai: já não é esperado",
};

pub(super) static REPORTS: Why = Why {
    code: "reports",
    rule: "R4",
    english: "all neighbours have answered: tells its parent {parent} that {best} is the best here \
              and below",
    portuguese: "todos os vizinhos responderam: diz ao pai {parent} que {best} é o melhor aqui e \
                 abaixo",
};

pub(super) static WAITS_FOR_ACKS: Why = Why {
    code: "waits-for-acks",
    rule: "R4",
    english: "waits for the ACK of {nodes}",
    portuguese: "espera o ACK de {nodes}",
};

pub(super) static DECIDES: Why = Why {
    code: "decides",
    rule: "R5",
    english: "all neighbours have answered, and this node is the source: {best} is the best of all",
    portuguese: "todos os vizinhos responderam, e este nó é a fonte: {best} é o melhor de todos",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "follows {leader}, and tells its children: {nodes}",
    portuguese: "segue {leader}, e avisa seus filhos: {nodes}",
};

pub(super) static NOT_AWAITED: Why = Why {
    code: "not-awaited",
    rule: "R7",
    english: "ignores it: {from} was given up when it was suspected",
    portuguese: "ignora: {from} foi deixado de lado quando ficou sob suspeita",
};

pub(super) static WINNER_LOST: Why = Why {
    code: "winner-lost",
    rule: "R7",
    english: "does not follow {leader}, which is suspected by now",
    portuguese: "não segue {leader}, que já está sob suspeita",
};

pub(super) static LEADER_LOST: Why = Why {
    code: "leader-lost",
    rule: "R7",
    english: "{node} led: somebody else must lead",
    portuguese: "{node} liderava: outro precisa liderar",
};

pub(super) static NOT_MISSED: Why = Why {
    code: "not-missed",
    rule: "R7",
    english: "does nothing: {node} does not lead, and no wave is under way",
    portuguese: "não faz nada: {node} não lidera, e não há onda em andamento",
};

pub(super) static PARENT_LOST: Why = Why {
    code: "parent-lost",
    rule: "R7",
    english: "its parent {node} is lost, and the leader would come from there",
    portuguese: "seu pai {node} se perdeu, e o líder viria de lá",
};

pub(super) static NEIGHBOUR_LOST: Why = Why {
    code: "neighbour-lost",
    rule: "R7",
    english: "does not wait for {node} any more, as if it had sent an ACK of none",
    portuguese: "já não espera {node}, como se ele tivesse mandado um ACK vazio",
};

pub(super) static AGAIN: Why = Why {
    code: "again",
    rule: "R8",
    english: "a neighbour came back during the wave: it should have a say, too",
    portuguese: "um vizinho voltou durante a onda: ele também deve ter voz",
};

pub(super) static WORD_FROM_LOST: Why = Why {
    code: "word-from-lost",
    rule: "R8",
    english: "ignores it: {from} is suspected; if it is back, that will be told, and begins a wave",
    portuguese: "ignora: {from} está sob suspeita; se voltou, isso será avisado, e começa uma onda",
};

pub(super) static NEIGHBOUR_BACK: Why = Why {
    code: "neighbour-back",
    rule: "R8",
    english: "{node} is back: a new wave lets the better of two leaders win",
    portuguese: "{node} voltou: uma nova onda deixa vencer o melhor de dois líderes",
};

pub(super) static UNANSWERED: Why = Why {
    code: "unanswered",
    rule: "R8",
    english: "{node} never left and still waits for an ACK: a new wave frees it",
    portuguese: "{node} nunca saiu e ainda espera um ACK: uma nova onda o libera",
};

pub(super) static AFTER_THIS_WAVE: Why = Why {
    code: "after-this-wave",
    rule: "R8",
    english: "{node} is back: there is another wave when this one is over",
    portuguese: "{node} voltou: haverá outra onda quando esta acabar",
};

pub(super) static NOTHING_TO_HOLD: Why = Why {
    code: "nothing-to-hold",
    rule: "R8",
    english: "does nothing: {node} is no neighbour that was missed, or there never was an election",
    portuguese: "não faz nada: {node} não é um vizinho que fez falta, ou nunca houve eleição",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run};

    const CAMPAIGN: Event<Wireless> = Event::Request(Request::Campaign);

    fn rank(node: u32) -> Rank {
        Rank::of(NodeId(node), u64::from(node) + 1)
    }

    fn node() -> Wireless {
        Wireless::new(rank(1), &[0, 2, 3].map(NodeId), 10)
    }

    fn election(from: u32, number: u32) -> Event<Wireless> {
        message(from, Message::Election(Wave { number, source: rank(0) }))
    }

    fn ack(from: u32, number: u32, best: Option<u32>) -> Event<Wireless> {
        let source = NodeId(0);
        message(from, Message::Ack { number, source, best: best.map(rank), counter: 0 })
    }

    fn leader(from: u32, leader: u32) -> Event<Wireless> {
        let leader = rank(leader);
        message(from, Message::Leader { number: 2, source: NodeId(0), leader, counter: 1 })
    }

    fn suspect(node: u32) -> Event<Wireless> {
        Event::Indication(detector::Indication::Suspect(NodeId(node)))
    }

    fn trust(node: u32) -> Event<Wireless> {
        Event::Indication(detector::Indication::Trust(NodeId(node)))
    }

    #[test]
    fn a_wave_is_explained_from_the_first_question_to_the_leader() {
        let mut inner = node();
        assert_eq!(codes(&mut inner, election(0, 2)), ["joins", "waits-for-acks"]);
        assert_eq!(codes(&mut inner, CAMPAIGN), ["already"]);
        assert_eq!(codes(&mut inner, election(3, 2)), ["no-child"]);
        assert_eq!(codes(&mut inner, election(3, 1)), ["refuses", "already"]);
        assert_eq!(codes(&mut inner, ack(2, 1, None)), ["old-wave"]);
        assert_eq!(codes(&mut inner, ack(2, 2, Some(7))), ["child", "waits-for-acks"]);
        assert_eq!(codes(&mut inner, ack(2, 2, Some(7))), ["not-awaited"]);
        assert_eq!(codes(&mut inner, ack(3, 2, None)), ["not-child", "reports"]);
        assert_eq!(codes(&mut inner, leader(0, 7)), ["follows"]);
        assert_eq!(codes(&mut inner, leader(0, 7)), ["old-wave"]);
        let mut alone = Wireless::new(rank(0), &[], 1);
        assert_eq!(codes(&mut alone, CAMPAIGN), ["begins", "decides", "follows"]);
    }

    #[test]
    fn losses_and_returns_begin_a_wave_or_it_is_said_why_not() {
        let mut inner = node();
        assert_eq!(codes(&mut inner, Event::Restart), ["never-began"]);
        assert_eq!(codes(&mut inner, suspect(3)), ["not-missed"]);
        assert_eq!(codes(&mut inner, trust(3)), ["nothing-to-hold"]);
        run(&mut inner, election(0, 2));
        assert_eq!(codes(&mut inner, suspect(3)), ["neighbour-lost", "waits-for-acks"]);
        assert_eq!(codes(&mut inner, election(3, 2)), ["word-from-lost"]);
        assert_eq!(codes(&mut inner, trust(3)), ["unanswered", "begins", "waits-for-acks"]);
        run(&mut inner, election(0, 5));
        assert_eq!(codes(&mut inner, suspect(0)), ["parent-lost", "begins", "waits-for-acks"]);
        assert_eq!(codes(&mut inner, trust(0)), ["after-this-wave"]);
        assert_eq!(codes(&mut inner, Event::Restart), ["came-back", "begins", "waits-for-acks"]);
    }
}
