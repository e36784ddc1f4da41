//! What the rows of the clocks share: the examples that can be set.

use super::dropped::{SINGLE_RUNS, not_in_bounds};
use super::{Assumption, Kind, Parameter, Setting};
use crate::Error;
use crate::clock::example::{Example, Letter, Task};
use crate::clock::timekeeper::{Keeper, Setup, Timekeeper};
use conclave_core::{Cluster, NodeId, Play, Ticks};

/// Nodes keep their clock on disk.
pub const REMEMBERS: Assumption = Assumption {
    tag: "A1",
    text: "no node forgets its clock",
    dropped: not_in_bounds(SINGLE_RUNS),
};

/// The task that goes around.
pub const TASK: Parameter = Parameter {
    name: "task",
    kind: Kind::Text { what: "DIGITS", or: &["none"] },
    default: "none",
    about: "who does each step of a task that an application hands out; the clock of process k \
            gains k every 1000 units",
};

/// The rates of drifting clocks.
pub const RATES: Parameter = Parameter {
    name: "rates",
    kind: Kind::Text { what: "RATE,RATE,…", or: &["none"] },
    default: "none",
    about: "how much each clock gains per unit, while four messages go between the first three \
            nodes",
};

/// More nodes would fill the memory with times.
const NODES_MAX: u32 = 1_000;
/// The largest rate of a clock.
const RATE_MAX: u64 = 1_000_000;

/// How the clocks of nodes move when there is no example to play.
#[derive(Clone, Copy)]
pub struct Idle {
    /// How much they gain.
    pub gain: u64,
    /// From tick to tick.
    pub period: Ticks,
}

/// Which example a setting asks for.
pub enum Asked {
    /// None: the nodes do what they are asked.
    Exchange,
    /// A task.
    Task(Task),
    /// Drifting clocks, with the rate of each.
    Rates(Vec<u64>),
}

impl Asked {
    /// Reads the parameters `task` and `rates`.
    pub fn of(setting: &Setting) -> Result<Self, Error> {
        let params = &setting.params;
        match (params.is("task", "none"), params.is("rates", "none")) {
            (true, true) => Ok(Self::Exchange),
            (false, true) => Ok(Self::Task(task(params.text("task"), setting.n)?)),
            (true, false) => Ok(Self::Rates(rates(params.text("rates"), setting.n)?)),
            (false, false) => {
                let reason = "the task and the rates are two examples; set one of them";
                Err(Error::Unusable { name: "task", reason: reason.to_string() })
            }
        }
    }
}

/// The nodes of a setting; `clock` makes the clock of one node among so many. Without an example
/// clocks move as `idle` says, if at all.
pub fn cluster<K: Keeper>(
    setting: &Setting,
    idle: Option<Idle>,
    clock: impl Fn(NodeId, u32) -> K + Send + Sync + 'static,
) -> Result<Cluster<Timekeeper<K>>, Error> {
    let n = setting.n;
    if n > NODES_MAX {
        let reason = format!("every event is kept with its past; at most {NODES_MAX} nodes");
        return Err(Error::BadSize { n, reason });
    }
    let asked = Asked::of(setting)?;
    let play = play(&asked);
    let application = u32::from(play.is_some_and(|play| play.application));
    let nodes = n + application;
    let fresh =
        move |me: NodeId| Timekeeper::new(me, setup(&asked, idle, me, nodes), clock(me, nodes));
    let silent = play.is_some() || idle.is_none();
    Ok(Cluster { coordinators: application, play, silent, ..Cluster::of_equals(n, fresh) })
}

fn play(asked: &Asked) -> Option<Play> {
    match asked {
        Asked::Exchange => None,
        Asked::Task(_) => Some(Play { hop: Task::HOP, application: true }),
        Asked::Rates(_) => Some(Play { hop: Ticks::UNIT, application: false }),
    }
}

fn setup(asked: &Asked, idle: Option<Idle>, me: NodeId, nodes: u32) -> Setup {
    let (example, gain, period, ticks) = match asked {
        Asked::Exchange => {
            let (gain, period) = idle.map_or((0, Ticks::UNIT), |idle| (idle.gain, idle.period));
            (Example::Exchange, gain, period, if idle.is_some() { None } else { Some(0) })
        }
        Asked::Task(task) => {
            let ticks = if me == task.application { 0 } else { task.ticks() };
            (Example::Task(task.clone()), u64::from(me.0) + 1, Task::TICK, Some(ticks))
        }
        Asked::Rates(rates) => {
            let gain = rates.get(me.index()).copied().unwrap_or(0);
            (Example::Letters(Letter::four()), gain, Ticks::UNIT, Some(Letter::TICKS))
        }
    };
    Setup { nodes, example, gain, period, ticks }
}

fn task(text: &str, n: u32) -> Result<Task, Error> {
    let unusable = |reason| Err(Error::Unusable { name: "task", reason });
    let mut steps = Vec::new();
    for letter in text.chars() {
        match letter.to_digit(10).filter(|digit| (1..=n).contains(digit)) {
            Some(digit) => steps.push(NodeId(digit - 1)),
            None => {
                let most = n.min(9);
                return unusable(format!(
                    "'{letter}' names no process; with {n} of them it takes digits from 1 to {most}"
                ));
            }
        }
    }
    if steps.len() > Task::STEPS_MAX {
        return unusable(format!("{} digits; it takes at most {}", steps.len(), Task::STEPS_MAX));
    }
    Ok(Task { steps, application: NodeId(n) })
}

fn rates(text: &str, n: u32) -> Result<Vec<u64>, Error> {
    let unusable = |reason| Err(Error::Unusable { name: "rates", reason });
    let rate =
        |part: &str| part.trim().parse::<u64>().ok().filter(|rate| (1..=RATE_MAX).contains(rate));
    let Some(rates) = text.split(',').map(rate).collect::<Option<Vec<u64>>>() else {
        return unusable(format!(
            "'{text}' is no list of whole numbers from 1 to {RATE_MAX}, as 6,8,10"
        ));
    };
    match rates.len() {
        many if many < 3 => unusable("the example needs three clocks, as 6,8,10".to_string()),
        many if many != n as usize => {
            unusable(format!("{many} rates for {n} nodes; one for each is needed"))
        }
        _ => Ok(rates),
    }
}
