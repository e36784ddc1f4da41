//! Authorization: who may do what, by the beginning of names.
//!
//! A principal is whoever asks, once it is known who that is. Its rights are lists of prefixes:
//! `admin` implies `acquire`, and `acquire` implies `read`, for the same prefix. The empty prefix
//! is that of all names.

use std::sync::Arc;

/// What one may do with a name. A later one implies those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Right {
    /// See it.
    Read,
    /// Hold it, lead, write its value.
    Acquire,
    /// Use force.
    Admin,
}

impl Right {
    /// As it is called in the file of tokens.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Acquire => "acquire",
            Self::Admin => "admin",
        }
    }
}

/// Whoever asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Principal(Option<Arc<Known>>);

/// Somebody by name, with rights.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// What it is called, in lists of rights and in the audit log.
    pub name: String,
    /// What it may do with names that begin like this.
    pub rights: Vec<(Right, String)>,
    /// Whether it may read `/metrics` even without the right to read all names.
    pub metrics: bool,
}

impl Principal {
    /// Somebody who is known.
    pub fn known(known: Known) -> Self {
        Self(Some(Arc::new(known)))
    }

    /// Somebody who may do everything.
    pub fn almighty(name: &str) -> Self {
        let rights = vec![(Right::Admin, String::new())];
        Self::known(Known { name: name.to_string(), rights, metrics: true })
    }

    /// What it is called; empty where nobody has to say who asks.
    pub fn name(&self) -> &str {
        self.0.as_ref().map_or("", |known| &known.name)
    }

    /// Whether nobody had to say who asks.
    pub fn is_anyone(&self) -> bool {
        self.0.is_none()
    }

    /// Whether it may do this with that name.
    pub fn may(&self, right: Right, name: &str) -> bool {
        self.0.as_ref().is_none_or(|known| known.may(right, name))
    }

    /// Whether it may do this with every name.
    pub fn may_everywhere(&self, right: Right) -> bool {
        self.may(right, "") // Only the empty prefix is one of it.
    }

    /// Whether it may read the metrics, which tell of all names.
    pub fn may_read_metrics(&self) -> bool {
        self.may_everywhere(Right::Read) || self.0.as_ref().is_some_and(|known| known.metrics)
    }
}

impl Known {
    fn may(&self, right: Right, name: &str) -> bool {
        self.rights.iter().any(|(has, prefix)| *has >= right && name.starts_with(prefix))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn principal(rights: &[(Right, &str)]) -> Principal {
        let rights = rights.iter().map(|(right, prefix)| (*right, prefix.to_string())).collect();
        Principal::known(Known { name: "ci".to_string(), rights, metrics: false })
    }

    #[test]
    fn a_right_implies_the_lesser_ones_within_its_prefix_alone() {
        let ci = principal(&[(Right::Acquire, "builds/"), (Right::Read, "deploys/")]);
        assert!(ci.may(Right::Acquire, "builds/7") && ci.may(Right::Read, "builds/7"));
        assert!(!ci.may(Right::Admin, "builds/7"));
        assert!(ci.may(Right::Read, "deploys/a") && !ci.may(Right::Acquire, "deploys/a"));
        for other in ["builds", "build", "other/builds/", ""] {
            assert!(!ci.may(Right::Read, other), "{other}");
        }
        assert!(!ci.may_everywhere(Right::Read) && !ci.may_read_metrics());
    }

    #[test]
    fn the_empty_prefix_is_that_of_all_names() {
        let reader = principal(&[(Right::Read, "")]);
        assert!(reader.may_everywhere(Right::Read) && reader.may(Right::Read, "anything"));
        assert!(reader.may_read_metrics() && !reader.may(Right::Acquire, "anything"));
        let admin = Principal::almighty("admin");
        assert!(admin.may_everywhere(Right::Admin) && admin.may(Right::Acquire, "x"));
    }

    #[test]
    fn where_nobody_has_to_say_who_asks_everybody_may() {
        let anyone = Principal::default();
        assert!(anyone.is_anyone() && anyone.name().is_empty());
        assert!(anyone.may(Right::Admin, "x") && anyone.may_read_metrics());
        let powerless = principal(&[]);
        assert!(!powerless.may(Right::Read, "x") && !powerless.is_anyone());
    }
}
