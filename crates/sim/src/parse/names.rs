//! Names of nodes, as people type them.

use crate::error::Error;
use conclave_core::NodeId;
use std::collections::BTreeSet;

/// What the node is called on which only the application runs.
const APPLICATION: &str = "app";

/// What people call the nodes: clients by their number from 1, or by labels; coordinators `c1`,
/// `c2` and so on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// How many clients there are: the first nodes.
    pub clients: u32,
    /// How many nodes behind them only coordinate.
    pub coordinators: u32,
    /// What the clients are called, one label each; by number when empty.
    pub labels: Vec<String>,
    /// Whether the node behind the clients is no coordinator but the application, `app`.
    pub application: bool,
    /// Whether there may be others, of whom nothing is known: every word is taken for one.
    pub others: bool,
}

impl Names {
    /// Nodes without labels.
    pub fn new(clients: u32, coordinators: u32) -> Self {
        Self { clients, coordinators, ..Self::default() }
    }

    /// As long as it is not known what runs on these nodes: words may name any of them.
    pub fn unsettled(clients: u32) -> Self {
        Self { clients, others: true, ..Self::default() }
    }

    /// The node of that name.
    pub fn node(&self, flag: &'static str, text: &str) -> Result<NodeId, Error> {
        let client = || match self.labels.as_slice() {
            [] => ordinal(text).filter(|index| *index < self.clients),
            labels => labels.iter().position(|label| label == text).map(|index| index as u32),
        };
        let coordinator = || {
            if self.application {
                return (text == APPLICATION).then_some(self.clients);
            }
            let index = ordinal(text.strip_prefix('c')?)?;
            (index < self.coordinators).then(|| self.clients + index)
        };
        let other = || (self.others && text.parse::<u32>().is_err()).then_some(0);
        let node = client().or_else(coordinator).or_else(other).map(NodeId);
        node.ok_or_else(|| Error::value(flag, text, self.accepted()))
    }

    /// The nodes of a list such as `1,2,c1`.
    pub fn nodes(&self, flag: &'static str, text: &str) -> Result<Vec<NodeId>, Error> {
        text.split(',').map(|name| self.node(flag, name.trim())).collect()
    }

    /// What a node is called.
    pub fn name(&self, node: NodeId) -> String {
        match node.0.checked_sub(self.clients) {
            Some(0) if self.application => APPLICATION.to_string(),
            Some(coordinator) if coordinator < self.coordinators => format!("c{}", coordinator + 1),
            Some(_) | None => match self.labels.get(node.index()) {
                Some(label) => label.clone(),
                None => node.to_string(),
            },
        }
    }

    /// A text with marks such as `{3}`, which stands for the node of index 3, in people's words.
    pub fn tell(&self, text: &str) -> String {
        let mut told = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = rest.find('{') {
            let (before, from) = rest.split_at(open);
            told.push_str(before);
            match mark(from) {
                Some((node, after)) => {
                    told.push_str(&self.name(node));
                    rest = after;
                }
                None => {
                    told.push('{');
                    rest = &from[1..];
                }
            }
        }
        told.push_str(rest);
        told
    }

    fn accepted(&self) -> String {
        let clients = match self.labels.as_slice() {
            [] => format!("nodes are 1 to {}", self.clients),
            [first, second, _, .., last] if self.labels.len() > 8 => {
                format!("nodes are {first}, {second}, … {last}")
            }
            few => format!("nodes are {}", few.join(", ")),
        };
        match self.coordinators {
            0 => clients,
            _ if self.application => format!("{clients} and {APPLICATION}"),
            m => format!("{clients} and c1 to c{m}"),
        }
    }
}

/// The labels of a list such as `3,17,24`, one for each client.
pub fn ids(text: &str, clients: u32) -> Result<Vec<String>, Error> {
    let labels: Vec<String> = text.split(',').map(|label| label.trim().to_string()).collect();
    let mut seen = BTreeSet::new();
    for label in &labels {
        let plain = |c: char| c.is_alphanumeric() || ['_', '-', '.'].contains(&c);
        if label.is_empty() || !label.chars().all(plain) {
            let accepted = "labels of letters, digits, '_', '-' and '.', separated by commas";
            return Err(Error::value("--ids", label, accepted));
        }
        if label.strip_prefix('c').is_some_and(|rest| ordinal(rest).is_some()) {
            return Err(Error::value("--ids", label, "c1, c2 and so on name coordinators"));
        }
        if !seen.insert(label) {
            return Err(Error::value("--ids", label, "each node needs a label of its own"));
        }
    }
    if labels.len() != clients as usize {
        let accepted = format!("one for each of the {clients} nodes");
        return Err(Error::value("--ids", labels.join(","), accepted));
    }
    Ok(labels)
}

/// The index that a number from 1 stands for.
fn ordinal(text: &str) -> Option<u32> {
    let plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse::<u32>().ok().filter(|_| plain)?.checked_sub(1)
}

/// The node of the mark at the beginning, and what follows it.
fn mark(text: &str) -> Option<(NodeId, &str)> {
    let (digits, after) = text.strip_prefix('{')?.split_once('}')?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let index: u32 = digits.parse().ok().filter(|&index| plain && index < u32::MAX)?;
    Some((NodeId(index), after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testkit::refuses;

    #[test]
    fn nodes_have_numbers_and_coordinators_a_c() {
        let names = Names::new(5, 3);
        for (text, index) in [("1", 0), ("5", 4), ("c1", 5), ("c3", 7)] {
            let node = NodeId(index);
            assert_eq!(names.node("--crash", text), Ok(node));
            assert_eq!(names.name(node), text);
        }
        refuses("--x", |text| names.node("--x", text), &["6", "c4", "01", "+1", "C1", "c"]);
    }

    #[test]
    fn the_application_has_a_name_of_its_own() {
        let names = Names { application: true, ..Names::new(3, 1) };
        assert_eq!(names.node("--crash", "app"), Ok(NodeId(3)));
        assert_eq!((names.name(NodeId(3)), names.name(NodeId(0))), ("app".into(), "1".into()));
        refuses("--x", |text| names.node("--x", text), &["c1", "4"]);
    }

    #[test]
    fn labels_take_the_place_of_numbers() {
        let labels = ids("3, 17,24", 3).expect("three labels");
        let names = Names { labels, ..Names::new(3, 1) };
        assert_eq!(names.node("--crash", "17"), Ok(NodeId(1)));
        assert_eq!(names.node("--crash", "c1"), Ok(NodeId(3)));
        assert_eq!(names.name(NodeId(2)), "24");
        let error = names.node("--crash", "2").expect_err("2 is no label").to_string();
        assert_eq!(error, "--crash 2: nodes are 3, 17, 24 and c1 to c1");
    }

    #[test]
    fn labels_are_distinct_plain_and_as_many_as_nodes() {
        let wrong = ["1,2", "1,2,2", "c1,2,3", "1,2,", "a b,c,d", "1,2,3,4", "a/b,c,d", "{0},1,2"];
        refuses("--ids", |text| ids(text, 3), &wrong);
        assert!(ids("ç,é,cat", 3).is_ok());
    }

    #[test]
    fn marks_become_names_and_other_braces_stay() {
        let names = Names { labels: vec!["a".into(), "b".into()], ..Names::new(2, 1) };
        let text = "{0} sends REQUEST { time: 3 } to {1}, {2} {x} {} {99999999999} {";
        let told = "a sends REQUEST { time: 3 } to b, c1 {x} {} {99999999999} {";
        assert_eq!(names.tell(text), told);
        assert_eq!(names.tell("{4294967295} {7} {é"), "{4294967295} 8 {é");
    }
}
