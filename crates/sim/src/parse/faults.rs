//! Flags of fault injection (crash, restart, pause, partition, suspicion): what goes wrong, and
//! when.

use super::{Names, number, split};
use crate::error::Error;
use crate::plan::Fault;
use conclave_core::{NodeId, Ticks};

/// `ID@T`: a node stops.
pub fn crash(text: &str, names: &Names) -> Result<(Ticks, Fault), Error> {
    let (node, at) = split("--crash", text, '@', CRASH)?;
    let node = names.node("--crash", node)?;
    Ok((time("--crash", text, at, CRASH)?, Fault::Crash(node)))
}

const CRASH: &str = "ID@T, such as 3@7.5";

/// `ID@T`, or `ID@T:amnesia`: it comes back, with its disk or without.
pub fn restart(text: &str, names: &Names) -> Result<(Ticks, Fault), Error> {
    const RESTART: &str = "ID@T, or ID@T:amnesia when its disk is lost";
    let (node, at) = split("--restart", text, '@', RESTART)?;
    let (at, amnesia) = match at.split_once(':') {
        None => (at, false),
        Some((at, "amnesia")) => (at, true),
        Some(_) => return Err(Error::value("--restart", text, RESTART)),
    };
    let node = names.node("--restart", node)?;
    Ok((time("--restart", text, at, RESTART)?, Fault::Restart { node, amnesia }))
}

/// `ID@T+D`: a node does nothing from T on, for D.
pub fn pause(text: &str, names: &Names) -> Result<(Ticks, Fault), Error> {
    const PAUSE: &str = "ID@T+D, such as 3@7.5+20";
    let (node, span) = split("--pause", text, '@', PAUSE)?;
    let wrong = || Error::value("--pause", text, PAUSE);
    let (at, span) = span.rsplit_once('+').ok_or_else(wrong)?;
    let node = names.node("--pause", node)?;
    let span = time("--pause", text, span, PAUSE)?;
    Ok((time("--pause", text, at, PAUSE)?, Fault::Pause { node, span }))
}

/// `1,2/3,4,5@T..T`: what passes between the groups is lost for a while; `@T..`: for ever.
pub fn partition(text: &str, names: &Names) -> Result<(Ticks, Fault), Error> {
    const PARTITION: &str = "groups and a span, such as 1,2/3,4,5@10..60, or 10.. for ever";
    let wrong = || Error::value("--partition", text, PARTITION);
    let (groups, span) = split("--partition", text, '@', PARTITION)?;
    let (at, until) = span.split_once("..").ok_or_else(wrong)?;
    let at = time("--partition", text, at, PARTITION)?;
    let until = match until {
        "" => Fault::NEVER,
        until => time("--partition", text, until, PARTITION)?,
    };
    let group = |text| names.nodes("--partition", text);
    let groups: Vec<Vec<NodeId>> = groups.split('/').map(group).collect::<Result<_, Error>>()?;
    if groups.len() < 2 {
        return Err(wrong());
    }
    Ok((at, Fault::Partition { groups, until }))
}

/// `P:Q@T`, or `P:Q@T+D`: P is told, wrongly, that Q has crashed; for ever, or for D.
pub fn suspect(text: &str, names: &Names) -> Result<(Ticks, Fault), Error> {
    const SUSPECT: &str = "P:Q@T or P:Q@T+D: P is told at T, for D, that Q has crashed";
    let (nodes, at) = split("--suspect", text, '@', SUSPECT)?;
    let (by, of) = split("--suspect", nodes, ':', SUSPECT)?;
    let (at, span) = match at.split_once('+') {
        None => (at, None),
        Some((at, span)) => (at, Some(time("--suspect", text, span, SUSPECT)?)),
    };
    let by = names.node("--suspect", by)?;
    let of = names.node("--suspect", of)?;
    Ok((time("--suspect", text, at, SUSPECT)?, Fault::Suspect { by, of, span }))
}

/// `ID:RATE`: a clock runs at another rate than 1.
pub fn drift(text: &str, names: &Names) -> Result<(NodeId, f64), Error> {
    const DRIFT: &str = "ID:RATE, such as 3:1.01 for a clock that is one percent fast";
    let (node, rate) = split("--drift", text, ':', DRIFT)?;
    let rate = number("--drift", rate).map_err(|_| Error::value("--drift", text, DRIFT))?;
    Ok((names.node("--drift", node)?, rate))
}

/// `ID:T`: a node's timers of random length take this time instead.
pub fn backoff(text: &str, names: &Names) -> Result<(NodeId, Ticks), Error> {
    const BACKOFF: &str = "ID:T, such as 3:20";
    let (node, span) = split("--backoff", text, ':', BACKOFF)?;
    let span = time("--backoff", text, span, BACKOFF)?;
    Ok((names.node("--backoff", node)?, span))
}

/// Puts faults in the order in which they happen. At one time, who crashes does so before it
/// comes back.
pub fn in_order(faults: &mut [(Ticks, Fault)]) {
    let kind = |fault: &Fault| match fault {
        Fault::Crash(_) => 0,
        Fault::Restart { .. } => 1,
        Fault::Pause { .. } => 2,
        Fault::Partition { .. } => 3,
        Fault::Suspect { .. } => 4,
    };
    faults.sort_by_key(|(at, fault)| (*at, kind(fault)));
}

fn time(
    flag: &'static str,
    whole: &str,
    text: &str,
    accepted: &'static str,
) -> Result<Ticks, Error> {
    Ticks::parse(text).ok_or_else(|| Error::value(flag, whole, accepted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parse::testkit::refuses;

    fn names() -> Names {
        Names::new(5, 1)
    }

    #[test]
    fn a_mistake_is_shown_as_it_was_typed() {
        let error = pause("1@5", &Names::new(3, 0)).expect_err("no span").to_string();
        assert_eq!(error, "--pause 1@5: ID@T+D, such as 3@7.5+20");
    }

    #[test]
    fn nodes_stop_come_back_and_pause() {
        let names = names();
        let node = NodeId(2);
        let at = Ticks(7_500);
        assert_eq!(crash("3@7.5", &names), Ok((at, Fault::Crash(node))));
        let back = |amnesia| Ok((at, Fault::Restart { node, amnesia }));
        assert_eq!(restart("3@7.5", &names), back(false));
        assert_eq!(restart("3@7.5:amnesia", &names), back(true));
        let span = Ticks::units(20);
        assert_eq!(pause("3@7.5+20", &names), Ok((at, Fault::Pause { node, span })));
        refuses("--crash", |text| crash(text, &names), &["3", "3@", "@3", "3@x", "3@1:amnesia"]);
        refuses("--restart", |text| restart(text, &names), &["3@1:x", "3@:amnesia", "3@1:"]);
        refuses("--pause", |text| pause(text, &names), &["3@1", "3@1+", "3@+1", "3+1@1"]);
    }

    #[test]
    fn a_partition_has_two_sides_and_a_span() {
        let groups = vec![vec![NodeId(0), NodeId(1)], vec![NodeId(2)], vec![NodeId(5)]];
        let until = Ticks::units(60);
        let expected = (Ticks::units(10), Fault::Partition { groups, until });
        assert_eq!(partition("1,2/3/c1@10..60", &names()), Ok(expected));
        let groups = vec![vec![NodeId(0)], vec![NodeId(1)]];
        let for_ever = (Ticks::UNIT, Fault::Partition { groups, until: Fault::NEVER });
        assert_eq!(partition("1/2@1..", &names()), Ok(for_ever));
        let wrong = ["1,2@1..2", "1/2@1", "1/@1..2", "1//2@1..2", "1/9@1..2", "1/2"];
        refuses("--partition", |text| partition(text, &names()), &wrong);
    }

    #[test]
    fn suspicions_drifts_and_backoffs_name_their_node() {
        let names = names();
        let told =
            |span| Ok((Ticks::units(4), Fault::Suspect { by: NodeId(0), of: NodeId(1), span }));
        assert_eq!(suspect("1:2@4", &names), told(None));
        assert_eq!(suspect("1:2@4+6", &names), told(Some(Ticks::units(6))));
        assert_eq!(drift("5:1.01", &names), Ok((NodeId(4), 1.01)));
        assert_eq!(backoff("5:20", &names), Ok((NodeId(4), Ticks::units(20))));
        refuses("--suspect", |text| suspect(text, &names), &["1@4", "1:2", "1:2@4+", "1:9@4"]);
        refuses("--drift", |text| drift(text, &names), &["1", "9:1", "1:fast"]);
        refuses("--backoff", |text| backoff(text, &names), &["1", "9:1", "1:soon"]);
    }

    #[test]
    fn who_crashes_and_returns_at_one_time_does_so_in_this_order() {
        let names = names();
        let both = [restart("1@5", &names), crash("1@5", &names), crash("2@1", &names)];
        let mut faults: Vec<_> = both.into_iter().map(|fault| fault.expect("fine")).collect();
        in_order(&mut faults);
        let back = Fault::Restart { node: NodeId(0), amnesia: false };
        let order = [Fault::Crash(NodeId(1)), Fault::Crash(NodeId(0)), back];
        assert!(faults.iter().map(|(_, fault)| fault).eq(&order));
    }
}
