//! Which engine a node runs, its algorithms checked against the catalogue.

use crate::failure::Mistakes;
use conclave_algorithms::catalog::{self, Family};
use conclave_lab::files;
use conclave_service::{Chosen, Engine, REPLICATED};

/// What is asked for, in words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Named<'a> {
    pub engine: Option<&'a str>,
    pub election: Option<&'a str>,
    pub detector: Option<&'a str>,
}

/// The engine by its name, the replicated one if there is none; the algorithms of a classic one by
/// their names and parameters, each looked at by itself.
/// Parameters are the engine's; those that begin with `election.` or `detector.` are theirs.
pub fn choose(
    named: Named<'_>,
    set: &[(String, String)],
    nodes: u32,
    mistakes: &mut Mistakes,
) -> Engine {
    match named.engine {
        None | Some(REPLICATED) => replicated(named, set, mistakes),
        Some(engine) => classic(engine, named, set, nodes, mistakes),
    }
}

/// It has nothing to choose: it elects and suspects in its own way.
fn replicated(named: Named<'_>, set: &[(String, String)], mistakes: &mut Mistakes) -> Engine {
    let takes = "only a classic engine takes one: --engine ALG";
    for (flag, id) in [("--election", named.election), ("--detector", named.detector)] {
        if let Some(id) = id {
            mistakes.add(format!("{flag} {id}: {takes}"));
        }
    }
    for (name, value) in set {
        let takes = "the replicated engine has no parameters; a classic one has: --engine ALG";
        mistakes.add(format!("--set {name}={value}: {takes}"));
    }
    Engine::Replicated
}

fn classic(
    engine: &str,
    named: Named<'_>,
    set: &[(String, String)],
    nodes: u32,
    mistakes: &mut Mistakes,
) -> Engine {
    let of = |part: &str| -> Vec<(String, String)> {
        let belongs = |name: &str| match name.split_once('.') {
            Some((prefix, rest)) => (prefix == part).then(|| rest.to_string()),
            None => part.is_empty().then(|| name.to_string()),
        };
        set.iter().filter_map(|(name, value)| Some((belongs(name)?, value.clone()))).collect()
    };
    for (name, value) in set {
        let known = name.split_once('.').is_none_or(|(p, _)| ["election", "detector"].contains(&p));
        if !known {
            let takes = "takes KEY, election.KEY or detector.KEY";
            mistakes.add(format!("--set {name}={value}: {takes}"));
        }
    }
    let mut one = |flag, family, id: Option<&str>, default: &str, part| {
        let wish = Wish { flag, family, part, id: id.unwrap_or(default), set: of(part) };
        wish.chosen(nodes, mistakes)
    };
    Engine::Classic {
        engine: one("--engine", Family::Mutex, Some(engine), engine, ""),
        election: one("--election", Family::Election, named.election, "majority", "election"),
        detector: one("--detector", Family::Detector, named.detector, "phi-accrual", "detector"),
    }
}

struct Wish<'a> {
    flag: &'static str,
    family: Family,
    /// What its parameters begin with.
    part: &'static str,
    id: &'a str,
    set: Vec<(String, String)>,
}

impl Wish<'_> {
    fn chosen(self, nodes: u32, mistakes: &mut Mistakes) -> Chosen {
        let checked = self.checked(nodes.max(1));
        let set = checked.unwrap_or_else(|mistake| {
            mistakes.add(mistake);
            Vec::new()
        });
        Chosen { id: self.id.to_string(), set }
    }

    /// What was typed is in no catalogue: only what could stand here is suggested.
    fn unknown(&self) -> String {
        let Self { flag, family, id, .. } = self;
        let fits = catalog::ENTRIES.iter().filter(|entry| entry.family == *family);
        let replicated = (*family == Family::Mutex).then_some(REPLICATED);
        let ids: Vec<&str> = replicated.into_iter().chain(fits.map(|entry| entry.id)).collect();
        let hint = match catalog::alike(id, ids.into_iter()).as_slice() {
            [] => self.takes(),
            alike => format!("did you mean {}?", alike.join(" or ")),
        };
        format!("{flag} {id}: no algorithm is called '{id}'; {hint}")
    }

    /// The parameters, each by itself as it should be; where one takes a file, its text.
    fn checked(&self, nodes: u32) -> Result<Vec<(String, String)>, String> {
        let Self { flag, family, id, .. } = self;
        let entry = catalog::find(id).map_err(|_| self.unknown())?;
        if entry.family != *family {
            let is = entry.family.name();
            let a = if is.starts_with('e') { "an" } else { "a" };
            return Err(format!("{flag} {id}: this is {a} {is}; {}", self.takes()));
        }
        let read = |(name, value): &(String, String)| {
            let parameter = entry.parameters.iter().find(|parameter| parameter.name == name);
            let text = match parameter.is_some_and(|parameter| parameter.wants_file(value)) {
                true => files::read(value)
                    .map_err(|reason| format!("--set {}{name}={value}: {reason}", self.prefix()))?,
                false => value.clone(),
            };
            Ok((name.clone(), text))
        };
        let set: Vec<(String, String)> =
            self.set.iter().map(read).collect::<Result<_, String>>()?;
        let pairs: Vec<(&str, &str)> = set.iter().map(|(name, text)| (&**name, &**text)).collect();
        entry.setting(nodes, &pairs).map_err(|error| self.renamed(&error))?;
        Ok(set)
    }

    /// The catalogue names the parameter; whoever typed it gave it a prefix.
    fn renamed(&self, error: &conclave_algorithms::Error) -> String {
        let said = error.to_string();
        match said.strip_prefix("--set ") {
            Some(rest) => format!("--set {}{rest}", self.prefix()),
            None => said,
        }
    }

    fn prefix(&self) -> String {
        match self.part {
            "" => String::new(),
            part => format!("{part}."),
        }
    }

    fn takes(&self) -> String {
        let entries = catalog::ENTRIES.iter().filter(|entry| entry.family == self.family);
        let replicated = (self.family == Family::Mutex).then_some(REPLICATED);
        let ids: Vec<&str> = replicated.into_iter().chain(entries.map(|entry| entry.id)).collect();
        format!("takes {}", ids.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect()
    }

    #[test]
    fn parameters_go_to_whom_they_name() {
        let mut mistakes = Mistakes::default();
        let set = set(&[("mode", "strict"), ("election.timeout", "2s"), ("detector.period", "1")]);
        let named = Named { engine: Some("central-failover"), ..Named::default() };
        let chosen = choose(named, &set, 3, &mut mistakes);
        assert_eq!(mistakes.0, [""; 0]);
        let Engine::Classic { engine, election, detector } = chosen else {
            panic!("a classic engine: {chosen:?}")
        };
        assert_eq!(engine.id, "central-failover");
        assert_eq!(engine.set, [("mode".to_string(), "strict".to_string())]);
        assert_eq!(election.set, [("timeout".to_string(), "2s".to_string())]);
        assert_eq!(detector.set, [("period".to_string(), "1".to_string())]);
    }

    #[test]
    fn the_replicated_engine_is_the_usual_one_and_takes_no_algorithms() {
        let mut mistakes = Mistakes::default();
        assert_eq!(choose(Named::default(), &[], 3, &mut mistakes), Engine::Replicated);
        assert_eq!(mistakes.0, [""; 0]);
        let named = Named { election: Some("bully"), ..Named::default() };
        choose(named, &set(&[("mode", "strict")]), 3, &mut mistakes);
        let [election, set] = &mistakes.0[..] else { panic!("two mistakes: {mistakes:?}") };
        assert!(election.starts_with("--election bully: only a classic engine"), "{election}");
        assert!(set.starts_with("--set mode=strict: the replicated engine has no"), "{set}");
    }

    #[test]
    fn each_mistake_is_said() {
        let mut mistakes = Mistakes::default();
        let named = Named {
            engine: Some("replicatd"),
            election: Some("maekawa"),
            detector: Some("heartbeet"),
        };
        choose(named, &set(&[("lamp.on", "1")]), 3, &mut mistakes);
        let [prefix, engine, election, detector] = &mistakes.0[..] else {
            panic!("four mistakes: {mistakes:?}")
        };
        assert!(prefix.starts_with("--set lamp.on=1: takes KEY"), "{prefix}");
        assert!(engine.ends_with("did you mean replicated?"), "{engine}");
        assert!(election.starts_with("--election maekawa: this is a mutex; takes bully"));
        assert!(detector.ends_with("did you mean heartbeat?"), "{detector}");
    }
}
