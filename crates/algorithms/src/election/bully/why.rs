//! Why: the reasons of the bully election's rules, in words; those beyond the paper in `beyond`.

mod beyond;

pub(super) use beyond::*;

use crate::election::why::{NO_HAND_OVER, STRANGER, WAITS};
use conclave_core::Why;

/// All reasons that a step may have.
pub const WHY: &[&Why] = &[
    &CAME_BACK,
    &ALREADY_CALLING,
    &LEADER_LOST,
    &NOT_MISSED,
    &CALLS,
    &ASKED_BY_BETTER,
    &ANSWERS,
    &ONLY_ANSWERS,
    &NOBODY_BETTER,
    &NO_ANSWER,
    &NOBODY_MAY_LEAD,
    &LEADS_ALREADY,
    &LEADS,
    &BEATEN,
    &BEATEN_AGAIN,
    &LATE_OK,
    &WAITS_LONGER,
    &WAITS_FOR_EVER,
    &SETTLED,
    &SILENT_WINNER,
    &MAY_NOT_LEAD,
    &BULLIES,
    &OVERTAKEN,
    &FOLLOWS,
    &STEPS_DOWN,
    &TRIES_AGAIN,
    &STANDS,
    &VOTES,
    &VOTED_ALREADY,
    &KNOWS_BETTER,
    &OBJECTS,
    &COUNTS,
    &LATE_VOTE,
    &REFUSED,
    &TOO_FEW_VOTES,
    &NO_MAJORITY,
    &RECHECKS,
    &FOLLOWS_SUSPECT,
    &NEVER_SUSPECTED,
    &LEADER_TELLS,
    &TELLS_RETURNED,
    &BETTER_SPEAKS_FIRST,
    &CHALLENGES,
    &DOUBTS,
    &TRUSTED_AGAIN,
    &NOBODY_CHALLENGED,
    &SMALLER_TERM,
    &LETS_BE,
    &WAS_CUT_OFF,
    &STILL_RETURNING,
    &WAITED,
    &NO_HAND_OVER,
    &STRANGER,
    &WAITS,
];

pub(super) static CAME_BACK: Why = Why {
    code: "came-back",
    rule: "R1",
    english: "is back, and does not know who leads",
    portuguese: "voltou, e não sabe quem lidera",
};

pub(super) static LETS_BE: Why = Why {
    code: "lets-be",
    rule: "R9",
    english: "is back: leaves whoever leads alone for {time} before it asks",
    portuguese: "voltou: deixa em paz quem lidera por {time} antes de perguntar",
};

pub(super) static ALREADY_CALLING: Why = Why {
    code: "already-calling",
    rule: "R1",
    english: "calls no second election: its own is under way",
    portuguese: "não convoca outra eleição: a sua está em andamento",
};

pub(super) static NOBODY_BETTER: Why = Why {
    code: "nobody-better",
    rule: "R3",
    english: "nobody is better: wins without asking",
    portuguese: "ninguém é melhor: vence sem perguntar",
};

pub(super) static ASKED_BY_BETTER: Why = Why {
    code: "asked-by-better",
    rule: "R2",
    english: "ignores it: {from} is better than this node, which cannot keep it from winning",
    portuguese: "ignora: {from} é melhor que este nó, que não pode impedir que ele vença",
};

pub(super) static ANSWERS: Why = Why {
    code: "answers",
    rule: "R2",
    english: "answers OK: is alive and better than {from}, so {from} cannot win",
    portuguese: "responde OK: está vivo e é melhor que {from}, logo {from} não pode vencer",
};

pub(super) static ONLY_ANSWERS: Why = Why {
    code: "only-answers",
    rule: "R2",
    english: "as lecture notes print it, whoever is asked calls no election of its own",
    portuguese: "como as notas de aula imprimem, quem é perguntado não convoca uma eleição sua",
};

pub(super) static BEATEN: Why = Why {
    code: "beaten",
    rule: "R4",
    english: "{from} lives and is better: cannot win, and waits for a COORDINATOR",
    portuguese: "{from} vive e é melhor: não pode vencer, e espera um COORDINATOR",
};

pub(super) static BEATEN_AGAIN: Why = Why {
    code: "beaten-again",
    rule: "R4",
    english: "one OK was enough: waits for a COORDINATOR already",
    portuguese: "um OK bastava: já espera um COORDINATOR",
};

pub(super) static LATE_OK: Why = Why {
    code: "late-ok",
    rule: "R4",
    english: "ignores it: answers an election that is over",
    portuguese: "ignora: responde a uma eleição que já acabou",
};

pub(super) static NO_ANSWER: Why = Why {
    code: "no-answer",
    rule: "R3",
    english: "nobody better answered within T, so none of them lives: wins",
    portuguese: "ninguém melhor respondeu dentro de T, logo nenhum vive: vence",
};

pub(super) static NOBODY_MAY_LEAD: Why = Why {
    code: "nobody-may-lead",
    rule: "R3",
    english: "gives up: nobody who may lead answered within T, and this node may not lead",
    portuguese: "desiste: ninguém que possa liderar respondeu dentro de T, e este nó não pode \
                 liderar",
};

pub(super) static WAITS_LONGER: Why = Why {
    code: "waits-longer",
    rule: "R4",
    english: "T is over: whoever answered has {time} more to announce itself",
    portuguese: "T acabou: quem respondeu tem mais {time} para se anunciar",
};

pub(super) static WAITS_FOR_EVER: Why = Why {
    code: "waits-for-ever",
    rule: "R4",
    english: "as printed there is no second time limit: waits for a COORDINATOR for ever",
    portuguese: "como impresso não há segundo tempo limite: espera um COORDINATOR para sempre",
};

pub(super) static SETTLED: Why = Why {
    code: "settled",
    rule: "R4",
    english: "does nothing: what this timer was for is settled",
    portuguese: "não faz nada: o que este temporizador aguardava está resolvido",
};

pub(super) static SILENT_WINNER: Why = Why {
    code: "silent-winner",
    rule: "R4",
    english: "whoever answered did not announce itself in time, so it has died since",
    portuguese: "quem respondeu não se anunciou a tempo, logo caiu depois",
};

pub(super) static LEADS_ALREADY: Why = Why {
    code: "leads-already",
    rule: "R3",
    english: "leads already, and says so again to those that did not know",
    portuguese: "já lidera, e o repete para quem não sabia",
};

pub(super) static LEADS: Why = Why {
    code: "leads",
    rule: "R3",
    english: "leads with counter {counter}, and tells those that should know",
    portuguese: "lidera com o contador {counter}, e avisa quem deve saber",
};

pub(super) static MAY_NOT_LEAD: Why = Why {
    code: "may-not-lead",
    rule: "R5",
    english: "ignores it: {from} may not lead",
    portuguese: "ignora: {from} não pode liderar",
};

pub(super) static BULLIES: Why = Why {
    code: "bullies",
    rule: "R5",
    english: "does not follow {from}, being better than it: calls an election",
    portuguese: "não segue {from}, pois é melhor que ele: convoca uma eleição",
};

pub(super) static OVERTAKEN: Why = Why {
    code: "overtaken",
    rule: "R5",
    english: "ignores it: counter {counter} of {from} is older than {known}, which it announced \
              since",
    portuguese: "ignora: o contador {counter} de {from} é anterior a {known}, que ele anunciou \
                 depois",
};

pub(super) static SMALLER_TERM: Why = Why {
    code: "smaller-term",
    rule: "R8",
    english: "not followed: counter {counter} of {from} makes a smaller term than counter {known} \
              of {leader}",
    portuguese: "não seguido: o contador {counter} de {from} dá um mandato menor que o contador \
                 {known} de {leader}",
};

pub(super) static FOLLOWS: Why = Why {
    code: "follows",
    rule: "R5",
    english: "follows {from}, which leads with counter {counter}",
    portuguese: "segue {from}, que lidera com o contador {counter}",
};

pub(super) static LEADER_LOST: Why = Why {
    code: "leader-lost",
    rule: "R1",
    english: "{node} led, or was about to: somebody else must lead",
    portuguese: "{node} liderava, ou ia liderar: outro precisa liderar",
};

pub(super) static NOT_MISSED: Why = Why {
    code: "not-missed",
    rule: "R1",
    english: "{node} does not lead: no election is needed",
    portuguese: "{node} não lidera: nenhuma eleição é necessária",
};

pub(super) static WAS_CUT_OFF: Why = Why {
    code: "was-cut-off",
    rule: "R9",
    english: "was cut off from all others, and may have been replaced meanwhile",
    portuguese: "esteve isolado de todos os outros, e pode ter sido substituído",
};

pub(super) static STILL_RETURNING: Why = Why {
    code: "still-returning",
    rule: "R9",
    english: "says nothing to {node}: it leaves the others alone for now",
    portuguese: "nada diz a {node}: por ora deixa os outros em paz",
};

pub(super) static WAITED: Why = Why {
    code: "waited",
    rule: "R9",
    english: "has left the leader alone for long enough",
    portuguese: "já deixou o líder em paz por tempo bastante",
};

pub(super) static CALLS: Why = Why {
    code: "calls",
    rule: "R1",
    english: "asks {better}, all that are better, whether they live, and waits T = {time} for an \
              OK",
    portuguese: "pergunta a {better}, todos os melhores, se estão vivos, e espera T = {time} por \
                 um OK",
};

#[cfg(test)]
mod tests {
    use super::super::super::rank::Ranking;
    use super::super::*;
    use conclave_core::Ticks;
    use conclave_core::testkit::{codes, message, run, why};

    const CAMPAIGN: Event<Bully> = Event::Request(Request::Campaign);

    fn setup() -> Setup {
        Setup::new(Ranking::by_key(4, |node| node))
    }

    fn follower(me: u32, setup: Setup) -> Bully {
        Bully::new(NodeId(me), setup, Some(NodeId(3)))
    }

    fn suspect(node: u32) -> Event<Bully> {
        Event::Indication(detector::Indication::Suspect(NodeId(node)))
    }

    fn trust(node: u32) -> Event<Bully> {
        Event::Indication(detector::Indication::Trust(NodeId(node)))
    }

    fn ok(from: u32) -> Event<Bully> {
        message(from, Message::Ok { counter: 1 })
    }

    fn coordinator(from: u32, counter: u64) -> Event<Bully> {
        message(from, Message::Coordinator { counter })
    }

    #[test]
    fn who_is_asked_and_for_how_long_is_waited_is_told() {
        let reasons = why(&mut follower(1, setup()), CAMPAIGN);
        let told = reasons[0].fill(reasons[0].why.english);
        let asked = "asks {2}, {3}, all that are better, whether they live";
        assert_eq!(told, format!("{asked}, and waits T = 2 for an OK"));
    }

    #[test]
    fn an_election_is_explained_from_the_suspicion_to_the_leader() {
        let mut node = follower(1, setup());
        assert_eq!(codes(&mut node, suspect(0)), ["not-missed"]);
        assert_eq!(codes(&mut node, suspect(3)), ["leader-lost", "calls"]);
        let election = |from| message(from, Message::Election { counter: 1 });
        assert_eq!(codes(&mut node, election(0)), ["answers", "already-calling"]);
        assert_eq!(codes(&mut node, election(2)), ["asked-by-better"]);
        assert_eq!(codes(&mut node, ok(2)), ["beaten"]);
        assert_eq!(codes(&mut node, ok(2)), ["beaten-again"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Answer)), ["waits-longer"]);
        let again = ["silent-winner", "calls"];
        assert_eq!(codes(&mut node, Event::Timer(Timer::Announcement)), again);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Announcement)), ["settled"]);
        let won = ["no-answer", "leads", "rechecks"];
        assert_eq!(codes(&mut node, Event::Timer(Timer::Answer)), won);
        assert_eq!(codes(&mut node, ok(2)), ["late-ok"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Recheck)), ["challenges"]);
        assert_eq!(codes(&mut node, coordinator(0, 9)), ["bullies", "calls"]);
        assert_eq!(codes(&mut node, coordinator(2, 9)), ["follows"]);
        assert_eq!(codes(&mut node, coordinator(2, 8)), ["overtaken"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Recheck)), ["settled"]);
        assert_eq!(codes(&mut node, coordinator(3, 9)), ["follows", "follows-suspect"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Doubt)), ["doubts", "calls"]);
        assert_eq!(codes(&mut node, trust(2)), ["never-suspected"]);
        assert_eq!(codes(&mut node, Event::Restart), ["came-back", "already-calling"]);
    }

    #[test]
    fn terms_and_hysteresis_have_reasons_of_their_own() {
        let setup = Setup { terms: true, hysteresis: Ticks::units(5), ..setup() };
        let mut node = follower(1, setup);
        assert_eq!(codes(&mut node, coordinator(2, 1)), ["smaller-term"]);
        assert_eq!(codes(&mut node, Event::Restart), ["came-back", "lets-be"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Hysteresis)), ["waited", "calls"]);
        assert_eq!(codes(&mut node, Event::Timer(Timer::Hysteresis)), ["settled"]);
    }

    #[test]
    fn votes_are_explained() {
        let setup = Setup { by_majority: true, ..setup() };
        let mut voter = follower(2, setup.clone());
        let ask = |from, counter| message(from, Message::Candidate { counter });
        assert_eq!(codes(&mut voter, ask(3, 2)), ["votes"]);
        run(&mut voter, suspect(3));
        assert_eq!(codes(&mut voter, ask(3, 1)), ["voted-already"]);
        assert_eq!(codes(&mut voter, ask(0, 5)), ["knows-better", "objects", "already-calling"]);
        let stands = ["no-answer", "stands", "counts"];
        assert_eq!(codes(&mut voter, Event::Timer(Timer::Answer)), stands);
        let vote = |from, counter, granted| message(from, Message::Vote { counter, granted });
        assert_eq!(codes(&mut voter, vote(0, 9, false)), ["refused"]);
        assert_eq!(codes(&mut voter, vote(0, 1, true)), ["late-vote"]);
        assert_eq!(codes(&mut voter, Event::Timer(Timer::Answer)), ["too-few-votes"]);
        assert_eq!(codes(&mut voter, Event::Timer(Timer::BackOff)), ["tries-again", "calls"]);
        assert_eq!(codes(&mut voter, suspect(0)), ["not-missed"]);
        run(&mut voter, Event::Timer(Timer::Answer));
        assert_eq!(codes(&mut voter, Event::Timer(Timer::Answer)), ["no-majority"]);
    }
}
