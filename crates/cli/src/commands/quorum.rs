//! `conclave quorum`: how likely two are let in when coordinators forget.

use crate::failure::{Exit, Usage};
use crate::output::bar::Bar;
use crate::output::{self, dim};
use crate::quorum::{plot, report};
use crate::written::{self, Readers};
use anyhow::Context;
use conclave_lab::quorum::{Case, estimate};
use std::path::{Path, PathBuf};

/// More than this would take long to add up.
const COORDINATORS_MAX: u32 = 10_000;
const RUNS_MAX: u64 = 1_000_000_000;
/// Each window is a run with so many coordinators.
const COORDINATORS_RUN: u32 = 1_000;

/// How likely a quorum lets in two, when coordinators forget what they granted
///
/// Each of n coordinators grants by itself and a client enters with m grants. Any two sets of m
/// share some coordinators, which keep the second client out, unless they restart without their
/// memory while the first is inside.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave quorum --coordinators 32 --votes 24 --probability 1e-4\n  \
    conclave quorum -n 7 -m 4 -p 0.1 --monte-carlo 100000\n  \
    conclave quorum -n 32 -m 24 --plot overlap.svg")]
pub struct Quorum {
    /// How many coordinators there are
    #[arg(short = 'n', long, value_name = "N", default_value_t = 32, value_parser = coordinators)]
    coordinators: u32,
    /// How many of their grants let a client in [default: three quarters of N]
    #[arg(short = 'm', long, value_name = "M", value_parser = coordinators)]
    votes: Option<u32>,
    /// The probability that a coordinator forgets while somebody is inside
    #[arg(short, long, value_name = "P", default_value = "1e-4", value_parser = probability)]
    probability: f64,
    /// Also run the real algorithm so often, each time with other coordinators forgetting
    #[arg(long, value_name = "RUNS", value_parser = runs)]
    monte_carlo: Option<u64>,
    /// The seed of the first of these runs
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    /// Draw the two sets, and the probability over the votes
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Calculates, and prints or draws.
pub fn run(arguments: &Quorum) -> anyhow::Result<Exit> {
    let case = arguments.case()?;
    if let Some(file) = &arguments.plot {
        draw(case, file)?;
    }
    let estimate = match arguments.monte_carlo {
        Some(_) if case.coordinators > COORDINATORS_RUN => {
            let accepted = format!("with --monte-carlo, takes at most {COORDINATORS_RUN}");
            return Err(Usage::flag("--coordinators", case.coordinators, accepted).into());
        }
        Some(runs) => {
            let bar = Bar::new();
            Some(estimate(case, runs, arguments.seed, &bar.progress())?)
        }
        None => None,
    };
    let mut told = if arguments.json {
        output::json::pretty(&report::Report::of(case, estimate))?
    } else {
        report::text(case, estimate)
    };
    if let Some(file) = arguments.plot.as_ref().filter(|_| !arguments.json) {
        told += &dim(format!("\ndrawn into {}\n", file.display()));
    }
    output::print(&told)?;
    Ok(Exit::Done)
}

fn draw(case: Case, file: &Path) -> anyhow::Result<()> {
    let is_svg = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("svg"));
    if !is_svg {
        return Err(Usage::flag("--plot", file.display(), "takes a file name with .svg").into());
    }
    let svg = plot::svg(case)?;
    written::write(file, &svg, Readers::Anybody)
        .with_context(|| format!("--plot {}", file.display()))
}

impl Quorum {
    fn case(&self) -> Result<Case, Usage> {
        let n = self.coordinators;
        let votes = self.votes.unwrap_or((3 * n).div_ceil(4));
        let least = n / 2 + 1;
        if !(least..=n).contains(&votes) {
            let accepted = format!(
                "takes {least} to {n}, more than half of the {n} coordinators: smaller sets need \
                 not meet"
            );
            return Err(Usage::flag("--votes", votes, accepted));
        }
        Ok(Case { coordinators: n, votes, probability: self.probability })
    }
}

fn coordinators(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=COORDINATORS_MAX).contains(number));
    number.ok_or_else(|| format!("takes a whole number from 1 to {COORDINATORS_MAX}"))
}

fn probability(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "takes a probability from 0 to 1".to_string())
}

fn runs(text: &str) -> Result<u64, String> {
    let number = text.parse().ok().filter(|number| (1..=RUNS_MAX).contains(number));
    number.ok_or_else(|| format!("takes a whole number from 1 to {RUNS_MAX}"))
}
