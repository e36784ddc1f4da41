//! Puts the scenario files into the binary: writes the list of their names and texts.

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
    list_messages()
}

/// The tables of messages, out of the module docs of the algorithms: of each its name and its
/// lines.
fn list_messages() -> Result<(), Box<dyn Error>> {
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
            let rows = text.lines().filter_map(|line| line.strip_prefix("//! |"));
            let rows = rows.filter(|row| row.trim_start().starts_with('`'));
            let rows: Vec<&str> = rows.collect();
            list += &format!("    ({name:?}, &{rows:?}),\n");
        }
    }
    list += "]\n";
    fs::write(Path::new(&env::var("OUT_DIR")?).join("messages.rs"), list)?;
    Ok(())
}
