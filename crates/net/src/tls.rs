//! Mutual TLS: certificates say who may take part, and who is who.
//!
//! All certificates of a cluster are signed by one authority. That of node `k` (as people count,
//! from 1) is valid for the name `node-k.conclave`, wherever the node runs. Both sides of a
//! connection show theirs.

use crate::Fingerprint;
use crate::pem_files::{certificates, private_key, roots};
use conclave_core::NodeId;
use rustls::client::danger::ServerCertVerifier;
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector, client, server};

/// A certificate that the other side has shown.
pub(crate) type Certificate = CertificateDer<'static>;

/// Later than any certificate ends.
const FAR_SECONDS: u64 = 1 << 40;
/// Between a certificate and its authority there are fewer than this.
const CHAIN_MAX: usize = 8;

/// What the other side has proved in a handshake.
#[derive(Clone, Debug)]
pub(crate) struct Proof {
    /// Whose it is remains to be seen.
    pub certificate: Certificate,
    /// When the link has to end.
    pub end: End,
    /// A fingerprint of it or its key, if nobody may come in by it though the authority signed it.
    pub denied: Option<Fingerprint>,
}

/// When a certificate is valid no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct End {
    pub at: SystemTime,
    /// Whether it is that of this very node.
    pub own: bool,
}

/// The files of one node, as PEM.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificate of the authority.
    pub authority: PathBuf,
    /// The certificate of this node, and those between it and the authority, if any.
    pub certificate: PathBuf,
    /// The private key of this node.
    pub key: PathBuf,
}

/// Why certificates cannot be used: which file, and what is wrong with it.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", file.display())]
pub struct TlsError {
    /// The file to look at.
    pub file: PathBuf,
    /// What is wrong with it.
    pub problem: String,
}

/// What a node needs to speak TLS with the others.
#[derive(Clone)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    /// The judges of those that are dialled, and of those that dial.
    servers: Arc<WebPkiServerVerifier>,
    clients: Arc<dyn ClientCertVerifier>,
    own: End,
    denied: BTreeSet<Fingerprint>,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tls") // There is a private key inside.
    }
}

/// The name for which the certificate of this node has to be valid.
pub fn node_name(node: NodeId) -> String {
    format!("node-{node}.conclave")
}

/// Whether this certificate is one of that node. (That the authority signed it was checked before.)
pub(crate) fn valid_for(certificate: &CertificateDer<'_>, node: NodeId) -> bool {
    let name = ServerName::try_from(node_name(node));
    let certificate = webpki::EndEntityCert::try_from(certificate);
    match (name, certificate) {
        (Ok(name), Ok(certificate)) => certificate.verify_is_valid_for_subject_name(&name).is_ok(),
        (Err(_), _) | (_, Err(_)) => false,
    }
}

/// Whether a certificate is one of a node, whichever. The authority signs those of clients, too.
pub(crate) fn is_of_a_node(certificate: &CertificateDer<'_>) -> bool {
    let Ok(certificate) = webpki::EndEntityCert::try_from(certificate) else { return false };
    let number = |name: &str| name.strip_prefix("node-")?.strip_suffix(".conclave")?.parse().ok();
    certificate.valid_dns_names().filter_map(number).any(|id: u32| id > 0)
}

impl Tls {
    /// Reads the files of this node and checks that they belong together.
    pub fn load(files: &TlsFiles, me: NodeId) -> Result<Self, TlsError> {
        let TlsFiles { authority, certificate, key } = files;
        let roots = Arc::new(roots(authority)?);
        let chain = own_chain(certificate, me)?;
        let secret = private_key(key)?;
        let with_key = |problem: rustls::Error| TlsError {
            file: key.clone(),
            problem: format!("does not go with {}: {problem}", certificate.display()),
        };
        let with_authority = |problem: String| TlsError { file: authority.clone(), problem };
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mismatch = |problem: String| {
            let problem = format!("does not go with {}: {problem}", authority.display());
            TlsError { file: certificate.clone(), problem }
        };
        let servers = server_verifier(&roots, &provider).map_err(&mismatch)?;
        let own = accepted(&servers, &chain, me).map_err(&mismatch)?;
        let versions = [&rustls::version::TLS13];
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|error| with_authority(error.to_string()))?
            .with_root_certificates(Arc::clone(&roots))
            .with_client_auth_cert(chain.clone(), secret.clone_key())
            .map_err(with_key)?;
        let verifier = WebPkiClientVerifier::builder_with_provider(roots, Arc::clone(&provider))
            .build()
            .map_err(|error| with_authority(error.to_string()))?;
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| with_authority(error.to_string()))?
            .with_client_cert_verifier(Arc::clone(&verifier))
            .with_single_cert(chain, secret)
            .map_err(with_key)?;
        without_resumption(&mut client, &mut server);
        let client = Arc::new(client);
        let server = Arc::new(server);
        Ok(Self { client, server, servers, clients: verifier, own, denied: BTreeSet::new() })
    }

    /// When the certificate of this node is valid no more.
    pub fn end(&self) -> SystemTime {
        self.own.at
    }

    /// The same, but for certificates that are refused although the authority has signed them.
    pub fn deny(self, denied: impl IntoIterator<Item = Fingerprint>) -> Self {
        Self { denied: denied.into_iter().collect(), ..self }
    }

    /// As the side that dials: makes sure that the other one is this node.
    pub(crate) async fn connect(
        &self,
        to: NodeId,
        stream: TcpStream,
    ) -> io::Result<(client::TlsStream<TcpStream>, Proof)> {
        let name = ServerName::try_from(node_name(to)).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&self.client));
        let stream = connector.connect(name, stream).await.map_err(explain)?;
        let shown = stream.get_ref().1.peer_certificates();
        let proof = self.proof(shown, |chain, at| verify_server(&self.servers, chain, to, at))?;
        Ok((stream, proof))
    }

    /// As the side that accepts: whose certificate it is remains to be seen.
    pub(crate) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<(server::TlsStream<TcpStream>, Proof)> {
        let stream = TlsAcceptor::from(Arc::clone(&self.server)).accept(stream).await;
        let stream = stream.map_err(explain)?;
        let shown = stream.get_ref().1.peer_certificates();
        let proof = self.proof(shown, |chain, at| {
            let (first, between) = split(chain)?;
            self.clients.verify_client_cert(first, between, at).map(drop)
        })?;
        Ok((stream, proof))
    }

    fn proof(
        &self,
        shown: Option<&[Certificate]>,
        verify: impl Fn(&[Certificate], UnixTime) -> Result<(), rustls::Error>,
    ) -> io::Result<Proof> {
        let chain = shown.unwrap_or_default();
        let (certificate, _) = split(chain).map_err(io::Error::other)?;
        let at = end(|at| verify(chain, at)).map_err(io::Error::other)?;
        let prints = chain.iter().flat_map(|one| [Fingerprint::of_key(one), Fingerprint::of(one)]);
        let mut prints = prints.flatten();
        Ok(Proof {
            certificate: certificate.clone(),
            end: End { at, own: false }.min(self.own),
            denied: prints.find(|print| self.denied.contains(print)),
        })
    }
}

/// A node's own certificate, and those between it and the authority.
fn split(chain: &[Certificate]) -> Result<(&Certificate, &[Certificate]), rustls::Error> {
    chain.split_first().ok_or(rustls::Error::NoCertificatesPresented)
}

fn verify_server(
    verifier: &WebPkiServerVerifier,
    chain: &[Certificate],
    node: NodeId,
    at: UnixTime,
) -> Result<(), rustls::Error> {
    let name =
        ServerName::try_from(node_name(node)).map_err(|_| CertificateError::NotValidForName)?;
    verify_name(verifier, chain, &name, at)
}

/// Whether this chain is one of a server of this name.
pub(crate) fn verify_name(
    verifier: &WebPkiServerVerifier,
    chain: &[Certificate],
    name: &ServerName<'_>,
    at: UnixTime,
) -> Result<(), rustls::Error> {
    let (first, between) = split(chain)?;
    verifier.verify_server_cert(first, between, name, &[], at).map(drop)
}

/// The first moment at which a chain that is valid now will not be: who asks about a time that is
/// too late is told `notAfter`. Each round finds a certificate of the chain that ends earlier.
pub(crate) fn end(
    verify: impl Fn(UnixTime) -> Result<(), rustls::Error>,
) -> Result<SystemTime, rustls::Error> {
    let mut last = UnixTime::since_unix_epoch(Duration::from_secs(FAR_SECONDS));
    for _ in 0..CHAIN_MAX {
        match verify(last) {
            Ok(()) => return Ok(UNIX_EPOCH + Duration::from_secs(last.as_secs() + 1)),
            Err(rustls::Error::InvalidCertificate(CertificateError::ExpiredContext {
                not_after,
                ..
            })) => last = not_after,
            Err(error) => return Err(error),
        }
    }
    Err(CertificateError::Expired.into())
}

/// Whoever resumes a session shows no certificate, and one that has expired would get in.
fn without_resumption(client: &mut ClientConfig, server: &mut ServerConfig) {
    client.resumption = Resumption::disabled();
    without_tickets(server);
}

/// The server's part of it.
pub(crate) fn without_tickets(server: &mut ServerConfig) {
    server.send_tls13_tickets = 0;
    server.session_storage = Arc::new(NoServerSessionStorage {});
}

fn server_verifier(
    roots: &Arc<RootCertStore>,
    provider: &Arc<CryptoProvider>,
) -> Result<Arc<WebPkiServerVerifier>, String> {
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::clone(roots), Arc::clone(provider));
    verifier.build().map_err(|error| error.to_string())
}

/// Whether the others would take this certificate now: one that has expired, or that another
/// authority signed, had better be known before any of them is asked. Says until when they would.
fn accepted(
    verifier: &WebPkiServerVerifier,
    chain: &[Certificate],
    me: NodeId,
) -> Result<End, String> {
    let now = verify_server(verifier, chain, me, UnixTime::now());
    match now.and_then(|()| end(|at| verify_server(verifier, chain, me, at))) {
        Ok(at) => Ok(End { at, own: true }),
        Err(rustls::Error::InvalidCertificate(reason)) => Err(in_words(&reason)),
        Err(error) => Err(error.to_string()),
    }
}

/// What went wrong, as somebody can understand it who has to mend it.
pub(crate) fn explain(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.downcast_ref::<rustls::Error>());
    let words = match inner {
        Some(rustls::Error::InvalidCertificate(reason)) => {
            format!("invalid peer certificate: {}", in_words(reason))
        }
        Some(rustls::Error::NoCertificatesPresented) => "it shows no certificate".to_string(),
        Some(rustls::Error::AlertReceived(alert)) => {
            format!("it does not accept the certificate of this node ({alert:?})")
        }
        _ => return error,
    };
    io::Error::new(error.kind(), words)
}

#[expect(clippy::wildcard_enum_match_arm, reason = "not our own enum, and open-ended")]
pub(crate) fn in_words(reason: &CertificateError) -> String {
    match reason {
        // An authority of the same name but with another key cannot have signed it.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "another authority has signed it".to_string()
        }
        other => other.to_string(),
    }
}

/// The certificate of this node, and those between it and the authority.
fn own_chain(file: &Path, me: NodeId) -> Result<Vec<Certificate>, TlsError> {
    let chain = certificates(file)?;
    if !valid_for(&chain[0], me) {
        let problem = format!("is not valid for '{}', the name of this node", node_name(me));
        return Err(TlsError { file: file.to_owned(), problem });
    }
    Ok(chain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Authority, make_authority, make_node};
    use rustls::HandshakeKind;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    const DAY: Duration = Duration::from_secs(24 * 3600);

    /// The files of a node, in a directory of their own.
    fn load(authority: &Authority, folder: &Path, me: NodeId) -> Tls {
        let node = make_node(authority, me, &[], DAY).expect("a certificate");
        let file = |name: String, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).expect("written");
            path
        };
        let files = TlsFiles {
            authority: file("ca.pem".into(), &authority.certified().certificate),
            certificate: file(format!("{me}.pem"), &node.certificate),
            key: file(format!("{me}.key"), &node.key),
        };
        Tls::load(&files, me).expect("they belong together")
    }

    #[tokio::test]
    async fn no_session_is_resumed_even_by_a_peer_that_would() {
        let authority = make_authority("test").expect("an authority");
        let folder = std::env::temp_dir().join(format!("conclave-tls-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a directory");
        let [one, two] = [0, 1].map(|id| load(&authority, &folder, NodeId(id)));
        std::fs::remove_dir_all(&folder).expect("removed");
        let mut eager = ClientConfig::clone(&one.client);
        eager.resumption = Resumption::in_memory_sessions(8);
        let eager = Tls { client: Arc::new(eager), ..one };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("its address");
        for _ in 0..2 {
            let serve = async {
                let (stream, _) = listener.accept().await.expect("a connection");
                let (mut stream, shown) = two.accept(stream).await.expect("a handshake");
                stream.write_all(b"x").await.expect("sent");
                assert!(valid_for(&shown.certificate, NodeId(0)));
            };
            let dial = async {
                let stream = TcpStream::connect(address).await.expect("connected");
                let connected = eager.connect(NodeId(1), stream).await;
                let (mut stream, _) = connected.expect("a handshake");
                stream.read_u8().await.expect("read, and any ticket with it");
                assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full));
            };
            tokio::join!(serve, dial);
        }
    }
}
