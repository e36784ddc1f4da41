//! TLS of the API: who a client is.

use conclave_core::NodeId;
use conclave_net::{ApiTls, Certified, TlsFiles, make_authority, make_client, make_server};
use rustls::client::Resumption;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, HandshakeKind, RootCertStore};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};
use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};
use tokio_rustls::TlsConnector;

const DAY: Duration = Duration::from_secs(24 * 3600);

static LOADED: AtomicU32 = AtomicU32::new(0);

/// Reads from files what stands in these texts.
fn load(authority: &str, made: &Certified) -> ApiTls {
    let number = LOADED.fetch_add(1, Ordering::Relaxed);
    let name = format!("conclave-api-tls-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&folder).expect("a directory");
    let file = |name: &str, text: &str| {
        let path = folder.join(name);
        std::fs::write(&path, text).expect("written");
        path
    };
    let files = TlsFiles {
        authority: file("ca.pem", authority),
        certificate: file("api.pem", &made.certificate),
        key: file("api.key", &made.key),
    };
    let loaded = ApiTls::load(&files, true).expect("they belong together");
    std::fs::remove_dir_all(&folder).expect("removed");
    loaded
}

#[test]
fn a_node_knows_when_its_certificate_ends() {
    let authority = make_authority("test").expect("an authority");
    let pem = authority.certified().certificate;
    for days in [1, 30] {
        let ends = SystemTime::now() + days * DAY;
        let made = make_server(&authority, NodeId(0), &[], days * DAY).expect("a certificate");
        let end = load(&pem, &made).end();
        assert!(end > ends - DAY && end < ends + DAY, "{days} days: {end:?}");
    }
}

#[tokio::test]
async fn a_client_shows_who_it_is_every_time_even_if_it_would_resume() {
    let authority = make_authority("test").expect("an authority");
    let pem = authority.certified().certificate;
    let api = make_server(&authority, NodeId(0), &[], DAY).expect("a certificate");
    let client = make_client(&authority, "ci", DAY).expect("a certificate");
    let tls = load(&pem, &api);
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(pem.as_bytes()).expect("PEM")).expect("a root");
    let chain = CertificateDer::from_pem_slice(client.certificate.as_bytes()).expect("PEM");
    let key = PrivateKeyDer::from_pem_slice(client.key.as_bytes()).expect("PEM");
    let mut eager = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_protocol_versions(&[&rustls::version::TLS13])
        .expect("it is known")
        .with_root_certificates(roots)
        .with_client_auth_cert(vec![chain], key)
        .expect("a pair");
    eager.resumption = Resumption::in_memory_sessions(8);
    let eager = TlsConnector::from(Arc::new(eager));
    for _ in 0..2 {
        let (near, far) = duplex(1 << 16);
        let serve = async {
            let (mut stream, client) = tls.accept(near).await.expect("a handshake");
            stream.write_all(b"x").await.expect("sent");
            assert_eq!(client.map(|client| client.name).as_deref(), Some("ci"));
        };
        let dial = async {
            let name = ServerName::try_from("localhost").expect("a name");
            let mut stream = eager.connect(name, far).await.expect("a handshake");
            stream.read_u8().await.expect("read, and any ticket with it");
            assert_eq!(stream.get_ref().1.handshake_kind(), Some(HandshakeKind::Full));
        };
        tokio::join!(serve, dial);
    }
}
