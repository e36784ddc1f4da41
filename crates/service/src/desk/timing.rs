//! Time-outs and periods of a classic engine, in the time of the lease clock.

use conclave_api::limits;
use conclave_core::Ticks;

/// The longest life of a session that stands for election: whoever leads next waits for so long.
pub const CANDIDATE_TTL: Ticks = Ticks::units(limits::CANDIDATE_TTL_MS_MAX);
/// Who does not want to wait still gives the algorithm this long to find a free lock free.
pub const TRY: Ticks = Ticks::units(500);
/// A grant that nobody has taken note of for so long is withdrawn.
pub const CLAIM: Ticks = Ticks::units(5_000);
/// The lease clock gains at most this much at once: a node that was stopped expires nobody.
pub const STALL_MAX: Ticks = Ticks::units(500);
/// How often the lease clock is looked at while anything depends on it.
pub const TICK: Ticks = Ticks::units(250);
/// While nobody leads, an election is asked for this often; the first time after half of it, since
/// a node that comes back will mostly hear of the leader before.
pub const CAMPAIGN_AGAIN: Ticks = Ticks::units(2_000);
/// A leader that is told to stop waits this long at most for another to take over.
pub const HANDOVER_MAX: Ticks = Ticks::units(2_000);
/// How often it looks whether that has happened.
pub const HANDOVER_LOOK: Ticks = Ticks::units(20);

/// A span in milliseconds.
pub fn milliseconds(span: Ticks) -> u64 {
    span.0 / Ticks::UNIT.0
}
