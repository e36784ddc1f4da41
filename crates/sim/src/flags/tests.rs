use super::*;
use crate::parse;
use crate::parse::testkit::no_files;
use crate::random::Stream;

/// Reads a command line of flags, as a shell and the program would.
fn plan_of(words: &[String], names: &Names) -> Plan {
    let mut plan = Plan::default();
    let mut words = words.iter().map(|word| word.trim_matches('\''));
    while let Some(flag) = words.next() {
        match flag {
            "--no-fifo" => plan.fifo = false,
            "--serial" => plan.serial = true,
            "--multicast" => plan.multicast = true,
            "--unprotected" => plan.unprotected = true,
            _ => set(&mut plan, flag, words.next().expect("a value"), names),
        }
    }
    parse::in_order(&mut plan.faults);
    plan
}

fn set(plan: &mut Plan, flag: &str, value: &str, names: &Names) {
    let right = "what flags() writes can be read";
    match flag {
        "--ids" => assert_eq!(parse::ids(value, names.clients).as_ref(), Ok(&names.labels)),
        "--seed" => plan.seed = value.parse().expect(right),
        "--rounds" => plan.rounds = value.parse().expect(right),
        "--cs" => plan.critical_section = parse::time("--cs", value).expect(right),
        "--until" => plan.until = parse::time("--until", value).expect(right),
        "--cancel" => plan.cancel = parse::number("--cancel", value).expect(right),
        "--loss" => plan.loss = parse::number("--loss", value).expect(right),
        "--duplicate" => plan.duplicate = parse::number("--duplicate", value).expect(right),
        "--latency" => plan.latency = parse::latency(value, names, &no_files).expect(right),
        "--workload" => plan.workload = parse::workload(value, names, &no_files).expect(right),
        "--act" => plan.acts.push(parse::act(value, names).expect(right)),
        "--rule" => plan.rules.push(parse::rule(value, names).expect(right)),
        "--crash" => plan.faults.push(parse::crash(value, names).expect(right)),
        "--restart" => plan.faults.push(parse::restart(value, names).expect(right)),
        "--pause" => plan.faults.push(parse::pause(value, names).expect(right)),
        "--partition" => plan.faults.push(parse::partition(value, names).expect(right)),
        "--suspect" => plan.faults.push(parse::suspect(value, names).expect(right)),
        "--value" => plan.value = value.parse().ok(),
        "--start" => plan.start = names.nodes("--start", value).expect(right),
        "--dead" => plan.dead = names.nodes("--dead", value).expect(right),
        "--drift" => plan.drift.push(parse::drift(value, names).expect(right)),
        "--backoff" => plan.backoffs.push(parse::backoff(value, names).expect(right)),
        other => panic!("{other} is no flag"),
    }
}

/// Makes plans by chance.
struct Maker(Stream, Names);

impl Maker {
    fn flip(&mut self) -> bool {
        self.0.below(2) == 0
    }

    fn time(&mut self) -> Ticks {
        let size = 10_u64.pow(self.0.below(15) as u32);
        Ticks(1 + self.0.below(size))
    }

    fn node(&mut self) -> NodeId {
        NodeId(self.0.below(u64::from(self.1.clients + self.1.coordinators)) as u32)
    }

    fn client(&mut self) -> NodeId {
        NodeId(self.0.below(u64::from(self.1.clients)) as u32)
    }

    fn some<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Vec<T> {
        (0..self.0.below(4)).map(|_| make(self)).collect()
    }

    fn maybe<T>(&mut self, make: impl Fn(&mut Self) -> T) -> Option<T> {
        self.flip().then(|| make(self))
    }

    fn simple_latency(&mut self) -> Latency {
        let some = self.time() + Ticks(1);
        match self.0.below(7) {
            0 => Latency::Constant(self.time()),
            1 => Latency::Uniform(self.time(), self.time()),
            2 => Latency::Normal { mean: self.time(), deviation: some },
            3 => Latency::LogNormal { median: some, sigma: 0.5 },
            4 => Latency::Pareto { min: some, shape: 1.25 },
            5 => Latency::Measured(vec![some, some + self.time()]),
            _ => Latency::Exponential(self.time()),
        }
    }

    fn latency(&mut self) -> Latency {
        let links: std::collections::BTreeMap<_, _> = self
            .some(|maker| ((maker.node(), maker.node()), maker.simple_latency()))
            .into_iter()
            .collect();
        match self.simple_latency() {
            others if links.is_empty() => others,
            others => Latency::Links { others: Box::new(others), links },
        }
    }

    fn workload(&mut self) -> Workload {
        match self.0.below(5) {
            0 => Workload::AllAtOnce,
            1 => Workload::Single(self.client()),
            2 => Workload::Closed(self.time()),
            3 => Workload::Poisson(self.0.fraction()),
            _ => Workload::Script(self.script()),
        }
    }

    fn script(&mut self) -> Vec<ScriptLine> {
        let lines = self.some(|maker| {
            let act = match maker.0.below(4) {
                0 => Act::Acquire,
                1 => Act::Release,
                2 => Act::Cancel,
                _ => Act::Tell(maker.client()),
            };
            ScriptLine { at: maker.time(), node: maker.client(), act }
        });
        parse::sorted(lines)
    }

    fn rule(&mut self) -> MessageRule {
        let action = match self.0.below(4) {
            0 => Action::Drop,
            2 => Action::Again(self.time()),
            1 => Action::Duplicate,
            _ => Action::Delay(self.time()),
        };
        MessageRule {
            from: self.maybe(Self::node),
            to: self.maybe(Self::node),
            kind: self.maybe(|_| "RELEASE_ACK".to_string()),
            nth: self.maybe(|maker| 1 + maker.0.below(9) as u32),
            action,
        }
    }

    fn fault(&mut self) -> (Ticks, Fault) {
        let fault = match self.0.below(5) {
            0 => Fault::Crash(self.node()),
            1 => Fault::Restart { node: self.node(), amnesia: self.flip() },
            2 => Fault::Pause { node: self.node(), span: self.time() },
            3 => {
                let groups = vec![vec![NodeId(0), self.node()], vec![self.node()], vec![NodeId(1)]];
                let until = self.maybe(Self::time).unwrap_or(Fault::NEVER);
                Fault::Partition { groups, until }
            }
            _ => Fault::Suspect { by: self.node(), of: self.node(), span: self.maybe(Self::time) },
        };
        (self.time(), fault)
    }

    fn plan(&mut self) -> Plan {
        let mut faults = self.some(Self::fault);
        parse::in_order(&mut faults);
        Plan {
            seed: self.0.below(u64::MAX),
            latency: self.latency(),
            fifo: self.flip(),
            loss: self.0.fraction(),
            duplicate: self.0.fraction(),
            serial: self.flip(),
            multicast: self.flip(),
            rules: self.some(Self::rule),
            faults,
            dead: self.some(Self::node),
            drift: self.some(|maker| (maker.node(), maker.0.fraction())),
            backoffs: self.some(|maker| (maker.node(), maker.time())),
            workload: self.workload(),
            acts: self.script(),
            start: self.some(Self::node),
            rounds: 1 + self.0.below(9) as u32,
            critical_section: self.time(),
            cancel: self.0.fraction(),
            value: self.maybe(|maker| maker.0.below(99)),
            unprotected: self.flip(),
            until: self.time(),
        }
    }
}

#[test]
fn what_flags_writes_is_the_same_plan_when_read() {
    for seed in 0..2_000 {
        let labels = ["3", "17", "é", "a-b"].map(String::from).to_vec();
        let plain = seed % 2 == 0;
        let names = Names { labels: if plain { Vec::new() } else { labels }, ..Names::new(4, 2) };
        let plan = Maker(Stream::new(seed, 0), names.clone()).plan();
        let words = flags(&plan, &names);
        assert_eq!(plan_of(&words, &names), plan, "{words:?}");
    }
}

#[test]
fn the_default_needs_no_flags() {
    assert!(flags(&Plan::default(), &Names::new(3, 0)).is_empty());
}

#[test]
fn a_shell_reads_back_what_was_quoted() {
    assert_eq!(quoted("uniform:1..20"), "uniform:1..20");
    assert_eq!(quoted("1>2:REQUEST#1=drop"), "'1>2:REQUEST#1=drop'");
    assert_eq!(quoted("it's"), r"'it'\''s'");
    assert_eq!(quoted(""), "''");
}
