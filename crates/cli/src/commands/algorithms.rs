//! `conclave algorithms`: the catalogue, or one entry in full.

use crate::failure::Exit;
use crate::output::{entry, json, print};
use conclave_algorithms::catalog;

/// The catalogue: what each algorithm costs and promises; or one entry in full
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  conclave algorithms\n  conclave algorithms maekawa")]
pub struct Algorithms {
    /// The algorithm to show in full
    #[arg(value_name = "ID")]
    id: Option<String>,
    /// Print JSON: a list, or one object
    #[arg(long)]
    json: bool,
}

/// Prints the list or the entry.
pub fn run(arguments: &Algorithms) -> anyhow::Result<Exit> {
    let text = match &arguments.id {
        None if arguments.json => {
            let all: Vec<_> = catalog::ENTRIES.iter().copied().map(json::Entry::of).collect();
            json::pretty(&all)?
        }
        None => entry::list(),
        Some(id) if arguments.json => json::pretty(&json::Entry::of(catalog::find(id)?))?,
        Some(id) => entry::in_full(catalog::find(id)?),
    };
    print(&text)?;
    Ok(Exit::Done)
}
