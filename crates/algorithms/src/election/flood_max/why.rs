//! Why: the reasons of FloodMax's rules, in words.

use crate::election::why::{NO_HAND_OVER, ONLY_TOLD, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &ALREADY,
    &FLOODS,
    &SILENT,
    &LEARNS,
    &NOTHING_NEW,
    &TOO_LATE,
    &DECIDES,
    &DECIDED,
    &WOKEN,
    &HEARS_OVERSLEPT,
    &MISSES_NEIGHBOUR,
    &RESUMES,
    &NO_HAND_OVER,
    &ONLY_TOLD,
    &STRANGER,
    &WAITS,
];

pub(super) static ALREADY: Why = Why {
    code: "already",
    rule: "R1",
    english: "the election is being held already: does not begin a second time",
    portuguese: "a eleição já está em curso: não começa outra vez",
};

pub(super) static FLOODS: Why = Why {
    code: "floods",
    rule: "R1",
    english: "round {round} of {rounds}: tells all neighbours of {greatest}, the greatest it knows",
    portuguese: "rodada {round} de {rounds}: fala a todos os vizinhos de {greatest}, o maior que \
                 conhece",
};

pub(super) static SILENT: Why = Why {
    code: "silent",
    rule: "R1",
    english: "round {round} of {rounds}: there is nothing new since the last, so it says nothing",
    portuguese: "rodada {round} de {rounds}: nada de novo desde a última, então nada diz",
};

pub(super) static LEARNS: Why = Why {
    code: "learns",
    rule: "R2",
    english: "{greatest} is greater than {known}: passes it on in the next round",
    portuguese: "{greatest} é maior que {known}: passa-o adiante na próxima rodada",
};

pub(super) static NOTHING_NEW: Why = Why {
    code: "nothing-new",
    rule: "R2",
    english: "knows of {known} already, which is not smaller than {greatest}: nothing new",
    portuguese: "já sabe de {known}, que não é menor que {greatest}: nada de novo",
};

pub(super) static TOO_LATE: Why = Why {
    code: "too-late",
    rule: "R3",
    english: "ignores it: this node has decided for {greatest}",
    portuguese: "ignora: este nó já decidiu por {greatest}",
};

pub(super) static DECIDES: Why = Why {
    code: "decides",
    rule: "R3",
    english: "{rounds} rounds are over, in which every id comes everywhere: {greatest} is the \
              greatest",
    portuguese: "{rounds} rodadas acabaram, nas quais todo id chega a todos: {greatest} é o maior",
};

pub(super) static DECIDED: Why = Why {
    code: "decided",
    rule: "R3",
    english: "decided for {greatest} before the crash",
    portuguese: "decidiu por {greatest} antes da queda",
};

pub(super) static WOKEN: Why = Why {
    code: "woken",
    rule: "R4",
    english: "woken by {from}: had not begun, and lets all know that somebody overslept",
    portuguese: "acordado por {from}: não tinha começado, e avisa a todos que alguém dormiu demais",
};

pub(super) static HEARS_OVERSLEPT: Why = Why {
    code: "hears-overslept",
    rule: "R4",
    english: "hears that somebody overslept: goes on to {rounds} rounds",
    portuguese: "sabe que alguém dormiu demais: vai até {rounds} rodadas",
};

pub(super) static MISSES_NEIGHBOUR: Why = Why {
    code: "misses-neighbour",
    rule: "R4",
    english: "only {count} of {all} neighbours were heard in the first round, so somebody \
              overslept: goes on to {rounds} rounds",
    portuguese: "só {count} de {all} vizinhos foram ouvidos na primeira rodada, logo alguém dormiu \
                 demais: vai até {rounds} rodadas",
};

pub(super) static RESUMES: Why = Why {
    code: "resumes",
    rule: "A2",
    english: "goes on with round {round}; what it missed is lost",
    portuguese: "segue com a rodada {round}; o que perdeu está perdido",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run};

    fn rank(node: u32) -> Rank {
        Rank::of(NodeId(node), u64::from(node) + 1)
    }

    fn max(greatest: u32, overslept: bool) -> Event<FloodMax> {
        message(0, Message::Max { greatest: rank(greatest), overslept })
    }

    fn node() -> FloodMax {
        let rounds = Rounds { diameter: 2, length: Ticks::UNIT, optimised: true };
        FloodMax::new(rank(1), &[NodeId(0)], rounds)
    }

    #[test]
    fn every_round_and_every_rank_is_explained() {
        let mut node = node();
        assert_eq!(codes(&mut node, Event::Request(Request::Campaign)), ["floods"]);
        assert_eq!(codes(&mut node, Event::Request(Request::Campaign)), ["already"]);
        assert_eq!(codes(&mut node, max(0, false)), ["nothing-new"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Round)), ["silent"]);
        assert_eq!(codes(&mut node, max(2, true)), ["learns", "hears-overslept"]);
        for _ in 2..6 {
            run(&mut node, Event::Timer(Timer::Round));
        }
        assert_eq!(codes(&mut node, Event::Timer(Timer::Round)), ["decides"]);
        assert_eq!(codes(&mut node, max(3, false)), ["too-late"]);
        assert_eq!(codes(&mut node, Event::Restart), ["decided"]);
    }

    #[test]
    fn who_oversleeps_or_misses_a_neighbour_says_so() {
        assert_eq!(codes(&mut node(), max(0, false)), ["woken", "floods"]);
        let mut early = node();
        run(&mut early, Event::Request(Request::Campaign));
        assert_eq!(codes(&mut early, Event::Restart), ["resumes"]);
        let missed = ["misses-neighbour", "floods"];
        assert_eq!(codes(&mut early, Event::Timer(Timer::Round)), missed);
    }
}
