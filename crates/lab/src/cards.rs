//! Cards: what the catalogue says of each algorithm, and the scenarios with the flags that run
//! them, as values for whoever shows them. Texts are in English; scenarios have both languages.

use crate::documents::{self, Document};
use crate::player::no_files;
use crate::scenarios::ScenarioFile;
use crate::{Error, Experiment, SimFlags};
use conclave_algorithms::catalog::{ENTRIES, Entry, Family, Finding, Params, Runs};
use conclave_core::{Bounds, Network, Property};
use conclave_sim::Plan;
use serde::Serialize;

/// An algorithm.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct Card {
    pub id: &'static str,
    pub family: &'static str,
    pub title: String,
    pub idea: String,
    pub source: &'static str,
    pub nodes: u32,
    pub checkable: bool,
    pub assumptions: Vec<AssumptionCard>,
    pub messages: Vec<MessageCard>,
    pub rules: Vec<RuleCard>,
    pub has: Vec<PropertyCard>,
    pub lacks: Vec<PropertyCard>,
    pub cost: Vec<CostCard>,
    pub parameters: Vec<ParameterCard>,
}

/// Something an algorithm takes for granted.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct AssumptionCard {
    pub id: &'static str,
    pub text: String,
    /// Flags of a run in which it does not hold; none where flags cannot say it.
    pub without: Option<String>,
    /// Whether the checker can do without it.
    pub checkable: bool,
    pub breaks: Vec<&'static str>,
}

/// A kind of message, as the algorithm's own documentation has it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct MessageCard {
    pub name: String,
    pub from_to: String,
    pub when: String,
    pub carries: String,
}

/// A rule, as the algorithm's own documentation has it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct RuleCard {
    pub id: String,
    pub text: String,
    /// Where reasons point to, `maekawa.R3`.
    pub anchor: String,
    /// The language of the text, where it is not the reader's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lang: Option<&'static str>,
}

/// A promise, kept or not.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct PropertyCard {
    pub property: &'static str,
    pub text: String,
}

/// A cost, as textbooks write it.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct CostCard {
    pub name: &'static str,
    pub formula: String,
}

/// Something that can be set.
#[derive(Clone, Debug, Serialize)]
#[expect(missing_docs, reason = "docs/lab.md tells the fields")]
pub struct ParameterCard {
    pub name: &'static str,
    pub default: &'static str,
    pub accepted: String,
    pub about: String,
}

/// A card for every algorithm of the catalogue.
pub fn all() -> Vec<Card> {
    ENTRIES.iter().map(|entry| card(entry)).collect()
}

fn card(entry: &'static Entry) -> Card {
    let setting = entry.setting(entry.nodes_usual(), &[]);
    let has = setting.as_ref().map(|setting| (entry.has)(&setting.params)).unwrap_or_default();
    let params = setting.as_ref().ok().map(|setting| &setting.params);
    let promised = |property: &Property| PropertyCard {
        property: property.tag(),
        text: property.meaning().to_string(),
    };
    let lacked = |(property, why): &(Property, &str)| PropertyCard {
        property: property.tag(),
        text: (*why).to_string(),
    };
    let checkable = matches!(entry.family, Family::Mutex | Family::Election);
    Card {
        id: entry.id,
        family: entry.family.name(),
        title: entry.title.to_string(),
        idea: entry.summary.to_string(),
        source: entry.paper,
        nodes: entry.nodes_usual(),
        checkable,
        assumptions: assumptions(entry, params),
        messages: messages(entry),
        rules: rules(entry),
        has: has.iter().map(promised).collect(),
        lacks: entry.lacks.iter().map(lacked).collect(),
        cost: entry
            .cost
            .formulas()
            .map(|(name, formula)| CostCard { name, formula: formula.text.to_string() })
            .collect(),
        parameters: entry.parameters.iter().map(parameter).collect(),
    }
}

fn parameter(parameter: &'static conclave_algorithms::catalog::Parameter) -> ParameterCard {
    ParameterCard {
        name: parameter.name,
        default: parameter.default,
        accepted: parameter.accepted(),
        about: parameter.about.to_string(),
    }
}

fn assumptions(entry: &'static Entry, params: Option<&Params>) -> Vec<AssumptionCard> {
    let bounds = params.map(|params| (entry.bounds)(params)).unwrap_or_default();
    let card = |assumption: &conclave_algorithms::catalog::Assumption| {
        let breaks = match assumption.dropped.finding {
            Finding::Breaks(properties) => properties.iter().map(|known| known.tag()).collect(),
            Finding::Harmless(_) | Finding::OutOfReach(_) => Vec::new(),
        };
        AssumptionCard {
            id: assumption.tag,
            text: assumption.text.to_string(),
            without: assumption
                .dropped
                .runs
                .and_then(|runs| flags_without(&runs, &bounds))
                .filter(|flags| can_be_run(entry, flags)),
            checkable: assumption.dropped.runs.is_some(),
            breaks,
        }
    };
    entry.assumptions.iter().map(card).collect()
}

/// Flags of a simulated run in which may happen what these runs allow beyond the usual bounds.
fn flags_without(runs: &Runs, usual: &Bounds) -> Option<String> {
    let mut allowed = usual.clone();
    runs.allow(&mut allowed);
    let mut flags = Vec::new();
    if allowed.network != usual.network && allowed.network == Network::Bag {
        flags.push("--no-fifo --latency uniform:1..20");
    }
    if allowed.losses > usual.losses {
        flags.push("--loss 0.05");
    }
    if allowed.duplicates > usual.duplicates {
        flags.push("--duplicate 0.1");
    }
    if allowed.crashes > usual.crashes {
        flags.push("--crash 2@5");
    }
    if allowed.restarts > usual.restarts {
        flags.push("--restart 2@15");
    }
    if allowed.amnesia > usual.amnesia {
        flags.push("--restart 2@15:amnesia");
    }
    if allowed.suspicions > usual.suspicions {
        flags.push("--suspect 1:2@5");
    }
    (!flags.is_empty()).then(|| flags.join(" "))
}

/// Whether a run by these flags is to be had. What the checker can let happen to an algorithm it
/// may not listen to in the simulator: suspicions of one that stands on a detector of its own, say.
fn can_be_run(entry: &Entry, flags: &str) -> bool {
    let prepared = || -> Result<(), Error> {
        let flags = SimFlags::of_line(entry.id, flags)?;
        let experiment = flags.experiment(&no_files)?;
        let plan = flags.plan(&experiment, &no_files)?;
        experiment.prepare(&plan, &experiment.options(false)).map(|_| ())
    };
    prepared().is_ok()
}

fn messages(entry: &Entry) -> Vec<MessageCard> {
    let rows = documents::of(entry).into_iter().flat_map(|(_, document)| document.messages);
    let card = |[name, from_to, when, carries]: &[&str; 4]| MessageCard {
        name: (*name).to_string(),
        from_to: (*from_to).to_string(),
        when: (*when).to_string(),
        carries: (*carries).to_string(),
    };
    rows.map(card).collect()
}

fn rules(entry: &Entry) -> Vec<RuleCard> {
    let of = |(part, document): (&'static str, &'static Document)| {
        document.rules.iter().map(move |(rule, text)| RuleCard {
            id: format!("{part} {rule}").trim_start().to_string(),
            text: (*text).to_string(),
            anchor: documents::anchor(entry.id, part, rule),
            lang: None,
        })
    };
    documents::of(entry).into_iter().flat_map(of).collect()
}

/// A scenario and the flags that run it.
#[derive(Clone, Debug)]
pub struct ScenarioCard {
    /// The scenario.
    pub name: String,
    /// In English and in Portuguese.
    pub title: [String; 2],
    /// What comes of it.
    pub text: [String; 2],
    /// What to ask before it is run.
    pub question: Option<[String; 2]>,
    /// Its place at the front door, if it has one.
    pub front: Option<u32>,
    /// The runs that it tells of.
    pub runs: Vec<RunCard>,
}

/// One run of a scenario.
#[derive(Clone, Debug)]
pub struct RunCard {
    /// What it is about, where there are several.
    pub part: Option<[String; 2]>,
    /// The algorithm.
    pub algorithm: String,
    /// The flags.
    pub flags: String,
    /// What must come of it: what it is about, and what is expected.
    pub expected: Vec<(String, String)>,
}

/// Every scenario of the binary that can be run.
pub fn scenarios() -> Result<Vec<ScenarioCard>, Error> {
    let files = ScenarioFile::all()?;
    files.iter().filter(|file| file.skipped().is_none()).map(scenario).collect()
}

fn scenario(file: &ScenarioFile) -> Result<ScenarioCard, Error> {
    let both = |text: &conclave_sim::Text| [text.en.clone(), text.pt.clone()];
    let head = file.head();
    let ran = file.run(false)?;
    let run = |ran: &crate::scenarios::Ran| RunCard {
        part: ran.part.as_ref().map(both),
        algorithm: ran.experiment.setting.entry.id.to_string(),
        flags: flags(&ran.experiment, &ran.plan),
        expected: ran
            .checks
            .iter()
            .map(|check| (check.what.clone(), check.expected.clone()))
            .collect(),
    };
    Ok(ScenarioCard {
        name: file.name.clone(),
        title: both(&head.title),
        text: both(&head.text),
        question: head.question.as_ref().map(both),
        front: head.front,
        runs: ran.iter().map(run).collect(),
    })
}

/// The flags of a plan: its command without what comes before them.
fn flags(experiment: &Experiment, plan: &Plan) -> String {
    let command = experiment.command(plan);
    let begins = format!("conclave sim {} ", experiment.setting.entry.id);
    command.strip_prefix(&begins).unwrap_or_default().to_string()
}
