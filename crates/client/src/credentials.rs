//! Credentials: whom a client trusts (the authority of a TLS cluster), and what it shows of itself
//! (a certificate, a bearer token).

use crate::{Client, Error};
use rustls::crypto::ring;
use rustls::{AlertDescription, CertificateError};
use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use ureq::tls::{Certificate, ClientCert, PemItem, PrivateKey, RootCerts, TlsConfig, parse_pem};

/// What nobody is to read in a log.
#[derive(Clone)]
pub(crate) struct Secret(pub Arc<str>);

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// A client in the making: where the nodes are, whom to trust, and who asks.
///
/// ```no_run
/// # fn main() -> Result<(), conclave_client::Error> {
/// let client = conclave_client::Client::builder()
///     .servers(["a.example:7070", "b.example:7070"])
///     .ca_file("ca.pem")
///     .token_file("ci.token")
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Builder {
    servers: Vec<String>,
    ca: Option<PathBuf>,
    certificate: Option<PathBuf>,
    key: Option<PathBuf>,
    token: Option<Secret>,
    token_file: Option<PathBuf>,
}

impl Builder {
    /// The nodes, each `HOST:PORT`, `http://HOST:PORT` or `https://HOST:PORT`. Without a scheme it
    /// is `https` if an authority is named, else `http`.
    pub fn servers<S: AsRef<str>>(mut self, servers: impl IntoIterator<Item = S>) -> Self {
        self.servers = servers.into_iter().map(|one| one.as_ref().to_string()).collect();
        self
    }

    /// The certificate of the authority that signed those of the nodes' APIs, in PEM form.
    pub fn ca_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.ca = Some(path.into());
        self
    }

    /// The certificate that says who this client is, in PEM form.
    pub fn certificate_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.certificate = Some(path.into());
        self
    }

    /// The key that belongs to it.
    pub fn key_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.key = Some(path.into());
        self
    }

    /// The bearer token that says who this client is.
    pub fn token(mut self, token: &str) -> Self {
        self.token = Some(Secret(token.into()));
        self
    }

    /// A file with that token and nothing else.
    pub fn token_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.token_file = Some(path.into());
        self
    }

    /// The client. Files are read now; nothing is sent yet.
    pub fn build(self) -> Result<Client, Error> {
        let token = match (self.token, &self.token_file) {
            (Some(token), _) => Some(token),
            (None, Some(file)) => Some(read_token(file)?),
            (None, None) => None,
        };
        let identity = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => Some(identity(certificate, key)?),
            (None, None) => None,
            (Some(file), None) => return Err(bad(file, "its key is missing")),
            (None, Some(file)) => return Err(bad(file, "its certificate is missing")),
        };
        let tls = match &self.ca {
            Some(ca) => Some(tls(ca, identity)?),
            None => None,
        };
        Client::made(&self.servers, tls, token)
    }
}

fn bad(file: &Path, problem: impl fmt::Display) -> Error {
    Error::BadCredentials(format!("{}: {problem}", file.display()))
}

fn read_token(file: &Path) -> Result<Secret, Error> {
    let text = std::fs::read_to_string(file).map_err(|error| bad(file, error))?;
    let token = text.trim();
    match !token.is_empty() && token.chars().all(|c| c.is_ascii_graphic()) {
        true => Ok(Secret(token.into())),
        false => Err(bad(file, "holds no token")),
    }
}

fn certificates(file: &Path) -> Result<Vec<Certificate<'static>>, Error> {
    let bytes = std::fs::read(file).map_err(|error| bad(file, error))?;
    let mut found = Vec::new();
    for item in parse_pem(&bytes) {
        // A key in the same file is of no interest.
        if let PemItem::Certificate(certificate) = item.map_err(|error| bad(file, error))? {
            found.push(certificate);
        }
    }
    if found.is_empty() {
        return Err(bad(file, "has no certificate in PEM form"));
    }
    Ok(found)
}

fn identity(certificate: &Path, key: &Path) -> Result<ClientCert, Error> {
    let chain = certificates(certificate)?;
    let bytes = std::fs::read(key).map_err(|error| bad(key, error))?;
    let key = PrivateKey::from_pem(&bytes)
        .map_err(|_| bad(key, "has no readable private key in PEM form"))?;
    Ok(ClientCert::new_with_certs(&chain, key))
}

fn tls(ca: &Path, identity: Option<ClientCert>) -> Result<TlsConfig, Error> {
    let roots = certificates(ca)?;
    let mut store = rustls::RootCertStore::empty();
    for root in &roots {
        let added = store.add(rustls::pki_types::CertificateDer::from(root.der().to_vec()));
        added
            .map_err(|error| bad(ca, format!("is not the certificate of an authority: {error}")))?;
    }
    Ok(TlsConfig::builder()
        .root_certs(RootCerts::new_with_certs(&roots))
        .client_cert(identity)
        .unversioned_rustls_crypto_provider(Arc::new(ring::default_provider()))
        .build())
}

/// Whether a server, as the beginning of its addresses, is on this machine.
pub(crate) fn is_local(server: &str) -> bool {
    let place = server.split_once("://").map_or(server, |(_, place)| place);
    let host = place.rsplit_once(':').map_or(place, |(host, _)| host);
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Why there was no answer. What has to do with certificates is told apart: that will not pass.
#[expect(clippy::wildcard_enum_match_arm, reason = "not our own enum, and open-ended")]
pub(crate) fn unanswered(server: &str, error: &ureq::Error) -> Error {
    let inner = match error {
        ureq::Error::Rustls(inner) => Some(inner),
        ureq::Error::Io(error) => {
            error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>())
        }
        _ => None,
    };
    match inner.map(in_words) {
        Some(reason) => Error::Untrusted { server: server.to_string(), reason },
        None => Error::Unreachable(format!("{server} ({error})")),
    }
}

/// What went wrong, as somebody can understand it who has to mend it.
#[expect(clippy::wildcard_enum_match_arm, reason = "not our own enum, and open-ended")]
fn in_words(error: &rustls::Error) -> String {
    match error {
        rustls::Error::InvalidCertificate(reason) => of_certificate(reason),
        rustls::Error::InvalidMessage(_) => "it speaks plain http, not https".to_string(),
        rustls::Error::AlertReceived(AlertDescription::CertificateRequired) => {
            "it takes only clients that show a certificate".to_string()
        }
        rustls::Error::AlertReceived(alert) => {
            format!("it does not accept the certificate of this client ({alert:?})")
        }
        other => other.to_string(),
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "not our own enum, and open-ended")]
fn of_certificate(reason: &CertificateError) -> String {
    match reason {
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "another authority than the one named has signed its certificate".to_string()
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            "its certificate has expired".to_string()
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "its certificate is not valid yet: is a clock wrong?".to_string()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "its certificate is for another host".to_string()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_loopback_is_this_machine() {
        for local in ["http://127.0.0.1:1", "http://[::1]:7070", "https://LOCALHOST:1"] {
            assert!(is_local(local), "{local}");
        }
        for other in ["http://10.0.0.1:1", "http://localhost.example:1", "http://[fe80::1]:1"] {
            assert!(!is_local(other), "{other}");
        }
    }

    #[test]
    fn half_an_identity_is_a_mistake_and_so_is_https_without_an_authority() {
        let half = Client::builder().servers(["a:1"]).certificate_file("c.pem").build();
        assert!(half.is_err_and(|error| error.to_string().contains("its key is missing")));
        let bare = Client::builder().servers(["https://a:1"]).build();
        assert!(bare.is_err_and(|error| error.to_string().contains("authority")));
        let absent = Client::builder().servers(["a:1"]).token_file("/no/such/file").build();
        assert!(absent.is_err_and(|error| error.to_string().starts_with("/no/such/file: ")));
    }

    #[test]
    fn a_token_is_not_sent_beyond_this_machine_in_plain_text() {
        let client = Client::builder().servers(["192.0.2.1:7070"]).token("secret").build();
        let refused = client.expect("nothing is sent yet").cluster().expect_err("refused");
        assert!(matches!(refused, Error::PlainToken { .. }), "{refused}");
        assert!(!refused.retry() && !refused.to_string().contains("secret"));
    }
}
