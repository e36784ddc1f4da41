//! Lists of locks and elections, page by page.

use crate::api::{Elections, Locks};
use crate::calls::{PATIENCE, escaped};
use crate::question::Question;
use crate::{Client, Error};
use serde::de::DeserializeOwned;

/// A list ends here, whatever the server says.
const LISTED_MAX: usize = 1_000_000;

/// Whose knowledge a list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Of the cluster, at the moment of the question; with a classic engine, of the node.
    Now,
    /// Of the node, which may be behind: also while nobody leads. Replicated engine.
    AtNode,
}

impl Client {
    /// All locks.
    pub fn locks(&self, known: Known) -> Result<Locks, Error> {
        let mut all: Locks = self.page("/v1/locks", known, None)?;
        while let Some(next) = all.next.take() {
            let more: Locks = self.page("/v1/locks", known, Some(&next))?;
            let goes_on = !more.locks.is_empty() && all.locks.len() < LISTED_MAX;
            all.locks.extend(more.locks);
            all.next = more.next.filter(|name| goes_on && *name > next);
        }
        Ok(all)
    }

    /// All elections.
    pub fn elections(&self, known: Known) -> Result<Elections, Error> {
        let mut all: Elections = self.page("/v1/elections", known, None)?;
        while let Some(next) = all.next.take() {
            let more: Elections = self.page("/v1/elections", known, Some(&next))?;
            let goes_on = !more.elections.is_empty() && all.elections.len() < LISTED_MAX;
            all.elections.extend(more.elections);
            all.next = more.next.filter(|name| goes_on && *name > next);
        }
        Ok(all)
    }

    fn page<T>(&self, list: &str, known: Known, after: Option<&str>) -> Result<T, Error>
    where
        T: DeserializeOwned,
    {
        let stale = (known == Known::AtNode).then(|| "stale=true".to_string());
        let after = after.map(|name| format!("after={}", escaped(name)));
        let query: Vec<String> = stale.into_iter().chain(after).collect();
        let path = match query.is_empty() {
            true => list.to_string(),
            false => format!("{list}?{}", query.join("&")),
        };
        self.ask(&Question::get(path, PATIENCE))
    }
}
