//! Why: the reasons of Peterson's rules, in words.

use crate::election::why::{NO_HAND_OVER, ONLY_TOLD, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &BEGINS,
    &ALREADY,
    &HAS_ONE,
    &TAKES_OVER,
    &GIVES_UP,
    &ALONE,
    &MET_ITSELF,
    &RELAYS,
    &FOLLOWS,
    &UNKNOWN_LEADER,
    &LAP_OVER,
    &OUT_OF_ORDER,
    &NO_HAND_OVER,
    &ONLY_TOLD,
    &STRANGER,
    &WAITS,
];

pub(super) static BEGINS: Why = Why {
    code: "begins",
    rule: "R1",
    english: "begins, and plays for its own id {own}",
    portuguese: "começa, e joga pelo próprio id {own}",
};

pub(super) static ALREADY: Why = Why {
    code: "already",
    rule: "R1",
    english: "the election is being held already: does not begin a second time",
    portuguese: "a eleição já está em curso: não começa outra vez",
};

pub(super) static HAS_ONE: Why = Why {
    code: "has-one",
    rule: "R2",
    english: "{one} is played for by the active node before; sends it on, so that the next one \
              knows the last but one",
    portuguese: "{one} é o id do nó ativo anterior; passa-o adiante, para que o próximo saiba o \
                 penúltimo",
};

pub(super) static TAKES_OVER: Why = Why {
    code: "takes-over",
    rule: "R3",
    english: "{before} is greater than own {own} and than {two}: plays for {before} from now on",
    portuguese: "{before} é maior que o próprio {own} e que {two}: joga por {before} daqui em \
                 diante",
};

pub(super) static GIVES_UP: Why = Why {
    code: "gives-up",
    rule: "R3",
    english: "{before} is not greater than both {own} and {two}: gives up, and only relays",
    portuguese: "{before} não é maior que {own} e {two} ao mesmo tempo: desiste, e só repassa",
};

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R4",
    english: "nobody else is on the ring: this node leads",
    portuguese: "não há mais ninguém no anel: este nó lidera",
};

pub(super) static MET_ITSELF: Why = Why {
    code: "met-itself",
    rule: "R4",
    english: "{one}, for which this node plays, came all the way round: nobody plays for any other",
    portuguese: "{one}, pelo qual este nó joga, deu a volta inteira: ninguém joga por outro",
};

pub(super) static RELAYS: Why = Why {
    code: "relays",
    rule: "R5",
    english: "plays for nobody: sends it on",
    portuguese: "não joga por ninguém: passa adiante",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R6",
    english: "follows {leader}, and tells the successor",
    portuguese: "segue {leader}, e avisa o sucessor",
};

pub(super) static UNKNOWN_LEADER: Why = Why {
    code: "unknown-leader",
    rule: "R6",
    english: "ignores it: the leader that it names is not of this ring",
    portuguese: "ignora: o líder que ela menciona não é deste anel",
};

pub(super) static LAP_OVER: Why = Why {
    code: "lap-over",
    rule: "R6",
    english: "takes it off the ring: this node knows already that {leader} leads",
    portuguese: "retira do anel: este nó já sabe que {leader} lidera",
};

pub(super) static OUT_OF_ORDER: Why = Why {
    code: "out-of-order",
    rule: "A2",
    english: "ignores it: only a link that reorders or repeats brings it in this phase",
    portuguese: "ignora: só um canal que reordena ou repete a traz nesta fase",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run, why};

    const CAMPAIGN: Event<Peterson> = Event::Request(Request::Campaign);

    fn of(node: u32) -> Candidate {
        Candidate { id: u64::from(node + 1) * 10, node: NodeId(node) }
    }

    fn node(me: u32) -> Peterson {
        Peterson::new(NodeId(me), 3, of(me).id)
    }

    #[test]
    fn a_comparison_names_all_three_ids() {
        let mut first = node(0);
        run(&mut first, CAMPAIGN);
        run(&mut first, message(2, Message::One(of(2))));
        let reasons = why(&mut first, message(2, Message::Two(of(1))));
        let told = reasons[0].fill(reasons[0].why.english);
        assert_eq!(told, "30 is greater than own 10 and than 20: plays for 30 from now on");
    }

    #[test]
    fn every_id_that_comes_by_is_judged() {
        let mut active = node(1);
        assert_eq!(codes(&mut active, CAMPAIGN), ["begins"]);
        assert_eq!(codes(&mut active, CAMPAIGN), ["already"]);
        assert_eq!(codes(&mut active, message(0, Message::Two(of(2)))), ["out-of-order"]);
        assert_eq!(codes(&mut active, message(0, Message::One(of(0)))), ["has-one"]);
        assert_eq!(codes(&mut active, message(0, Message::Two(of(2)))), ["gives-up"]);
        assert_eq!(codes(&mut active, message(0, Message::One(of(2)))), ["relays"]);
        assert_eq!(codes(&mut active, message(0, Message::Leader(of(9)))), ["unknown-leader"]);
        assert_eq!(codes(&mut active, message(0, Message::Leader(of(2)))), ["follows"]);
        assert_eq!(codes(&mut active, message(0, Message::Leader(of(2)))), ["lap-over"]);
        let mut last = node(2);
        run(&mut last, CAMPAIGN);
        assert_eq!(codes(&mut last, message(1, Message::One(of(2)))), ["met-itself"]);
    }
}
