//! Puts the scenario files into the binary, and what the module docs say of messages and rules.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../../scenarios");
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut paths = Vec::new();
    for file in fs::read_dir(&folder)? {
        paths.push(file?.path());
    }
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort_by_key(|path| path.file_stem().map(ToOwned::to_owned));
    let mut list = String::from("&[\n");
    for path in &paths {
        let name = path.file_stem().and_then(|stem| stem.to_str()).ok_or("a name in UTF-8")?;
        let path = path.to_str().ok_or("a path in UTF-8")?;
        list += &format!("    ({name:?}, include_str!({path:?})),\n");
    }
    list += "]\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("scenarios.rs"), list)?;
    list_documents()
}

/// What the module docs of the algorithms say for people: of each its family, its name, the rows of
/// its table of messages, and its rules.
fn list_documents() -> Result<(), Box<dyn Error>> {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("../algorithms/src");
    let mut list = String::from("&[\n");
    for family in ["mutex", "election", "detector", "clock"] {
        let folder = folder.join(family);
        println!("cargo::rerun-if-changed={}", folder.display());
        let mut paths = Vec::new();
        for file in fs::read_dir(&folder)? {
            paths.push(file?.path());
        }
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
        paths.sort();
        for path in paths {
            let name = path.file_stem().and_then(|stem| stem.to_str()).ok_or("a name in UTF-8")?;
            let text = fs::read_to_string(&path)?;
            let doc: Vec<&str> = text.lines().map_while(|line| line.strip_prefix("//!")).collect();
            let rows = messages(&doc);
            let rules = rules(&doc, &rows);
            let rows: Vec<[String; 4]> = rows
                .into_iter()
                .map(|[name, to, when, carries]| [loud(&name), to, when, carries])
                .collect();
            list += &format!(
                "    Document {{ family: {family:?}, name: {name:?}, messages: &{rows:?}, \
                 rules: &{rules:?} }},\n"
            );
        }
    }
    list += "]\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("documents.rs"), list)?;
    Ok(())
}

/// The rows of the table of messages. A row without a name goes on with the one above it.
fn messages(doc: &[&str]) -> Vec<[String; 4]> {
    let mut rows: Vec<[String; 4]> = Vec::new();
    for line in doc.iter().filter_map(|line| line.trim().strip_prefix('|')) {
        let cells = line.trim_end_matches('|').split('|');
        let cells: Vec<String> = cells.map(|cell| cell.trim().replace('`', "")).collect();
        let Ok(cells) = <[String; 4]>::try_from(cells) else { continue };
        let is_named = line.trim_start().starts_with('`');
        match rows.last_mut() {
            Some(above) if cells[0].is_empty() => {
                for (above, cell) in above.iter_mut().zip(cells) {
                    *above = format!("{above} {cell}").trim().to_string();
                }
            }
            _ if is_named => rows.push(cells),
            _ => {}
        }
    }
    rows
}

/// The rules, `R1` and so on, of the paragraph that has the first of them: what is between the
/// number of one and that of the next.
fn rules(doc: &[&str], messages: &[[String; 4]]) -> Vec<(String, String)> {
    let paragraphs = doc.split(|line| line.trim().is_empty());
    let joined = paragraphs.map(|lines| {
        let lines = lines.iter().map(|line| line.trim().trim_start_matches("- "));
        format!(" {}", lines.collect::<Vec<_>>().join(" "))
    });
    let begins = |text: &str, number: usize| {
        let name = format!(" R{number} ");
        // In the middle of a sentence another rule is only spoken of.
        let is_first = |place: usize| text[..place].ends_with(['.', ':', ';', ')']) || place == 0;
        text.match_indices(&name).map(|(place, _)| place).find(|&place| is_first(place))
    };
    let joined: Vec<String> = joined.collect();
    // What all clocks share counts on from the rules of each.
    let first = [1, 4].into_iter().find_map(|number| {
        joined.iter().find_map(|text| Some((number, &text[begins(text, number)?..])))
    });
    let Some((first, mut rest)) = first else { return Vec::new() };
    let mut rules = Vec::new();
    for number in first.. {
        let name = format!("R{number}");
        let Some(told) = rest.trim_start().strip_prefix(&name) else { break };
        let end = begins(told, number + 1).unwrap_or(told.len());
        rules.push((name, plain(&told[..end], messages)));
        rest = &told[end..];
    }
    rules
}

/// A message as runs name it: `TokenAck` is TOKEN_ACK.
fn loud(name: &str) -> String {
    let mut loud = String::new();
    for c in name.chars() {
        let begins = c.is_uppercase() && loud.ends_with(|last: char| last.is_lowercase());
        loud += if begins { "_" } else { "" };
        loud.push(c);
    }
    loud.to_uppercase().replace("PRE_VOTE", "PREVOTE")
}

/// Without what only a reader of the source can follow: "(see `vote`)", links and quotes of code.
fn plain(rule: &str, messages: &[[String; 4]]) -> String {
    let mut text = rule.to_string();
    for [name, ..] in messages {
        text = text.replace(&format!("`{name}`"), &loud(name));
    }
    for (opening, closing) in [(" (see ", ")"), ("; see ", "`")] {
        let Some(start) = text.find(opening) else { continue };
        let after = start + opening.len() + 1;
        let Some(end) = text[after..].find(closing) else { continue };
        text.replace_range(start..after + end + closing.len(), "");
    }
    text.trim().trim_end_matches(['.', ';']).replace(['`', '[', ']'], "")
}
