//! Why: the reasons of Chang and Roberts' rules, in words.

use crate::election::why::{NO_HAND_OVER, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &BEGINS,
    &ALREADY,
    &SWALLOWED,
    &REPLACED,
    &PASSES,
    &NOT_IN_RACE,
    &NOT_SENT,
    &REPLACED_AS_PRINTED,
    &HOME,
    &ALONE,
    &DECIDED,
    &FOLLOWS,
    &LAP_OVER,
    &UNKNOWN_LEADER,
    &OVER,
    &OLD_ROUND,
    &NEW_ROUND,
    &TOO_FAR,
    &LEADER_DEAD,
    &LEADER_LOST,
    &SAME_SUCCESSOR,
    &SENDS_AGAIN,
    &TELLS_SUCCESSOR,
    &NOTHING_TO_TELL,
    &NO_RULE,
    &NO_HAND_OVER,
    &STRANGER,
    &WAITS,
];

pub(super) static BEGINS: Why = Why {
    code: "begins",
    rule: "R1",
    english: "sends its own id {own} round the ring, in round {round}",
    portuguese: "manda seu próprio id {own} pelo anel, na rodada {round}",
};

pub(super) static ALREADY: Why = Why {
    code: "already",
    rule: "R1",
    english: "an election is being held already: this node has let an id pass, or sent its own",
    portuguese: "já há uma eleição em curso: este nó deixou passar um id, ou mandou o seu",
};

pub(super) static SWALLOWED: Why = Why {
    code: "swallowed",
    rule: "R2",
    english: "swallows it: own id {own} is greater than {id}, so {id} cannot win",
    portuguese: "retém: o próprio id {own} é maior que {id}, logo {id} não pode vencer",
};

pub(super) static REPLACED: Why = Why {
    code: "replaced",
    rule: "R2",
    english: "replaces it: own id {own} is greater than {id} and has not been sent yet",
    portuguese: "substitui: o próprio id {own} é maior que {id} e ainda não foi mandado",
};

pub(super) static PASSES: Why = Why {
    code: "passes",
    rule: "R2",
    english: "lets {id} pass: it is greater than own id {own}, which cannot win any more",
    portuguese: "deixa {id} passar: é maior que o próprio id {own}, que já não pode vencer",
};

pub(super) static NOT_IN_RACE: Why = Why {
    code: "not-in-race",
    rule: "R2",
    english: "lets {id} pass: only those who began are in the race, and this node did not",
    portuguese: "deixa {id} passar: só concorre quem começou, e este nó não começou",
};

pub(super) static NOT_SENT: Why = Why {
    code: "not-sent",
    rule: "R2",
    english: "ignores it: own id {own}, which this node has not sent in this round",
    portuguese: "ignora: o próprio id {own}, que este nó não mandou nesta rodada",
};

pub(super) static REPLACED_AS_PRINTED: Why = Why {
    code: "replaced-as-printed",
    rule: "R2",
    english: "as lecture notes print it, own id {own} goes on in place of {id}, sent before or not",
    portuguese: "como as notas de aula imprimem, o próprio id {own} segue no lugar de {id}, já \
                 mandado ou não",
};

pub(super) static HOME: Why = Why {
    code: "home",
    rule: "R3",
    english: "own id {own} came home, past everybody: nobody is greater, so this node leads",
    portuguese: "o próprio id {own} voltou, passando por todos: ninguém é maior, logo este nó \
                 lidera",
};

pub(super) static ALONE: Why = Why {
    code: "alone",
    rule: "R3",
    english: "nobody else is on the ring, or alive: this node leads",
    portuguese: "não há mais ninguém no anel, ou vivo: este nó lidera",
};

pub(super) static DECIDED: Why = Why {
    code: "decided",
    rule: "R4",
    english: "ignores it: {leader} has been elected in this round already",
    portuguese: "ignora: {leader} já foi eleito nesta rodada",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R4",
    english: "follows {leader}, and tells the successor",
    portuguese: "segue {leader}, e avisa o sucessor",
};

pub(super) static LAP_OVER: Why = Why {
    code: "lap-over",
    rule: "R4",
    english: "takes it off the ring: that this node leads has been told all the way round",
    portuguese: "retira do anel: que este nó lidera já foi dito a volta inteira",
};

pub(super) static UNKNOWN_LEADER: Why = Why {
    code: "unknown-leader",
    rule: "R4",
    english: "ignores it: the leader that it names is not of this ring",
    portuguese: "ignora: o líder que ela menciona não é deste anel",
};

pub(super) static OVER: Why = Why {
    code: "over",
    rule: "R5",
    english: "round {round} is over: begins another",
    portuguese: "a rodada {round} acabou: começa outra",
};

pub(super) static OLD_ROUND: Why = Why {
    code: "old-round",
    rule: "R5",
    english: "ignores it: from round {old}, which round {round} has replaced",
    portuguese: "ignora: da rodada {old}, que a rodada {round} substituiu",
};

pub(super) static NEW_ROUND: Why = Why {
    code: "new-round",
    rule: "R5",
    english: "enters round {round}, of which it had not heard",
    portuguese: "entra na rodada {round}, da qual não sabia",
};

pub(super) static TOO_FAR: Why = Why {
    code: "too-far",
    rule: "R6",
    english: "takes it off the ring: {id} made {hops} hops and passed its owner's place, so its \
              owner is dead",
    portuguese: "retira do anel: {id} fez {hops} saltos e passou pelo lugar do dono, logo o dono \
                 está morto",
};

pub(super) static LEADER_DEAD: Why = Why {
    code: "leader-dead",
    rule: "R6",
    english: "{leader} is suspected: it won and died",
    portuguese: "{leader} está sob suspeita: venceu e caiu",
};

pub(super) static LEADER_LOST: Why = Why {
    code: "leader-lost",
    rule: "R6",
    english: "{node} led and is suspected: another election is needed",
    portuguese: "{node} liderava e está sob suspeita: é preciso outra eleição",
};

pub(super) static SAME_SUCCESSOR: Why = Why {
    code: "same-successor",
    rule: "R6",
    english: "does nothing: the successor is {next} as before",
    portuguese: "não faz nada: o sucessor é {next} como antes",
};

pub(super) static SENDS_AGAIN: Why = Why {
    code: "sends-again",
    rule: "R6",
    english: "{next} is the successor now, and is told the greatest id that went by, {id}",
    portuguese: "{next} é agora o sucessor, e recebe o maior id que passou, {id}",
};

pub(super) static TELLS_SUCCESSOR: Why = Why {
    code: "tells-successor",
    rule: "R6",
    english: "{next} is the successor now, and is told that {leader} leads",
    portuguese: "{next} é agora o sucessor, e é avisado de que {leader} lidera",
};

pub(super) static NOTHING_TO_TELL: Why = Why {
    code: "nothing-to-tell",
    rule: "R6",
    english: "{next} is the successor now; there is nothing to tell it",
    portuguese: "{next} é agora o sucessor; não há nada a dizer a ele",
};

pub(super) static NO_RULE: Why = Why {
    code: "no-rule",
    rule: "A2",
    english: "only passes it on: with skip=none there is no rule for crashes",
    portuguese: "apenas repassa: com skip=none não há regra para quedas",
};

#[cfg(test)]
mod tests {
    use super::super::*;
    use conclave_core::testkit::{codes, message, run, why};

    const CAMPAIGN: Event<ChangRoberts> = Event::Request(Request::Campaign);

    /// Node `me` of `n`, whose id is ten times its number from 1.
    fn node(me: u32, n: u32, skip: Skip) -> ChangRoberts {
        let id = u64::from(me + 1) * 10;
        ChangRoberts::new(NodeId(me), n, id, Join::Contact, skip, Text::Corrected)
    }

    fn id(id: u64, hops: u32, round: u32) -> Event<ChangRoberts> {
        message(0, Message::Election { id, hops, round })
    }

    fn result(leader: u32) -> Event<ChangRoberts> {
        message(0, Message::Elected { leader: NodeId(leader), round: 1 })
    }

    #[test]
    fn an_id_that_cannot_win_is_said_to_be_swallowed_and_why() {
        let mut node = node(1, 3, Skip::None);
        run(&mut node, CAMPAIGN);
        let reasons = why(&mut node, id(10, 1, 1));
        let told = reasons[0].fill(reasons[0].why.english);
        assert_eq!(told, "swallows it: own id 20 is greater than 10, so 10 cannot win");
        assert_eq!(reasons[0].why.rule, "R2");
    }

    #[test]
    fn every_id_that_comes_by_is_judged() {
        let mut relay = node(1, 3, Skip::None);
        assert_eq!(codes(&mut relay, id(20, 1, 1)), ["not-sent"]);
        assert_eq!(codes(&mut relay, id(30, 1, 1)), ["passes"]);
        assert_eq!(codes(&mut relay, CAMPAIGN), ["already"]);
        assert_eq!(codes(&mut node(1, 3, Skip::None), id(10, 1, 1)), ["replaced", "begins"]);
        let mut winner = node(2, 3, Skip::None);
        run(&mut winner, CAMPAIGN);
        assert_eq!(codes(&mut winner, id(30, 3, 1)), ["home"]);
        assert_eq!(codes(&mut winner, id(10, 1, 1)), ["decided"]);
        assert_eq!(codes(&mut winner, result(2)), ["lap-over"]);
        assert_eq!(codes(&mut winner, CAMPAIGN), ["over", "begins"]);
        assert_eq!(codes(&mut winner, id(10, 1, 1)), ["old-round"]);
        assert_eq!(codes(&mut winner, id(10, 1, 3)), ["new-round", "replaced", "begins"]);
    }

    #[test]
    fn a_suspicion_matters_where_the_dead_are_skipped() {
        let suspect = |node| Event::Indication(detector::Indication::Suspect(NodeId(node)));
        assert_eq!(codes(&mut node(0, 3, Skip::None), suspect(1)), ["no-rule"]);
        let mut first = node(0, 4, Skip::Dead);
        assert_eq!(codes(&mut first, suspect(2)), ["same-successor"]);
        run(&mut first, CAMPAIGN);
        assert_eq!(codes(&mut first, suspect(1)), ["sends-again"]);
        assert_eq!(codes(&mut first, id(30, 9, 1)), ["too-far", "begins"]);
        assert_eq!(codes(&mut first, suspect(3)), ["sends-again", "alone"]);
    }
}
