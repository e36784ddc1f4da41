//! Reasons that no run of this test gives, each with why not; and settings in which more are given.

use conclave_algorithms::catalog::{Entry, Family, Setting};

/// The algorithm (`*` for all), the code, and why it is not seen.
const UNREACHED: &[(&str, &str, &str)] = &[
    ("*", "stranger", STRANGERS),
    ("*", "unknown-leader", STRANGERS),
    ("ring", "not-of-this-ring", STRANGERS),
    ("*", "misdirected", "nobody writes to one that does not coordinate"),
    ("bully", "asked-by-better", AGREED),
    ("bully", "may-not-lead", AGREED),
    ("*", "no-hand-over", RESIGNED),
    ("majority", "does-not-lead", RESIGNED),
    ("majority", "nobody-to-follow", RESIGNED),
    ("majority", "hands-over", RESIGNED),
    ("majority", "told-to-stand", RESIGNED),
    ("*", "suspected-before", TOLD_ONCE),
    ("*", "trusted-before", TOLD_ONCE),
    ("bully", "never-suspected", TOLD_ONCE),
    ("*", "absurd", "no clock here is so wrong"),
    ("*", "too-far-ahead", "no clock here is so wrong"),
    ("*", "term-too-large", "no run has so many elections"),
    ("central-failover", "gives-up", "in no run somebody joins a leader just replaced"),
    ("*", "no-fences", "no run has so many entries in one term"),
    ("*", "used-up", "no run has so many entries in one term"),
];

const STRANGERS: &str = "no run has messages of nodes that are not part of it";
const AGREED: &str = "nodes of a run agree about who is better than whom, and who may lead";
const RESIGNED: &str = "no workload has a node resign";
const TOLD_ONCE: &str = "detectors tell what is new; only a lock that is made late, on a network, \
                         may be told again";

/// Why a reason is not seen in any run, if it is not.
pub fn excuse(id: &str, code: &str) -> Option<&'static str> {
    let found = UNREACHED.iter().find(|(of, known, _)| (*of == id || *of == "*") && *known == code);
    found.map(|(_, _, why)| *why)
}

/// Settings of an algorithm with several parameters set.
pub fn settings(entry: &'static Entry) -> Vec<Setting> {
    let sets: &[&[(&str, &str)]] = match entry.id {
        "central-failover" | "token-ring-regenerating" => &[
            &[("mode", "fence"), ("detector", "perfect"), ("election", "bully")],
            &[("mode", "strict"), ("detector", "perfect"), ("election", "ring")],
            &[("mode", "fence"), ("detector", "perfect")],
        ],
        "lamport-clock" => &[
            &[("task", "213")],
            &[("rates", "6,8,10")],
            &[("rates", "6,8,10"), ("correct", "false")],
            &[("rates", "6,8,10"), ("text", "seed")],
        ],
        "vector-clock" | "matrix-clock" | "hybrid-clock" => {
            &[&[("task", "213")], &[("rates", "6,8,10")]]
        }
        _ => &[],
    };
    let n = if entry.family == Family::Clock { 3 } else { 5 };
    sets.iter().filter_map(|set| entry.setting(n, set).ok()).collect()
}
