//! `conclave.toml`: the same as the flags of `conclave node`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// After so many mistakes no more are looked for: the file is read again for each of them.
const MISTAKES_MAX: usize = 20;

/// What the file may say. Everything can be said by a flag instead.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct File {
    /// The name of the cluster.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cluster: Option<String>,
    /// The number of this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u32>,
    /// Where it listens for other nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<String>,
    /// Where it serves its API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<String>,
    /// Where its disk is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub data: Option<String>,
    /// The lock algorithm.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The election.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub election: Option<String>,
    /// The failure detector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detector: Option<String>,
    /// Where to write down every event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<String>,
    /// A file with the token for the use of force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_token_file: Option<String>,
    /// A file that says who may do what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<String>,
    /// Where to write down who did what.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audit: Option<String>,
    /// Whether the API may be served beyond this machine without certificates and tokens.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub insecure: bool,
    /// Whether its page has the lab.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub lab: bool,
    /// How much to log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// How to log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_format: Option<String>,
    /// Certificates that are refused although the authority has signed them, by their fingerprints
    /// or those of their public keys.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    /// Parameters, named as for `--set`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, toml::Value>,
    /// Certificates for the links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
    /// Certificates for the API.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api: Option<ApiFiles>,
    /// All nodes, this one included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub nodes: Vec<Node>,
}

/// Certificates, as files in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// Of the authority.
    pub authority: Option<String>,
    /// Of this node.
    pub certificate: Option<String>,
    /// The key that belongs to it.
    pub key: Option<String>,
}

/// Certificates of the API, as files in PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiFiles {
    /// Of the authority; without, that of the links.
    pub authority: Option<String>,
    /// Of this node's API.
    pub certificate: Option<String>,
    /// The key that belongs to it.
    pub key: Option<String>,
    /// Whether clients must show a certificate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub require_certificate: bool,
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its number.
    pub id: u32,
    /// `host:port` of its links.
    pub peer: String,
    /// `host:port` of its API.
    pub api: String,
}

impl File {
    /// Reads the text of a file, as far as it can be read, and says in which lines it is wrong.
    pub fn parse(text: &str) -> (Self, Vec<String>) {
        let mut lines: Vec<&str> = text.lines().collect();
        let mut wrong: BTreeMap<usize, String> = BTreeMap::new();
        loop {
            let text = lines.join("\n");
            let error: toml::de::Error = match toml::from_str(&text) {
                Ok(file) => return (file, said(wrong)),
                Err(error) => error,
            };
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count();
            let words = error.message().replace('\n', " ");
            // What stands alone in its line is left out, to see what else is wrong.
            let alone = ["unknown field", "invalid type"].iter().any(|it| words.starts_with(it));
            wrong.insert(line, words);
            match lines.get_mut(line) {
                Some(line) if alone && !line.is_empty() => *line = "",
                Some(_) | None => return (Self::default(), said(wrong)),
            }
            if wrong.len() == MISTAKES_MAX {
                let mut said = said(wrong);
                said.push(format!(
                    "perhaps more: after {MISTAKES_MAX} mistakes no others are looked for"
                ));
                return (Self::default(), said);
            }
        }
    }

    /// The parameters as pairs of text.
    pub fn set(&self) -> Vec<(String, String)> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            toml::Value::Integer(_)
            | toml::Value::Float(_)
            | toml::Value::Boolean(_)
            | toml::Value::Datetime(_)
            | toml::Value::Array(_)
            | toml::Value::Table(_) => value.to_string(),
        };
        self.set.iter().map(|(name, value)| (name.clone(), text(value))).collect()
    }
}

/// Mistakes, each with its line, counted from 1.
fn said(wrong: BTreeMap<usize, String>) -> Vec<String> {
    wrong.iter().map(|(line, words)| format!("line {}: {words}", line + 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documents_can_be_read() {
        let text = include_str!("../../../../deploy/conclave.toml");
        let (file, wrong) = File::parse(text);
        assert!(wrong.is_empty(), "{wrong:?}");
        assert_eq!(file.nodes.len(), 3);
        let written = toml::to_string(&file).unwrap();
        assert_eq!(File::parse(&written), (file, Vec::new()));
    }

    #[test]
    fn a_mistake_is_found_by_its_line() {
        let text = "cluster = \"a\"\nid = \"one\"\n\nengin = \"central\"\nlog = \"info\"\n";
        let (file, wrong) = File::parse(text);
        assert_eq!(wrong.len(), 2, "{wrong:?}");
        assert_eq!((file.cluster.as_deref(), file.id), (Some("a"), None), "the rest is read");
        let mut wrong = wrong.iter();
        for begin in ["line 2: invalid type", "line 4: unknown field `engin`"] {
            assert!(wrong.any(|line| line.starts_with(begin)), "{begin}");
        }
        assert!(File::parse("id = = 1").1[0].starts_with("line 1: "));
        let (_, nameless) = File::parse("[[nodes]]\nid = 1\npeer = \"a:1\"\n");
        assert!(nameless[0].contains("missing field `api`"), "{nameless:?}");
    }
    #[test]
    fn a_file_with_nothing_but_mistakes_is_not_read_once_for_each() {
        let text: String = (0..1_000).map(|number| format!("wrong{number} = 1\n")).collect();
        let (file, wrong) = File::parse(&text);
        assert_eq!((file, wrong.len()), (File::default(), MISTAKES_MAX + 1));
        assert!(wrong[0].starts_with("line 1: unknown field `wrong0`"), "{}", wrong[0]);
        assert!(wrong[MISTAKES_MAX].starts_with("perhaps more"), "{}", wrong[MISTAKES_MAX]);
    }
}
