//! Bounds in one line.

use super::Checked;
use crate::output::numbers::of;
use crate::texts::{sentence, tr};
use conclave_algorithms::catalog::Family;
use conclave_core::{Bounds, Network, NodeId, Start, Timing};

/// All that may happen, and how often.
pub(super) fn words(checked: &Checked<'_>) -> String {
    let bounds = &checked.bounds;
    let mut words = match checked.experiment.setting.entry.family {
        Family::Election => vec![initiators(checked)],
        Family::Mutex | Family::Clock | Family::Detector => requests(bounds),
    };
    words.push(match bounds.network {
        Network::Fifo => "FIFO links".to_string(),
        Network::Bag => "links in any order".to_string(),
    });
    words.extend(bounds.in_flight.map(|most| {
        format!("only runs with at most {} under way per link", of(most.into(), "message"))
    }));
    words.extend(Some(timers(bounds)).filter(|_| checked.report.timers_ran));
    words.push(faults(bounds));
    words.extend(checked.limits.depth.map(|depth| format!("at most {}", of(depth.into(), "move"))));
    sentence(&words.join("; ")).into_owned()
}

fn timers(bounds: &Bounds) -> String {
    let when = match bounds.timing {
        Timing::AnyMoment => "timers at any moment",
        Timing::Synchronous => "timers when nothing is under way",
    };
    match bounds.timeouts {
        Some(times) => format!("{when}, {} per node", of(times.into(), "time")),
        None => when.to_string(),
    }
}

fn requests(bounds: &Bounds) -> Vec<String> {
    let mut words = vec![match bounds.requests {
        Some(times) => format!("{} per node", of(times.into(), "request")),
        None => "any number of requests".to_string(),
    }];
    if bounds.cancels > 0 {
        words.push(of(bounds.cancels.into(), "withdrawal"));
    }
    if bounds.stays {
        words.push("who is inside may stay".to_string());
    }
    words
}

fn initiators(checked: &Checked<'_>) -> String {
    match &checked.bounds.start {
        Start::Any => "every set of initiators, at any moment".to_string(),
        Start::Together => "every set of initiators, at the first moment".to_string(),
        Start::These(nodes) if nodes.is_empty() => "begun by timers only".to_string(),
        Start::These(nodes) => {
            let name = |node: NodeId| checked.experiment.names.name(node);
            format!("begun by {}", nodes.iter().map(name).collect::<Vec<_>>().join(", "))
        }
    }
}

fn faults(bounds: &Bounds) -> String {
    let counted = [
        (bounds.crashes, "crash", "crashes"),
        (bounds.restarts, "restart", "restarts"),
        (bounds.amnesia, "restart without disk", "restarts without disk"),
        (bounds.losses, "loss", "losses"),
        (bounds.duplicates, "duplicate", "duplicates"),
        (bounds.suspicions, "wrong suspicion", "wrong suspicions"),
    ];
    let happening = counted.iter().filter(|(times, ..)| *times > 0);
    let words: Vec<String> = happening
        .map(|(times, one, many)| format!("{times} {}", if *times == 1 { one } else { many }))
        .chain(bounds.lasting.then(|| "suspicions may last".to_string()))
        .map(|words| tr(&words).into_owned())
        .collect();
    if words.is_empty() { "no faults".to_string() } else { words.join(", ") }
}
