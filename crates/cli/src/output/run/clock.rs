//! What there is to say about a clock.

use super::{COLUMN, Report};
use crate::output::numbers::{count, decimal, of};
use crate::output::table::Table;
use crate::output::{labelled, strong, width};
use crate::texts::tr;
use conclave_core::clock::Time;
use conclave_core::timekeeping::{Kind, Record};
use conclave_core::{NodeId, Ticks};
use conclave_sim::Keeping;
use std::cmp::Ordering;

/// A longer list of events shows only the first of them.
const EVENTS_SHOWN: usize = 60;
/// Of the pairs that a clock orders for no reason, only so many are named.
const PAIRS_SHOWN: usize = 12;

/// A column of the table of events.
struct Column {
    title: String,
    cells: Vec<String>,
    right: bool,
}

impl Report<'_> {
    /// Every event with its times, and what the times say of order.
    pub(super) fn keeping(&self, keeping: &Keeping) -> String {
        let mut text = self.time();
        if !keeping.records.is_empty() {
            text.push('\n');
            text += &self.stamped(keeping);
        }
        if self.is_drifting() {
            text.push('\n');
            text += &self.readings(keeping);
        }
        text.push('\n');
        text + &self.order(keeping) + &self.refused(keeping)
    }

    /// Whether the clocks of the run drift, so that their readings are worth seeing.
    fn is_drifting(&self) -> bool {
        let play = self.experiment.play();
        !self.many && play.is_some_and(|play| !play.application)
    }

    fn stamped(&self, keeping: &Keeping) -> String {
        let shown = &keeping.records[..keeping.records.len().min(EVENTS_SHOWN)];
        let names = &self.experiment.names;
        let mut columns = vec![
            column("", false, (0..shown.len()).map(letter)),
            column("at", true, shown.iter().map(|record| decimal(record.at.as_units()))),
            column("node", true, shown.iter().map(|record| names.name(record.node))),
            column("event", false, shown.iter().map(|record| self.event(record.kind))),
        ];
        if self.experiment.play().is_some() {
            let told = |time: Option<&Time>| time.map(Time::to_string).unwrap_or_default();
            let carried = shown.iter().map(|record| told(keeping.carried(record)));
            columns.push(column("carries", true, carried));
            let before = shown.iter().map(|record| match keeping.before(record) {
                // A number that has not moved yet is 0.
                None if keeping.carried(record).is_some_and(is_scalar) => "0".to_string(),
                before => told(before),
            });
            columns.push(column("before", true, before));
        }
        let clocks = [
            column("its time", true, shown.iter().map(|record| record.time.to_string())),
            column("Lamport", true, shown.iter().map(|record| record.lamport.to_string())),
            column("vector", false, shown.iter().map(|record| record.vector.to_string())),
        ];
        for clock in clocks {
            // The clock under test may be one of the other two.
            match columns.iter_mut().find(|known| known.cells == clock.cells) {
                Some(same) => same.title = clock.title,
                None => columns.push(clock),
            }
        }
        let mut text = table(&columns, shown.len());
        if keeping.records.len() > shown.len() {
            let more = (keeping.records.len() - shown.len()) as u64;
            let more = format!("… and {}", of(more, "more event"));
            text += &format!("{}\n", tr(&more));
        }
        text
    }

    fn event(&self, kind: Kind) -> String {
        let name = |node| self.experiment.names.name(node);
        let told = match kind {
            Kind::Local => "something happens".to_string(),
            Kind::Send { to } => format!("sends to {}", name(to)),
            Kind::Receive { from, .. } => format!("receives from {}", name(from)),
        };
        tr(&told).into_owned()
    }

    /// What each clock reads after each tick and what came with it.
    fn readings(&self, keeping: &Keeping) -> String {
        let nodes = || (0..self.experiment.setting.n).map(NodeId);
        let ticks = keeping.readings.iter().map(|reading| reading.at).max().unwrap_or_default();
        let names: Vec<String> =
            nodes().map(|node| format!("clock {}", self.experiment.names.name(node))).collect();
        let titles: Vec<&str> = ["tick"].into_iter().chain(names.iter().map(|n| &**n)).collect();
        let mut table = Table::new(width(), &titles).right(0..titles.len());
        for tick in 0..=ticks.0 / Ticks::UNIT.0 {
            let at = Ticks::units(tick + 1) - Ticks(1);
            let reading = |node| keeping.clock_at(node, at);
            let told = |time: Option<&Time>| time.map_or("0".to_string(), Time::to_string);
            let row: Vec<String> = nodes().map(|node| told(reading(node))).collect();
            table.row([count(tick)].into_iter().chain(row));
        }
        table.render()
    }

    /// How many pairs are ordered by cause, by the clock, and by Lamport's.
    fn order(&self, keeping: &Keeping) -> String {
        let Some(pairs) = keeping.pairs else {
            let told = format!("{}: too many to compare", of(keeping.stamped, "event"));
            return labelled("events", COLUMN, &told);
        };
        let mut told = format!(
            "{} of {}: in {} one happened before the other, {} are concurrent",
            of(pairs.ordered + pairs.concurrent, "pair"),
            of(keeping.stamped, "event"),
            count(pairs.ordered),
            count(pairs.concurrent),
        );
        if pairs.concurrent > 0 {
            let own = pairs.ordered_by_clock;
            let lamport = pairs.ordered_by_lamport;
            told += &format!(
                ". Of the concurrent ones this clock orders {}, Lamport's {}",
                count(own),
                count(lamport),
            );
        }
        labelled("pairs", COLUMN, &(told + ".")) + &self.for_no_reason(&keeping.records)
    }

    /// The concurrent pairs that Lamport's clock orders, by the letters of their events.
    fn for_no_reason(&self, records: &[Record]) -> String {
        let mut pairs = Vec::new();
        for (place, b) in records.iter().enumerate().take(EVENTS_SHOWN) {
            for (before, a) in records[..place].iter().enumerate() {
                let concurrent = a.vector.partial_cmp(&b.vector).is_none();
                match a.lamport.cmp(&b.lamport) {
                    Ordering::Less if concurrent => pairs.push((before, place)),
                    Ordering::Greater if concurrent => pairs.push((place, before)),
                    Ordering::Less | Ordering::Equal | Ordering::Greater => {}
                }
            }
        }
        if pairs.is_empty() {
            return String::new();
        }
        let told = |&(a, b): &(usize, usize)| format!("{}<{}", letter(a), letter(b));
        let mut named: Vec<String> = pairs.iter().take(PAIRS_SHOWN).map(told).collect();
        if pairs.len() > PAIRS_SHOWN {
            named.push(format!("and {} more", pairs.len() - PAIRS_SHOWN));
        }
        let told = format!("by Lamport's alone: {}", named.join(", "));
        labelled("", COLUMN, &told)
    }

    fn refused(&self, keeping: &Keeping) -> String {
        let mut text = String::new();
        for refused in keeping.refusals.iter().take(PAIRS_SHOWN) {
            let name = |node| self.experiment.names.name(node);
            let at = decimal(refused.at.as_units());
            let why = refused.why;
            let told = format!(
                "at {at} node {} refuses the message of {}: {why}",
                name(refused.node),
                name(refused.from)
            );
            text += &labelled("refused", COLUMN, &told);
        }
        text
    }
}

fn is_scalar(time: &Time) -> bool {
    matches!(time, Time::Scalar(_))
}

fn column(title: &str, right: bool, cells: impl Iterator<Item = String>) -> Column {
    Column { title: tr(title).into_owned(), cells: cells.collect(), right }
}

/// Columns side by side. Vectors and matrices are told whole, however wide that is.
fn table(columns: &[Column], rows: usize) -> String {
    let wide = |column: &Column| {
        let cells = column.cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
        cells.max(column.title.chars().count())
    };
    let line = |cells: Vec<&str>| {
        let mut line = String::new();
        for (column, cell) in columns.iter().zip(cells) {
            let padding = " ".repeat(wide(column) - cell.chars().count());
            let (before, after) =
                if column.right { (padding, String::new()) } else { (String::new(), padding) };
            line += &format!("{before}{cell}{after}  ");
        }
        line.trim_end().to_string()
    };
    let mut text =
        strong(line(columns.iter().map(|column| column.title.as_str()).collect())) + "\n";
    for row in 0..rows {
        text += &(line(columns.iter().map(|column| column.cells[row].as_str()).collect()) + "\n");
    }
    text
}

/// The name of an event: a, b, … z, then e27 and on.
fn letter(place: usize) -> String {
    match u8::try_from(place) {
        Ok(place) if place < 26 => char::from(b'a' + place).to_string(),
        Ok(_) | Err(_) => format!("e{}", place + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_have_letters_as_long_as_there_are_letters() {
        assert_eq!([0, 25, 26].map(letter), ["a", "z", "e27"]);
    }
}
