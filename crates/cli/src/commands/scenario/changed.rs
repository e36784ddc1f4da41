//! The flags of `conclave sim` that change what a scenario's file says.

use crate::commands::sim::plan::{probability, rounds, seed, ticks};
use conclave_core::Ticks;
use conclave_lab::scenarios::Changes;

/// Each replaces the field of that name in every run of the file.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Changes, after which nothing is judged")]
pub struct Changed {
    /// A parameter of the algorithm
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Where chance comes from
    #[arg(long, value_name = "S", value_parser = seed)]
    seed: Option<u64>,
    /// How often each client enters
    #[arg(long, value_name = "R", value_parser = rounds)]
    rounds: Option<u32>,
    /// How long a client stays inside
    #[arg(long, value_name = "T", value_parser = ticks)]
    cs: Option<Ticks>,
    /// Who asks when
    #[arg(long, value_name = "all-at-once|single:ID|closed:THINK|…")]
    workload: Option<String>,
    /// How long messages take
    #[arg(long, value_name = "unit|const:T|uniform:A..B|exp:MEAN|…")]
    latency: Option<String>,
    /// The probability that a message is lost
    #[arg(long, value_name = "P", value_parser = probability)]
    loss: Option<f64>,
    /// The probability that a message arrives twice
    #[arg(long, value_name = "P", value_parser = probability)]
    duplicate: Option<f64>,
    /// A node crashes
    #[arg(long, value_name = "ID@T")]
    crash: Vec<String>,
    /// A node comes back
    #[arg(long, value_name = "ID@T[:amnesia]")]
    restart: Vec<String>,
    /// A node stops for a while
    #[arg(long, value_name = "ID@T+D")]
    pause: Vec<String>,
    /// The network is cut
    #[arg(long, value_name = "1,2/3,4@T..T")]
    partition: Vec<String>,
    /// A node is told wrongly that another has crashed
    #[arg(long, value_name = "P:Q@T[+D]")]
    suspect: Vec<String>,
    /// When a run that does not end by itself is cut short
    #[arg(long, value_name = "T", value_parser = ticks)]
    until: Option<Ticks>,
}

impl Changed {
    /// What is different from the file.
    pub fn changes(&self) -> Changes {
        let Self { set, seed, rounds, cs, workload, latency, loss, duplicate, .. } = self.clone();
        let Self { crash, restart, pause, partition, suspect, until, .. } = self.clone();
        Changes {
            set,
            seed,
            rounds,
            cs,
            workload,
            latency,
            loss,
            duplicate,
            crash,
            restart,
            pause,
            partition,
            suspect,
            until,
        }
    }
}
