//! Why: the reasons of Yo-Yo's rules, in words.

use super::Prune;
use crate::election::why::{NO_HAND_OVER, ONLY_TOLD, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &WAKES,
    &ALREADY,
    &EDGE_IN,
    &EDGE_OUT,
    &GOES_ON,
    &WAITS_FOR_IDS,
    &HEARD,
    &CAME_BEFORE,
    &SOURCE,
    &HANDS_DOWN,
    &SINK,
    &WAITS_FOR_YO,
    &SAID_YES,
    &SAID_NO,
    &ANSWERS_YES,
    &WAITS_FOR_UP,
    &ANSWERS_NO,
    &ANSWERS_NO_FROM_BELOW,
    &TURNED,
    &EDGE_DUPLICATE,
    &EDGE_LEAF,
    &PRUNES_DUPLICATE,
    &PRUNES_LEAF,
    &IS_DONE,
    &LEADS,
    &FOLLOWS,
    &TOLD_AGAIN,
    &STILL_FOLLOWS,
    &NO_HAND_OVER,
    &ONLY_TOLD,
    &STRANGER,
    &WAITS,
];

pub(super) static WAKES: Why = Why {
    code: "wakes",
    rule: "R1",
    english: "begins: tells all neighbours its rank",
    portuguese: "começa: diz seu posto a todos os vizinhos",
};

pub(super) static ALREADY: Why = Why {
    code: "already",
    rule: "R1",
    english: "the election is being held already: does not begin a second time",
    portuguese: "a eleição já está em curso: não começa outra vez",
};

pub(super) static EDGE_IN: Why = Why {
    code: "edge-in",
    rule: "R1",
    english: "{other} is better: the edge comes from it",
    portuguese: "{other} é melhor: a aresta vem dele",
};

pub(super) static EDGE_OUT: Why = Why {
    code: "edge-out",
    rule: "R1",
    english: "{other} is worse: the edge goes to it",
    portuguese: "{other} é pior: a aresta vai para ele",
};

pub(super) static GOES_ON: Why = Why {
    code: "goes-on",
    rule: "R1",
    english: "goes on where it was; whatever was sent to it meanwhile is lost",
    portuguese: "segue de onde estava; o que lhe foi mandado nesse meio tempo se perdeu",
};

pub(super) static WAITS_FOR_IDS: Why = Why {
    code: "waits-for-ids",
    rule: "R1",
    english: "waits for the ID of {nodes}",
    portuguese: "espera o ID de {nodes}",
};

pub(super) static HEARD: Why = Why {
    code: "heard",
    rule: "R2",
    english: "{from} hands down {best}, in pass {pass}",
    portuguese: "{from} manda abaixo {best}, na passagem {pass}",
};

pub(super) static CAME_BEFORE: Why = Why {
    code: "came-before",
    rule: "R2",
    english: "ignores it: it came before, or belongs to a pass that is over",
    portuguese: "ignora: já veio antes, ou é de uma passagem que acabou",
};

pub(super) static SOURCE: Why = Why {
    code: "source",
    rule: "R2",
    english: "pass {pass}: is a source, nobody better is next to it: sends its own rank down",
    portuguese: "passagem {pass}: é uma fonte, não há melhor ao lado: manda abaixo a próprio posto",
};

pub(super) static HANDS_DOWN: Why = Why {
    code: "hands-down",
    rule: "R2",
    english: "pass {pass}: {best} is the best that came on its in edges: hands it down",
    portuguese: "passagem {pass}: {best} é o melhor que veio pelas arestas de entrada: manda-o \
                 abaixo",
};

pub(super) static SINK: Why = Why {
    code: "sink",
    rule: "R2",
    english: "pass {pass}: is a sink; {best} is the best that came, and nobody is below",
    portuguese: "passagem {pass}: é um sumidouro; {best} é o melhor que veio, e não há ninguém \
                 abaixo",
};

pub(super) static WAITS_FOR_YO: Why = Why {
    code: "waits-for-yo",
    rule: "R2",
    english: "waits for a YO from {nodes}, at the other ends of its in edges",
    portuguese: "espera um YO de {nodes}, nas outras pontas de suas arestas de entrada",
};

pub(super) static SAID_YES: Why = Why {
    code: "said-yes",
    rule: "R3",
    english: "{from} says S: what it got from here is the best it met",
    portuguese: "{from} diz S: o que recebeu daqui é o melhor que encontrou",
};

pub(super) static SAID_NO: Why = Why {
    code: "said-no",
    rule: "R3",
    english: "{from} says N: something better than what it got from here is about",
    portuguese: "{from} diz N: há algo melhor que o que recebeu daqui",
};

pub(super) static ANSWERS_YES: Why = Why {
    code: "answers-yes",
    rule: "R3",
    english: "answers {to} with S: {best} came from there",
    portuguese: "responde S a {to}: {best} veio de lá",
};

pub(super) static WAITS_FOR_UP: Why = Why {
    code: "waits-for-up",
    rule: "R3",
    english: "waits for an UP from {nodes}, at the other ends of its out edges",
    portuguese: "espera um UP de {nodes}, nas outras pontas de suas arestas de saída",
};

pub(super) static ANSWERS_NO: Why = Why {
    code: "answers-no",
    rule: "R3",
    english: "answers {to} with N: {best} came from elsewhere and is better; the edge turns",
    portuguese: "responde N a {to}: {best} veio de outro lado e é melhor; a aresta se inverte",
};

pub(super) static ANSWERS_NO_FROM_BELOW: Why = Why {
    code: "answers-no-from-below",
    rule: "R3",
    english: "answers {to} with N: an N came from below, where {best} is beaten; the edge turns",
    portuguese: "responde N a {to}: veio um N de baixo, onde {best} é vencido; a aresta se inverte",
};

pub(super) static TURNED: Why = Why {
    code: "turned",
    rule: "R4",
    english: "{to} said N: the edge turns and comes from it from now on",
    portuguese: "{to} disse N: a aresta se inverte e vem dele daqui em diante",
};

pub(super) static EDGE_DUPLICATE: Why = Why {
    code: "edge-duplicate",
    rule: "R5",
    english: "{from} got the same on another edge: this one vanishes",
    portuguese: "{from} recebeu o mesmo por outra aresta: esta desaparece",
};

pub(super) static EDGE_LEAF: Why = Why {
    code: "edge-leaf",
    rule: "R5",
    english: "{from} is a leaf: the edge vanishes, and {from} is a child to be told who leads",
    portuguese: "{from} é uma folha: a aresta desaparece, e {from} é um filho a quem dizer quem \
                 lidera",
};

pub(super) static PRUNES_DUPLICATE: Why = Why {
    code: "prunes-duplicate",
    rule: "R5",
    english: "drops the edge from {to}: another one brought the same, and one is enough to hear of \
              {best}",
    portuguese: "elimina a aresta de {to}: outra trouxe o mesmo, e uma basta para saber de {best}",
};

pub(super) static PRUNES_LEAF: Why = Why {
    code: "prunes-leaf",
    rule: "R5",
    english: "drops its only edge, from {to}: is a leaf that has heard of {best}, and {to} tells \
              it in the end who leads",
    portuguese: "elimina sua única aresta, de {to}: é uma folha que soube de {best}, e {to} lhe \
                 dirá no fim quem lidera",
};

pub(super) static IS_DONE: Why = Why {
    code: "is-done",
    rule: "R6",
    english: "does nothing: is done, and waits only to be told who leads",
    portuguese: "não faz nada: terminou, e só espera que lhe digam quem lidera",
};

pub(super) static LEADS: Why = Why {
    code: "leads",
    rule: "R6",
    english: "has lost all edges, and not as a leaf: is the last source, and leads",
    portuguese: "perdeu todas as arestas, e não como folha: é a última fonte, e lidera",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "follows {leader}, and tells its children in the tree",
    portuguese: "segue {leader}, e avisa seus filhos na árvore",
};

pub(super) static TOLD_AGAIN: Why = Why {
    code: "told-again",
    rule: "R6",
    english: "ignores it: knows already that {leader} leads",
    portuguese: "ignora: já sabe que {leader} lidera",
};

pub(super) static STILL_FOLLOWS: Why = Why {
    code: "still-follows",
    rule: "R6",
    english: "knew before the crash that {leader} leads",
    portuguese: "sabia antes da queda que {leader} lidera",
};

/// What an answer that comes says.
pub(super) fn answered(yes: bool, prune: Prune) -> &'static Why {
    match (prune, yes) {
        (Prune::None, true) => &SAID_YES,
        (Prune::None, false) => &SAID_NO,
        (Prune::Dup, _) => &EDGE_DUPLICATE,
        (Prune::Leaf, _) => &EDGE_LEAF,
    }
}

/// Why an answer is given; `all_no` if an N came from below.
pub(super) fn answering(yes: bool, prune: Prune, all_no: bool) -> &'static Why {
    match (prune, yes) {
        (Prune::None, true) => &ANSWERS_YES,
        (Prune::None, false) if all_no => &ANSWERS_NO_FROM_BELOW,
        (Prune::None, false) => &ANSWERS_NO,
        (Prune::Dup, _) => &PRUNES_DUPLICATE,
        (Prune::Leaf, _) => &PRUNES_LEAF,
    }
}

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run};

    fn rank(node: u32) -> Rank {
        Rank::of(NodeId(node), u64::from(node) + 1)
    }

    /// A node that knows the ids of its neighbours, and why it did what it then did.
    fn after_setup(me: u32, neighbours: &[u32]) -> (YoYo, Vec<&'static str>) {
        let ids: Vec<NodeId> = neighbours.iter().copied().map(NodeId).collect();
        let mut node = YoYo::new(rank(me), &ids, Choose::Min, Text::Corrected);
        let begun = codes(&mut node, Event::Request(Request::Campaign));
        assert_eq!(begun, ["wakes", "waits-for-ids"]);
        let told = |&neighbour| codes(&mut node, message(neighbour, Message::Id(rank(neighbour))));
        let last = neighbours.iter().map(told).last().unwrap_or_default();
        (node, last)
    }

    fn yo(from: u32, best: u32, pass: u32) -> Event<YoYo> {
        message(from, Message::Yo { best: rank(best), pass })
    }

    fn up(from: u32, yes: bool, prune: Prune) -> Event<YoYo> {
        message(from, Message::Up { yes, prune, pass: 1 })
    }

    #[test]
    fn sources_sinks_and_those_between_say_what_they_are() {
        let (_, source) = after_setup(0, &[1, 2]);
        assert_eq!(source, ["edge-out", "source", "waits-for-up"]);
        let (mut sink, begun) = after_setup(2, &[0, 1]);
        assert_eq!(begun, ["edge-in", "waits-for-yo"]);
        assert_eq!(codes(&mut sink, yo(0, 0, 1)), ["heard", "waits-for-yo"]);
        assert_eq!(codes(&mut sink, yo(0, 0, 1)), ["came-before", "waits-for-yo"]);
        let answers = ["heard", "sink", "answers-yes", "answers-no", "waits-for-yo"];
        assert_eq!(codes(&mut sink, yo(1, 1, 1)), answers);
        let (mut inner, _) = after_setup(1, &[0, 2]);
        assert_eq!(codes(&mut inner, yo(0, 0, 1)), ["heard", "hands-down", "waits-for-up"]);
        let refused = ["said-no", "answers-no-from-below", "turned", "waits-for-yo"];
        assert_eq!(codes(&mut inner, up(2, false, Prune::None)), refused);
    }

    #[test]
    fn edges_vanish_for_a_reason_and_the_last_source_leads() {
        let (mut leaf, _) = after_setup(2, &[0, 1]);
        run(&mut leaf, yo(0, 0, 1));
        let pruned = ["heard", "sink", "prunes-leaf", "prunes-duplicate", "is-done"];
        assert_eq!(codes(&mut leaf, yo(1, 0, 1)), pruned);
        assert_eq!(codes(&mut leaf, message(0, Message::Elected(rank(0)))), ["follows"]);
        assert_eq!(codes(&mut leaf, message(0, Message::Elected(rank(0)))), ["told-again"]);
        let (mut source, _) = after_setup(0, &[1, 2]);
        assert_eq!(codes(&mut source, up(1, true, Prune::Dup)), ["edge-duplicate", "waits-for-up"]);
        assert_eq!(codes(&mut source, up(2, true, Prune::Leaf)), ["edge-leaf", "leads", "is-done"]);
    }
}
