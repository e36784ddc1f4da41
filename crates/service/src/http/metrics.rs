//! Metrics in the text format of Prometheus.

use crate::audit::Audit;
use crate::desk::Metrics;
use std::fmt::{Display, Write};

/// The whole page.
pub fn exposition(metrics: &Metrics) -> String {
    let mut page = Page::default();
    page.begin("conclave_info", "gauge", "The engine of this node.");
    page.line("conclave_info", &[("engine", &metrics.engine)], 1);
    page.single("conclave_sessions", "gauge", "Sessions that live.", metrics.sessions);
    page.begin("conclave_locks", "gauge", "Locks by state, as this node sees them.");
    for (state, count) in &metrics.locks {
        page.line("conclave_locks", &[("state", state)], count);
    }
    page.single("conclave_waiters", "gauge", "Requests that wait for a lock.", metrics.waiters);
    let help = "Elections with a leader at this node.";
    page.single("conclave_leaderships", "gauge", help, metrics.leaderships);
    let help = "Locks and leaderships granted at this node.";
    page.single("conclave_entries_total", "counter", help, metrics.entries);
    page.begin("conclave_messages_sent_total", "counter", "Messages to other nodes.");
    for ((machine, kind), count) in &metrics.messages {
        let labels = [("machine", *machine), ("kind", kind)];
        page.line("conclave_messages_sent_total", &labels, count);
    }
    page.begin("conclave_link_up", "gauge", "Whether the link to a node stands.");
    for (node, up) in &metrics.links {
        page.line("conclave_link_up", &[("node", &node.to_string())], u8::from(*up));
    }
    let help = "Messages that a node has yet to acknowledge.";
    page.begin("conclave_unacknowledged", "gauge", help);
    for (node, count) in &metrics.unacknowledged {
        page.line("conclave_unacknowledged", &[("node", &node.to_string())], count);
    }
    page.single("conclave_suspects", "gauge", "Nodes that seem to be down.", metrics.suspects);
    let help = "Whether this node leads the cluster.";
    page.single("conclave_leads", "gauge", help, u64::from(metrics.leads));
    page.single("conclave_term", "gauge", "The term of the leading node.", metrics.term);
    let help = "How long this node has been up.";
    page.begin("conclave_uptime_seconds", "gauge", help);
    page.line("conclave_uptime_seconds", &[], metrics.uptime_ms as f64 / 1_000.0);
    page.text()
}

/// What the audit log adds to the page of either engine.
pub fn audit(audit: &Audit) -> String {
    let mut page = Page::default();
    let help = "Lines written to the audit log.";
    page.single("conclave_audit_lines_total", "counter", help, audit.written());
    let help = "Lines of the audit log that could not be written.";
    page.single("conclave_audit_lost_total", "counter", help, audit.lost());
    page.text()
}

/// A page that is being written.
#[derive(Default)]
pub struct Page(String);

impl Page {
    /// What has been written.
    pub fn text(self) -> String {
        self.0
    }

    /// A metric of several lines begins.
    pub fn begin(&mut self, name: &str, kind: &str, help: &str) {
        // Writing to a string cannot fail.
        let _ = write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n");
    }

    /// One line of it.
    pub fn line(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let escaped =
            |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        let labels: Vec<String> =
            labels.iter().map(|(name, text)| format!("{name}=\"{}\"", escaped(text))).collect();
        let labels = match &*labels {
            [] => String::new(),
            labels => format!("{{{}}}", labels.join(",")),
        };
        let _ = writeln!(self.0, "{name}{labels} {value}");
    }

    /// A metric of one line.
    pub fn single(&mut self, name: &str, kind: &str, help: &str, value: u64) {
        self.begin(name, kind, help);
        self.line(name, &[], value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped_and_every_line_has_its_type() {
        let mut metrics = Metrics { engine: "a\"b\\".to_string(), ..Metrics::default() };
        metrics.messages.insert(("lock", "REQUEST".to_string()), 3);
        metrics.links.insert(2, true);
        let page = exposition(&metrics);
        assert!(page.contains("conclave_info{engine=\"a\\\"b\\\\\"} 1\n"), "{page}");
        let sent = "conclave_messages_sent_total{machine=\"lock\",kind=\"REQUEST\"} 3\n";
        assert!(page.contains(sent), "{page}");
        assert!(page.contains("conclave_link_up{node=\"2\"} 1\n"), "{page}");
        for line in page.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap_or_default();
            assert!(page.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }
}
