//! `conclave token`: a fresh token, and its lines for the file of tokens.

use crate::failure::{Exit, Usage};
use crate::output::print;
use anyhow::Context;
use conclave_net::Fingerprint;
use rustix::rand::{GetRandomFlags, getrandom};
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

/// Makes a token for somebody who may use the API, and prints its lines for the file of tokens
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The token goes into a file of its own, for whoever is to use it. What is printed has a hash of it\n\
alone, and goes into the file that nodes are given with --tokens. A name begins like a prefix or\n\
it does not: end prefixes with / to mean all below. An empty prefix is that of all names.\n\n\
Examples:\n  \
    conclave token ci --acquire builds/ --out ci.token >> tokens.toml\n  \
    conclave token monitoring --metrics --out monitoring.token >> tokens.toml\n  \
    conclave token operator --admin '' --out operator.token >> tokens.toml")]
pub struct Token {
    /// Whose it is, for lists and the audit log
    #[arg(value_name = "NAME")]
    name: String,
    /// The file to write the token to; one that is there is not overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// See names that begin like this
    #[arg(long, value_name = "PREFIX,…", value_delimiter = ',')]
    read: Vec<String>,
    /// See, hold, lead and write values of names that begin like this
    #[arg(long, value_name = "PREFIX,…", value_delimiter = ',')]
    acquire: Vec<String>,
    /// All of that, and use force, for names that begin like this; with '' also change the members
    #[arg(long, value_name = "PREFIX,…", value_delimiter = ',')]
    admin: Vec<String>,
    /// Read /metrics
    #[arg(long)]
    metrics: bool,
}

/// Draws, writes, prints.
pub fn run(arguments: &Token) -> anyhow::Result<Exit> {
    let mut drawn = [0; 32];
    let filled = getrandom(&mut drawn[..], GetRandomFlags::empty())?;
    anyhow::ensure!(filled == drawn.len(), "the system has no random numbers");
    let token: String = drawn.iter().map(|byte| format!("{byte:02x}")).collect();
    let hash = Fingerprint::sha_256(token.as_bytes()).context("there is no SHA-256")?;
    let entry = entry(arguments, &hash.to_string());
    conclave_service::tokens::check(&entry).map_err(Usage)?;
    let path = arguments.out.display();
    let options = OpenOptions::new().write(true).create_new(true).mode(0o600).clone();
    let file = options.open(&arguments.out).with_context(|| format!("--out {path}"))?;
    let written = writeln!(&file, "{token}").and_then(|()| file.sync_all());
    written.with_context(|| format!("--out {path}"))?;
    print(&entry)?;
    Ok(Exit::Done)
}

fn entry(arguments: &Token, hash: &str) -> String {
    let Token { name, read, acquire, admin, metrics, .. } = arguments;
    let mut text = format!("[[principals]]\nname = {name:?}\ntoken_sha256 = \"{hash}\"\n");
    for (right, prefixes) in [("read", read), ("acquire", acquire), ("admin", admin)] {
        if !prefixes.is_empty() {
            text += &format!("{right} = {prefixes:?}\n");
        }
    }
    if *metrics {
        text += "metrics = true\n";
    }
    text + "\n"
}
