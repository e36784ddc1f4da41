//! Flags of the network: latency of messages, and rules for particular ones (lose, delay).

use super::{Names, Read, contents, lines, on_line, split};
use crate::error::Error;
use crate::plan::{Action, Latency, MessageRule};
use conclave_core::{NodeId, Ticks};
use std::collections::BTreeMap;

const LATENCY: &str = "unit, const:T, uniform:A..B, exp:MEAN, or a file of lines 'from to LATENCY'";
const RULE: &str = "FROM>TO:TYPE#NTH=DELAY, or =drop, or =twice; '*' is any node, :TYPE and #NTH \
                    may be left out";

/// How long messages take: `unit`, `const:T`, `uniform:A..B`, `exp:MEAN`, a file, or `=` and the
/// lines of such a file, separated by `;`.
///
/// A line is `from to LATENCY`, where `*` is any node. Later lines win; links of which no line
/// speaks take one unit.
pub fn latency(text: &str, names: &Names, read: Read<'_>) -> Result<Latency, Error> {
    if let Some(same) = simple(text) {
        return Ok(same);
    }
    let looks_simple = ["const:", "uniform:", "exp:"].iter().any(|kind| text.starts_with(kind));
    if text.trim().is_empty() || looks_simple {
        return Err(Error::value("--latency", text, LATENCY));
    }
    let (file, end) = contents("--latency", text, read)?;
    let mut links = BTreeMap::new();
    let mut others = Latency::Constant(Ticks::UNIT);
    for (number, line) in lines(&file, end) {
        let wrong = |error: &Error| on_line("--latency", number, error);
        let words: Vec<&str> = line.split_whitespace().collect();
        let [from, to, latency] = words.as_slice() else {
            return Err(wrong(&Error::value("--latency", line, "'from to LATENCY'")));
        };
        let from = any_node("--latency", from, names).map_err(|error| wrong(&error))?;
        let to = any_node("--latency", to, names).map_err(|error| wrong(&error))?;
        let latency = simple(latency).ok_or_else(|| {
            wrong(&Error::value("--latency", latency, "unit, const:T, uniform:A..B or exp:MEAN"))
        })?;
        set_links(from, to, latency, names, &mut others, &mut links);
    }
    Ok(if links.is_empty() { others } else { Latency::Links { others: Box::new(others), links } })
}

fn simple(text: &str) -> Option<Latency> {
    match text.split_once(':') {
        None if text == "unit" => Some(Latency::Constant(Ticks::UNIT)),
        None => None,
        Some(("const", time)) => Ticks::parse(time).map(Latency::Constant),
        Some(("exp", mean)) => Ticks::parse(mean).map(Latency::Exponential),
        Some(("uniform", range)) => {
            let (min, max) = range.split_once("..")?;
            Some(Latency::Uniform(Ticks::parse(min)?, Ticks::parse(max)?))
        }
        Some(_) => None,
    }
}

fn set_links(
    from: Option<NodeId>,
    to: Option<NodeId>,
    latency: Latency,
    names: &Names,
    others: &mut Latency,
    links: &mut BTreeMap<(NodeId, NodeId), Latency>,
) {
    let all = names.clients + names.coordinators;
    match (from, to) {
        (None, None) => {
            links.clear();
            *others = latency;
        }
        (Some(from), Some(to)) => {
            links.insert((from, to), latency);
        }
        (Some(from), None) => {
            links.extend(from.others(all).map(|to| ((from, to), latency.clone())));
        }
        (None, Some(to)) => {
            links.extend(to.others(all).map(|from| ((from, to), latency.clone())));
        }
    }
}

/// A node, or `None` for `*`.
fn any_node(flag: &'static str, text: &str, names: &Names) -> Result<Option<NodeId>, Error> {
    if text == "*" { Ok(None) } else { names.node(flag, text).map(Some) }
}

/// What happens to particular messages: `FROM>TO:TYPE#NTH=DELAY`, `=drop` or `=twice`.
pub fn rule(text: &str, names: &Names) -> Result<MessageRule, Error> {
    let (which, action) = split("--rule", text, '=', RULE)?;
    let action = match action {
        "drop" => Action::Drop,
        "twice" => Action::Duplicate,
        delay => {
            Action::Delay(Ticks::parse(delay).ok_or_else(|| Error::value("--rule", text, RULE))?)
        }
    };
    let (which, nth) = match which.split_once('#') {
        None => (which, None),
        Some((which, nth)) => {
            let nth = nth.parse().ok().filter(|&nth: &u32| nth > 0);
            let nth = nth.ok_or_else(|| Error::value("--rule", text, "#NTH is a number from 1"));
            (which, Some(nth?))
        }
    };
    let (nodes, of_kind) = match which.split_once(':') {
        None => (which, None),
        Some((nodes, word)) => (nodes, Some(kind("--rule", word)?)),
    };
    let (from, to) = split("--rule", nodes, '>', RULE)?;
    let from = any_node("--rule", from, names)?;
    let to = any_node("--rule", to, names)?;
    Ok(MessageRule { from, to, kind: of_kind, nth, action })
}

/// The name of a kind of message.
pub(crate) fn kind(flag: &'static str, word: &str) -> Result<String, Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || ['_', '-'].contains(&c);
    if word.is_empty() || !word.chars().all(plain) {
        return Err(Error::value(flag, word, "the name of a message, such as REQUEST"));
    }
    Ok(word.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testkit::{no_files, refuses};

    fn names() -> Names {
        Names::new(3, 1)
    }

    #[test]
    fn one_latency_for_all_links() {
        let read = |text: &str| latency(text, &names(), &no_files);
        assert_eq!(read("unit"), Ok(Latency::Constant(Ticks::UNIT)));
        assert_eq!(read("const:2.5"), Ok(Latency::Constant(Ticks(2_500))));
        assert_eq!(read("uniform:1..20"), Ok(Latency::Uniform(Ticks::UNIT, Ticks::units(20))));
        assert_eq!(read("exp:3"), Ok(Latency::Exponential(Ticks::units(3))));
        let wrong = ["const", "const:", "const:-1", "uniform:1", "uniform:1..", "exp:x", "missing"];
        let all = [&wrong[..], &["=1 2", "=1 2 3", "=9 1 unit", "=1 2 =1", "=* * *"]].concat();
        let hostile = |text: &str| match text {
            "=" => Err(Error::value("--latency", text, "no lines are no file")),
            text => read(text),
        };
        refuses("--latency", hostile, &all);
    }

    #[test]
    fn each_link_its_own_and_later_lines_win() {
        let file =
            "# c1 is far\n1 2 const:9\n* * const:2\n* c1 const:5\n3 c1 exp:1 # but not from 3\n";
        let read = |name: &str| if name == "links" { Ok(file.to_string()) } else { no_files(name) };
        let Ok(Latency::Links { others, links }) = latency("links", &names(), &read) else {
            panic!("links")
        };
        assert_eq!(*others, Latency::Constant(Ticks::units(2)));
        assert_eq!(links.len(), 3);
        let to_c1 = |from| links[&(NodeId(from), NodeId(3))].clone();
        assert_eq!(to_c1(0), Latency::Constant(Ticks::units(5)));
        assert_eq!(to_c1(2), Latency::Exponential(Ticks::UNIT));
        let bad = |_: &str| Ok("* * unit\n\n1 7 unit\n".to_string());
        let error = latency("links", &names(), &bad).expect_err("no node 7").to_string();
        assert_eq!(error, "--latency line 3: 7: nodes are 1 to 3 and c1 to c1");
    }

    #[test]
    fn rules_leave_out_what_they_do_not_care_for() {
        let read = |text: &str| rule(text, &names()).map_err(|error| error.to_string());
        let full = MessageRule {
            from: Some(NodeId(0)),
            to: Some(NodeId(3)),
            kind: Some("REQUEST".into()),
            nth: Some(2),
            action: Action::Delay(Ticks::units(10)),
        };
        assert_eq!(read("1>c1:REQUEST#2=10"), Ok(full));
        let any = MessageRule { from: None, to: None, kind: None, nth: None, action: Action::Drop };
        assert_eq!(read("*>*=drop"), Ok(any.clone()));
        assert_eq!(
            read("*>*#1=twice").map(|rule| (rule.nth, rule.action)),
            Ok((Some(1), Action::Duplicate))
        );
        let wrong = ["1>2", "1>2=", "1=drop", "1>2:=drop", "1>2#0=drop", "1>2#x=drop", "9>1=drop"];
        refuses("--rule", |text| rule(text, &names()), &wrong);
    }
}
