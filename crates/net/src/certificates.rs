//! Makes an authority and certificates for the nodes of a cluster, their APIs and the clients of
//! these, to have TLS without an authority of one's own.

use crate::node_name;
use conclave_core::NodeId;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, UnixTime};
use std::time::{Duration, SystemTime};
use webpki::KeyUsage;

/// Clocks differ: what was signed just now is valid since yesterday.
const BEFORE: Duration = Duration::from_secs(24 * 3600);
/// And what ends today has ended.
const EARLIER: Duration = Duration::from_secs(60);
/// Under which names this machine knows itself.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "::1"];
const AFTER: Duration = Duration::from_secs(3650 * 24 * 3600);

/// A certificate with its private key, both as PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Certified {
    /// What others may see.
    pub certificate: String,
    /// What nobody else may see.
    pub key: String,
}

/// Signs the certificates of one cluster.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    certificate: String,
}

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// This is no name or address of a host.
    #[error("'{0}' cannot be put into a certificate: it is no host name and no address")]
    Host(String),
    /// The saved certificate cannot be read.
    #[error("this is no certificate of an authority")]
    Unreadable,
    /// The saved key or the name is not that of the certificate.
    #[error("this is not the certificate of an authority of '{0}' with this key")]
    Mismatch(String),
    /// The cryptographic library gave up.
    #[error("cannot make a certificate: {0}")]
    Library(#[from] rcgen::Error),
}

impl Authority {
    /// Its own certificate and key.
    pub fn certified(&self) -> Certified {
        let key = self.issuer.key().serialize_pem();
        Certified { certificate: self.certificate.clone(), key }
    }

    /// An authority that was saved: it goes on signing for the cluster of this name.
    pub fn restore(cluster: &str, saved: &Certified) -> Result<Self, CertificateError> {
        let again = Self::new(cluster, KeyPair::from_pem(&saved.key)?)?;
        if Identity::of(&again.certificate)? != Identity::of(&saved.certificate)? {
            return Err(CertificateError::Mismatch(cluster.to_string()));
        }
        Ok(Self { issuer: again.issuer, certificate: saved.certificate.clone() })
    }

    /// Whether this certificate, one that it signed for whatever use, is valid no more.
    pub fn has_expired(&self, pem: &str) -> bool {
        [KeyUsage::server_auth(), KeyUsage::client_auth()].into_iter().any(|usage| {
            let verified = self.verify(pem, usage);
            matches!(verified, Some(Err(webpki::Error::CertExpired { .. })))
        })
    }

    /// What others find when they look at a certificate now; nothing if this is none.
    fn verify(&self, pem: &str, usage: KeyUsage) -> Option<Result<(), webpki::Error>> {
        let own = CertificateDer::from_pem_slice(self.certificate.as_bytes()).ok()?;
        let other = CertificateDer::from_pem_slice(pem.as_bytes()).ok()?;
        let anchors = [webpki::anchor_from_trusted_cert(&own).ok()?];
        let other = webpki::EndEntityCert::try_from(&other).ok()?;
        let kinds = ring::default_provider().signature_verification_algorithms.all;
        let now = UnixTime::now();
        let verified = other.verify_for_usage(kinds, &anchors, &[], now, usage, None, None);
        Some(verified.map(drop))
    }

    fn new(cluster: &str, key: KeyPair) -> Result<Self, CertificateError> {
        let mut params = params(Vec::new(), &format!("Conclave authority of {cluster}"), AFTER)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key)?.pem();
        Ok(Self { issuer: Issuer::new(params, key), certificate })
    }
}

/// What others look at when an authority has signed: its name and its public key.
#[derive(PartialEq, Eq)]
struct Identity {
    subject: Vec<u8>,
    key: Vec<u8>,
}

impl Identity {
    fn of(pem: &str) -> Result<Self, CertificateError> {
        let unreadable = |_| CertificateError::Unreadable;
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).map_err(unreadable)?;
        let anchor = webpki::anchor_from_trusted_cert(&certificate)
            .map_err(|_| CertificateError::Unreadable)?;
        let key = anchor.subject_public_key_info.as_ref().to_vec();
        Ok(Self { subject: anchor.subject.as_ref().to_vec(), key })
    }
}

/// Makes an authority for the cluster of this name.
pub fn make_authority(cluster: &str) -> Result<Authority, CertificateError> {
    Authority::new(cluster, KeyPair::generate()?)
}

/// Makes the certificate of a node, valid for so long (but for a minute: what ends now has ended).
/// It is valid for the node's own name, which is all that nodes look at, and for these hosts, which
/// others may look at.
pub fn make_node(
    authority: &Authority,
    node: NodeId,
    extra_hosts: &[String],
    valid: Duration,
) -> Result<Certified, CertificateError> {
    let name = node_name(node);
    let mut hosts = vec![name.clone()];
    hosts.extend_from_slice(extra_hosts);
    let params = params(hosts, &name, valid)?;
    let usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    signed(authority, params, usages)
}

/// Makes the certificate of an API, valid for these hosts and for this machine. No node takes it
/// for that of a node.
pub fn make_server(
    authority: &Authority,
    node: NodeId,
    hosts: &[String],
    valid: Duration,
) -> Result<Certified, CertificateError> {
    let mut names: Vec<String> = LOOPBACK.map(str::to_string).into();
    names.extend_from_slice(hosts);
    let params = params(names, &format!("API of node {node}"), valid)?;
    signed(authority, params, vec![ExtendedKeyUsagePurpose::ServerAuth])
}

/// Makes the certificate of a client of the API, who is known by this name.
pub fn make_client(
    authority: &Authority,
    name: &str,
    valid: Duration,
) -> Result<Certified, CertificateError> {
    let params = params(Vec::new(), name, valid)?;
    signed(authority, params, vec![ExtendedKeyUsagePurpose::ClientAuth])
}

fn signed(
    authority: &Authority,
    mut params: CertificateParams,
    usages: Vec<ExtendedKeyUsagePurpose>,
) -> Result<Certified, CertificateError> {
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = usages;
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &authority.issuer)?;
    Ok(Certified { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn params(
    hosts: Vec<String>,
    common_name: &str,
    after: Duration,
) -> Result<CertificateParams, CertificateError> {
    if let Some(wrong) = hosts.iter().find(|host| !is_host(host)) {
        return Err(CertificateError::Host(wrong.clone()));
    }
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    let now = SystemTime::now();
    params.not_before = (now - BEFORE).into();
    params.not_after = (now + after - EARLIER).into();
    Ok(params)
}

fn is_host(host: &str) -> bool {
    rustls::pki_types::ServerName::try_from(host).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tls::is_of_a_node;
    use rustls::pki_types::CertificateDer;
    use rustls::pki_types::pem::PemObject;

    #[test]
    fn what_has_expired_is_known_whatever_it_is_for() {
        let authority = make_authority("test").expect("an authority");
        let day = Duration::from_secs(24 * 3600);
        for (valid, expired) in [(Duration::ZERO, true), (day, false)] {
            for made in [
                make_node(&authority, NodeId(0), &[], valid),
                make_server(&authority, NodeId(0), &[], valid),
                make_client(&authority, "ci", valid),
            ] {
                let made = made.expect("a certificate").certificate;
                assert_eq!(authority.has_expired(&made), expired, "{valid:?}");
            }
        }
        assert!(!authority.has_expired(&authority.certificate) && !authority.has_expired("none"));
    }

    #[test]
    fn of_all_whom_the_authority_knows_only_nodes_count_as_nodes() {
        let authority = make_authority("demo").expect("an authority");
        let day = Duration::from_secs(24 * 3600);
        let hosts = ["node-x.conclave".to_string(), "node-1.conclave.example".to_string()];
        let made = [
            (make_node(&authority, NodeId(4), &[], day), true),
            (make_server(&authority, NodeId(4), &hosts, day), false),
            (make_client(&authority, "node-5.conclave", day), false),
        ];
        for (certified, node) in made {
            let pem = certified.expect("a certificate").certificate;
            let certificate = CertificateDer::from_pem_slice(pem.as_bytes()).expect("it is one");
            assert_eq!(is_of_a_node(&certificate), node);
        }
    }
}
