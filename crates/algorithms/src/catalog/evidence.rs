//! Evidence: what model checking shows of an algorithm, or the reason why it shows nothing.

use super::claims::Claim;
use super::network::Set;

/// Something that a row states, or the reason why it does not.
#[derive(Debug)]
pub enum Stated<T> {
    /// This is it.
    Yes(T),
    /// There is none, and why.
    No(&'static str),
}

impl<T> Stated<T> {
    /// What is stated, if anything is.
    pub const fn yes(&self) -> Option<&T> {
        match self {
            Self::Yes(stated) => Some(stated),
            Self::No(_) => None,
        }
    }
}

/// What is known of an algorithm from looking at all its runs.
#[derive(Debug)]
pub struct Evidence {
    /// What the checker shows of it: what holds in every run, and what breaks.
    pub claims: Stated<&'static [Claim]>,
    /// The parameters that make a difference to its normal form, which sets counters back that rise
    /// for ever. The tests walk each of these settings.
    pub normal: Stated<&'static [Set]>,
    /// Whether the plainest search that can be written counts its states too.
    pub plain: Stated<Arrival>,
}

impl Evidence {
    /// For what no law judges in all runs.
    pub const fn unchecked(why: &'static str) -> Self {
        Self { claims: Stated::No(why), normal: Stated::No(why), plain: Stated::No(why) }
    }
}

/// The order of arrival in which a search can look at every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// Any.
    AnyOrder,
    /// The order in which they were sent: in another one a promise breaks, and the search ends.
    AsSent,
}
