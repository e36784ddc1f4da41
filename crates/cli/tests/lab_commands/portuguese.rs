//! Who asks for Portuguese reads no English sentence.

mod typed;

use typed::{COMMANDS, FAILURES, MISTAKES};

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

/// Lines that are wrong in a scenario: what they are, whom they name, what cannot be.
const WRONG_IN_A_SCENARIO: &[&str] = &[
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
    "set = { colour = 1 }",
    "loss = 2",
    "rounds = 0",
    "start = 1",
    "crash = \"9@5\"",
    "drift = \"3:0\"",
    "suspect = \"1:2@4+6\"",
    "workload = \"poisson:0\"",
    "candidates = [1]",
    "ids = \"1,2\"",
    "ids = \"a,a,b\"",
    "latency = \"uniform:5..1\"",
    "partition = \"1,2/2,3@10..60\"",
    "partition = \"1/2@60..10\"",
    "backoffs = { 9 = 5 }",
    "rules = [{ from = 1, delay = 0 }]",
    "script = [{ at = 0, node = 1, do = \"campaign\" }]",
    "script = [{ at = 0, node = 1, do = \"event\" }]",
    "runs = 3",
    "x = [1, 2",
    "x = { y = 1",
    "x = tru",
    "x = 1 2",
    "[expect",
];

#[test]
fn what_is_wrong_in_a_scenario_is_said_in_portuguese() {
    let config = concat!(env!("CARGO_TARGET_TMPDIR"), "/wrong-scenario.toml");
    let head = "title = { en = \"A\" }\ntext = { en = \"a\" }\nsource = \"me\"\n\
                algorithm = \"central\"\nnodes = 3\n";
    for wrong in WRONG_IN_A_SCENARIO {
        fs::write(config, format!("{head}{wrong}\n")).unwrap();
        let said = in_portuguese(&format!("scenario run {config}")).stderr;
        assert!(said.starts_with("erro: "), "{wrong}: {said}");
        let words = [
            "expected", "invalid", "unclosed", "string", "integer", "such as", " or ", " here",
            "only",
        ];
        for word in words {
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
fn what_is_wrong_with_a_recording_is_said_in_portuguese() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("portuguese-replay");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("run.jsonl");
    let file = file.to_str().unwrap();
    in_portuguese(&format!("sim central --nodes 3 --trace {file}"));
    let text = fs::read_to_string(file).unwrap();
    let other_time = text.replacen("\"at\":34000", "\"at\":34001", 1);
    let another =
        text.replacen("\"seq\":1,\"time\":0}},\"to\":0", "\"seq\":2,\"time\":0}},\"to\":0", 1);
    let half: String = text.chars().take(text.len() / 2).collect();
    for (changed, known) in [
        (half, "está cortada no meio"),
        (another, "envia REQUEST (seq: 1, tempo: 0) a 1"),
        (other_time, "gravado"),
    ] {
        assert_ne!(changed, text, "{known}");
        fs::write(file, changed).unwrap();
        let said = in_portuguese(&format!("replay {file}"));
        let said = said.stdout + &said.stderr;
        assert!(said.contains(known) && !said.contains('{'), "{known}: {said}");
        complain(&english(&said));
    }
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
    let odds = in_portuguese("scenario run quorum-odds-of-forgetting").stdout;
    assert!(odds.contains(" 0,3439 ") && odds.contains(" 7,3491741662e-59 "), "{odds}");
    let mean = told.lines().find(|line| line.starts_with("espera")).expect("how long they wait");
    assert!(mean.contains(',') && !mean.contains('.'), "{mean}");
}

#[test]
fn a_hint_keeps_the_language_that_was_asked_for() {
    let told = in_portuguese("tour").stdout;
    assert!(told.contains("conclave scenario list --lang pt"), "{told}");
    let told = in_portuguese("check maekawa --nodes 3 --without A4").stdout;
    assert!(told.contains("'conclave check maekawa --without A4 --lang pt' quebra"), "{told}");
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

#[test]
fn what_is_told_fits_a_narrow_terminal() {
    for line in [
        "tour",
        "scenario list",
        "check central --nodes 3",
        "check quorum --without A3",
        "check maekawa --nodes 3 --without A4",
        "check lamport --without A4 --nodes 2",
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--lang", "pt"]).collect();
        let told = conclave_in(&words, &[("COLUMNS", "60")]).stdout;
        let typed = |line: &&str| line.contains("conclave ") && !line.contains(", conclave ");
        let long = |line: &&str| line.chars().count() > 60 && !typed(line);
        let long: Vec<&str> = told.lines().filter(long).collect();
        assert!(long.is_empty(), "{line}: {long:#?}");
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
