//! What there is to say about a failure detector.

use super::{COLUMN, Report};
use crate::output::numbers::{count, decimal, local, of};
use crate::output::table::Table;
use crate::output::{labelled, width};
use crate::texts::tr;
use conclave_sim::{Times, Watching};

impl Report<'_> {
    /// How soon crashes were noticed, and how often nobody had crashed.
    pub(super) fn watching(&self, watching: &Watching) -> String {
        let mut text = self.time();
        text.push('\n');
        text += &Self::spans(watching);
        text.push('\n');
        text += &labelled("crashes", COLUMN, &noticed(watching));
        text += &labelled("mistakes", COLUMN, &mistakes(watching));
        let right = percent(watching.query_accuracy());
        let told = format!("a live node is trusted {right} of the time");
        text + &labelled("accuracy", COLUMN, &told)
    }

    fn spans(watching: &Watching) -> String {
        let rows: [(&str, &str, &Times); 2] = [
            ("detection", "crash to suspicion", &watching.detection_time),
            ("mistake", "a live node suspected", &watching.mistake_duration),
        ];
        let headings = ["in units", "mean", "p50", "p99", "max", ""];
        let mut table = Table::new(width(), &headings).right(1..5);
        for (name, meaning, times) in rows {
            let numbers = match times.summary() {
                Some(s) => [s.mean, s.p50, s.p99, s.max].map(decimal),
                None => ["-"; 4].map(String::from),
            };
            let [mean, p50, p99, max] = numbers;
            table.row([tr(name).into(), mean, p50, p99, max, tr(meaning).into_owned()]);
        }
        table.render()
    }
}

fn noticed(watching: &Watching) -> String {
    let noticed = watching.detection_time.count();
    match (noticed, watching.missed) {
        (0, 0) => "none".to_string(),
        (all, 0) => format!("noticed by every live node ({} in all)", of(all, "time")),
        (some, missed) => {
            format!("noticed {}, missed {} by a live node", of(some, "time"), of(missed, "time"))
        }
    }
}

fn mistakes(watching: &Watching) -> String {
    match watching.mistakes {
        0 => "none".to_string(),
        mistakes => format!(
            "{}, {} per 1,000 units and pair of live nodes",
            count(mistakes),
            decimal(watching.mistake_rate() * 1_000.0)
        ),
    }
}

/// So that nearly all is not all: enough digits to tell.
fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if share == 1.0 {
        return "100 %".to_string();
    }
    let mut texts = (2..=6).map(|decimals: usize| format!("{percent:.decimals$}"));
    let telling = texts.find(|text| !text.starts_with("100"));
    match telling {
        Some(telling) => local(&format!("{telling} %")),
        None => tr("almost 100 %").into_owned(),
    }
}
