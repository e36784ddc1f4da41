//! Explanations of a lock for people: the wait-for graph around it, in words.

use crate::cluster_view::age;
use crate::output::table::Table;
use crate::output::{dim, odd, strong, width};
use crate::texts::tr;
use conclave_client::api::limits::shown;
use conclave_client::api::{Blocker, Explanation, Holder, Lock, Wait};
use std::fmt::Write;

/// Who holds it, who waits for whom, and what would help.
pub fn text(lock: &Lock, explanation: &Explanation) -> String {
    let mut text = format!("{}  {}\n", strong(shown(&lock.name)), tr(&shown(&explanation.message)));
    text += &holders(&lock.holders);
    text += &waits(lock, &explanation.waits);
    if !explanation.unblocked_by.is_empty() {
        let _ = writeln!(text, "\n{}", strong("What would let the next one in"));
        for way in &explanation.unblocked_by {
            let _ = writeln!(text, "  {}", tr(&shown(way)));
        }
    }
    if let Some(index) = lock.as_of_index {
        let _ = writeln!(text, "\n{}", dim(format!("as of index {index}")));
    }
    text
}

fn holders(holders: &[Holder]) -> String {
    if holders.is_empty() {
        return String::new();
    }
    let headings = ["holder", "how", "for", "fence", "without keepalives"];
    let mut table = Table::new(width(), &headings);
    for holder in holders {
        let mode = holder.mode.as_deref().unwrap_or_default();
        let how = match holder.slot.filter(|_| mode == "permits") {
            Some(slot) => tr(&format!("permit {slot}")).into_owned(),
            None => tr(&shown(mode)).into_owned(),
        };
        let ends = match holder.revoked {
            true => odd("taken away, ends soon"),
            false => holder.lease_ms.map(age).unwrap_or_default(),
        };
        let fence = holder.fence.to_string();
        table.row([shown(&holder.label).into_owned(), how, age(holder.held_ms), fence, ends]);
    }
    format!("\n{}", table.render())
}

fn waits(lock: &Lock, waits: &[Wait]) -> String {
    if waits.is_empty() {
        return String::new();
    }
    let mut table = Table::new(width(), &["waiting", "for", "because of"]);
    for (place, wait) in waits.iter().enumerate() {
        let waited = lock.waiters.get(place).map(|waiter| age(waiter.waited_ms));
        let why: Vec<String> = wait.blocked_by.iter().map(|by| obstacle(lock, by)).collect();
        table.row([shown(&wait.label).into_owned(), waited.unwrap_or_default(), why.join(", ")]);
    }
    format!("\n{}", table.render())
}

/// Somebody in the way, and where, if that is at another lock.
fn obstacle(lock: &Lock, by: &Blocker) -> String {
    let label = shown(&by.label);
    let words = match by.because.as_str() {
        "earlier" => format!("{label}, earlier in line"),
        _ => format!("{label}, who holds it"),
    };
    match by.lock == lock.name {
        true => tr(&words).into_owned(),
        false => format!("{} ({})", tr(&words), shown(&by.lock)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_explanation_names_whoever_is_in_the_way() {
        let lock = json!({
            "name": "a", "state": "held", "holder": null, "waiters": [
                {"label": "w2", "session": "00000002", "position": 1, "waited_ms": 1_500,
                 "eta_ms": null},
            ],
            "holders": [{"label": "w1", "session": "00000001", "node": null, "fence": 9,
                         "held_ms": 61_000, "mode": "permits", "slot": 2, "lease_ms": 4_000}],
            "blocked_on": null, "entries": null, "messages": null, "node": 1, "as_of_index": 44,
            "explanation": {
                "message": "w1 holds it, and 1 waits",
                "waits": [{"label": "w2", "session": "2", "locks": ["a", "b"], "blocked_by": [
                    {"label": "w1", "session": "00000001", "lock": "a", "because": "holds"},
                    {"label": "w3", "session": "00000003", "lock": "b", "because": "earlier"},
                ]}],
                "unblocked_by": ["w1 gives it back"],
            },
        });
        let lock: Lock = serde_json::from_value(lock).expect("a lock");
        let told = text(&lock, lock.explanation.as_ref().expect("it is there"));
        let told = anstream::adapter::strip_str(&told).to_string();
        for part in ["permit 2", "1 min", "w1, who holds it, w3, earlier in line (b)", "index 44"] {
            assert!(told.contains(part), "{part} in {told}");
        }
    }
}
