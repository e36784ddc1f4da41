//! From the fields of a scenario to a plan.

use super::Scenario;
use super::file::{File, List, Rule, Step, Word, in_field};
use crate::error::Error;
use crate::parse::{self, Names};
use crate::plan::{Act, Action, Fault, MessageRule, Plan, ScriptLine, Workload};
use conclave_core::{NodeId, Ticks};

impl Scenario {
    /// The run that the scenario tells of.
    pub fn plan(&self, names: &Names) -> Result<Plan, Error> {
        plan(&self.file, names).map_err(|error| in_field(&error))
    }
}

fn plan(file: &File, names: &Names) -> Result<Plan, Error> {
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
    Ok(Plan {
        seed: file.seed.unwrap_or(default.seed),
        latency: file.latency.as_ref().map_or(Ok(default.latency), latency)?,
        fifo: file.fifo.unwrap_or(default.fifo),
        loss: file.loss.unwrap_or(default.loss),
        duplicate: file.duplicate.unwrap_or(default.duplicate),
        serial: file.serial.unwrap_or(default.serial),
        multicast: file.multicast.unwrap_or(default.multicast),
        rules: file.rules.iter().map(|one| rule(one, names)).collect::<Result<_, Error>>()?,
        faults: faults(file, names)?,
        dead: each(&file.dead, |text| names.node("--dead", text))?,
        drift: each(&file.drift, |text| parse::drift(text, names))?,
        backoffs: file.backoffs.iter().map(backoff).collect::<Result<_, Error>>()?,
        workload: workload(file, names)?,
        start: each(&file.start, |text| names.node("--start", text))?,
        rounds: file.rounds.unwrap_or(default.rounds),
        critical_section: time("--cs", &file.cs, default.critical_section)?,
        cancel: file.cancel.unwrap_or(default.cancel),
        value: file.value,
        unprotected: file.unprotected.unwrap_or(default.unprotected),
        until: time("--until", &file.until, default.until)?,
    })
}

/// A scenario is one file: it says everything itself.
pub(super) fn no_files(_: &str) -> Result<String, String> {
    Err("a scenario cannot name other files; give the lines themselves".to_string())
}

fn each<T>(list: &Option<List>, parse: impl Fn(&str) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let texts = list.as_ref().map(List::texts).unwrap_or_default();
    texts.iter().map(|text| parse(text)).collect()
}

fn faults(file: &File, names: &Names) -> Result<Vec<(Ticks, Fault)>, Error> {
    let mut faults = each(&file.crash, |text| parse::crash(text, names))?;
    faults.extend(each(&file.restart, |text| parse::restart(text, names))?);
    faults.extend(each(&file.pause, |text| parse::pause(text, names))?);
    faults.extend(each(&file.partition, |text| parse::partition(text, names))?);
    faults.extend(each(&file.suspect, |text| parse::suspect(text, names))?);
    parse::in_order(&mut faults);
    Ok(faults)
}

fn workload(file: &File, names: &Names) -> Result<Workload, Error> {
    match (&file.workload, &file.script) {
        (None, None) => Ok(Workload::AllAtOnce),
        (Some(text), None) => parse::workload(text, names, &no_files),
        (None, Some(script)) => {
            let steps = script.iter().map(|one| step(one, names));
            Ok(Workload::Script(parse::sorted(steps.collect::<Result<_, Error>>()?)))
        }
        (Some(_), Some(_)) => {
            Err(Error::BadScenario("a workload or a script, not both".to_string()))
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
