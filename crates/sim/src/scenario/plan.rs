//! From the fields of a scenario to a plan.

use super::file::{File, List, Rule, Step, Word};
use super::{Mistakes, Scenario};
use crate::error::Error;
use crate::parse::{self, Names};
use crate::plan::{Act, Action, Fault, MessageRule, Plan, ScriptLine, Workload};
use conclave_core::{NodeId, Ticks};

impl Scenario {
    /// The run that the scenario tells of, or all that is wrong with its fields.
    pub fn plan(&self, names: &Names) -> Result<Plan, Error> {
        let mut mistakes = Mistakes::default();
        let plan = self.plan_noting(names, &mut mistakes);
        mistakes.or(plan)
    }

    /// The run without what is wrong with its fields, which is noted.
    pub fn plan_noting(&self, names: &Names, mistakes: &mut Mistakes) -> Plan {
        let mut wrong = Wrong(Vec::new());
        let plan = plan(&self.file, names, &mut wrong);
        wrong.0.iter().for_each(|error| self.note(error, mistakes));
        plan
    }
}

/// What is wrong so far.
struct Wrong(Vec<Error>);

impl Wrong {
    /// What was read; if it could not be, that is noted, and something else stands for it.
    fn or<T>(&mut self, read: Result<T, Error>, otherwise: T) -> T {
        read.unwrap_or_else(|error| {
            self.0.push(error);
            otherwise
        })
    }

    /// All of a list that could be read.
    fn all<T>(&mut self, read: impl IntoIterator<Item = Result<T, Error>>) -> Vec<T> {
        let mut good = Vec::new();
        for one in read {
            match one {
                Ok(one) => good.push(one),
                Err(error) => self.0.push(error),
            }
        }
        good
    }
}

fn plan(file: &File, names: &Names, wrong: &mut Wrong) -> Plan {
    let default = Plan::default();
    let time = |flag, word: &Option<Word>, default| match word {
        Some(word) => parse::time(flag, &word.text()),
        None => Ok(default),
    };
    let latency = |lines: &List| match lines {
        List::Many(_) => parse::latency(&format!("={}", lines.texts().join(";")), names, &no_files),
        List::One(word) => parse::latency(&word.text(), names, &no_files),
    };
    let backoff =
        |(node, span): (&String, &Word)| parse::backoff(&format!("{node}:{}", span.text()), names);
    let usual = default.latency.clone();
    Plan {
        seed: file.seed.unwrap_or(default.seed),
        latency: wrong.or(file.latency.as_ref().map_or(Ok(default.latency), latency), usual),
        fifo: file.fifo.unwrap_or(default.fifo),
        loss: file.loss.unwrap_or(default.loss),
        duplicate: file.duplicate.unwrap_or(default.duplicate),
        serial: file.serial.unwrap_or(default.serial),
        multicast: file.multicast.unwrap_or(default.multicast),
        rules: wrong.all(file.rules.iter().map(|one| rule(one, names))),
        faults: faults(file, names, wrong),
        dead: wrong.all(each(&file.dead, |text| names.node("--dead", text))),
        drift: wrong.all(each(&file.drift, |text| parse::drift(text, names))),
        backoffs: wrong.all(file.backoffs.iter().map(backoff)),
        workload: workload(file, names, wrong),
        acts: Vec::new(),
        start: wrong.all(each(&file.start, |text| names.node("--start", text))),
        rounds: file.rounds.unwrap_or(default.rounds),
        critical_section: wrong
            .or(time("--cs", &file.cs, default.critical_section), default.critical_section),
        cancel: file.cancel.unwrap_or(default.cancel),
        value: file.value,
        unprotected: file.unprotected.unwrap_or(default.unprotected),
        until: wrong.or(time("--until", &file.until, default.until), default.until),
    }
}

/// A scenario is one file: it says everything itself.
pub(super) fn no_files(_: &str) -> Result<String, String> {
    Err("a scenario cannot name other files; give the lines themselves".to_string())
}

fn each<T>(list: &Option<List>, parse: impl Fn(&str) -> T) -> Vec<T> {
    let texts = list.as_ref().map(List::texts).unwrap_or_default();
    texts.iter().map(|text| parse(text)).collect()
}

fn faults(file: &File, names: &Names, wrong: &mut Wrong) -> Vec<(Ticks, Fault)> {
    let read = [
        each(&file.crash, |text| parse::crash(text, names)),
        each(&file.restart, |text| parse::restart(text, names)),
        each(&file.pause, |text| parse::pause(text, names)),
        each(&file.partition, |text| parse::partition(text, names)),
        each(&file.suspect, |text| parse::suspect(text, names)),
    ];
    let mut faults = wrong.all(read.into_iter().flatten());
    parse::in_order(&mut faults);
    faults
}

fn workload(file: &File, names: &Names, wrong: &mut Wrong) -> Workload {
    let otherwise = Workload::AllAtOnce;
    match (&file.workload, &file.script) {
        (None, None) => otherwise,
        (Some(text), None) => wrong.or(parse::workload(text, names, &no_files), otherwise),
        (None, Some(script)) => {
            let steps = wrong.all(script.iter().map(|one| step(one, names)));
            Workload::Script(parse::sorted(steps))
        }
        (Some(_), Some(_)) => {
            let both = "workload: a workload or a script, not both".to_string();
            wrong.or(Err(Error::BadScenario(both)), otherwise)
        }
    }
}

fn step(step: &Step, names: &Names) -> Result<ScriptLine, Error> {
    let act = match (step.act.as_str(), &step.to) {
        ("acquire", None) => Act::Acquire,
        ("release", None) => Act::Release,
        ("cancel", None) => Act::Cancel,
        ("campaign", None) => Act::Campaign,
        ("event", None) => Act::Event,
        ("tell", Some(to)) => Act::Tell(names.node("script", &to.text())?),
        (other, _) => {
            let accepted = "do = acquire, release, cancel, campaign, event, or tell with 'to'";
            return Err(Error::value("script", other, accepted));
        }
    };
    let at = parse::time("script", &step.at.text())?;
    Ok(ScriptLine { at, node: names.node("script", &step.node.text())?, act })
}

fn rule(rule: &Rule, names: &Names) -> Result<MessageRule, Error> {
    let action = match (&rule.delay, rule.drop, rule.twice) {
        (Some(delay), false, false) => Action::Delay(parse::time("rules", &delay.text())?),
        (None, true, false) => Action::Drop,
        (None, false, true) => Action::Duplicate,
        (Some(_) | None, _, _) => {
            let reason = "rules: each has one of delay, drop = true and twice = true";
            return Err(Error::BadScenario(reason.to_string()));
        }
    };
    if rule.nth == Some(0) {
        return Err(Error::value("rules", "nth = 0", "the first is 1"));
    }
    let kind = rule.kind.as_ref().map(|word| parse::kind("rules", word)).transpose()?;
    let from = any_node(&rule.from, names)?;
    let to = any_node(&rule.to, names)?;
    Ok(MessageRule { from, to, kind, nth: rule.nth, action })
}

fn any_node(word: &Option<Word>, names: &Names) -> Result<Option<NodeId>, Error> {
    match word.as_ref().map(Word::text).as_deref() {
        None | Some("*") => Ok(None),
        Some(name) => names.node("rules", name).map(Some),
    }
}
