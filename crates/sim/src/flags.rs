//! A plan as command-line flags that give the same plan again, to replay a run.

use crate::parse::Names;
use crate::plan::{Act, Action, Fault, Latency, MessageRule, Plan, ScriptLine, Workload};
use conclave_core::{NodeId, Ticks};

/// The words of a command line that give this plan again, in quotes where a shell needs them: only
/// what differs from the default.
pub fn flags(plan: &Plan, names: &Names) -> Vec<String> {
    let mut words = Words(Vec::new());
    if !names.labels.is_empty() {
        words.flag("--ids", names.labels.join(","));
    }
    let default = Plan::default();
    words.changed("--seed", plan.seed, default.seed);
    application(plan, names, &mut words);
    network(plan, names, &mut words);
    for (at, fault) in &plan.faults {
        let (flag, text) = fault_text(*at, fault, names);
        words.flag(flag, text);
    }
    if !plan.dead.is_empty() {
        words.flag("--dead", list(&plan.dead, names));
    }
    for (node, rate) in &plan.drift {
        words.flag("--drift", format!("{}:{rate}", names.name(*node)));
    }
    for (node, span) in &plan.backoffs {
        words.flag("--backoff", format!("{}:{span}", names.name(*node)));
    }
    words.changed("--until", plan.until, default.until);
    words.0
}

fn application(plan: &Plan, names: &Names, words: &mut Words) {
    let default = Plan::default();
    if plan.workload != default.workload {
        words.flag("--workload", workload_text(&plan.workload, names));
    }
    for line in &plan.acts {
        words.flag("--act", line_text(line, names));
    }
    if !plan.start.is_empty() {
        words.flag("--start", list(&plan.start, names));
    }
    words.changed("--rounds", plan.rounds, default.rounds);
    words.changed("--cs", plan.critical_section, default.critical_section);
    words.changed("--cancel", plan.cancel, default.cancel);
    if let Some(value) = plan.value {
        words.flag("--value", value.to_string());
    }
    words.switch("--unprotected", plan.unprotected);
}

fn network(plan: &Plan, names: &Names, words: &mut Words) {
    let default = Plan::default();
    if plan.latency != default.latency {
        words.flag("--latency", latency_text(&plan.latency, names));
    }
    words.switch("--no-fifo", !plan.fifo);
    words.changed("--loss", plan.loss, default.loss);
    words.changed("--duplicate", plan.duplicate, default.duplicate);
    words.switch("--serial", plan.serial);
    words.switch("--multicast", plan.multicast);
    for rule in &plan.rules {
        words.flag("--rule", rule_text(rule, names));
    }
}

/// A command line in the making.
struct Words(Vec<String>);

impl Words {
    fn flag(&mut self, flag: &str, value: impl AsRef<str>) {
        self.0.push(flag.to_string());
        self.0.push(quoted(value.as_ref()));
    }

    fn changed<T: PartialEq + ToString>(&mut self, flag: &str, value: T, default: T) {
        if value != default {
            self.flag(flag, value.to_string());
        }
    }

    fn switch(&mut self, flag: &str, on: bool) {
        if on {
            self.0.push(flag.to_string());
        }
    }
}

/// A word as a shell reads it back.
pub fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.,:/@+=".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_string();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

fn latency_text(latency: &Latency, names: &Names) -> String {
    match latency {
        Latency::Standard | Latency::Constant(Ticks::UNIT) => "unit".to_string(),
        Latency::Constant(time) => format!("const:{time}"),
        Latency::Uniform(min, max) => format!("uniform:{min}..{max}"),
        Latency::Exponential(mean) => format!("exp:{mean}"),
        Latency::Normal { mean, deviation } => format!("normal:{mean}:{deviation}"),
        Latency::LogNormal { median, sigma } => format!("lognormal:{median}:{sigma}"),
        Latency::Pareto { min, shape } => format!("pareto:{min}:{shape}"),
        Latency::Measured(times) => {
            let times: Vec<String> = times.iter().map(Ticks::to_string).collect();
            format!("samples:={}", times.join(","))
        }
        Latency::Links { others, links } => {
            let mut lines = vec![format!("* * {}", latency_text(others, names))];
            lines.extend(links.iter().map(|((from, to), link)| {
                format!("{} {} {}", names.name(*from), names.name(*to), latency_text(link, names))
            }));
            format!("={}", lines.join(";"))
        }
    }
}

fn workload_text(workload: &Workload, names: &Names) -> String {
    match workload {
        Workload::AllAtOnce => "all-at-once".to_string(),
        Workload::Single(node) => format!("single:{}", names.name(*node)),
        Workload::Closed(think) => format!("closed:{think}"),
        Workload::Poisson(rate) => format!("poisson:{rate}"),
        Workload::Script(script) => {
            let lines: Vec<String> = script.iter().map(|line| line_text(line, names)).collect();
            format!("script:={}", lines.join(";"))
        }
    }
}

fn line_text(line: &ScriptLine, names: &Names) -> String {
    let act = match line.act {
        Act::Acquire => "acquire".to_string(),
        Act::Release => "release".to_string(),
        Act::Cancel => "cancel".to_string(),
        Act::Campaign => "campaign".to_string(),
        Act::Event => "event".to_string(),
        Act::Tell(to) => format!("tell:{}", names.name(to)),
    };
    format!("{},{},{act}", line.at, names.name(line.node))
}

fn rule_text(rule: &MessageRule, names: &Names) -> String {
    let node = |node: Option<NodeId>| node.map_or("*".to_string(), |node| names.name(node));
    let kind = rule.kind.as_ref().map_or(String::new(), |kind| format!(":{kind}"));
    let nth = rule.nth.map_or(String::new(), |nth| format!("#{nth}"));
    let action = match rule.action {
        Action::Delay(time) => time.to_string(),
        Action::Drop => "drop".to_string(),
        Action::Duplicate => "twice".to_string(),
        Action::Again(time) => format!("twice:{time}"),
    };
    format!("{}>{}{kind}{nth}={action}", node(rule.from), node(rule.to))
}

fn fault_text(at: Ticks, fault: &Fault, names: &Names) -> (&'static str, String) {
    let name = |node: &NodeId| names.name(*node);
    match fault {
        Fault::Crash(node) => ("--crash", format!("{}@{at}", name(node))),
        Fault::Restart { node, amnesia } => {
            let memory = if *amnesia { ":amnesia" } else { "" };
            ("--restart", format!("{}@{at}{memory}", name(node)))
        }
        Fault::Pause { node, span } => ("--pause", format!("{}@{at}+{span}", name(node))),
        Fault::Partition { groups, until } => {
            let groups: Vec<String> = groups.iter().map(|group| list(group, names)).collect();
            let until = match *until {
                Fault::NEVER => String::new(),
                until => until.to_string(),
            };
            ("--partition", format!("{}@{at}..{until}", groups.join("/")))
        }
        Fault::Suspect { by, of, span } => {
            let span = span.map_or(String::new(), |span| format!("+{span}"));
            ("--suspect", format!("{}:{}@{at}{span}", name(by), name(of)))
        }
    }
}

fn list(nodes: &[NodeId], names: &Names) -> String {
    nodes.iter().map(|node| names.name(*node)).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests;
