//! What whoever starts a node should mind, though it can be started.

use crate::secrets::no_secret;
use conclave_service::Config;
use std::path::Path;

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
