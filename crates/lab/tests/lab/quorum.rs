//! The quorum calculator.

use conclave_lab::quorum::{Case, estimate, is_violated};

#[test]
fn what_is_tolerated_follows_from_the_overlap() {
    let case = Case { coordinators: 32, votes: 24, probability: 1e-4 };
    assert_eq!((case.overlap(), case.crashes(), case.forgettable()), (16, 8, 15));
    let votes: Vec<u32> = case.over_votes().map(|case| case.votes).collect();
    assert_eq!((votes.len(), votes[0], votes[15]), (16, 17, 32));
    let alone = Case { coordinators: 1, votes: 1, probability: 0.5 };
    assert_eq!((alone.overlap(), alone.crashes(), alone.forgettable()), (1, 0, 0));
}

#[test]
fn a_second_gets_in_exactly_when_the_overlap_forgets() {
    for (coordinators, votes) in [(1, 1), (2, 2), (5, 3), (5, 4), (7, 4), (7, 5), (8, 6)] {
        let case = Case { coordinators, votes, probability: 0.5 };
        for forgot in 0_u32..1 << votes {
            let forgetful: Vec<u32> = (0..votes).filter(|k| forgot >> k & 1 == 1).collect();
            let expected = forgot.count_ones() >= case.overlap();
            let violated = is_violated(case, &forgetful).expect("a sound plan");
            assert_eq!(violated, expected, "{votes} of {coordinators}, {forgetful:?}");
        }
    }
}

#[test]
fn the_estimate_agrees_with_the_formula_and_depends_on_the_seed_alone() {
    let case = Case { coordinators: 7, votes: 4, probability: 0.1 };
    let found = estimate(case, 20_000, 1, &|_, _| {}).expect("a sound plan");
    assert!((found.probability() - 0.3439).abs() < 0.01, "{found:?}");
    assert_eq!(found, estimate(case, 20_000, 1, &|_, _| {}).expect("a sound plan"));
    assert!((found.standard_error(0.3439) - 0.00336).abs() < 1e-5);
}
