//! What whoever starts a node should mind, though it can be started.

use conclave_service::Config;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The bit of a file's mode that lets every user read it.
const READABLE_BY_ALL: u32 = 0o004;

/// All that is to be minded about a node. Its token was read from this file.
pub fn warnings(config: &Config, token: Option<&Path>) -> Vec<String> {
    let mut warnings = Vec::new();
    let access = &config.access;
    if !config.http.ip().is_loopback() && access.tokens.is_none() {
        warnings.push(format!(
            "--http {}: clients are not authenticated: whoever reaches this address can take and \
             release locks",
            config.http
        ));
    }
    if !config.http.ip().is_loopback() && access.tls.is_none() {
        warnings.push(format!(
            "--http {}: without certificates whoever is on the way can read sessions and tokens",
            config.http
        ));
    }
    if !config.listen.ip().is_loopback() && config.tls.is_none() {
        warnings.push(format!(
            "--listen {}: links without TLS: whoever reaches this address can pose as a node",
            config.listen
        ));
    }
    let key = config.tls.as_ref().map(|tls| &*tls.key);
    warnings.extend(key.and_then(|path| no_secret("--tls-key", path)));
    let key = access.tls.as_ref().map(|tls| &*tls.key);
    warnings.extend(key.and_then(|path| no_secret("--api-key", path)));
    warnings.extend(access.tokens.as_deref().and_then(|path| no_secret("--tokens", path)));
    warnings.extend(token.and_then(|path| no_secret("--admin-token-file", path)));
    warnings
}

/// Says so if every user of this machine can read this file.
fn no_secret(flag: &str, path: &Path) -> Option<String> {
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
