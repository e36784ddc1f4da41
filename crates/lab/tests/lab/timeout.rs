//! The timeout calculator.

use conclave_core::Ticks;
use conclave_lab::timeout::{Costs, advise};
use conclave_sim::Answers;

/// The timeouts of the table for answers that always take so long, when one is asked about. It goes
/// from half the one to two and a half times the other.
fn table(answer: f64, asked: Ticks) -> Vec<f64> {
    let costs = Costs { mistake: 2.0, waiting: 1.0, per_unit: None };
    let advice = advise(&Answers::Constant(answer), costs, Some(asked));
    advice.table.iter().map(|row| row.timeout).collect()
}

#[test]
fn round_numbers_are_round() {
    assert_eq!(table(70.0, Ticks::units(680)), [50.0, 100.0, 200.0, 500.0, 1_000.0]);
    assert_eq!(table(0.1, Ticks(240)), [0.05, 0.1, 0.2, 0.5]);
    assert_eq!(table(0.0, Ticks::ZERO), [0.0; 0]);
}

#[test]
fn of_many_round_numbers_the_table_has_the_last_eight() {
    let last = [2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5];
    assert_eq!(table(1e-3, Ticks::units(300_000)), last);
}
