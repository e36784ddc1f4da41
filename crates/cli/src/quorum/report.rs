//! What `conclave quorum` says, in words and as JSON.

use crate::output::numbers::{count, local, of};
use crate::output::table::Table;
use crate::output::{dim, labelled, strong, width};
use conclave_lab::quorum::{Case, Estimate};
use conclave_sim::probability::Magnitude;
use serde::Serialize;

/// How wide the labels are.
const COLUMN: usize = 14;
/// A table of more rows than this shows only some of them.
const ROWS_MAX: usize = 24;
/// A share within so many standard errors of the formula agrees with it.
const ERRORS: f64 = 4.0;

/// What `quorum --json` prints. Field names and their order are a contract.
#[derive(Serialize)]
pub struct Report {
    coordinators: u32,
    votes: u32,
    probability: f64,
    violation_probability: f64,
    violation_probability_log10: Option<f64>,
    overlap: u32,
    violation_probability_all_granted: f64,
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    monte_carlo: Option<MonteCarlo>,
}

#[derive(Serialize)]
struct Row {
    votes: u32,
    violation_probability: f64,
    violation_probability_log10: Option<f64>,
    overlap: u32,
    crashes_tolerated: u32,
    may_forget: u32,
}

#[derive(Serialize)]
struct MonteCarlo {
    runs: u64,
    seed: u64,
    violations: u64,
    violation_probability: f64,
    standard_error: f64,
}

impl Report {
    /// The report on a case, and on the runs if there were any.
    pub fn of(case: Case, estimate: Option<Estimate>) -> Self {
        let violation = case.violation();
        Self {
            coordinators: case.coordinators,
            votes: case.votes,
            probability: case.probability,
            violation_probability: violation.as_float(),
            violation_probability_log10: log10(violation),
            overlap: case.overlap(),
            violation_probability_all_granted: case.violation_of_all().as_float(),
            rows: case.over_votes().map(row).collect(),
            monte_carlo: estimate.map(|estimate| MonteCarlo {
                runs: estimate.runs,
                seed: estimate.seed,
                violations: estimate.violations,
                violation_probability: estimate.probability(),
                standard_error: estimate.standard_error(violation.as_float()),
            }),
        }
    }
}

fn row(case: Case) -> Row {
    let violation = case.violation();
    Row {
        votes: case.votes,
        violation_probability: violation.as_float(),
        violation_probability_log10: log10(violation),
        overlap: case.overlap(),
        crashes_tolerated: case.crashes(),
        may_forget: case.forgettable(),
    }
}

/// For numbers that no float can hold; nothing for 0.
fn log10(number: Magnitude) -> Option<f64> {
    Some(number.log10()).filter(|log| log.is_finite())
}

/// A probability with so many decimals: `0.3439`, `7.35e-59`.
pub fn scientific(number: Magnitude, decimals: usize) -> String {
    let (digits, power) = number.decimal();
    if power >= -3 {
        let plain = format!("{:.*}", decimals + 3, number.as_float());
        return local(plain.trim_end_matches('0').trim_end_matches('.'));
    }
    let digits = format!("{digits:.decimals$}");
    // Rounding may have carried.
    match digits.strip_prefix("10") {
        Some(rest) => {
            local(&format!("1{}e{}", rest.trim_end_matches('0').trim_end_matches('.'), power + 1))
        }
        None => local(&format!("{digits}e{power}")),
    }
}

/// The whole report in words.
pub fn text(case: Case, estimate: Option<Estimate>) -> String {
    let Case { coordinators: n, votes: m, probability: p } = case;
    let heading = format!(
        "{m} of {}, each forgetting with probability {}",
        of(n.into(), "coordinator"),
        local(&p.to_string())
    );
    let mut text = strong(heading) + "\n\n";
    text += &labelled("overlap", COLUMN, &overlap(case));
    text += &labelled("violation", COLUMN, &violation(case));
    text += &labelled("", COLUMN, &beyond(case));
    if let Some(estimate) = estimate {
        text += &labelled("from runs", COLUMN, &runs(case, estimate));
    }
    text.push('\n');
    text + &table(case) + &legend()
}

/// How many two sets share, and why not fewer.
fn overlap(case: Case) -> String {
    let Case { votes: m, .. } = case;
    let k = case.overlap();
    let outside = case.crashes();
    format!(
        "k = 2m-n = {k}. Outside one set of {m} there are only n-m = {outside}, so a second set \
         of {m} must take at least {m}-{outside} = {k} of its members from the first. That is a \
         minimum: n = m+m-k counts everybody once only if the two sets together are all n; sets \
         that leave somebody out share more."
    )
}

/// The sum and what it comes to.
fn violation(case: Case) -> String {
    let m = case.votes;
    let k = case.overlap();
    let p = local(&case.probability.to_string());
    let violation = case.violation();
    let often = match violation.decimal() {
        (digits, power) if digits > 0.0 && power < -1 => {
            let windows = Magnitude::of(10.0 / digits);
            let (digits, carried) = windows.decimal();
            let digits = local(&format!("{digits:.2}e{}", -power - 1 + carried));
            format!(", once in about {digits} windows")
        }
        (_, _) => String::new(),
    };
    format!(
        "{}{often}. While one client is inside by the grants of {m}, a second gets in exactly if \
         {k} or more of those {m} forget: the sum over j from {k} to {m} of C({m},j) P^j \
         (1-P)^({m}-j), P being {p}.",
        scientific(violation, 10)
    )
}

/// What the usual case is.
fn beyond(case: Case) -> String {
    let Case { coordinators: n, votes: m, .. } = case;
    let all = scientific(case.violation_of_all(), 3);
    format!(
        "This is the worst case. A client asks all {n}; once all have granted, {m} of {n} must \
         forget: {all}."
    )
}

/// What the windows showed, beside the formula.
fn runs(case: Case, estimate: Estimate) -> String {
    let exact = case.violation().as_float();
    let share = estimate.probability();
    let error = estimate.standard_error(exact);
    let expected = exact * estimate.runs as f64;
    let verdict = if expected < 5.0 {
        "too rare for so few windows to tell"
    } else if (share - exact).abs() <= ERRORS * error.max(f64::EPSILON) {
        "as the formula says"
    } else {
        "not what the formula says"
    };
    format!(
        "{} in {} of the real algorithm: {}, {verdict}.",
        of(estimate.violations, "violation"),
        of(estimate.runs, "window"),
        local(&format!("{share:.6} ± {error:.6}")),
    )
}

/// Every number of votes, or some of them, the asked one marked.
fn table(case: Case) -> String {
    let all: Vec<Case> = case.over_votes().collect();
    let step = all.len().div_ceil(ROWS_MAX);
    let headings = ["", "votes", "violation", "overlap", "may crash", "may forget"];
    let mut table = Table::new(width(), &headings).right(1..6);
    for (index, one) in all.iter().enumerate() {
        let asked = one.votes == case.votes;
        if index % step != 0 && index + 1 != all.len() && !asked {
            continue;
        }
        table.row([
            if asked { ">" } else { "" }.to_string(),
            count(one.votes.into()),
            scientific(one.violation(), 3),
            count(one.overlap().into()),
            count(one.crashes().into()),
            count(one.forgettable().into()),
        ]);
    }
    table.render()
}

fn legend() -> String {
    let legend = "may crash: n-m, and the others still let somebody in. may forget: 2m-n-1 of a \
                  holder's set, and still nobody else gets in. More votes buy safety with \
                  availability.";
    let lines = crate::output::wrap(legend, width());
    format!("\n{}\n", dim(lines.join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_read_well() {
        let told = |number: f64| scientific(Magnitude::of(number), 3);
        assert_eq!([0.0, 1.0, 0.3439, 0.039404].map(told), ["0", "1", "0.3439", "0.039404"]);
        assert_eq!([7.349e-59, 9.9999e-5, 1e-4].map(told), ["7.349e-59", "1e-4", "1.000e-4"]);
    }
}
