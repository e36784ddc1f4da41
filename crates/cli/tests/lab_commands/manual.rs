//! Shell completions, manual pages and the reference: all made from the flags themselves.

use crate::support::{Done, binary, conclave};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const SHELLS: [&str; 5] = ["bash", "zsh", "fish", "elvish", "powershell"];

/// The commands that `--help` lists below the same heading.
fn commands(within: &[&str]) -> Vec<String> {
    let help = conclave(&[within, &["--help"]].concat()).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| line.starts_with("  "));
    let names = names.filter(|line| !line.starts_with("   ")); // A long text goes on below.
    names.filter_map(|line| line.split_whitespace().next().map(str::to_string)).collect()
}

fn refuses(arguments: &[&str], line: &str) {
    let done = conclave(arguments);
    assert_eq!(done.stderr, format!("error: {line}\n"), "{arguments:?}");
    assert_eq!((done.code, done.stdout.as_str()), (2, ""), "{arguments:?}");
}

/// A directory of a test's own, which goes when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let unique = format!("conclave-manual-{}-{name}", std::process::id());
        Self(std::env::temp_dir().join(unique))
    }

    fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn is_there(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[test]
fn every_shell_completes_every_command() {
    let commands = commands(&[]);
    assert!(commands.len() > 15, "{commands:?}");
    for shell in SHELLS {
        let done = conclave(&["completions", shell]);
        assert_eq!((done.code, done.stderr.as_str()), (0, ""), "{shell}");
        for command in &commands {
            assert!(done.stdout.contains(command.as_str()), "{shell} does not know {command}");
        }
    }
}

#[test]
fn bash_completes_what_is_half_typed() {
    if !is_there("bash") {
        return;
    }
    let completed = |words: &str| {
        let script = conclave(&["completions", "bash"]).stdout;
        let ask = format!(
            "{script}\nCOMP_WORDS=({words}); COMP_CWORD=$(( ${{#COMP_WORDS[@]}} - 1 ))\n\
             _conclave conclave \"${{COMP_WORDS[COMP_CWORD]}}\" ''\n\
             printf '%s\\n' \"${{COMPREPLY[@]}}\""
        );
        let output = Command::new("bash").args(["--norc", "-c", &ask]).output().expect("bash runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    assert_eq!(completed("conclave lo"), "lock\n");
    assert_eq!(completed("conclave scenario sh"), "show\n");
    assert_eq!(completed("conclave up --eng"), "--engine\n");
}

#[test]
fn hidden_commands_are_not_offered() {
    for shell in SHELLS {
        let script = conclave(&["completions", shell]).stdout;
        assert!(!script.contains("exec-child"), "{shell}");
    }
    assert!(!conclave(&["man"]).stdout.contains("exec"));
}

#[test]
fn an_unknown_shell_or_command_is_refused() {
    refuses(&["completions", "tcsh"], "<SHELL> tcsh: takes bash, zsh, fish, elvish or powershell");
    refuses(&["completions"], "<SHELL>: is missing; see --help");
    refuses(&["man", "scenario", "walk"], "walk: conclave scenario takes list, show, run");
    refuses(&["man", "lock", "demo"], "demo: conclave lock has no commands of its own");
    let done = conclave(&["man", "exec-child"]);
    assert_eq!(done.code, 2);
    assert!(done.stderr.starts_with("error: exec-child: conclave takes algorithms, bench, "));
    assert_eq!(conclave(&["man", "lock", "--dir", "pages"]).code, 2);
    assert!(!Path::new("pages").exists());
}

#[test]
fn a_page_tells_of_one_command() {
    let page = |words: &[&str]| conclave(&[&["man"], words].concat()).stdout;
    let lock = page(&["lock"]);
    assert!(lock.starts_with(".ie \\n(.g") || lock.starts_with(".TH conclave-lock 1"), "{lock}");
    assert!(lock.contains("CONCLAVE_FENCE"), "{lock}");
    assert!(lock.contains("\n.SH EXAMPLES\n.nf\nconclave lock build"), "{lock}");
    assert!(page(&["scenario", "run"]).contains("predict"));
    assert!(page(&[]).contains("conclave\\-lock(1)"));
}

#[test]
fn a_directory_gets_a_page_for_every_command_and_groff_can_read_them() {
    let folder = Folder::new("pages");
    let done = conclave(&["man", "--dir", folder.path()]);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let mut expected = vec!["conclave.1".to_string()];
    for command in commands(&[]) {
        expected.push(format!("conclave-{command}.1"));
        let below = commands(&[&command]).into_iter();
        expected.extend(below.map(|below| format!("conclave-{command}-{below}.1")));
    }
    expected.sort_unstable();
    let mut written: Vec<String> = fs::read_dir(&folder.0)
        .expect("it was made")
        .map(|file| file.expect("a file").file_name().into_string().expect("plain"))
        .collect();
    written.sort_unstable();
    assert_eq!(written, expected);
    assert_eq!(done.stdout, format!("{} pages in {}\n", written.len(), folder.path()));
    for page in written.iter().filter(|_| is_there("groff")) {
        let mut groff = Command::new("groff");
        groff.args(["-man", "-Tutf8", "-ww"]).arg(folder.0.join(page));
        let output = groff.output().expect("groff runs");
        let complaints = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && complaints.is_empty(), "{page}: {complaints}");
        assert!(output.stdout.len() > 200, "{page}");
    }
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let folder = Folder::new("file");
    fs::write(&folder.0, "").expect("a file in its place");
    let Done { code, stdout, stderr } = conclave(&["man", "--dir", folder.path()]);
    let _ = fs::remove_file(&folder.0);
    assert_eq!((code, stdout.as_str()), (1, ""));
    assert!(stderr.starts_with(&format!("error: --dir {}: ", folder.path())), "{stderr}");
    assert_eq!(stderr.lines().count(), 1);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    for arguments in [&["completions", "zsh"][..], &["man", "--markdown"], &["man", "sim"]] {
        let mut command = binary();
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("the binary runs");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{arguments:?}");
    }
}

#[test]
fn the_reference_is_what_the_program_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference.md");
    let said = conclave(&["man", "--markdown"]).stdout;
    if std::env::var_os("REWRITE").is_some() {
        fs::write(&file, &said).expect("docs/reference.md can be written");
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    let line = kept.lines().zip(said.lines()).position(|(kept, said)| kept != said);
    assert!(
        kept == said,
        "docs/reference.md is not what `conclave man --markdown` prints, from line {} on. \
         Write it anew: REWRITE=1 cargo test -p conclave --test lab_commands manual",
        line.unwrap_or(kept.lines().count().min(said.lines().count())) + 1
    );
}

#[test]
fn a_page_is_in_the_language_of_its_reader() {
    let page = conclave(&["man", "sim", "--lang", "pt"]).stdout;
    for known in [".SH NOME", ".SH SINOPSE", ".SH EXEMPLOS", "simula"] {
        assert!(page.to_lowercase().contains(&known.to_lowercase()), "{known}: {page}");
    }
    for unknown in [".SH NAME", ".SH OPTIONS", "[default:", "The seed"] {
        assert!(!page.contains(unknown), "{unknown}: {page}");
    }
    let reference = |language| conclave(&["man", "--markdown", "--lang", language]).stdout;
    assert_eq!(reference("pt"), reference("en"), "it is one file");
}
