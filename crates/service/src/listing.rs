//! Lists: search and sort, for both engines.

use std::cmp::Reverse;

/// Whether a text has this in it, if anything is searched for.
pub fn has(text: &str, search: Option<&str>) -> bool {
    search.is_none_or(|search| text.contains(search))
}

/// The first so many, and whether there are more.
pub fn first<T>(mut all: impl Iterator<Item = T>, limit: usize) -> (Vec<T>, bool) {
    let first = all.by_ref().take(limit).collect();
    (first, all.next().is_some())
}

/// Those of the highest rank, so many, highest first; of the same rank, whichever comes first. Only
/// they are sorted, however many there are.
pub fn greatest<T>(all: impl Iterator<Item = T>, limit: usize, rank: impl Fn(&T) -> u64) -> Vec<T> {
    let mut all: Vec<_> = all.enumerate().map(|(i, one)| (Reverse(rank(&one)), i, one)).collect();
    let key = |(rank, place, _): &(Reverse<u64>, usize, T)| (*rank, *place);
    if limit < all.len() {
        all.select_nth_unstable_by_key(limit, key);
        all.truncate(limit);
    }
    all.sort_unstable_by_key(key);
    all.into_iter().map(|(_, _, one)| one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_come_first_and_the_earlier_of_equals() {
        let all = || ["a1", "b3", "c0", "d3", "e2"].into_iter();
        let rank = |one: &&str| one[1..].parse().expect("a number");
        assert_eq!(greatest(all(), 3, rank), ["b3", "d3", "e2"]);
        assert_eq!(greatest(all(), 9, rank), ["b3", "d3", "e2", "a1", "c0"]);
        assert_eq!(greatest(all(), 5, rank).len(), 5);
    }

    #[test]
    fn the_first_say_whether_there_are_more() {
        assert_eq!(first(1..=3, 2), (vec![1, 2], true));
        assert_eq!(first(1..=3, 3), (vec![1, 2, 3], false));
    }

    #[test]
    fn without_a_search_everything_is_found() {
        assert!(has("team/build", None) && has("team/build", Some("m/b")));
        assert!(!has("team/build", Some("bulid")));
    }
}
