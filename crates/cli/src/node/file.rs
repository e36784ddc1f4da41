//! `conclave.toml`: the same as the flags of `conclave node`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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
    /// How much to log.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log: Option<String>,
    /// Parameters, named as for `--set`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub set: BTreeMap<String, toml::Value>,
    /// Certificates for the links.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
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
    /// Reads the text of a file, or says in which line it is wrong.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error: toml::de::Error| {
            let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {}", error.message().replace('\n', " "))
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_the_documents_can_be_read() {
        let text = include_str!("../../../../deploy/conclave.toml");
        let file = File::parse(text).unwrap();
        assert_eq!(file.nodes.len(), 3);
        let written = toml::to_string(&file).unwrap();
        assert_eq!(File::parse(&written), Ok(file));
    }

    #[test]
    fn a_mistake_is_found_by_its_line() {
        let error = File::parse("cluster = \"a\"\nid = \"one\"\n").unwrap_err();
        assert!(error.starts_with("line 2: "), "{error}");
        let error = File::parse("id = 1\n\nengin = \"central\"\n").unwrap_err();
        assert!(error.starts_with("line 3: unknown field `engin`"), "{error}");
    }
}
