//! What every row must say. A complaint names the row, what it lacks, and where to put it.

use super::detection::DETECTORS;
use super::*;

/// What comes of building a row.
#[derive(Debug, PartialEq)]
struct Built {
    family: Family,
    led: bool,
    normal: bool,
}

struct Look;

impl Built {
    fn of<P: Process>(family: Family, cluster: &Cluster<P>) -> Self {
        Self { family, led: false, normal: cluster.normal.is_some() }
    }
}

impl Visitor for Look {
    type Output = Built;

    fn mutex<P>(self, cluster: Cluster<P>) -> Built
    where
        P: Process<Provides = Mutex, Uses: Oracle>,
    {
        Built::of(Family::Mutex, &cluster)
    }

    fn led<U: Led>(self, lock: LedLock<'_, U>) -> Result<Built, Error> {
        Ok(Built { led: true, ..lock.stacked(self)? })
    }

    fn election<P>(self, cluster: Cluster<P>) -> Built
    where
        P: Process<Provides = Election, Uses: Oracle>,
    {
        Built::of(Family::Election, &cluster)
    }

    fn detector<P>(self, cluster: Cluster<P>) -> Built
    where
        P: Process<Provides = Detector, Uses: Oracle>,
    {
        Built::of(Family::Detector, &cluster)
    }

    fn clock<P>(self, cluster: Cluster<P>) -> Built
    where
        P: Process<Provides = Timekeeping, Uses: Oracle>,
    {
        Built::of(Family::Clock, &cluster)
    }
}

fn setting(entry: &'static Entry, set: &[(&str, &str)]) -> Result<Setting, String> {
    entry.setting(5, set).map_err(|error| format!("{}: {set:?}: {error}", entry.id))
}

fn built(entry: &'static Entry) -> Result<Built, String> {
    built_with(entry, &[])
}

fn built_with(entry: &'static Entry, set: &[(&str, &str)]) -> Result<Built, String> {
    let visited = visit(&setting(entry, set)?, Look);
    visited.map_err(|error| format!("{}: it cannot be built: {error}", entry.id))
}

fn complain(complaints: impl IntoIterator<Item = String>) {
    let complaints: Vec<String> = complaints.into_iter().collect();
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}

fn ids(entries: impl Iterator<Item = &'static Entry>) -> Vec<&'static str> {
    entries.map(|entry| entry.id).collect()
}

#[test]
fn every_row_can_be_built_and_is_of_the_family_it_says() {
    complain(ENTRIES.iter().filter_map(|entry| match built(entry) {
        Err(complaint) => Some(complaint),
        Ok(built) if built.family != entry.family => Some(format!(
            "{}: its row says family {:?}, but its arm in catalog::visit builds {:?}",
            entry.id, entry.family, built.family
        )),
        Ok(_) => None,
    }));
}

#[test]
fn every_id_is_there_once() {
    complain(ENTRIES.iter().enumerate().filter_map(|(place, entry)| {
        let again = ENTRIES[..place].iter().any(|other| other.id == entry.id);
        again.then(|| format!("{}: two rows of ENTRIES have this id", entry.id))
    }));
}

#[test]
fn every_row_says_what_it_is_on_a_network() {
    complain(ENTRIES.iter().filter_map(|entry| {
        let family = match &entry.on_network {
            OnNetwork::Lock(_) => Family::Mutex,
            OnNetwork::Election(_) => Family::Election,
            OnNetwork::Detector => Family::Detector,
            OnNetwork::Nothing(_) => Family::Clock,
        };
        let wrong = family != entry.family;
        wrong.then(|| format!("{}: on_network of its row is for {family:?}", entry.id))
    }));
}

#[test]
fn a_row_says_that_it_stands_on_an_election_if_it_is_built_on_one() {
    complain(ENTRIES.iter().filter_map(|entry| {
        let led = built(entry).is_ok_and(|built| built.led);
        let differs = led != entry.is_led();
        differs.then(|| format!("{}: on_network.led of its row must be {led}", entry.id))
    }));
}

#[test]
fn what_a_row_sets_on_a_network_are_values_that_it_takes() {
    for entry in ENTRIES.iter().copied() {
        let Some(lock) = entry.lock() else { continue };
        complain(setting(entry, (lock.defaults)(&|_| false)).err());
        complain(setting(entry, (lock.defaults)(&|_| true)).err());
    }
}

#[test]
fn a_row_has_a_normal_form_or_says_why_not() {
    complain(ENTRIES.iter().filter_map(|entry| {
        let listed = entry.evidence.normal.yes().copied().unwrap_or(&[&[]]);
        let has = |set: &&[_]| built_with(entry, set).is_ok_and(|built| built.normal);
        match (&entry.evidence.normal, listed.iter().all(has)) {
            (Stated::Yes(settings), true) if !settings.is_empty() => None,
            (Stated::No(why), false) if !why.is_empty() => None,
            (Stated::Yes(_), true) => Some(format!(
                "{}: evidence.normal of its row lists no setting to walk; &[&[]] is the usual one",
                entry.id
            )),
            (_, true) => Some(format!(
                "{}: it has a normal form, and evidence.normal of its row says why not",
                entry.id
            )),
            (_, false) => Some(format!(
                "{}: its cluster has no normal form; evidence.normal of its row must say why",
                entry.id
            )),
        }
    }));
}

#[test]
fn a_row_makes_claims_or_says_why_not() {
    complain(ENTRIES.iter().filter_map(|entry| {
        let missing = match &entry.evidence.claims {
            Stated::Yes(claims) => claims.is_empty(),
            Stated::No(why) => why.is_empty(),
        };
        missing.then(|| format!("{}: evidence.claims of its row is empty", entry.id))
    }));
    for (entry, claim) in claims() {
        complain(setting(entry, claim.set).err());
    }
}

/// `check --all` lists them like this, and people compare what it prints.
#[test]
fn claims_are_listed_in_one_order_whatever_the_rows_do() {
    let listed: Vec<_> = claims().map(|(entry, claim)| (claim.breaks(), entry.id)).collect();
    let broken = listed.iter().filter(|(breaks, _)| *breaks).count();
    assert!(listed[..listed.len() - broken].iter().all(|(breaks, _)| !breaks), "what holds first");
    let first: Vec<&str> = listed.iter().map(|(_, id)| *id).take(5).collect();
    assert_eq!(first, ["central", "central", "central-failover", "central-failover", "voting"]);
    let places = |breaks| -> Vec<u32> {
        claims()
            .filter(|(_, claim)| claim.breaks() == breaks)
            .filter_map(|(_, c)| c.listed_at())
            .collect()
    };
    for breaks in [false, true] {
        assert!(places(breaks).is_sorted_by(|a, b| a < b), "two claims share a place");
    }
}

#[test]
fn locks_can_choose_every_election_that_carries_them_and_every_detector() {
    let words = |parameter: &Parameter| match parameter.kind {
        Kind::Choice(words) => words.to_vec(),
        Kind::ChoiceOrFile(_)
        | Kind::Flag
        | Kind::Number { .. }
        | Kind::Time { .. }
        | Kind::Text { .. } => panic!("{}: a choice", parameter.name),
    };
    let sorted = |mut ids: Vec<&'static str>| {
        ids.sort_unstable();
        ids
    };
    let rows = || ENTRIES.iter().copied();
    let carry = ids(rows().filter(|entry| entry.carries_locks().is_some()));
    let choice = words(&leadership::ELECTION);
    assert_eq!(sorted(carry), sorted(choice), "rows that carry locks, and leadership::ELECTION");
    let detect = ids(rows().filter(|entry| entry.family == Family::Detector));
    assert_eq!(sorted(detect.clone()), sorted(DETECTORS.to_vec()), "rows, and DETECTORS");
    let choice = words(&leadership::DETECTOR);
    let real = choice.into_iter().filter(|word| *word != "perfect").collect();
    assert_eq!(sorted(detect), sorted(real), "rows, and leadership::DETECTOR");
}
