//! The files of `deploy/` that containers are made from.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const FILES: [&str; 2] = ["compose.yaml", "mc714/compose.yaml"];

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy").join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).expect("it is there")
}

#[test]
fn what_is_published_is_reached_from_this_machine_alone() {
    for name in FILES {
        let text = text(name);
        let ports: Vec<&str> =
            text.lines().filter_map(|line| line.trim().strip_prefix("ports: ")).collect();
        assert!(!ports.is_empty(), "{name}");
        for published in ports {
            let all = published.split(',').all(|port| port.contains("\"127.0.0.1:"));
            assert!(all, "{name}: {published}");
        }
    }
}

#[test]
fn compose_understands_its_files() {
    let speaks = |words: &[&str]| {
        let (program, words) = words.split_first().expect("a program");
        let mut asked = Command::new(program);
        asked.args(words).arg("version").stdout(Stdio::null()).stderr(Stdio::null());
        asked.status().is_ok_and(|status| status.success())
    };
    let plugin = ["docker", "compose"];
    let standalone = ["docker-compose"];
    for name in FILES {
        if speaks(&plugin) {
            understands(name, &plugin, &text(name));
        } else if speaks(&standalone) {
            // The old one does not know that a project can have a name.
            let text = text(name);
            let known: Vec<&str> =
                text.lines().filter(|line| !line.starts_with("name: ")).collect();
            understands(name, &standalone, &known.join("\n"));
        } else {
            eprintln!("skipped: neither 'docker compose' nor 'docker-compose' is here");
        }
    }
}

/// Lets the program read a file, and looks whether all services got their limit of memory.
fn understands(name: &str, program: &[&str], text: &str) {
    let (first, words) = program.split_first().expect("a program");
    let folder = file(name);
    let folder = folder.parent().expect("a folder");
    let mut asked = Command::new(first)
        .args(words)
        .args(["-f", "-", "config"])
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("it answered before");
    let mut input = asked.stdin.take().expect("it is piped");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    let done = asked.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{name}: {said}");
    let told = String::from_utf8_lossy(&done.stdout);
    // What belongs to a service stands four blanks from the margin. Profiles hide services from
    // some versions: those that are shown have all of it.
    let count = |field: &str| told.lines().filter(|line| line.starts_with(field)).count();
    assert_eq!(count("    mem_limit:"), count("    image:"), "{name}: {told}");
}
