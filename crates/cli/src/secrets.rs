//! Files with keys and tokens, which others should not be able to read.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The bit of a file's mode that lets every user read it.
const READABLE_BY_ALL: u32 = 0o004;

/// Says so if every user of this machine can read this file.
pub fn no_secret(flag: &str, path: &Path) -> Option<String> {
    let mode = fs::metadata(path).ok()?.permissions().mode();
    (mode & READABLE_BY_ALL != 0).then(|| {
        let path = path.display();
        format!("{flag} {path}: every user of this machine can read it; chmod 600 {path}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_that_all_can_read_is_none() {
        let name = format!("conclave-secret-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, "a token").expect("a file");
        for (mode, warned) in [(0o600, false), (0o640, false), (0o644, true), (0o604, true)] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("its owner");
            assert_eq!(no_secret("--tls-key", &path).is_some(), warned, "{mode:o}");
        }
        fs::remove_file(&path).expect("there");
        assert_eq!(no_secret("--tls-key", &path), None, "what is not there is told elsewhere");
    }
}
