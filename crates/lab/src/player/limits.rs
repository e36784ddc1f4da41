//! What a question may ask for: nobody can keep a server busy for long.

use super::Refused;
use conclave_core::Ticks;
use conclave_sim::Plan;
use std::time::Duration;

/// More nodes than this are not shown.
pub const NODES_MAX: u32 = 64;
/// A run with more events than this is cut short.
pub const EVENTS_MAX: u64 = 60_000;
/// A question may take no more events than this in all: every edit runs from the beginning.
pub const EVENTS_IN_ALL: usize = 500_000;
/// More edits than this are not made on top of each other.
pub const EDITS_MAX: usize = 64;
/// More events than this are not told in full at once.
pub const WINDOW_MAX: usize = 2_000;
/// A run that takes more bytes than this to write down is cut short, and is not exported.
pub const BYTES_MAX: usize = 192 << 20;
/// Of more messages under way at a moment than this, the last to arrive are left out.
pub const FLYING_MAX: usize = 5_000;
/// More moments than this are not told at once.
pub const AHEAD_MAX: usize = 32;
/// No more of them than take about so many bytes to tell.
pub const AHEAD_BYTES: usize = 8 << 20;
/// More rounds than this nobody looks at.
const ROUNDS_MAX: u32 = 10_000;

/// A question that takes longer than this is not answered.
pub const QUESTION_TIME: Duration = Duration::from_secs(2);

/// That nobody waits any longer.
pub fn took_too_long(field: &'static str) -> Refused {
    Refused::new(field, "this takes too long to work out here; a shorter run would not")
}

/// That a run takes too much to be written into a file here.
pub fn too_large_a_file() -> Refused {
    Refused::new(
        "format",
        "so long a run is not exported here; 'conclave sim' does it, with --trace",
    )
}

/// Refuses a plan that asks for too much before anything is computed.
pub fn vet(nodes: u32, plan: &Plan) -> Result<(), Refused> {
    if nodes > NODES_MAX {
        let words = format!("--nodes {nodes}: at most {NODES_MAX} here");
        return Err(Refused::new("flags", words));
    }
    if plan.rounds > ROUNDS_MAX {
        let words = format!("--rounds {}: at most {ROUNDS_MAX} here", plan.rounds);
        return Err(Refused::new("flags", words));
    }
    let late = plan.acts.iter().any(|line| line.at > LATEST);
    if late || plan.until > LATEST {
        let words = format!("--until {}: at most {LATEST} here", plan.until);
        return Err(Refused::new("flags", words));
    }
    Ok(())
}

/// Times beyond this are not shown well.
const LATEST: Ticks = Ticks::units(1_000_000_000);
