//! What all clients of a cluster are told: where its nodes are, whom to trust, and who asks.

use crate::failure::Usage;
use crate::secrets::no_secret;
use crate::{local, output};
use anyhow::Context;
use conclave_client::{Builder, Client, Error};
use std::path::PathBuf;

/// Flags that all clients have; an environment variable stands in for each.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Connection {
    /// Where the nodes are; without, CONCLAVE_SERVER or the cluster on this machine
    #[arg(long, value_name = "URL,…")]
    server: Option<String>,
    /// The certificate of the authority that signed those of the nodes' APIs; without, CONCLAVE_CA
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// A certificate that says who this is; without, CONCLAVE_CERT
    #[arg(long, value_name = "FILE")]
    cert: Option<PathBuf>,
    /// The key that belongs to it; without, CONCLAVE_KEY
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// A file with the token that says who this is; without, CONCLAVE_TOKEN_FILE
    #[arg(long, value_name = "FILE")]
    token_file: Option<PathBuf>,
}

impl Connection {
    /// A client of the servers that were named, or of the cluster on this machine.
    pub fn client(&self) -> anyhow::Result<Client> {
        self.client_with(None)
    }

    /// The same; this token, if there is one, is shown instead of any other.
    pub fn client_with(&self, token: Option<&str>) -> anyhow::Result<Client> {
        let named = self.server.clone().or_else(|| {
            std::env::var("CONCLAVE_SERVER").ok().filter(|servers| !servers.is_empty())
        });
        let servers: Vec<String> = match &named {
            Some(named) => named.split(',').map(|server| server.trim().to_string()).collect(),
            None => local_servers()?,
        };
        let mut builder = Client::builder().servers(&servers);
        let with = |file: &Option<PathBuf>, variable: &str| file.clone().or_else(|| set(variable));
        if let Some(file) = with(&self.ca, "CONCLAVE_CA") {
            builder = builder.ca_file(file);
        }
        if let Some(file) = with(&self.cert, "CONCLAVE_CERT") {
            builder = builder.certificate_file(file);
        }
        if let Some(file) = with(&self.key, "CONCLAVE_KEY") {
            no_secret("--key", &file).iter().for_each(|warning| output::warn(warning));
            builder = builder.key_file(file);
        }
        builder = match (token, with(&self.token_file, "CONCLAVE_TOKEN_FILE")) {
            (Some(token), _) => builder.token(token),
            (None, Some(file)) => {
                no_secret("--token-file", &file).iter().for_each(|warning| output::warn(warning));
                builder.token_file(file)
            }
            (None, None) => builder,
        };
        made(builder, named.is_some())
    }
}

fn made(builder: Builder, named: bool) -> anyhow::Result<Client> {
    builder.build().map_err(|error| match &error {
        Error::BadServer { .. } if named => Usage(format!("--server {error}")).into(),
        Error::BadCredentials(words) if words.ends_with("(ca) is missing") => {
            Usage(format!("--ca: is missing; {words}")).into()
        }
        Error::BadCredentials(words) => Usage(words.clone()).into(),
        Error::BadServer { .. }
        | Error::PlainToken { .. }
        | Error::Untrusted { .. }
        | Error::Unreachable(_)
        | Error::Refused { .. }
        | Error::Foreign { .. }
        | Error::OtherCluster { .. }
        | Error::Lost(_) => error.into(),
    })
}

/// What an environment variable names, unless it is empty.
pub fn set(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable).filter(|path| !path.is_empty()).map(PathBuf::from)
}

fn local_servers() -> anyhow::Result<Vec<String>> {
    let elsewhere = "--server URL,… or CONCLAVE_SERVER names another";
    let found = local::servers()
        .with_context(|| format!("a cluster on this machine cannot be found: {elsewhere}"))?;
    found.with_context(|| {
        format!("no cluster runs on this machine: 'conclave up' starts one, {elsewhere}")
    })
}
