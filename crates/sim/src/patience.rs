//! How long somebody waits for an answer: a deadline by the clock on the wall.

use std::time::Instant;

/// For ever, unless it says until when. Whatever takes long looks at it now and then, and breaks
/// off when it is over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Patience {
    deadline: Option<Instant>,
}

impl Patience {
    /// Somebody who waits however long it takes.
    pub const ENDLESS: Self = Self { deadline: None };

    /// Somebody who waits until then.
    pub fn until(deadline: Instant) -> Self {
        Self { deadline: Some(deadline) }
    }

    /// Until when, if not for ever.
    pub fn deadline(self) -> Option<Instant> {
        self.deadline
    }

    /// Whether nobody waits any longer.
    pub fn is_over(self) -> bool {
        self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_over_at_its_deadline_and_else_never() {
        assert!(Patience::until(Instant::now()).is_over());
        assert!(!Patience::ENDLESS.is_over());
        assert_eq!(Patience::default(), Patience::ENDLESS);
    }
}
