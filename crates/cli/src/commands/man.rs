//! `conclave man`: manual pages (roff) and the reference (Markdown), made from the flags.

mod reference;

use crate::failure::{Exit, Usage};
use crate::output;
use crate::texts::{localized, remark};
use anyhow::Context;
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, roman};
use std::fs;
use std::path::{Path, PathBuf};

/// Prints a manual page, or writes one per command into a directory
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  \
    conclave man | man -l -\n  \
    conclave man scenario run | man -l -\n  \
    conclave man --dir ~/.local/share/man/man1")]
pub struct ManArguments {
    /// The command to tell about, such as lock, or scenario run [default: all of conclave]
    #[arg(value_name = "COMMAND", conflicts_with_all = ["dir", "markdown"])]
    command: Vec<String>,
    /// Write a page for conclave and for each of its commands into this directory
    #[arg(long, value_name = "DIR", conflicts_with = "markdown")]
    dir: Option<PathBuf>,
    /// Print every command and flag as Markdown, which is docs/reference.md
    #[arg(long)]
    markdown: bool,
}

/// What clap writes in a page beside what the flags say of themselves.
const AROUND: [&str; 2] = ["[default:", "Possible values:"];

/// Prints or writes pages about the commands of this program.
pub fn run(arguments: &ManArguments, mut program: Command) -> anyhow::Result<Exit> {
    // The reference is one file of the repository, in English.
    if !arguments.markdown {
        program = localized(program);
    }
    program.build();
    if let Some(directory) = &arguments.dir {
        let pages = write_all(&program, directory)?;
        output::print(&format!("{pages} pages in {}\n", directory.display()))?;
    } else if arguments.markdown {
        output::print(&reference::markdown(&program))?;
    } else {
        let command = find(&program, &arguments.command)?;
        output::print(&page(command)?)?;
    }
    Ok(Exit::Done)
}

/// The commands that people may type, in the order in which they are listed.
fn visible(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

fn find<'a>(program: &'a Command, words: &[String]) -> Result<&'a Command, Usage> {
    let mut command = program;
    for word in words {
        let found = visible(command).find(|command| command.get_name() == word);
        command = found.ok_or_else(|| {
            let known: Vec<&str> = visible(command).map(Command::get_name).collect();
            let within = name(command);
            match known.is_empty() {
                true => Usage(format!("{word}: {within} has no commands of its own")),
                false => Usage(format!("{word}: {within} takes {}", known.join(", "))),
            }
        })?;
    }
    Ok(command)
}

/// What people type for a command, from the beginning.
fn name(command: &Command) -> &str {
    command.get_bin_name().unwrap_or_else(|| command.get_name())
}

/// Writes the page of this command and of all below; how many there were.
fn write_all(command: &Command, directory: &Path) -> anyhow::Result<usize> {
    let told = || format!("--dir {}", directory.display());
    fs::create_dir_all(directory).with_context(told)?;
    let name = Man::new(command.clone()).get_filename();
    fs::write(directory.join(name), page(command)?).with_context(told)?;
    let mut pages = 1;
    for below in visible(command) {
        pages += write_all(below, directory)?;
    }
    Ok(pages)
}

/// One page. The examples of `--help` have a section of their own.
fn page(command: &Command) -> anyhow::Result<String> {
    let man = Man::new(command.clone()).manual("Conclave").source(source(command));
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if visible(command).next().is_some() {
        man.render_subcommands_section(&mut page)?;
    }
    let (notes, examples) = after_help(command);
    let mut rest = Roff::new();
    if !notes.is_empty() {
        rest.control("SH", ["NOTES"]);
        verbatim(&mut rest, &notes);
    }
    if !examples.is_empty() {
        rest.control("SH", ["EXAMPLES"]);
        verbatim(&mut rest, &examples);
    }
    rest.to_writer(&mut page)?;
    Ok(in_ascii(&with_headings(&String::from_utf8(page)?)))
}

/// What a page has around our own texts, in the reader's language.
fn with_headings(page: &str) -> String {
    let lines = page.lines().map(|line| match line.strip_prefix(".SH ") {
        Some(heading) => format!(".SH {}\n", remark(heading)),
        None => format!("{line}\n"),
    });
    let page: String = lines.collect();
    AROUND.iter().fold(page, |page, words| page.replace(words, &remark(words)))
}

/// The same page for a troff that takes bytes for characters.
fn in_ascii(page: &str) -> String {
    let mut ascii = String::with_capacity(page.len());
    for c in page.chars() {
        match c {
            c if c.is_ascii() => ascii.push(c),
            c => ascii += &format!("\\[u{:04X}]", u32::from(c)),
        }
    }
    ascii
}

fn source(command: &Command) -> String {
    format!("conclave {}", command.get_version().unwrap_or_default())
}

/// Lines that stay as they are.
fn verbatim(roff: &mut Roff, lines: &[String]) {
    roff.control("nf", []);
    for line in lines {
        roff.text([roman(line.as_str())]);
    }
    roff.control("fi", []);
}

/// What `--help` says below the flags: remarks, and the commands to try.
fn after_help(command: &Command) -> (Vec<String>, Vec<String>) {
    let text = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut notes = Vec::new();
    let mut examples = Vec::new();
    let mut within = false;
    for line in text.lines() {
        match line {
            line if examples_begin(line) => within = true,
            line if within => examples.push(line.trim_start().to_string()),
            "" => {}
            line => notes.push(line.to_string()),
        }
    }
    (notes, examples)
}

/// In either language: the reference is in English whatever its reader speaks.
fn examples_begin(line: &str) -> bool {
    ["Example:", "Examples:"].iter().any(|title| line == *title || line == remark(title))
}
