//! Rules for particular messages: lose, delay, send twice.

use super::{Names, split};
use crate::error::Error;
use crate::plan::{Action, MessageRule};
use conclave_core::{NodeId, Ticks};

const RULE: &str = "FROM>TO:TYPE#NTH=DELAY, or =drop, or =twice, or =twice:DELAY; '*' is any node, \
                    :TYPE and #NTH may be left out";

/// A node, or `None` for `*`.
fn any_node(flag: &'static str, text: &str, names: &Names) -> Result<Option<NodeId>, Error> {
    if text == "*" { Ok(None) } else { names.node(flag, text).map(Some) }
}

/// What happens to particular messages: `FROM>TO:TYPE#NTH=DELAY`, `=drop`, `=twice`, or
/// `=twice:DELAY`, which says how long the second one takes.
pub fn rule(text: &str, names: &Names) -> Result<MessageRule, Error> {
    let (which, action) = split("--rule", text, '=', RULE)?;
    let action = match action {
        "drop" => Action::Drop,
        "twice" => Action::Duplicate,
        delay => {
            let wrong = || Error::value("--rule", text, RULE);
            match delay.strip_prefix("twice:") {
                Some(delay) => Action::Again(Ticks::parse(delay).ok_or_else(wrong)?),
                None => Action::Delay(Ticks::parse(delay).ok_or_else(wrong)?),
            }
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
    use crate::parse::testkit::refuses;

    fn names() -> Names {
        Names::new(3, 1)
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
