//! Who asks for Portuguese reads no English sentence.

use crate::support::{Done, conclave, conclave_in, json};
use std::fs;
use std::path::Path;

/// Words that are frequent in English and none in Portuguese.
const ENGLISH: &[&str] = &[
    "the", "of", "and", "with", "is", "are", "was", "were", "not", "at", "to", "from", "who",
    "every", "each", "than", "takes", "has", "have", "which", "while", "when", "what", "how",
    "that", "this", "its", "been", "by", "only", "first", "last", "more", "most", "after",
    "before", "there", "their", "sends", "receives", "asks", "leaves", "starts", "waits", "holds",
    "nodes", "messages", "invalid", "digit", "string", "labels", "number", "address", "units",
    "cannot", "must", "may", "nothing", "nobody", "without",
];

/// What people type to learn, to look and to compare; a blank parts the words.
const COMMANDS: &[&str] = &[
    "tour",
    "algorithms",
    "scenario list",
    "scenario show quorum-c4-forgets --answer",
    "scenario run quorum-c4-forgets",
    "scenario run quorum-c4-forgets --predict",
    "scenario run bully-winner-dies --view all",
    "scenario run half-empty-table",
    "sim ricart-agrawala --nodes 7",
    "sim central --crash 1@5 --view all",
    "sim lamport --no-fifo --latency uniform:1..20 --seeds 20",
    "sim lamport --partition 1,2/3@5..20 --crash 2@4 --restart 2@9 --nodes 3 --view all",
    "sim central --pause 1@3+5 --view all",
    "sim token-ring --loss 0.2 --view all --nodes 3 --until 100",
    "sim bully --nodes 4 --crash 4@0 --view all",
    "sim heartbeat --nodes 4 --latency exp:2 --crash 3@100",
    "sim lamport-clock --nodes 3 --view all",
    "sim vector-clock --nodes 3",
    "sim bully --nodes 4 --partition 1,2/3,4@1..40 --crash 4@0 --start 1,2,3",
    "sim ring --nodes 5 --crash 5@9 --loss 0.05 --until 150",
    "algorithms central-failover",
    "check lamport --without A4 --nodes 2",
    "check bully --nodes 2",
    "check majority --nodes 2 --max-states 2000",
    "check quorum --without A3",
    "compare --nodes 4",
    "compare --family election --nodes 4",
    "compare --faults --nodes 4 --algorithms central",
    "quorum --coordinators 32 --votes 24 --probability 1e-4",
    "quorum -n 7 -m 4 -p 0.1 --monte-carlo 1000",
    "timeout --latency exp:100 --cost-of-mistake 1000 --cost-of-waiting 1 --timeout 30",
    "--help",
    "sim --help",
    "lock --help",
    "quorum --help",
];

/// What people type wrongly.
const MISTAKES: &[&str] = &[
    "sim --nodse",
    "scenario run bully-winner-dies --answer",
    "lock a --nodes 3",
    "simm",
    "sim",
    "sim foo",
    "sim rin",
    "sim ring --nodes 0",
    "sim ring --nodes",
    "sim ring ring",
    "sim central --set foo=1",
    "sim central --set busy=x",
    "sim central --latency foo",
    "sim central --crash x",
    "sim central --crash 99@3",
    "sim central --loss 2",
    "sim central --trace run.foo",
    "sim central --seeds 2 --view all",
    "sim central --samples nowhere",
    "check central --all",
    "compare --nodes x",
    "compare --faults --family election --nodes 99",
    "quorum -n 7 -m 2",
    "scenario run foo",
    "scenario run --all foo",
    "scenario list zzz",
    "replay nowhere.jsonl",
    "lock a --wait 30 -- true",
    "lock a true",
    "up --engine foo",
    "up --http 1.2.3.4:7000",
    "node",
    "node --id 9 --data d --peer 1=127.0.0.1:1,api=127.0.0.1:2",
    "node --id 1 --data d --peer 1=127.0.0.1:1,api=127.0.0.1:2 --deny zz",
    "sim maekawa --set sanders",
    "sim maekawa --check FOO",
    "sim bully --ids 3,1 --nodes 5",
    "cert --out nowhere --nodes 3 --days x",
    "cluster",
    "cluster remove x",
    "lock a a -- true",
    "lock a --permits 0 -- true",
    "mc714 client --id 1 --coordinator foo --ops r",
    "mc714 client --id 1 --coordinator http://127.0.0.1:1 --ops q",
];

/// What cannot be done here.
const FAILURES: &[&str] = &[
    "cluster restore nofile --data d --peer 127.0.0.1:9 --api 127.0.0.1:8",
    "cluster restore Cargo.toml --data d --peer 127.0.0.1:9 --api 127.0.0.1:8",
    "lock a --server http://127.0.0.1:1 --wait 0 -- true",
    "mc714 client --id 1 --coordinator http://127.0.0.1:1 --ops r",
];

fn in_portuguese(line: &str) -> Done {
    let words: Vec<&str> = line.split(' ').chain(["--lang", "pt"]).collect();
    match line.split_once(" -- ") {
        Some((own, other)) => {
            let own = own.split(' ').chain(["--lang", "pt", "--"]);
            conclave(&own.chain(other.split(' ')).collect::<Vec<_>>())
        }
        None => conclave(&words),
    }
}

/// The English words of a text, but for what is typed, and for what messages carry.
fn english(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let line = line.split("conclave ").next().unwrap_or_default();
        let told = without_brackets(line);
        let words = told.split(|c: char| c.is_whitespace() || ",;:.!?\"'".contains(c));
        let plain = words.filter(|word| !word.contains(['-', '=', '<']));
        for word in plain.filter(|word| ENGLISH.contains(&word.to_lowercase().as_str())) {
            found.push(format!("'{word}' in: {line}"));
        }
    }
    found
}

/// A message shows its fields in brackets, by their names in the code.
fn without_brackets(line: &str) -> String {
    let mut text = line.to_string();
    while let Some((before, after)) = text.rsplit_once('(').map(|(a, b)| (a.len(), b.to_string())) {
        match after.split_once(')') {
            Some((inside, rest)) if inside.contains(": ") || inside.is_empty() => {
                text = format!("{}{rest}", &text[..before]);
            }
            Some((inside, rest)) => text = format!("{} {inside} {rest}", &text[..before]),
            None => text = format!("{} {after}", &text[..before]),
        }
    }
    text
}

fn complain(complaints: &[String]) {
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}

#[test]
fn no_english_sentence_is_left_in_what_is_shown() {
    let mut complaints = Vec::new();
    for line in COMMANDS {
        let done = in_portuguese(line);
        let words = english(&(done.stdout + &done.stderr));
        complaints.extend(words.into_iter().map(|word| format!("{line}: {word}")));
    }
    complain(&complaints);
}

#[test]
fn no_english_sentence_is_left_in_what_is_said_of_mistakes() {
    let mut complaints = Vec::new();
    let mistakes = MISTAKES.iter().map(|line| (line, 2));
    for (line, code) in mistakes.chain(FAILURES.iter().map(|line| (line, 1))) {
        let done = in_portuguese(line);
        assert_eq!((done.code, done.stdout.as_str()), (code, ""), "{line}: {}", done.stderr);
        assert!(done.stderr.starts_with("erro: "), "{line}: {}", done.stderr);
        let words = english(&done.stderr);
        complaints.extend(words.into_iter().map(|word| format!("{line}: {word}")));
    }
    complain(&complaints);
}

#[test]
fn what_is_wrong_in_a_file_and_what_is_made_for_links_is_said_in_portuguese() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("portuguese");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let config = folder.join("wrong.toml");
    let config = config.to_str().unwrap();
    for text in ["id = \"x\"", "x = 1", "id = 1\nid = 2", "id", "id = = 1", "[[nodes]]\nid = 1"] {
        fs::write(config, text).unwrap();
        let said = in_portuguese(&format!("node --config {config}")).stderr;
        assert!(said.starts_with("erro: "), "{text}: {said}");
        complain(&english(&said.replace("expected", "the")));
        assert!(!said.contains("missing field") && !said.contains("duplicate"), "{said}");
    }
    let out = folder.join("certificates");
    let made = in_portuguese(&format!("cert --out {} --nodes 2", out.display()));
    assert_eq!(made.code, 0, "{}", made.stderr);
    complain(&english(&made.stdout));
}

#[test]
fn what_is_wrong_in_a_scenario_is_said_in_portuguese() {
    let config = concat!(env!("CARGO_TARGET_TMPDIR"), "/wrong-scenario.toml");
    let head = "title = { en = \"A\" }\ntext = { en = \"a\" }\nsource = \"me\"\n\
                algorithm = \"central\"\nnodes = 3\n";
    for wrong in [
        "cs = \"soon\"",
        "crash = 3",
        "seed = -1",
        "seed = 1.5",
        "fifo = \"yes\"",
        "set = 3",
        "expect = 3",
        "workload = \"foo\"",
        "rules = [{ from = 1 }]",
        "script = [{ at = 0, node = 1, do = \"dance\" }]",
        "[expect]\nholds = [\"S9\"]",
        "x = [1, 2",
        "x = { y = 1",
        "x = tru",
        "x = 1 2",
        "[expect",
    ] {
        fs::write(config, format!("{head}{wrong}\n")).unwrap();
        let said = in_portuguese(&format!("scenario run {config}")).stderr;
        assert!(said.starts_with("erro: "), "{wrong}: {said}");
        for word in ["expected", "invalid", "unclosed", "string", "integer", "such as", " or "] {
            assert!(!said.contains(word), "{wrong}: {said}");
        }
        complain(&english(&said.replace("'to'", ""))); // That is a field.
    }
}

#[test]
fn the_environment_decides_as_posix_has_it_and_the_flag_above_all() {
    let spoken = |variables: &[(&str, &str)], arguments: &[&str]| {
        let help = conclave_in(&[&["tour"], arguments].concat(), variables).stdout;
        if help.contains("quem pode entrar") { "pt" } else { "en" }
    };
    for (variables, language) in [
        (&[("LANG", "pt_BR.UTF-8")][..], "pt"),
        (&[("LANG", "PT_br")], "pt"),
        (&[("LANG", "C.UTF-8")], "en"),
        (&[("LC_MESSAGES", "pt_PT"), ("LANG", "en_US.UTF-8")], "pt"),
        (&[("LC_ALL", "en_US.UTF-8"), ("LC_MESSAGES", "pt_PT"), ("LANG", "pt_BR")], "en"),
        (&[("LC_ALL", ""), ("LANG", "pt_BR")], "pt"),
        (&[], "en"),
    ] {
        assert_eq!(spoken(variables, &[]), language, "{variables:?}");
    }
    assert_eq!(spoken(&[("LANG", "pt_BR.UTF-8")], &["--lang", "EN"]), "en");
    assert_eq!(spoken(&[], &["--lang", "pt-BR"]), "pt");
}

#[test]
fn what_programs_read_is_the_same_in_every_language() {
    for line in [
        "algorithms --json",
        "quorum -n 7 -m 4 -p 0.1 --json",
        "compare --nodes 4 --algorithms central,voting --json",
        "compare --faults --nodes 4 --algorithms central --json",
        "timeout --latency exp:100 --cost-of-mistake 1000 --cost-of-waiting 1 --json",
        "scenario run quorum-c4-forgets --json",
    ] {
        let words: Vec<&str> = line.split(' ').collect();
        assert_eq!(json(&words), in_portuguese(line).json(), "{line}");
    }
}

#[test]
fn numbers_for_people_have_the_comma_of_their_language() {
    let line = "sim lamport --no-fifo --latency uniform:1..20 --seeds 20";
    let told = in_portuguese(line).stdout;
    assert!(told.contains("2.520: REQUEST 840"), "{told}");
    let mean = told.lines().find(|line| line.starts_with("espera")).expect("how long they wait");
    assert!(mean.contains(',') && !mean.contains('.'), "{mean}");
}

#[test]
fn a_hint_keeps_the_language_that_was_asked_for() {
    let told = in_portuguese("tour").stdout;
    assert!(told.contains("conclave scenario list --lang pt"), "{told}");
    let error = in_portuguese("sim zzz").stderr;
    assert!(error.contains("'conclave algorithms --lang pt'"), "{error}");
    let error = in_portuguese("lock a true").stderr;
    assert!(error.contains("'conclave lock NAME --lang pt -- CMD'"), "{error}");
    // Where the environment says it, nothing need be typed.
    let told = conclave_in(&["tour"], &[("LANG", "pt_BR.UTF-8")]).stdout;
    assert!(!told.contains("--lang"), "{told}");
}

#[test]
fn what_stands_beside_a_label_begins_in_the_same_column() {
    for (line, labels, column) in [
        ("sim vector-clock --nodes 3", &["HB ", "HB-exact "][..], 9),
        ("sim lamport --nodes 3", &["preterição ", "fencing ", "justiça "], 12),
        ("compare --family election --nodes 4", &["  um começa ", "  todos começam "], 16),
        (
            "timeout --latency exp:100 --cost-of-mistake 1000 --cost-of-waiting 1",
            &["respostas ", "tempo limite "],
            14,
        ),
    ] {
        let told = in_portuguese(line).stdout;
        for label in labels {
            let labelled = told.lines().find(|line| line.starts_with(label)).expect("the label");
            let beside: String = labelled.chars().skip(column - 1).take(2).collect();
            assert!(beside.starts_with(' ') && !beside.ends_with(' '), "{line}: {labelled}");
        }
    }
}

/// The names of what messages carry in a story, and of its timers.
fn names_in(story: &str) -> Vec<String> {
    let fields = story.split(['(', ',', '[']).filter_map(|part| Some(part.split_once(": ")?.0));
    let timers = story.split_inclusive("temporizador ").skip(1).filter_map(|part| {
        let name = part.split([' ', '\n', ';']).next()?;
        name.starts_with(char::is_uppercase).then_some(name)
    });
    let single = |name: &&str| !name.is_empty() && name.chars().all(char::is_alphabetic);
    fields.map(str::trim).chain(timers).filter(single).map(str::to_string).collect()
}

#[test]
fn a_story_names_timers_and_what_messages_carry_in_portuguese() {
    let all = json(&["algorithms", "--json"]);
    let ids = all.as_array().expect("a list").iter().map(|entry| entry["id"].as_str().expect("id"));
    let mut complaints = Vec::new();
    for id in ids {
        for faults in ["", " --crash 4@5 --restart 4@30 --loss 0.1 --suspect 1:3@4+3"] {
            let line = format!("sim {id} --nodes 4 --until 100 --view all{faults}");
            let told = in_portuguese(&line).stdout;
            let original = conclave(&line.split(' ').collect::<Vec<_>>()).stdout;
            let known = names_in(&original);
            let kept = |name: &String| known.contains(name) && !["id", "seq"].contains(&&**name);
            let same: Vec<String> = names_in(&told).into_iter().filter(kept).collect();
            complaints.extend(same.iter().map(|name| format!("{line}: {name}")));
            let moments = told.lines().skip(3).take_while(|line| !line.starts_with("S1"));
            let digits = |pair: &[u8]| pair.iter().all(u8::is_ascii_digit);
            let pointed = |line: &&str| {
                let bytes = line.as_bytes();
                bytes.windows(3).any(|w| w[1] == b'.' && digits(&[w[0], w[2]]))
            };
            let set = moments.filter(|line| line.contains("temporizador")).filter(pointed);
            complaints.extend(set.map(|pointed| format!("{line}: {pointed}")));
        }
    }
    complaints.dedup();
    complain(&complaints);
}
