//! `conclave check`: every run of an algorithm within bounds.

mod all;
mod bounds;
mod values;

use crate::drawing::Drawing;
use crate::failure::Exit;
use crate::output::check::{Checked, Retelling};
use crate::output::numbers::{count, rate};
use crate::output::{self, json};
use crate::texts::remark;
use conclave_check::{Progress, Report};
use conclave_core::{Network, Timing, Verdict};
use conclave_lab::Error;
use conclave_lab::sim_flags::{flag, many, one};
use conclave_sim::trace::Trace;
use indicatif::{ProgressBar, ProgressStyle};
use std::num::NonZeroUsize;
use std::time::Instant;
use values::Times;

/// Every run of an algorithm within bounds: what holds, and the story of what does not
#[derive(Debug, clap::Args)]
#[command(after_help = "What is not said is as the catalogue has it for the algorithm.\n\n\
    Examples:\n  \
    conclave check ricart-agrawala\n  \
    conclave check lamport --nodes 2 --network bag\n  \
    conclave check ricart-agrawala --without A2 --trace story.svg\n  \
    conclave check central --set busy=try --requests unlimited --timeouts unlimited\n  \
    conclave check --all")]
pub struct Check {
    /// The algorithm; 'conclave algorithms' lists them
    #[arg(
        value_name = "ID",
        required_unless_present = "all",
        default_value = "",
        hide_default_value = true
    )]
    id: String,
    /// Every claim of the catalogue instead: what holds, and what must be found broken
    #[arg(long, conflicts_with_all = ["id", "trace", "frames", "nodes", "ids", "set", "start",
        "without", "requests", "timeouts", "cancels", "stays", "network", "in_flight", "timers",
        "crashes", "restarts", "amnesia", "losses", "duplicates", "suspicions", "lasting",
        "properties"])]
    all: bool,
    /// How many nodes want to enter, or to lead [default: 3, or what shows the harm of --without]
    #[arg(long, value_name = "N", value_parser = values::nodes, help_heading = "Setting")]
    nodes: Option<u32>,
    /// Other names for the nodes, in order
    #[arg(long, value_name = "ID,…", help_heading = "Setting")]
    ids: Option<String>,
    /// A parameter of the algorithm; may be repeated
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Setting")]
    set: Vec<String>,
    /// Who calls for an election: any, together, or these
    #[arg(long, value_name = "any|together|ID,…", help_heading = "Setting")]
    start: Option<String>,
    /// Drop one of the assumptions of the algorithm, within bounds that show what comes of it
    #[arg(long, value_name = "A2", help_heading = "Setting")]
    without: Option<String>,

    /// How often each node asks
    #[arg(long, value_name = "K|unlimited", value_parser = values::times, help_heading = "Bounds")]
    requests: Option<Times>,
    /// How often timers fire on each node
    #[arg(long, value_name = "K|unlimited", value_parser = values::times, help_heading = "Bounds")]
    timeouts: Option<Times>,
    /// How often somebody who waits withdraws
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Bounds")]
    cancels: Option<u32>,
    /// Whoever is inside may stay there for ever
    #[arg(long, help_heading = "Bounds")]
    stays: bool,
    /// How messages of one link arrive: in the order sent, or in any
    #[arg(long, value_name = "fifo|bag", value_parser = values::network, help_heading = "Bounds")]
    network: Option<Network>,
    /// How many messages are under way on one link at a time; runs with more are left out
    #[arg(long, value_name = "K", value_parser = values::some, help_heading = "Bounds")]
    in_flight: Option<u32>,
    /// When timers fire: at any moment, or only when nothing is under way
    #[arg(long, value_name = "any|synchronous", value_parser = values::timing,
        help_heading = "Bounds")]
    timers: Option<Timing>,

    /// How many nodes crash
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Faults")]
    crashes: Option<u32>,
    /// How often a node comes back with its disk
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Faults")]
    restarts: Option<u32>,
    /// How often a node comes back without its disk
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Faults")]
    amnesia: Option<u32>,
    /// How many messages are lost
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Faults")]
    losses: Option<u32>,
    /// How many messages arrive once more
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Faults")]
    duplicates: Option<u32>,
    /// How often a detector is wrong
    #[arg(long, value_name = "K", value_parser = values::small, help_heading = "Faults")]
    suspicions: Option<u32>,
    /// Whoever is wrongly suspected may stay so for ever
    #[arg(long, help_heading = "Faults")]
    lasting: bool,

    /// The promises that matter, such as S1,V1 [default: all that can be looked at]
    #[arg(long, value_name = "S1,…", help_heading = "Search")]
    properties: Option<String>,
    /// How many moves a run has at most
    #[arg(long, value_name = "K", value_parser = values::depth, help_heading = "Search")]
    depth: Option<u32>,
    /// How many different states are looked at, at most [default: 50M]
    #[arg(long, value_name = "K", value_parser = values::states, help_heading = "Search")]
    max_states: Option<u64>,
    /// How much memory is taken, at most [default: 8GiB]
    #[arg(long, value_name = "SIZE", value_parser = values::memory, help_heading = "Search")]
    memory: Option<u64>,
    /// On how many threads [default: all cores]
    #[arg(long, value_name = "K", value_parser = values::threads, help_heading = "Search")]
    threads: Option<NonZeroUsize>,
    /// Look at moves that can be exchanged in every order
    #[arg(long, help_heading = "Search")]
    no_partial_order: bool,
    /// Tell nodes apart that can be exchanged
    #[arg(long, help_heading = "Search")]
    no_symmetry: bool,
    /// Look at everything: neither of the two
    #[arg(long, help_heading = "Search")]
    no_reduction: bool,

    #[command(flatten)]
    drawing: Drawing,
    /// Print one JSON object
    #[arg(long, help_heading = "Run")]
    json: bool,
}

/// Looks at every run, tells what was found, draws the story of what is broken.
pub fn run(arguments: &Check) -> anyhow::Result<Exit> {
    if arguments.all {
        return all::run(arguments);
    }
    let experiment = arguments.experiment()?;
    let bounds = arguments.bounds(&experiment)?;
    let limits = arguments.limits(&experiment)?;
    arguments.drawing.vet(false)?;
    let report = search(|progress| experiment.check(&bounds, &limits, progress))?;
    let stories = report.stories.iter().map(|story| Retelling::of(&experiment, story));
    let stories = stories.collect::<anyhow::Result<Vec<_>>>()?;
    let dropped = arguments.dropped(experiment.setting.entry)?;
    let checked = Checked { experiment: &experiment, bounds, limits, dropped, report, stories };
    output::print(&match arguments.json {
        true => json::pretty(&checked.json()?)?,
        false => checked.text(),
    })?;
    draw(arguments, &checked)?;
    Ok(exit(&checked))
}

/// Shows on stderr how far the search is.
fn search(
    check: impl FnOnce(&(dyn Fn(Progress) + Sync)) -> Result<Report, Error>,
) -> anyhow::Result<Report> {
    let bar = ProgressBar::new_spinner();
    bar.set_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let begun = Instant::now();
    let report = check(&|progress: Progress| {
        let Progress { unique_states, frontier, depth } = progress;
        let speed = rate(unique_states as f64 / begun.elapsed().as_secs_f64().max(1e-9));
        let [states, frontier] = [unique_states, frontier].map(count);
        let told = format!("{states} states, {speed}/s, frontier {frontier} after {depth} moves");
        bar.set_message(remark(&told).into_owned());
        bar.tick();
    });
    bar.finish_and_clear();
    Ok(report?)
}

/// Draws the story that matters most.
fn draw(arguments: &Check, checked: &Checked<'_>) -> anyhow::Result<()> {
    if !arguments.drawing.is_wanted() {
        return Ok(());
    }
    let Some(worst) = checked.worst() else {
        output::note("nothing was drawn: there is no story to tell");
        return Ok(());
    };
    let nodes = checked.experiment.setting.n;
    let header = checked.experiment.header(arguments.command(nodes));
    let trace = Trace { header, records: worst.retold.records.clone() };
    arguments.drawing.write(checked.experiment, &trace)
}

/// What was asked for by name and not looked at is not known either.
fn exit(checked: &Checked<'_>) -> Exit {
    let any = |wanted| checked.verdicts().iter().any(|(_, verdict)| *verdict == wanted);
    let named = !checked.limits.properties.is_empty();
    if any(Verdict::Violated) {
        Exit::Violated
    } else if !checked.report.is_complete()
        || any(Verdict::Unknown)
        || named && any(Verdict::NotChecked)
    {
        Exit::Incomplete
    } else {
        Exit::Done
    }
}

impl Check {
    /// Whether more is looked at than would be needed.
    fn spares_nothing(&self) -> bool {
        self.no_partial_order || self.no_symmetry || self.no_reduction
    }

    /// The command that finds the same again.
    fn command(&self, nodes: u32) -> String {
        let mut typed = vec![format!("conclave check {} --nodes {nodes}", self.id)];
        one(&mut typed, "--ids", &self.ids);
        many(&mut typed, "--set", &self.set);
        one(&mut typed, "--start", &self.start);
        one(&mut typed, "--without", &self.without);
        one(&mut typed, "--requests", &self.requests);
        one(&mut typed, "--timeouts", &self.timeouts);
        one(&mut typed, "--cancels", &self.cancels);
        flag(&mut typed, "--stays", self.stays);
        one(&mut typed, "--network", &self.network.map(values::network_name));
        one(&mut typed, "--in-flight", &self.in_flight);
        one(&mut typed, "--timers", &self.timers.map(values::timing_name));
        one(&mut typed, "--crashes", &self.crashes);
        one(&mut typed, "--restarts", &self.restarts);
        one(&mut typed, "--amnesia", &self.amnesia);
        one(&mut typed, "--losses", &self.losses);
        one(&mut typed, "--duplicates", &self.duplicates);
        one(&mut typed, "--suspicions", &self.suspicions);
        flag(&mut typed, "--lasting", self.lasting);
        one(&mut typed, "--properties", &self.properties);
        one(&mut typed, "--depth", &self.depth);
        one(&mut typed, "--max-states", &self.max_states);
        flag(&mut typed, "--no-partial-order", self.no_partial_order);
        flag(&mut typed, "--no-symmetry", self.no_symmetry);
        flag(&mut typed, "--no-reduction", self.no_reduction);
        typed.join(" ")
    }
}
