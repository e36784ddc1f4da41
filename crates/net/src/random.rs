//! Random numbers from the operating system.

use std::io;

/// Random bits that nobody can guess: for identities, and for seeds.
pub fn bits() -> io::Result<u128> {
    let mut bytes = [0; 16];
    rustls::crypto::ring::default_provider()
        .secure_random
        .fill(&mut bytes)
        .map_err(|_| io::Error::other("the system gives no random numbers"))?;
    Ok(u128::from_le_bytes(bytes))
}
