//! The checker: holds a history against the rules of the service. It says what is wrong; nothing,
//! if all is well.

use crate::history::{Event, History, Logged, Time, Why};
use crate::replay::Replay;
use conclave_table::{Answer, Change, Notice, Put, Renewed, SessionId, Ticket};
use std::collections::{BTreeMap, BTreeSet};

/// All that is wrong with a history.
pub fn check(history: &History) -> Vec<String> {
    let mut wrong = history.wrong.clone();
    wrong.extend(overlaps(history));
    wrong.extend(taken(history));
    wrong.extend(unlogged(history));
    wrong.extend(verified(history));
    wrong.extend(bound(history));
    wrong.extend(Replay::run(history));
    wrong
}

/// From when until when a running client relied on a lock.
#[derive(Debug)]
struct Stay<'a> {
    client: usize,
    name: &'a str,
    fence: u64,
    from: Time,
    until: Time,
}

/// Whoever goes on after it stood still looks at its clock first, and has done so by then.
const LOOK: Time = 4;

/// The stays of running clients; while one stands still, only the fence protects.
fn stays(history: &History) -> Vec<Stay<'_>> {
    let mut inside: BTreeMap<usize, (&str, u64, Option<Time>)> = BTreeMap::new();
    let mut resumed: BTreeMap<usize, Time> = BTreeMap::new();
    let mut stays = Vec::new();
    for (at, client, event) in &history.events {
        let (at, client) = (*at, *client);
        let lost = matches!(event, Event::Left { why: Why::Lost, .. });
        let unused = lost && resumed.get(&client).is_some_and(|resumed| at <= resumed + LOOK);
        let ends = matches!(event, Event::Left { .. } | Event::Paused(true));
        if let Some((name, fence, from)) = inside.get_mut(&client)
            && ends
            && let Some(from) = from.take()
            && !unused
        {
            stays.push(Stay { client, name, fence: *fence, from, until: at });
        }
        if let Event::Entered { name, fence, .. } = event {
            inside.insert(client, (name, *fence, Some(at)));
        } else if matches!(event, Event::Left { .. }) {
            inside.remove(&client);
        } else if *event == Event::Paused(false) {
            resumed.insert(client, at);
            if let Some((.., from)) = inside.get_mut(&client) {
                *from = Some(at);
            }
        }
    }
    let until = history.now;
    stays.extend(inside.into_iter().filter_map(|(client, (name, fence, from))| {
        from.map(|from| Stay { client, name, fence, from, until })
    }));
    stays
}

/// No two running clients are inside at once, and whoever comes later has the larger fence.
fn overlaps(history: &History) -> Vec<String> {
    let mut by_name: BTreeMap<&str, Vec<Stay<'_>>> = BTreeMap::new();
    for stay in stays(history) {
        by_name.entry(stay.name).or_default().push(stay);
    }
    let mut wrong = Vec::new();
    for stays in by_name.values_mut() {
        stays.sort_by_key(|stay| (stay.from, stay.fence));
        for (one, two) in stays.iter().zip(stays.iter().skip(1)) {
            let same = one.client == two.client && one.fence == two.fence;
            if !same && two.from < one.until {
                wrong.push(format!("two are inside at once: {one:?} and {two:?}"));
            }
            if !same && two.fence <= one.fence {
                wrong.push(format!("the fence did not rise: {one:?}, then {two:?}"));
            }
        }
    }
    wrong
}

fn session_text(session: SessionId) -> String {
    format!("{:032x}", u128::from_be_bytes(session.0))
}

fn ticket(session: &str, request: u64) -> (String, u64) {
    (session.to_string(), request)
}

fn named(ticket: &Ticket) -> (String, u64) {
    (session_text(ticket.session), ticket.request.0)
}

/// What the log has of grants, keepalives and values.
#[derive(Default)]
struct Known<'a> {
    grants: BTreeMap<(String, u64), u64>,
    renewals: BTreeMap<String, u64>,
    values: BTreeSet<(&'a str, u64)>,
}

impl<'a> Known<'a> {
    fn of(history: &'a History) -> Self {
        let mut known = Self::default();
        history.log.values().for_each(|logged| known.add(logged));
        known
    }

    fn add(&mut self, Logged { change, applied, .. }: &'a Logged) {
        for granted in applied.notices.iter().filter_map(Notice::granted) {
            if let Some(grant) = granted.grants.first() {
                self.grants.insert(named(&granted.ticket), grant.inside.fence.0);
            }
        }
        match (change, &applied.answer) {
            (Change::Ask(ask), answer) => {
                let key = (session_text(ask.session), ask.request.0);
                self.grants.extend(answer.fence().map(|fence| (key, fence.0)));
            }
            (Change::Renew(asked), Answer::Renewed(told)) => {
                for (renewal, _) in asked.iter().zip(told).filter(|(_, told)| is_alive(told)) {
                    *self.renewals.entry(session_text(renewal.session)).or_default() += 1;
                }
            }
            (Change::Put(Put { name, fence, .. }), Answer::Done) => {
                self.values.insert((name, fence.0));
            }
            _ => {}
        }
    }

    /// Whether the log has what a client was told. One renewal covers one answer.
    fn has(&mut self, event: &Event) -> bool {
        match event {
            Event::Entered { session, request, fence, .. } => {
                self.grants.get(&ticket(session, *request)) == Some(fence)
            }
            Event::Refused { session, request, code } if code == "timeout" => {
                !self.grants.contains_key(&ticket(session, *request))
            }
            Event::Renewed { session } => match self.renewals.get_mut(session) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    true
                }
                Some(_) | None => false,
            },
            Event::Wrote { name, fence } => self.values.contains(&(name.as_str(), *fence)),
            Event::Opened { .. }
            | Event::Asked { .. }
            | Event::Left { .. }
            | Event::Refused { .. }
            | Event::Released { .. }
            | Event::Verified { .. }
            | Event::Died { .. }
            | Event::Paused(_) => true,
        }
    }
}

/// Whatever a client was told is in the log: grants, refusals, keepalives, values.
fn unlogged(history: &History) -> Vec<String> {
    let mut known = Known::of(history);
    let denied = history.events.iter().filter(|(_, _, event)| !known.has(event));
    let told = |(at, client, event): &(Time, usize, Event)| {
        format!("at {at} client {client} was told what the log denies: {event:?}")
    };
    denied.map(told).collect()
}

pub fn is_alive(told: &Renewed) -> bool {
    matches!(told, Renewed::Alive(_))
}

/// A fence is not valid once it was given back, and is while its holder is inside.
fn verified(history: &History) -> Vec<String> {
    let mut released: BTreeMap<(&str, u64), Time> = BTreeMap::new();
    for (at, _, event) in &history.events {
        if let Event::Released { name, fence } = event {
            released.entry((name, *fence)).or_insert(*at);
        }
    }
    let stays = stays(history);
    let mut wrong = Vec::new();
    for (at, _, event) in &history.events {
        let Event::Verified { name, fence, valid, asked } = event else { continue };
        let gone = released.get(&(name.as_str(), *fence)).is_some_and(|released| released < asked);
        let inside = stays.iter().any(|stay| {
            (stay.name, stay.fence) == (name.as_str(), *fence)
                && stay.from <= *asked
                && *at <= stay.until
        });
        if *valid && gone || !*valid && inside {
            wrong.push(format!("at {at} it was said otherwise than it was: {event:?}"));
        }
    }
    wrong
}

/// What may be under way of a client that dies: a keepalive, on its way to the log.
const UNDER_WAY: Time = 400;
/// What the rule allows beside the time to live.
const SLACK: Time = 100;

/// When each hold ended, by name and fence.
fn ends(history: &History) -> BTreeMap<(String, u64), Time> {
    let mut ends = BTreeMap::new();
    for logged in history.log.values() {
        for end in logged.applied.notices.iter().filter_map(Notice::ended) {
            ends.insert((end.resource.name.to_string(), end.fence.0), logged.at);
        }
    }
    ends
}

/// Nothing is taken from a running client that relies on it, whether anybody waits for it or not:
/// its own deadline comes first.
fn taken(history: &History) -> Vec<String> {
    let ends = ends(history);
    let mut wrong = Vec::new();
    for stay in stays(history) {
        let end = ends.get(&(stay.name.to_string(), stay.fence));
        if let Some(end) = end.filter(|end| **end < stay.until) {
            wrong.push(format!("at {end} it was taken from whoever relied on it: {stay:?}"));
        }
    }
    wrong
}

/// What a dead client holds ends within its time to live, the time that the cluster was not able to
/// work, and 100 ms.
fn bound(history: &History) -> Vec<String> {
    let ended = ends(history);
    let mut wrong = Vec::new();
    for (died, client, event) in &history.events {
        let Event::Died { ttl_ms, held: Some(held), .. } = event else { continue };
        let end = ended.get(held).copied().unwrap_or(history.now);
        let trouble = history.troubled(*died, end);
        let limit = died + ttl_ms + ttl_ms / 50 + trouble + SLACK + UNDER_WAY;
        if end > limit {
            wrong.push(format!(
                "client {client} died at {died}, and {held:?} ended at {end}, not by {limit} \
                 ({ttl_ms} ms, trouble {trouble} ms)"
            ));
        }
    }
    wrong
}

/// How often clients were inside, and how they left.
pub fn summary(history: &History) -> String {
    let count = |test: &dyn Fn(&Event) -> bool| {
        history.events.iter().filter(|(_, _, event)| test(event)).count()
    };
    let entered = count(&|event| matches!(event, Event::Entered { .. }));
    let lost = count(&|event| matches!(event, Event::Left { why: Why::Lost, .. }));
    let died = count(&|event| matches!(event, Event::Died { .. }));
    let entries = history.log.len();
    let History { installed, replaced, .. } = history;
    format!(
        "{entered} entered, {lost} lost it, {died} died; {entries} entries, {installed} snapshots \
         installed, {replaced} nodes replaced; {} of {} ms in trouble",
        history.troubled(0, history.now),
        history.now
    )
}
