//! The comparison as comma-separated values, one line for each row of its JSON.

use super::words;
use conclave_lab::compare::measure::{Measured, Point};
use conclave_lab::compare::{Estimate, Omitted, elections};

const LOCKS: &str = "algorithm,nodes,load,seeds,messages_per_entry,messages_per_entry_95,\
    formula_low,formula_high,client_delay,client_delay_95,client_delay_serial,\
    client_delay_serial_95,sync_delay,sync_delay_95,wait,wait_95,jain,jain_95,max_bypass,\
    bypass_bound,notes";

const ELECTIONS: &str = "algorithm,nodes,load,seeds,runs,failed,messages_best,messages_mean,\
    messages_mean_95,messages_worst,formula_low,formula_high,time_best,time_mean,time_mean_95,\
    time_worst,notes";

/// What was measured of mutual exclusion. A column that ends with `_95` is half of the 95 %
/// interval of the one before it.
pub fn locks(measured: &Measured) -> String {
    let mut lines = vec![LOCKS.to_string()];
    for point in &measured.points {
        lines.push(light(point, measured.seeds));
        lines.push(heavy(point, measured.seeds));
    }
    finish(lines, &measured.omitted, LOCKS)
}

fn light(point: &Point, seeds: u64) -> String {
    let messages = point.light_messages();
    let mut cells = lead(point, "light", seeds);
    cells.extend(both(messages.measured));
    cells.extend([number(messages.range.0), number(messages.range.1)]);
    cells.extend(both(point.delay().measured));
    cells.extend(both(point.delay_serial().measured));
    cells.extend(std::iter::repeat_n(String::new(), 8));
    cells.push(notes(point));
    cells.join(",")
}

fn heavy(point: &Point, seeds: u64) -> String {
    let messages = point.heavy_messages();
    let mut cells = lead(point, "heavy", seeds);
    cells.extend(both(messages.measured));
    cells.extend([number(messages.range.0), number(messages.range.1)]);
    cells.extend(std::iter::repeat_n(String::new(), 4));
    cells.extend(both(point.sync_delay().measured));
    cells.extend(both(point.heavy.map(|heavy| heavy.wait)));
    cells.extend(both(point.saturated.map(|saturated| saturated.jain)));
    let whole = |value: Option<u64>| value.map_or(String::new(), |value| value.to_string());
    cells.push(whole(point.saturated.map(|saturated| saturated.bypass)));
    cells.push(whole(point.bypass_bound()));
    cells.push(notes(point));
    cells.join(",")
}

fn lead(point: &Point, load: &str, seeds: u64) -> Vec<String> {
    let setting = &point.experiment.setting;
    vec![setting.entry.id.into(), setting.n.to_string(), load.into(), seeds.to_string()]
}

fn notes(point: &Point) -> String {
    let notes: Vec<String> = point.notes.iter().copied().map(words::note).collect();
    quoted(&notes.join("; "))
}

/// What was measured of elections.
pub fn elections(measured: &elections::Measured) -> String {
    let mut lines = vec![ELECTIONS.to_string()];
    for point in &measured.points {
        let samples =
            [("one", &point.one, point.ranges.one), ("all", &point.all, point.ranges.all)];
        for (load, sample, range) in samples {
            let half = |half: Option<f64>| half.map_or(String::new(), number);
            let cells = [
                point.setting.entry.id.to_string(),
                point.setting.n.to_string(),
                load.to_string(),
                measured.seeds.to_string(),
                sample.runs.to_string(),
                sample.failed.to_string(),
                number(sample.messages.best),
                number(sample.messages.mean),
                half(sample.messages_half),
                number(sample.messages.worst),
                number(range.0),
                number(range.1),
                number(sample.time.best),
                number(sample.time.mean),
                half(sample.time_half),
                number(sample.time.worst),
                String::new(),
            ];
            lines.push(cells.join(","));
        }
    }
    finish(lines, &measured.omitted, ELECTIONS)
}

/// What was left out has a line too: its name, its size, and why.
fn finish(mut lines: Vec<String>, omitted: &[Omitted], header: &str) -> String {
    let between = ",".repeat(header.matches(',').count() - 1);
    for one in omitted {
        let why = quoted(&format!("left out: {}", words::why(&one.why)));
        lines.push(format!("{},{}{between}{why}", one.entry.id, one.nodes));
    }
    lines.join("\n") + "\n"
}

fn both(measured: Option<Estimate>) -> [String; 2] {
    let half = measured.and_then(|measured| measured.half);
    [measured.map_or(String::new(), |it| number(it.mean)), half.map_or(String::new(), number)]
}

/// In full; nothing where there is no bound, or no number.
fn number(value: f64) -> String {
    if value.is_finite() { value.to_string() } else { String::new() }
}

fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_string(),
    }
}
