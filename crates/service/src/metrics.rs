//! Metrics in the text format of Prometheus: the page, and in [`catalogue`] every metric once.

pub mod catalogue;

use conclave_net::Durations;
use std::fmt::{Display, Write};

/// One metric: what a page says of it before its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Its name.
    pub name: &'static str,
    /// How its numbers are to be read.
    pub kind: Kind,
    /// What it counts or measures, for people.
    pub help: &'static str,
    /// What its lines are told apart by.
    pub labels: &'static [&'static str],
    /// Which engines have it.
    pub engines: Engines,
}

/// How the numbers of a metric are to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// It only rises, from 0 when the node starts.
    Counter,
    /// It is as it is now.
    Gauge,
    /// How long something took, each time, in buckets.
    Histogram,
}

/// Which engines have a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engines {
    /// All.
    All,
    /// The replicated one.
    Replicated,
    /// The classic ones.
    Classic,
}

impl Metric {
    const fn new(name: &'static str, kind: Kind, help: &'static str) -> Self {
        Self { name, kind, help, labels: &[], engines: Engines::All }
    }

    const fn counter(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Counter, help)
    }

    const fn gauge(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Gauge, help)
    }

    const fn histogram(name: &'static str, help: &'static str) -> Self {
        Self::new(name, Kind::Histogram, help)
    }

    const fn by(mut self, labels: &'static [&'static str]) -> Self {
        self.labels = labels;
        self
    }

    const fn of(mut self, engines: Engines) -> Self {
        self.engines = engines;
        self
    }
}

impl Kind {
    /// As Prometheus has it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }
}

/// A page that is being written.
#[derive(Default)]
pub struct Page(String);

impl Page {
    /// What has been written.
    pub fn text(self) -> String {
        self.0
    }

    /// What was written elsewhere.
    pub fn append(&mut self, text: &str) {
        self.0.push_str(text);
    }

    /// A metric, with as many lines as it has now: the values of its labels, and a number.
    pub fn lines<const N: usize, V: Display>(
        &mut self,
        metric: &Metric,
        lines: impl IntoIterator<Item = ([String; N], V)>,
    ) {
        self.begin(metric);
        for (values, number) in lines {
            debug_assert_eq!(metric.labels.len(), N, "{}", metric.name);
            let labels = metric.labels.iter().copied().zip(values.iter().map(String::as_str));
            self.line(metric.name, "", labels, number);
        }
    }

    /// A metric of one line.
    pub fn single(&mut self, metric: &Metric, number: impl Display) {
        self.lines(metric, [([], number)]);
    }

    /// A histogram.
    pub fn histogram(&mut self, metric: &Metric, durations: &Durations) {
        self.begin(metric);
        for (end, count) in &durations.within {
            self.line(metric.name, "_bucket", [("le", &*end.to_string())], count);
        }
        self.line(metric.name, "_bucket", [("le", "+Inf")], durations.count);
        self.line(metric.name, "_sum", [], durations.sum);
        self.line(metric.name, "_count", [], durations.count);
    }

    fn begin(&mut self, metric: &Metric) {
        let Metric { name, kind, help, .. } = metric;
        let kind = kind.as_str();
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    fn line<'a>(
        &mut self,
        name: &str,
        suffix: &str,
        labels: impl IntoIterator<Item = (&'a str, &'a str)>,
        number: impl Display,
    ) {
        let escaped =
            |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels = labels.into_iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text)));
        let labels: Vec<String> = labels.collect();
        let labels = match &*labels {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{suffix}{labels} {number}");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use conclave_net::Histogram;
    use std::time::Duration;

    #[test]
    fn labels_are_escaped_so_that_a_line_stays_a_line() {
        let metric = Metric::gauge("m", "What it is.").by(&["a", "b"]);
        let mut page = Page::default();
        page.lines(&metric, [(["x\"y\\z\n".to_string(), "ok".to_string()], 7)]);
        let expected = "# HELP m What it is.\n# TYPE m gauge\nm{a=\"x\\\"y\\\\z\\n\",b=\"ok\"} 7\n";
        assert_eq!(page.text(), expected);
    }

    #[test]
    fn a_histogram_ends_with_all_its_sum_and_its_count() {
        let histogram = Histogram::default();
        histogram.observe(Duration::from_micros(200));
        let mut page = Page::default();
        page.histogram(&Metric::histogram("took_seconds", "How long."), &histogram.read());
        let page = page.text();
        for line in [
            "# TYPE took_seconds histogram\n",
            "took_seconds_bucket{le=\"0.0001\"} 0\n",
            "took_seconds_bucket{le=\"0.00025\"} 1\n",
            "took_seconds_bucket{le=\"+Inf\"} 1\n",
            "took_seconds_sum 0.0002\n",
            "took_seconds_count 1\n",
        ] {
            assert!(page.contains(line), "{line} in {page}");
        }
    }

    #[test]
    fn names_keep_the_conventions_of_prometheus() {
        for metric in catalogue::ALL {
            let name = metric.name;
            let plain = |letter: char| letter.is_ascii_lowercase() || letter == '_';
            assert!(name.starts_with("conclave_") && name.chars().all(plain), "{name}");
            assert_eq!(metric.kind == Kind::Counter, name.ends_with("_total"), "{name}");
            assert!(metric.kind != Kind::Histogram || name.ends_with("_seconds"), "{name}");
            assert!(metric.help.ends_with('.') && !metric.help.contains(['\\', '\n']), "{name}");
        }
        let mut names: Vec<&str> = catalogue::ALL.iter().map(|metric| metric.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), catalogue::ALL.len(), "no name twice");
    }
}
