//! Fingerprints, by which a certificate can be denied: SHA-256 of its bytes, or of its public key.
//!
//! That of the key is the better one. A signature by ECDSA can be written in a second way without
//! the key of the authority, and the certificate has other bytes then, but no other public key.

use rustls::SupportedCipherSuite;
use rustls::crypto::ring::cipher_suite::TLS13_AES_128_GCM_SHA256;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::fmt;
use std::str::FromStr;

const BYTES: usize = 32;

/// What a certificate or a public key is known by. It is written as 64 digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; BYTES]);

/// This is no fingerprint.
#[derive(Debug, thiserror::Error)]
#[error(
    "takes the SHA-256 fingerprint of a certificate or of its public key: {BYTES} bytes in \
     hexadecimal"
)]
pub struct NoFingerprint;

impl Fingerprint {
    /// That of the first certificate in a text in PEM form, if there is one.
    pub fn of_pem(pem: &str) -> Option<Self> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
        Self::of(&certificate)
    }

    /// That of the public key in the first certificate of a text in PEM form.
    pub fn of_key_in_pem(pem: &str) -> Option<Self> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
        Self::of_key(&certificate)
    }

    pub(crate) fn of(certificate: &CertificateDer<'_>) -> Option<Self> {
        Self::sha_256(certificate)
    }

    /// Of its public key as the certificate has it, with the name of its kind.
    pub(crate) fn of_key(certificate: &CertificateDer<'_>) -> Option<Self> {
        let certificate = webpki::EndEntityCert::try_from(certificate).ok()?;
        Self::sha_256(&certificate.subject_public_key_info())
    }

    /// SHA-256 of any bytes: what is kept of a token, so that nobody can read it back.
    pub fn sha_256(bytes: &[u8]) -> Option<Self> {
        // The cryptography beneath TLS has this hash for its own use.
        let SupportedCipherSuite::Tls13(suite) = TLS13_AES_128_GCM_SHA256 else { return None };
        let hash = suite.common.hash_provider.hash(bytes);
        hash.as_ref().try_into().ok().map(Self)
    }
}

impl Fingerprint {
    /// Whether both are the same. It takes as long whether they are or not.
    pub fn is_same(&self, other: &Self) -> bool {
        self.0.iter().zip(other.0).fold(0, |differ, (a, b)| differ | (a ^ b)) == 0
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// With colons, as other tools write it, or without; in any case.
impl FromStr for Fingerprint {
    type Err = NoFingerprint;

    fn from_str(text: &str) -> Result<Self, NoFingerprint> {
        let digits: Vec<u8> = text.bytes().filter(|byte| *byte != b':').collect();
        if digits.len() != 2 * BYTES || !digits.iter().all(u8::is_ascii_hexdigit) {
            return Err(NoFingerprint);
        }
        let mut bytes = [0; BYTES];
        for (byte, pair) in bytes.iter_mut().zip(digits.chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| NoFingerprint)?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| NoFingerprint)?;
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_sha_256_of_the_bytes() {
        let empty = Fingerprint::of(&CertificateDer::from(Vec::new())).expect("a hash");
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(empty.to_string(), known);
        assert_eq!(known.parse::<Fingerprint>().expect("as it is written"), empty);
        let pairs: Vec<String> = (0..BYTES).map(|at| known[2 * at..][..2].to_uppercase()).collect();
        assert_eq!(pairs.join(":").parse::<Fingerprint>().expect("as others write it"), empty);
    }

    #[test]
    fn what_is_too_short_or_no_number_is_none() {
        for text in ["", "AB:CD", &"x".repeat(64), &"a".repeat(65), &"\u{e9}".repeat(32)] {
            assert!(text.parse::<Fingerprint>().is_err(), "{text}");
        }
    }
}
