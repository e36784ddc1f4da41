//! Authentication: the file of bearer tokens and certificate names, and who each of them is.
//!
//! Of a token the file has its SHA-256 alone. The file is looked at once a second: what changes in
//! it counts from then on. A file that cannot be used changes nothing.

use crate::rights::{Known, Principal, Right};
use conclave_api::limits;
use conclave_net::Fingerprint;
use serde::Deserialize;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// How often the file is looked at.
const PERIOD: Duration = Duration::from_secs(1);
/// No file is longer, in bytes.
const FILE_MAX: u64 = 1 << 20;
/// Whoever shows the token of `--admin-token-file`.
pub const ADMIN: &str = "admin";

/// What the file says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    principals: Vec<Entry>,
}

/// One principal.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    #[serde(default)]
    token_sha256: Hashes,
    certificate: Option<String>,
    #[serde(default)]
    read: Vec<String>,
    #[serde(default)]
    acquire: Vec<String>,
    #[serde(default)]
    admin: Vec<String>,
    #[serde(default)]
    metrics: bool,
}

/// One token, or several: the old one and the new one while they are being exchanged.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Hashes {
    One(String),
    Several(Vec<String>),
}

impl Default for Hashes {
    fn default() -> Self {
        Self::Several(Vec::new())
    }
}

/// All principals.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tokens {
    by_token: Vec<(Fingerprint, Principal)>,
    by_certificate: Vec<(String, Principal)>,
}

impl Tokens {
    fn parse(text: &str) -> Result<Self, String> {
        let file: File = toml::from_str(text).map_err(|error| in_line(text, &error))?;
        let mut tokens = Self::default();
        let mut names = Vec::new();
        for entry in file.principals {
            let name = entry.name.clone();
            if names.contains(&name) {
                return Err(format!("'{name}' is there twice"));
            }
            tokens.add(entry).map_err(|problem| format!("principal '{name}': {problem}"))?;
            names.push(name);
        }
        match names.is_empty() {
            true => {
                Err("takes at least one [[principals]]; 'conclave token' makes one".to_string())
            }
            false => Ok(tokens),
        }
    }

    fn add(&mut self, entry: Entry) -> Result<(), String> {
        check_name(&entry.name)?;
        let texts = match entry.token_sha256 {
            Hashes::One(one) => vec![one],
            Hashes::Several(several) => several,
        };
        if texts.is_empty() && entry.certificate.is_none() {
            return Err("takes token_sha256, or the certificate's name, or both".to_string());
        }
        let rights = [
            (Right::Read, entry.read),
            (Right::Acquire, entry.acquire),
            (Right::Admin, entry.admin),
        ];
        let rights: Vec<(Right, String)> = rights
            .into_iter()
            .flat_map(|(right, prefixes)| prefixes.into_iter().map(move |one| (right, one)))
            .collect();
        rights.iter().try_for_each(|(right, prefix)| check_prefix(*right, prefix))?;
        let known = Known { name: entry.name, rights, metrics: entry.metrics };
        let principal = Principal::known(known);
        for text in texts {
            let hash: Fingerprint = text.parse().map_err(
                |_| "token_sha256 takes 64 hexadecimal digits, as 'conclave token' prints them",
            )?;
            if self.by_token.iter().any(|(other, _)| *other == hash) {
                return Err("its token is another's as well".to_string());
            }
            self.by_token.push((hash, principal.clone()));
        }
        if let Some(certificate) = entry.certificate {
            if self.by_certificate.iter().any(|(other, _)| *other == certificate) {
                return Err("its certificate is another's as well".to_string());
            }
            self.by_certificate.push((certificate, principal));
        }
        Ok(())
    }

    /// Whose token this is. All are looked at: how long it takes says nothing.
    fn of_token(&self, shown: &str) -> Option<Principal> {
        let shown = Fingerprint::sha_256(shown.as_bytes())?;
        let matching = |found: Option<Principal>, (hash, principal): &(Fingerprint, Principal)| {
            if hash.is_same(&shown) { Some(principal.clone()) } else { found }
        };
        self.by_token.iter().fold(None, matching)
    }

    fn of_certificate(&self, name: &str) -> Option<Principal> {
        let found = self.by_certificate.iter().find(|(known, _)| known == name);
        found.map(|(_, principal)| principal.clone())
    }
}

fn in_line(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    let line = before.matches('\n').count() + 1;
    format!("line {line}: {}", error.message().replace('\n', " "))
}

fn check_name(name: &str) -> Result<(), String> {
    if name == ADMIN {
        return Err("this name is that of whoever shows the admin token".to_string());
    }
    limits::principal(name).map_err(|invalid| invalid.to_string())
}

/// A prefix is the beginning of a name, or empty.
fn check_prefix(right: Right, prefix: &str) -> Result<(), String> {
    if prefix.is_empty() || limits::is_name(prefix) {
        return Ok(());
    }
    let right = right.word();
    Err(format!("{right} takes beginnings of names, or \"\" for all; not '{prefix}'"))
}

/// Says what is wrong with the text of a file of tokens, if anything is.
pub fn check(text: &str) -> Result<(), String> {
    Tokens::parse(text).map(drop)
}

/// The file of tokens, as it is now.
#[derive(Debug)]
pub struct TokenFile {
    path: PathBuf,
    current: Mutex<(Stamp, Arc<Tokens>)>,
}

/// By what a file that was changed is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    inode: u64,
    length: u64,
    modified: (i64, i64),
}

impl TokenFile {
    /// Reads it; says what is wrong with it.
    pub fn load(path: &Path) -> Result<Self, String> {
        let current = Mutex::new(read(path)?);
        Ok(Self { path: path.to_path_buf(), current })
    }

    /// Whose token this is.
    pub fn of_token(&self, shown: &str) -> Option<Principal> {
        self.tokens().of_token(shown)
    }

    /// Who the owner of a client certificate with this common name is.
    pub fn of_certificate(&self, name: &str) -> Option<Principal> {
        self.tokens().of_certificate(name)
    }

    /// Reads the file again whenever it has changed, for as long as anybody uses it. Must be called
    /// within a tokio runtime.
    pub fn follow(file: &Arc<Self>) {
        let file = Arc::downgrade(file);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(PERIOD).await;
                let Some(file) = file.upgrade() else { return };
                // It is small, and on the disk of the settings: it does not hang.
                file.look_again();
            }
        });
    }

    fn look_again(&self) {
        let seen = self.lock().0;
        if stamp(&self.path).is_ok_and(|now| now == seen) {
            return;
        }
        let path = self.path.display();
        match read(&self.path) {
            Ok(now) => {
                *self.lock() = now;
                tracing::info!("{path}: read again: who may do what has changed");
            }
            Err(problem) => {
                tracing::warn!("{path}: {problem}; what it said before counts");
                // It is told once, not every second.
                self.lock().0 = stamp(&self.path).unwrap_or(seen);
            }
        }
    }

    fn tokens(&self) -> Arc<Tokens> {
        Arc::clone(&self.lock().1)
    }

    fn lock(&self) -> MutexGuard<'_, (Stamp, Arc<Tokens>)> {
        self.current.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(path: &Path) -> Result<Stamp, String> {
    let found = fs::metadata(path).map_err(|error| error.to_string())?;
    if found.len() > FILE_MAX {
        return Err(format!("is longer than {FILE_MAX} bytes"));
    }
    let modified = (found.mtime(), found.mtime_nsec());
    Ok(Stamp { inode: found.ino(), length: found.len(), modified })
}

fn read(path: &Path) -> Result<(Stamp, Arc<Tokens>), String> {
    let stamp = stamp(path)?; // Before: what changes meanwhile is read again.
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    Ok((stamp, Arc::new(Tokens::parse(&text)?)))
}

#[cfg(test)]
mod tests;
