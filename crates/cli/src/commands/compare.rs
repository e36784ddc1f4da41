//! `conclave compare`: every algorithm side by side.

use crate::commands::sim::plan::{probability, seeds};
use crate::compare::{csv, elections as shown, json, matrix, plot, table, words};
use crate::failure::{Exit, Usage};
use crate::output::bar::Bar;
use crate::output::{self, dim};
use crate::written::{self, Readers};
use anyhow::Context;
use conclave_algorithms::catalog::{self, Entry, Family};
use conclave_lab::compare::{Conditions, Omitted, elections, faults, measure};
use std::path::{Path, PathBuf};

const NODES_DEFAULT: &[u32] = &[7];
const NODES_PLOTTED: &[u32] = &[2, 4, 8, 16, 32, 64, 128];
/// More nodes than this would not fit into an ordinary machine.
const NODES_MAX: u32 = 1_000_000;
/// Faults are tried in clusters in which somebody can crash and the others still compete.
const NODES_FAULTS: std::ops::RangeInclusive<u32> = 4..=31;

/// Every mutex, or election, side by side: measured beside formula, plotted, or under faults
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave compare\n  \
    conclave compare --algorithms lamport,ricart-agrawala,maekawa --nodes 4,16,64\n  \
    conclave compare --plot costs.svg\n  \
    conclave compare --family election --nodes 5,8,16\n  \
    conclave compare --latency exp:1 --loss 0.01 --seeds 30 --csv\n  \
    conclave compare --algorithms voting,quorum --set coordinators=3\n  \
    conclave compare --faults\n  \
    conclave compare --family election --faults --nodes 4,7")]
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
    /// Parameters of the algorithms, set where one has them
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Under how many seeds; means come with their 95 % interval, by Student's t [default: 1; 10
    /// with --latency, --workload or --loss]
    #[arg(long, value_name = "K", value_parser = seeds)]
    seeds: Option<u64>,
    /// How long messages take, as 'conclave sim' has it; unit unless said otherwise
    #[arg(long, value_name = "unit|const:T|uniform:A..B|exp:MEAN|…")]
    latency: Option<String>,
    /// Who asks when, as 'conclave sim' has it, instead of all at once
    #[arg(long, value_name = "all-at-once|closed:THINK|poisson:RATE|…")]
    workload: Option<String>,
    /// The probability that a message is lost
    #[arg(long, value_name = "P", value_parser = probability)]
    loss: Option<f64>,
    /// What crashes, losses, partitions and forgetting do to each, from runs
    #[arg(long, conflicts_with_all = ["seeds", "latency", "workload", "loss", "csv"])]
    faults: bool,
    /// Draw messages, delays and fairness over the number of nodes
    #[arg(long, value_name = "FILE.svg", conflicts_with_all = ["faults", "json", "csv"])]
    plot: Option<PathBuf>,
    /// Print comma-separated values
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Measures, and prints or draws.
pub fn run(arguments: &Compare) -> anyhow::Result<Exit> {
    let entries = arguments.entries()?;
    let conditions = arguments.conditions();
    conditions.vet(&entries)?;
    if arguments.faults {
        return try_faults(arguments, &entries, &conditions);
    }
    match arguments.family == Family::Election {
        true => compare_elections(arguments, &entries, &conditions),
        false => compare_locks(arguments, &entries, &conditions),
    }
}

fn try_faults(
    arguments: &Compare,
    entries: &[&'static Entry],
    conditions: &Conditions,
) -> anyhow::Result<Exit> {
    let nodes = arguments.nodes_of_faults()?;
    let told = if arguments.family == Family::Election {
        let cells = faults::elections::all(entries, &nodes, conditions, &Bar::new().progress())?;
        match arguments.json {
            true => output::json::pretty(&shown::matrix::Cells::of(&cells))?,
            false => shown::matrix::text(&cells),
        }
    } else {
        let cells = faults::all(entries, &nodes, conditions, &Bar::new().progress())?;
        match arguments.json {
            true => output::json::pretty(&matrix::Cells::of(&cells))?,
            false => matrix::text(entries, &cells, &nodes),
        }
    };
    output::print(&told)?;
    Ok(Exit::Done)
}

fn compare_locks(
    arguments: &Compare,
    entries: &[&'static Entry],
    conditions: &Conditions,
) -> anyhow::Result<Exit> {
    let nodes = arguments.nodes_or_default()?;
    let measured = measure::all(entries, &nodes, conditions, &Bar::new().progress())?;
    if let Some(file) = &arguments.plot {
        return write(file, &plot::svg(&measured)?, entries, &measured.omitted);
    }
    output::print(&match (arguments.json, arguments.csv) {
        (true, _) => output::json::pretty(&json::Comparison::of(&measured))?,
        (_, true) => csv::locks(&measured),
        (_, _) => table::text(&measured),
    })?;
    Ok(Exit::Done)
}

fn compare_elections(
    arguments: &Compare,
    entries: &[&'static Entry],
    conditions: &Conditions,
) -> anyhow::Result<Exit> {
    if let Some(workload) = &arguments.workload {
        let accepted = "elections have no workload: one node begins, or all do";
        return Err(Usage::flag("--workload", workload, accepted).into());
    }
    let nodes = arguments.nodes_or_default()?;
    let measured = elections::all(entries, &nodes, conditions, &Bar::new().progress())?;
    if let Some(file) = &arguments.plot {
        return write(file, &plot::elections(&measured)?, entries, &measured.omitted);
    }
    output::print(&match (arguments.json, arguments.csv) {
        (true, _) => output::json::pretty(&shown::json::Comparison::of(&measured))?,
        (_, true) => csv::elections(&measured),
        (_, _) => shown::table::text(&measured),
    })?;
    Ok(Exit::Done)
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
    written::write(file, svg, Readers::Anybody)
        .with_context(|| format!("--plot {}", file.display()))?;
    let mut told = format!("{} algorithms over N, drawn into {}\n", entries.len(), file.display());
    for one in omitted {
        told += &format!("without {}, N = {}: {}\n", one.entry.id, one.nodes, words::why(&one.why));
    }
    output::print(&dim(told))?;
    Ok(Exit::Done)
}

impl Compare {
    fn conditions(&self) -> Conditions {
        Conditions {
            set: self.set.clone(),
            latency: self.latency.clone(),
            workload: self.workload.clone(),
            loss: self.loss.unwrap_or_default(),
            seeds: self.seeds,
        }
    }

    /// How many nodes are measured; a file that cannot be drawn into is refused first.
    fn nodes_or_default(&self) -> Result<Vec<u32>, Usage> {
        self.plot.as_deref().map(vet).transpose()?;
        let default = if self.plot.is_some() { NODES_PLOTTED } else { NODES_DEFAULT };
        Ok(self.nodes_or(default))
    }

    /// How many nodes are hit by faults.
    fn nodes_of_faults(&self) -> Result<Vec<u32>, Usage> {
        let nodes = self.nodes_or(NODES_DEFAULT);
        match nodes.iter().find(|n| !NODES_FAULTS.contains(n)) {
            None => Ok(nodes),
            Some(n) => {
                let min = NODES_FAULTS.start();
                let max = NODES_FAULTS.end();
                let accepted = format!("with --faults, takes numbers from {min} to {max}");
                Err(Usage::flag("--nodes", n, accepted))
            }
        }
    }

    /// What to compare, in the catalogue's order.
    fn entries(&self) -> anyhow::Result<Vec<&'static Entry>> {
        let wanted: Vec<&'static Entry> =
            self.algorithms.iter().map(|id| catalog::find(id)).collect::<Result<_, _>>()?;
        if let Some(other) = wanted.iter().find(|entry| entry.family != self.family) {
            let family = other.family.name();
            let asked = self.family.name();
            let accepted = format!("is of --family {family}, not of --family {asked}");
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
