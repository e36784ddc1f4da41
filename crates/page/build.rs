//! Lists the files of `assets/`, so that a file that is added there is served without a change of
//! code.

use std::fmt::Write;
use std::path::Path;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = env::var("CARGO_MANIFEST_DIR").map_err(io::Error::other)?;
    let assets = Path::new(&root).join("assets");
    println!("cargo::rerun-if-changed={}", assets.display());
    let mut names = Vec::new();
    for entry in fs::read_dir(&assets)? {
        let name = entry?.file_name().into_string();
        names.extend(name.ok().filter(|name| is_plain(name)));
    }
    names.sort();
    let mut list = String::from("&[\n");
    for name in names {
        let path = assets.join(&name);
        // Writing into a text does not fail.
        let _ = writeln!(list, "    ({name:?}, include_bytes!({path:?})),");
    }
    list.push(']');
    let out = env::var("OUT_DIR").map_err(io::Error::other)?;
    fs::write(Path::new(&out).join("assets.rs"), list)
}

/// What an editor leaves behind is no asset.
fn is_plain(name: &str) -> bool {
    let letter = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "_-.".contains(c);
    name.chars().all(letter) && !name.starts_with('.') && name.contains('.')
}
