//! How a person calls this program: what is shown to be typed must work when it is typed.

use crate::lang::Lang;
use std::path::{Path, PathBuf};

/// By name if a shell finds this very program by it, or else by its path.
pub fn called() -> String {
    let Ok(own) = std::env::current_exe().and_then(|path| path.canonicalize()) else {
        return "conclave".to_string();
    };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join("conclave"));
    let found = found.filter_map(|path| path.canonicalize().ok()).next();
    let here = std::env::current_dir().unwrap_or_default();
    shown(&own, found.as_deref(), &here)
}

/// What was typed, to be typed again.
pub fn typed_again() -> String {
    let words = std::env::args_os().skip(1).map(|typed| word(Path::new(&typed)));
    std::iter::once("conclave".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

/// A command to be typed, or a text that quotes commands (`'conclave …'`), with what makes this
/// program speak the language that it speaks now.
pub fn in_same_language(text: &str) -> String {
    with_flag(text, Lang::spoken().flag())
}

fn with_flag(text: &str, flag: &str) -> String {
    if flag.is_empty() || text.contains("--lang") {
        return text.to_string();
    }
    let program = text.split(' ').next().unwrap_or_default();
    if program.rsplit('/').next() == Some("conclave") {
        return flagged(text, flag);
    }
    let pieces: Vec<String> = text
        .split('\'')
        .map(|piece| match piece.starts_with("conclave ") {
            true => flagged(piece, flag),
            false => piece.to_string(),
        })
        .collect();
    pieces.join("'")
}

/// What is behind `--` is another program's.
fn flagged(command: &str, flag: &str) -> String {
    match command.split_once(" -- ") {
        Some((own, other)) => format!("{own}{flag} -- {other}"),
        None => format!("{command}{flag}"),
    }
}

/// A path that a shell takes as one word.
pub fn word(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,~".contains(c);
    match !text.is_empty() && text.chars().all(plain) {
        true => text,
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

fn shown(own: &Path, found: Option<&Path>, here: &Path) -> String {
    if found == Some(own) {
        return "conclave".to_string();
    }
    let below = own.strip_prefix(here).map(PathBuf::from).unwrap_or_else(|_| own.to_path_buf());
    // Without a slash, a shell would look for it elsewhere.
    let below = if below.components().count() == 1 { Path::new(".").join(below) } else { below };
    word(&below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shortest_that_works_is_shown() {
        let own = Path::new("/opt/me/src/target/release/conclave");
        let home = Path::new("/opt/me/src");
        assert_eq!(shown(own, Some(own), home), "conclave");
        assert_eq!(shown(own, None, home), "target/release/conclave");
        let other = Path::new("/usr/bin/conclave");
        assert_eq!(shown(own, Some(other), Path::new("/tmp")), own.display().to_string());
        assert_eq!(shown(own, None, Path::new("/opt/me/src/target/release")), "./conclave");
    }

    #[test]
    fn a_command_keeps_its_language() {
        let pt = |text| with_flag(text, " --lang pt");
        assert_eq!(pt("conclave sim ring"), "conclave sim ring --lang pt");
        assert_eq!(pt("./conclave lock a -- cmd"), "./conclave lock a --lang pt -- cmd");
        assert_eq!(pt("conclave tour --lang en"), "conclave tour --lang en");
        assert_eq!(
            pt("x: 'conclave algorithms' has all"),
            "x: 'conclave algorithms --lang pt' has all"
        );
        assert_eq!(pt("kill -9 7"), "kill -9 7");
        assert_eq!(with_flag("conclave tour", ""), "conclave tour");
    }

    #[test]
    fn a_path_is_one_word() {
        assert_eq!(word(Path::new("/tmp/a-b/c.toml")), "/tmp/a-b/c.toml");
        assert_eq!(word(Path::new("my dir/it's")), r"'my dir/it'\''s'");
    }
}
