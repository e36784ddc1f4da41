//! `conclave compare`: every algorithm side by side.

use crate::compare::{elections as shown, json, matrix, plot, table, words};
use crate::failure::{Exit, Usage};
use crate::output::bar::Bar;
use crate::output::{self, dim};
use anyhow::Context;
use conclave_algorithms::catalog::{self, Entry, Family};
use conclave_lab::compare::{Omitted, elections, faults, measure};
use std::path::{Path, PathBuf};

const NODES_DEFAULT: &[u32] = &[7];
const NODES_PLOTTED: &[u32] = &[2, 4, 8, 16, 32, 64, 128];
/// More nodes than this would not fit into an ordinary machine.
const NODES_MAX: u32 = 1_000_000;
/// Faults are tried in clusters in which somebody can crash and the others still compete.
const NODES_FAULTS: std::ops::RangeInclusive<u32> = 4..=15;

/// Every mutex, or election, side by side: measured beside formula, plotted, or under faults
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave compare\n  \
    conclave compare --algorithms lamport,ricart-agrawala,maekawa --nodes 4,16,64\n  \
    conclave compare --plot costs.svg\n  \
    conclave compare --family election --nodes 5,8,16\n  \
    conclave compare --faults")]
pub struct Compare {
    /// Only these algorithms
    #[arg(long, value_name = "ID,…", value_delimiter = ',')]
    algorithms: Vec<String>,
    /// Which question they answer: mutex or election
    #[arg(long, value_name = "NAME", default_value = "mutex", value_parser = family)]
    family: Family,
    /// How many nodes want to enter [default: 7; with --plot 2,4,8,16,32,64,128]
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = nodes)]
    nodes: Vec<u32>,
    /// What crashes, losses, partitions and forgetting do to each, from runs
    #[arg(long)]
    faults: bool,
    /// Draw messages, delays and fairness over the number of nodes
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["faults", "json"])]
    plot: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Measures, and prints or draws.
pub fn run(arguments: &Compare) -> anyhow::Result<Exit> {
    let entries = arguments.entries()?;
    if arguments.family == Family::Election {
        return compare_elections(arguments, &entries);
    }
    if arguments.faults {
        return try_faults(arguments, &entries);
    }
    if let Some(file) = &arguments.plot {
        return draw(file, &entries, &arguments.nodes_or(NODES_PLOTTED));
    }
    let nodes = arguments.nodes_or(NODES_DEFAULT);
    let measured = measure::all(&entries, &nodes, &Bar::new().progress())?;
    output::print(&if arguments.json {
        output::json::pretty(&json::Comparison::of(&measured))?
    } else {
        table::text(&measured)
    })?;
    Ok(Exit::Done)
}

fn compare_elections(arguments: &Compare, entries: &[&'static Entry]) -> anyhow::Result<Exit> {
    if arguments.faults {
        return Err(Usage("--faults: tries mutual exclusion only".to_string()).into());
    }
    let default = if arguments.plot.is_some() { NODES_PLOTTED } else { NODES_DEFAULT };
    let measured = elections::all(entries, &arguments.nodes_or(default), &Bar::new().progress())?;
    if let Some(file) = &arguments.plot {
        vet(file)?;
        return write(file, &plot::elections(&measured.points)?, entries, &measured.omitted);
    }
    output::print(&if arguments.json {
        output::json::pretty(&shown::json::Comparison::of(&measured))?
    } else {
        shown::table::text(&measured)
    })?;
    Ok(Exit::Done)
}

fn draw(file: &Path, entries: &[&'static Entry], nodes: &[u32]) -> anyhow::Result<Exit> {
    vet(file)?;
    let measured = measure::all(entries, nodes, &Bar::new().progress())?;
    write(file, &plot::svg(&measured.points)?, entries, &measured.omitted)
}

fn vet(file: &Path) -> Result<(), Usage> {
    let is_svg = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    match is_svg {
        true => Ok(()),
        false => Err(Usage::flag("--plot", file.display(), "takes a file name with .svg")),
    }
}

fn write(
    file: &Path,
    svg: &str,
    entries: &[&'static Entry],
    omitted: &[Omitted],
) -> anyhow::Result<Exit> {
    std::fs::write(file, svg).with_context(|| format!("--plot {}", file.display()))?;
    let mut told = format!("{} algorithms over N, drawn into {}\n", entries.len(), file.display());
    for one in omitted {
        told += &format!("without {}, N = {}: {}\n", one.entry.id, one.nodes, words::why(&one.why));
    }
    output::print(&dim(told))?;
    Ok(Exit::Done)
}

fn try_faults(arguments: &Compare, entries: &[&'static Entry]) -> anyhow::Result<Exit> {
    let n = match arguments.nodes_or(NODES_DEFAULT)[..] {
        [n] if NODES_FAULTS.contains(&n) => n,
        [n] => {
            let min = NODES_FAULTS.start();
            let max = NODES_FAULTS.end();
            let accepted = format!("with --faults, takes a number from {min} to {max}");
            return Err(Usage::flag("--nodes", n, accepted).into());
        }
        [..] => {
            let all: Vec<String> = arguments.nodes.iter().map(u32::to_string).collect();
            return Err(
                Usage::flag("--nodes", all.join(","), "with --faults, takes one number").into()
            );
        }
    };
    let cells = faults::all(entries, n, &Bar::new().progress())?;
    output::print(&if arguments.json {
        output::json::pretty(&matrix::Cells::of(&cells))?
    } else {
        matrix::text(entries, &cells, n)
    })?;
    Ok(Exit::Done)
}

impl Compare {
    /// What to compare, in the catalogue's order.
    fn entries(&self) -> anyhow::Result<Vec<&'static Entry>> {
        let wanted: Vec<&'static Entry> =
            self.algorithms.iter().map(|id| catalog::find(id)).collect::<Result<_, _>>()?;
        if let Some(other) = wanted.iter().find(|entry| entry.family != self.family) {
            let family = other.family.name();
            let asked = self.family.name();
            let accepted = format!("belongs to --family {family}, not {asked}");
            return Err(Usage::flag("--algorithms", other.id, accepted).into());
        }
        let all = catalog::ENTRIES.iter().copied().filter(|entry| entry.family == self.family);
        Ok(all
            .filter(|entry| wanted.is_empty() || wanted.iter().any(|one| one.id == entry.id))
            .collect())
    }

    /// How many nodes, each number once, the smallest first.
    fn nodes_or(&self, default: &[u32]) -> Vec<u32> {
        let mut nodes = if self.nodes.is_empty() { default.to_vec() } else { self.nodes.clone() };
        nodes.sort_unstable();
        nodes.dedup();
        nodes
    }
}

fn family(text: &str) -> Result<Family, String> {
    match text {
        "mutex" => Ok(Family::Mutex),
        "election" => Ok(Family::Election),
        _ => Err("takes mutex or election".to_string()),
    }
}

fn nodes(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|nodes| (1..=NODES_MAX).contains(nodes));
    number.ok_or_else(|| format!("takes whole numbers from 1 to {NODES_MAX}, as in 2,4,8"))
}
