//! The diagrams that are kept in `docs` are those that would be drawn today.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// By name: the list of diagrams, and all diagrams.
fn drawn(docs: &Path) -> BTreeMap<PathBuf, String> {
    let folder = fs::read_dir(docs.join("diagrams")).expect("a folder");
    let files = folder.map(|entry| entry.expect("a file").path());
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a text");
        (path.strip_prefix(docs).expect("below it").to_path_buf(), text)
    };
    files.chain([docs.join("diagrams.md")]).map(read).collect()
}

#[test]
fn the_diagrams_in_docs_are_current_and_fit_on_a_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fresh-diagrams");
    let done = Command::new(root.join("scripts/diagrams"))
        .arg(&fresh)
        .env("CONCLAVE", env!("CARGO_BIN_EXE_conclave"))
        .output()
        .expect("bash");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let kept = drawn(&root.join("docs"));
    let fresh = drawn(&fresh);
    let stale = |(name, text): (&PathBuf, &String)| {
        (kept.get(name) != Some(text)).then(|| name.display().to_string())
    };
    let mut stale: Vec<String> = fresh.iter().filter_map(stale).collect();
    let gone = kept.keys().filter(|name| !fresh.contains_key(*name));
    stale.extend(gone.map(|name| name.display().to_string()));
    assert!(stale.is_empty(), "run scripts/diagrams; not current: {}", stale.join(", "));
    for (name, text) in &fresh {
        let Some((_, width)) = text.split_once(" width=\"") else { continue };
        let width: u32 = width.split('"').next().and_then(|it| it.parse().ok()).expect("a number");
        assert!(width <= 900, "{} is {width} wide", name.display());
    }
}
