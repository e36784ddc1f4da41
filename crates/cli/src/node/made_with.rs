//! Which engine a data directory was made with.

use conclave_lab::machines::Settings;
use conclave_net::store::Store;
use conclave_service::Engine;
use std::path::Path;

/// The engine of the node whose disk this directory is; nothing if there is none yet.
pub fn made_with(data: &Path) -> Result<Option<Engine>, String> {
    if Engine::Replicated.made(data) {
        return Ok(Some(Engine::Replicated));
    }
    let Some(text) = Store::settings(data).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    let Settings { engine, election, detector, .. } =
        text.parse().map_err(|error: conclave_lab::Usage| error.to_string())?;
    Ok(Some(Engine::Classic { engine, election, detector }))
}
