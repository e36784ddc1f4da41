//! Certificates and keys, read from files in PEM form. What is wrong with one is said with its
//! name.

use crate::TlsError;
use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use std::path::Path;

/// The authorities of a file.
pub(crate) fn roots(file: &Path) -> Result<RootCertStore, TlsError> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(file)? {
        roots.add(certificate).map_err(|error| TlsError {
            file: file.to_owned(),
            problem: format!("is not the certificate of an authority: {error}"),
        })?;
    }
    Ok(roots)
}

/// All certificates of a file; at least one.
pub(crate) fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&read(file)?).collect();
    let all = all.map_err(|error| unreadable(file, "certificate", error))?;
    if all.is_empty() {
        return Err(unreadable(file, "certificate", pem::Error::NoItemsFound));
    }
    Ok(all)
}

/// The private key of a file.
pub(crate) fn private_key(file: &Path) -> Result<PrivateKeyDer<'static>, TlsError> {
    PrivateKeyDer::from_pem_slice(&read(file)?)
        .map_err(|error| unreadable(file, "private key", error))
}

fn read(file: &Path) -> Result<Vec<u8>, TlsError> {
    std::fs::read(file)
        .map_err(|error| TlsError { file: file.to_owned(), problem: error.to_string() })
}

fn unreadable(file: &Path, what: &str, error: pem::Error) -> TlsError {
    let problem = if matches!(error, pem::Error::NoItemsFound) {
        format!("has no {what} in PEM form")
    } else {
        format!("has no readable {what}: {error}")
    };
    TlsError { file: file.to_owned(), problem }
}
