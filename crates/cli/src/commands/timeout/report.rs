//! The advice in words.

use super::Printed;
use crate::output::table::Table;
use crate::output::{bad, beside, good, labelled, numbers, strong, typed, width};
use crate::texts::tr;
use conclave_lab::timeout::{Cheapest, Row};

const COLUMN: usize = 14;
/// A simulated detector runs this long unless told otherwise.
const UNTIL_DEFAULT: f64 = 1_000.0;

/// The advice in words, with a table.
pub fn text(advice: &Printed) -> String {
    let mut text = labelled("answers", COLUMN, &answers(advice));
    let mistake = advice.cost_of_mistake;
    let waiting = advice.cost_of_waiting;
    let costs = format!(
        "a mistake {}, waiting on {}{}",
        short(mistake),
        short(waiting),
        advice.cost_per_unit.map_or(String::new(), |unit| format!(", each unit {}", short(unit)))
    );
    text += &labelled("costs", COLUMN, &costs);
    text += &labelled("timeout", COLUMN, &advised(advice));
    if let Some(cheapest) = &advice.cheapest {
        text += &labelled("cheapest", COLUMN, &least_cost(cheapest, advice));
    }
    text += &format!("\n{}", table(advice));
    if let Some(judged) = &advice.judged {
        text += &format!("\n{}", judgement(judged, advice));
    }
    let timeout = advice.judged.unwrap_or(advice.advised).timeout;
    text + &impossible(timeout)
}

fn answers(advice: &Printed) -> String {
    match (&advice.latency, advice.samples) {
        (_, Some(samples)) => format!("{}, measured", times(samples)),
        (Some(latency), None) => latency.clone(),
        (None, None) => String::new(),
    }
}

/// How many were measured: to be looked up with what is said of them.
fn times(samples: usize) -> String {
    let noun = if samples == 1 { "time" } else { "times" };
    format!("{} {noun}", numbers::count(samples as u64))
}

fn advised(advice: &Printed) -> String {
    let Row { timeout, probability, .. } = advice.advised;
    if timeout == 0.0 {
        return "none: waiting costs more than all the mistakes it could save".to_string();
    }
    let share = advice.cost_of_waiting / advice.cost_of_mistake;
    let mut told = format!(
        "{}: less than {} of live processes answer later, so a mistake costs less in the mean than \
         to wait on",
        time(timeout),
        percent(share)
    );
    if let Some(samples) = advice.samples
        && probability == 0.0
    {
        told += &format!(
            ". None of the {} did: more would have to be measured to tell less than 1 in {} from 0",
            times(samples),
            numbers::count(samples as u64)
        );
    }
    told
}

fn least_cost(cheapest: &Cheapest, advice: &Printed) -> String {
    let Cheapest { timeout, probability, cost } = *cheapest;
    if timeout == 0.0 {
        return format!("not to wait at all, at {} in the mean", short(cost));
    }
    format!(
        "{}, at {} in the mean: {} for waiting and {} for mistakes",
        time(timeout),
        short(cost),
        short(cost - advice.cost_of_mistake * probability),
        short(advice.cost_of_mistake * probability)
    )
}

fn table(advice: &Printed) -> String {
    let headings = ["timeout", "answer later", "mistakes cost", "then"];
    let mut table = Table::new(width(), &headings).right(0..3);
    for row in &advice.table {
        table.row([
            time(row.timeout),
            percent(row.probability),
            short(row.expected_cost),
            tr(if row.stop { "stop waiting" } else { "wait on" }).into_owned(),
        ]);
    }
    table.render()
}

fn judgement(judged: &Row, advice: &Printed) -> String {
    let verdict = if judged.stop { "long enough" } else { "too short" };
    let compared = if judged.stop { "less than" } else { "not less than" };
    let why = format!(
        "{} is {verdict}: {} of live processes answer later, so a mistake costs {} in the mean, \
         {compared} {}",
        time(judged.timeout),
        percent(judged.probability),
        short(judged.expected_cost),
        short(advice.cost_of_waiting)
    );
    let coloured = if judged.stop { good(verdict) } else { bad(verdict) };
    beside("", 0, &why).replacen(&*tr(verdict), &coloured, 1)
}

/// What no timeout can do, and a run that shows it.
fn impossible(timeout: f64) -> String {
    if timeout == 0.0 {
        return String::new();
    }
    let late = timeout + 1.0;
    let until = (2.0 * late).ceil();
    let longer = if until > UNTIL_DEFAULT { format!(" --until {until}") } else { String::new() };
    let command = format!(
        "conclave sim heartbeat --nodes 2 --set timeout={} --rule '1>2:HEARTBEAT#2={}'{longer}",
        plain(timeout),
        plain(late)
    );
    let no_timeout = strong("No timeout is safe:");
    let why = tr("a live process may always take a little longer. Such a run:");
    format!("\n{no_timeout} {why}\n  {}\n", typed(command))
}

/// A time with at most three decimals.
fn time(units: f64) -> String {
    let whole = numbers::count(units.trunc() as u64);
    let decimals = plain(units);
    match decimals.split_once('.') {
        Some((_, fraction)) => whole + &numbers::local(&format!(".{fraction}")),
        None => numbers::count(units.round() as u64),
    }
}

/// The same as it is typed.
fn plain(units: f64) -> String {
    let text = format!("{units:.3}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

fn percent(share: f64) -> String {
    format!("{} %", short(share * 100.0))
}

/// A number with about three digits that count.
fn short(number: f64) -> String {
    if number >= 100.0 {
        return numbers::decimal(number);
    }
    if number == 0.0 {
        return "0".to_string();
    }
    let magnitude = number.log10().floor() as i32;
    if magnitude < -9 {
        return numbers::local(&format!("{number:.2e}"));
    }
    let decimals = usize::try_from(2 - magnitude).unwrap_or(0);
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => numbers::local(text.trim_end_matches('0').trim_end_matches('.')),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_that_count() {
        let all = [0.0, 0.673_794, 4.539_99e-3, 1.0, 10.04, 250.0, 12_345.678, 1e-12, 0.1];
        let told = ["0", "0.674", "0.00454", "1", "10", "250", "12,345.68", "1.00e-12", "0.1"];
        assert_eq!(all.map(short), told);
    }

    #[test]
    fn times_have_three_decimals_at_most() {
        assert_eq!([690.775_53, 5.0, 1_200.5, 0.05].map(time), ["690.776", "5", "1,200.5", "0.05"]);
        assert_eq!([1_690.775_53, 2_000.0].map(plain), ["1690.776", "2000"]);
        assert_eq!(time(9.999_9), "10");
    }
}
