//! TLS for the HTTP API: the node shows a certificate for its host, a client may show one that says
//! who it is. The same kind of authority signs as for the links, and no session is resumed.

use crate::common_name::common_name;
use crate::tls::{self, Certificate};
use crate::{Fingerprint, TlsError, TlsFiles, pem_files};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{ServerName, UnixTime};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::{CertificateError, ClientConfig, RootCertStore, ServerConfig};
use std::collections::BTreeSet;
use std::fmt;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// So long, and for so many reads, a connection that is refused is read until its other side ends.
const LINGER: Duration = Duration::from_secs(1);
const READS_MAX: usize = 16;

/// The server's end of a connection.
pub type ServerStream<S> = tokio_rustls::server::TlsStream<S>;
/// The client's end of one.
pub type ClientStream = tokio_rustls::client::TlsStream<TcpStream>;

/// What a node needs to serve its API by TLS.
#[derive(Clone)]
pub struct ApiTls {
    server: Arc<ServerConfig>,
    /// For the API of another node, which is asked for values by a classic engine.
    client: Arc<ClientConfig>,
    clients: Arc<dyn ClientCertVerifier>,
    end: SystemTime,
    denied: BTreeSet<Fingerprint>,
}

impl fmt::Debug for ApiTls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiTls") // There is a private key inside.
    }
}

/// Who a client is, by its certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApiClient {
    /// The common name.
    pub name: String,
    /// When the certificate is valid no more.
    pub until: SystemTime,
}

impl ApiTls {
    /// Reads the files of a node and checks that they belong together. Clients may show a
    /// certificate of the same authority; if it is `required`, they must.
    pub fn load(files: &TlsFiles, required: bool) -> Result<Self, TlsError> {
        let TlsFiles { authority, certificate, key } = files;
        let roots = Arc::new(pem_files::roots(authority)?);
        let chain = pem_files::certificates(certificate)?;
        let secret = pem_files::private_key(key)?;
        let provider = Arc::new(ring::default_provider());
        let end = check_own(certificate, authority, &chain, &roots, &provider)?;
        let with = |file: &Path| {
            let file = file.to_owned();
            move |problem: String| TlsError { file, problem }
        };
        let builder =
            WebPkiClientVerifier::builder_with_provider(Arc::clone(&roots), Arc::clone(&provider));
        let builder = if required { builder } else { builder.allow_unauthenticated() };
        let clients = builder.build().map_err(|error| with(authority)(error.to_string()))?;
        let versions = [&rustls::version::TLS13];
        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&versions)
            .map_err(|error| with(authority)(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        client.resumption = Resumption::disabled();
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&versions)
            .map_err(|error| with(authority)(error.to_string()))?
            .with_client_cert_verifier(Arc::clone(&clients))
            .with_single_cert(chain, secret)
            .map_err(|error| {
                with(key)(format!("does not go with {}: {error}", certificate.display()))
            })?;
        tls::without_tickets(&mut server);
        let (client, server) = (Arc::new(client), Arc::new(server));
        Ok(Self { server, client, clients, end, denied: BTreeSet::new() })
    }

    /// When the certificate of this node is valid no more.
    pub fn end(&self) -> SystemTime {
        self.end
    }

    /// The same, but for certificates that are refused although the authority has signed them.
    pub fn deny(self, denied: impl IntoIterator<Item = Fingerprint>) -> Self {
        Self { denied: denied.into_iter().collect(), ..self }
    }

    /// Greets a client, and says who it is if it shows a certificate.
    pub async fn accept<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
    ) -> io::Result<(ServerStream<S>, Option<ApiClient>)> {
        let accepting = TlsAcceptor::from(Arc::clone(&self.server)).accept(stream);
        let stream = match accepting.into_fallible().await {
            Ok(stream) => stream,
            Err((error, stream)) => {
                close_gently(stream).await; // There is an alert in it that says why.
                return Err(tls::explain(error));
            }
        };
        let chain = stream.get_ref().1.peer_certificates().unwrap_or_default();
        let client = self.client_of(chain)?;
        Ok((stream, client))
    }

    /// Asks the API of another node, which shows a certificate for this host.
    pub async fn connect(&self, host: &str, stream: TcpStream) -> io::Result<ClientStream> {
        let bare = host.trim_start_matches('[').trim_end_matches(']').to_string();
        let name = ServerName::try_from(bare).map_err(io::Error::other)?;
        let connector = TlsConnector::from(Arc::clone(&self.client));
        connector.connect(name, stream).await.map_err(tls::explain)
    }

    fn client_of(&self, chain: &[Certificate]) -> io::Result<Option<ApiClient>> {
        let Some((first, between)) = chain.split_first() else { return Ok(None) };
        let prints = chain.iter().flat_map(|one| [Fingerprint::of_key(one), Fingerprint::of(one)]);
        if let Some(print) = prints.flatten().find(|print| self.denied.contains(print)) {
            return Err(io::Error::other(format!("its certificate is denied (SHA-256 {print})")));
        }
        let verify = |at: UnixTime| self.clients.verify_client_cert(first, between, at).map(drop);
        let until = tls::end(verify).map_err(io::Error::other)?;
        Ok(common_name(first).map(|name| ApiClient { name, until }))
    }
}

/// Ends a connection whose other side may still be sending: if that was never read, the system
/// would take back what was last said, and the other side would not know why.
pub async fn close_gently<S: AsyncRead + AsyncWrite + Unpin>(mut stream: S) {
    let mut bytes = [0; 4096];
    let ending = async {
        stream.shutdown().await?;
        for _ in 0..READS_MAX {
            if stream.read(&mut bytes).await? == 0 {
                break;
            }
        }
        io::Result::Ok(())
    };
    let _ = tokio::time::timeout(LINGER, ending).await; // Whoever stays does not matter any more.
}

/// A certificate that no client would take had better be known before any of them asks. Returns
/// when it ends.
fn check_own(
    file: &Path,
    authority: &Path,
    chain: &[Certificate],
    roots: &Arc<RootCertStore>,
    provider: &Arc<CryptoProvider>,
) -> Result<SystemTime, TlsError> {
    let mismatch = |problem: String| {
        let problem = format!("does not go with {}: {problem}", authority.display());
        TlsError { file: file.to_owned(), problem }
    };
    let verifier =
        WebPkiServerVerifier::builder_with_provider(Arc::clone(roots), Arc::clone(provider));
    let verifier = verifier.build().map_err(|error| mismatch(error.to_string()))?;
    // For which hosts it is good is the clients' affair: any name will do here.
    let name = ServerName::try_from("conclave.invalid").map_err(|e| mismatch(e.to_string()))?;
    let verify = |at: UnixTime| match tls::verify_name(&verifier, chain, &name, at) {
        Err(rustls::Error::InvalidCertificate(
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
        )) => Ok(()),
        verified => verified,
    };
    match verify(UnixTime::now()).and_then(|()| tls::end(verify)) {
        Ok(end) => Ok(end),
        Err(rustls::Error::InvalidCertificate(reason)) => Err(mismatch(tls::in_words(&reason))),
        Err(error) => Err(mismatch(error.to_string())),
    }
}
