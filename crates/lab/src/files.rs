//! Files that flags name.

use std::fs::File;
use std::io::{ErrorKind, Read};

/// The most that is read: no file that a flag can name needs more.
const BYTES_MAX: u64 = 1 << 20;

/// The text of a file, or why it cannot be had.
pub fn read(path: &str) -> Result<String, String> {
    read_at_most(BYTES_MAX, path)
}

/// The same of a file that may be larger.
pub fn read_at_most(bytes_max: u64, path: &str) -> Result<String, String> {
    let bytes = bytes_at_most(bytes_max, path)?;
    String::from_utf8(bytes).map_err(|_| "cannot read: not a text in UTF-8".to_string())
}

/// What is in a file that need not be text.
pub fn bytes_at_most(bytes_max: u64, path: &str) -> Result<Vec<u8>, String> {
    let failed = |error: std::io::Error| {
        let reason = error.to_string();
        let reason = match reason.split_once(" (os error") {
            Some(_) if error.kind() == ErrorKind::NotFound => "No such file",
            Some((reason, _)) => reason,
            None => &reason,
        };
        format!("cannot read: {reason}")
    };
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(failed)?;
    file.take(bytes_max + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > bytes_max {
        return Err(format!("cannot read: larger than {} MiB", bytes_max >> 20));
    }
    Ok(bytes)
}
