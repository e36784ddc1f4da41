//! What the catalogue says of one algorithm.

use super::{Parameter, Params};
use crate::Error;
use conclave_core::Property;

/// One algorithm.
#[derive(Debug)]
pub struct Entry {
    /// The name people type.
    pub id: &'static str,
    /// What question it answers.
    pub family: Family,
    /// Its name in full.
    pub title: &'static str,
    /// How it works, in one sentence.
    pub summary: &'static str,
    /// Where it was published.
    pub paper: &'static str,
    /// The lecture notes that name it, by number.
    pub seeds: &'static [&'static str],
    /// What it takes for granted.
    pub assumptions: &'static [Assumption],
    /// The promises it keeps while its assumptions hold, under these parameters.
    pub has: fn(&Params) -> Vec<Property>,
    /// The promises it does not make, and why; some only under certain parameters.
    pub lacks: &'static [(Property, &'static str)],
    /// How many may enter between the registration of a request and its own entry.
    pub bypass: Option<fn(&Setting) -> u64>,
    /// What may be set.
    pub parameters: &'static [Parameter],
    /// What it costs.
    pub cost: Cost,
    /// How a node that lost its disk may come back.
    pub rejoin_without_disk: Rejoin,
}

impl Entry {
    /// This algorithm on `n` nodes with some parameters set, the others at their defaults.
    /// A file is given by its text.
    pub fn setting(&'static self, n: u32, set: &[(&str, &str)]) -> Result<Setting, Error> {
        if n == 0 {
            return Err(Error::BadSize { n, reason: "at least one node is needed".into() });
        }
        Ok(Setting { entry: self, n, params: Params::new(self, set)? })
    }

    /// Whether it keeps this promise under these parameters.
    pub fn promises(&self, property: Property, params: &Params) -> bool {
        (self.has)(params).contains(&property)
    }
}

/// Which question an algorithm answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Who may enter.
    Mutex,
}

impl Family {
    /// The word people type.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mutex => "mutex",
        }
    }
}

/// Something an algorithm takes for granted, with the name by which it can be dropped.
#[derive(Clone, Copy, Debug)]
pub struct Assumption {
    /// `A1`, `A2`, …
    pub tag: &'static str,
    /// What is assumed.
    pub text: &'static str,
}

/// What one entry and exit costs, as textbooks write it and as a function.
#[derive(Debug)]
pub struct Cost {
    /// Messages when one client of a fresh cluster enters alone; the mean over all clients.
    pub light: Formula,
    /// Messages when everybody asks at the same time, once; the mean over all entries.
    pub heavy: Formula,
    /// Message times from request to entry when nobody else wants in; the mean over all clients.
    pub client_delay: Formula,
    /// The same with messages counted one after the other, as some textbooks do.
    pub client_delay_serial: Formula,
    /// Message times from one exit to the next entry when somebody waits, everybody having asked
    /// at the same time; the mean over all exits.
    pub sync_delay: Formula,
    /// Where textbooks differ about these numbers.
    pub textbooks: &'static str,
}

/// A cost as people write it, and as the least and the most it can be.
#[derive(Debug)]
pub struct Formula {
    /// As textbooks write it.
    pub text: &'static str,
    /// The least and the most in the standard setting; equal where the formula is exact.
    pub range: fn(&Setting) -> (f64, f64),
}

/// How a node that lost its disk may come back under its old name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejoin {
    /// The algorithm's own rules cover it.
    ByProtocol,
    /// It must first ask all its peers what they remember.
    AfterAskingAll,
    /// It must first wait until every promise it may have made has lapsed.
    AfterLease,
    /// It may not.
    Never,
}

impl Rejoin {
    /// The answer in words.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByProtocol => "by protocol",
            Self::AfterAskingAll => "after asking all peers",
            Self::AfterLease => "after a lease",
            Self::Never => "never",
        }
    }
}

/// An algorithm with a size and parameters: all that is needed to build it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The algorithm.
    pub entry: &'static Entry,
    /// How many clients.
    pub n: u32,
    /// Its parameters.
    pub params: Params,
}

impl Setting {
    /// The number of clients, for formulas.
    pub fn n(&self) -> f64 {
        f64::from(self.n)
    }
}
