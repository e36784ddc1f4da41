//! The steps of their runs that the answers of lessons speak of.

use super::{Both, Moment};

pub(super) const A_VOTE_IS_ASKED_BACK: &[Moment] = &[
    at(13, ["1 votes for 7", "1 vota em 7"], "votes for (1,7)"),
    at(15, ["1 asks 7 to give it back", "1 o pede de volta a 7"], "is asked to give the vote back"),
];

pub(super) const A_VOTE_IS_GIVEN_BACK: &[Moment] = &[
    at(20, ["7 hears FAILED", "7 ouve FAILED"], "it cannot enter yet"),
    at(21, ["7 gives the vote back", "7 devolve o voto"], "gives the vote of 1 back"),
    at(23, ["1 votes for 5", "1 vota em 5"], "gives that vote to the first in line, (1,5)"),
];

pub(super) const NOBODY_TELLS_3: &[Moment] = &[
    at(12, ["2 keeps its vote from 1", "2 nega seu voto a 1"], "keeps the vote of 2 for now"),
    at(13, ["3 keeps its vote from 2", "3 nega seu voto a 2"], "keeps the vote of 3 for now"),
    at(18, ["4 does not tell 3", "4 não avisa 3"], "queues (1,1) as the first"),
    at(23, ["4 votes for 1, not for 3", "4 vota em 1, não em 3"], "gives that vote"),
];

pub(super) const SOMEBODY_TELLS_3: &[Moment] = &[
    at(18, ["4 tells 3 FAILED", "4 diz FAILED a 3"], "no longer the first in line"),
    at(23, ["3 gives its vote to 2", "3 dá seu voto a 2"], "gives the vote of 3 back"),
    at(25, ["2 enters", "2 entra"], "its whole quorum has voted for it"),
];

const fn at(event: usize, text: Both, says: &'static str) -> Moment {
    Moment { event, text, says }
}
