//! Workloads: what the clients of a benchmark do.

use crate::texts::help_of;

/// What is put under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Workload {
    #[value(help = help_of(
        "A set number of entries; inside, reads a counter, adds one, writes it back with \
         the fence"
    ))]
    Counter,
    #[value(help = help_of("A set number of entries; leaves at once"))]
    Empty,
    #[value(help = help_of("1 client, for a set time"))]
    Uncontended,
    #[value(help = help_of("64 clients with locks of their own, for a set time"))]
    Wide,
    #[value(help = help_of("16 clients and one lock, for a set time"))]
    Contended,
    #[value(help = help_of(
        "16 clients and one lock: the node that leads is killed, then a client that \
         holds it"
    ))]
    FailOver,
    #[value(help = help_of(
        "10,000 sessions of 10 s that are kept alive, for a set time; our own engines \
         only"
    ))]
    Sessions,
    #[value(help = help_of("100,000 names taken and given back; our own engines only"))]
    Names,
}

/// The workloads that every system can run.
pub const TIMED: [Timed; 4] = [Timed::Uncontended, Timed::Wide, Timed::Contended, Timed::FailOver];

/// A workload of a set number of entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    Counter,
    Empty,
}

/// A workload of a set time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timed {
    Uncontended,
    Wide,
    Contended,
    FailOver,
    Sessions,
    Names,
}

/// Either.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Counted(Inside),
    Timed(Timed),
}

impl Workload {
    /// Which kind of workload it is.
    pub fn kind(self) -> Kind {
        match self {
            Self::Counter => Kind::Counted(Inside::Counter),
            Self::Empty => Kind::Counted(Inside::Empty),
            Self::Uncontended => Kind::Timed(Timed::Uncontended),
            Self::Wide => Kind::Timed(Timed::Wide),
            Self::Contended => Kind::Timed(Timed::Contended),
            Self::FailOver => Kind::Timed(Timed::FailOver),
            Self::Sessions => Kind::Timed(Timed::Sessions),
            Self::Names => Kind::Timed(Timed::Names),
        }
    }
}

impl Inside {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Empty => "empty",
        }
    }
}

impl Timed {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uncontended => "uncontended",
            Self::Wide => "wide",
            Self::Contended => "contended",
            Self::FailOver => "fail-over",
            Self::Sessions => "sessions",
            Self::Names => "names",
        }
    }

    /// Whether other systems can run it.
    pub fn is_common(self) -> bool {
        TIMED.contains(&self)
    }

    /// How many clients, or sessions.
    pub fn clients(self) -> usize {
        match self {
            Self::Uncontended => 1,
            Self::Wide => 64,
            Self::Contended | Self::FailOver => 16,
            Self::Sessions => 10_000,
            Self::Names => 500,
        }
    }

    /// Whether they all want the same lock.
    pub fn is_one_lock(self) -> bool {
        match self {
            Self::Uncontended | Self::Wide | Self::Sessions | Self::Names => false,
            Self::Contended | Self::FailOver => true,
        }
    }
}
