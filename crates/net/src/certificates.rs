//! Makes an authority and certificates for the nodes of a cluster, to try TLS without one's own.

use crate::node_name;
use conclave_core::NodeId;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use std::time::{Duration, SystemTime};

/// Clocks differ: what was signed just now is valid since yesterday.
const BEFORE: Duration = Duration::from_secs(24 * 3600);
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
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// This is no name or address of a host.
    #[error("'{0}' cannot be put into a certificate: it is no host name and no address")]
    Host(String),
    /// The cryptographic library gave up.
    #[error("cannot make a certificate: {0}")]
    Library(#[from] rcgen::Error),
}

impl Authority {
    /// Its own certificate and key.
    pub fn certified(&self) -> Certified {
        Certified { certificate: self.0.pem(), key: self.0.key().serialize_pem() }
    }
}

/// Makes an authority for the cluster of this name.
pub fn make_authority(cluster: &str) -> Result<Authority, CertificateError> {
    let mut params = params(Vec::new(), &format!("Conclave authority of {cluster}"))?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    Ok(Authority(CertifiedIssuer::self_signed(params, KeyPair::generate()?)?))
}

/// Makes the certificate of a node. It is valid for the node's own name, which is all that nodes
/// look at, and for these hosts, which others may look at.
pub fn make_node(
    authority: &Authority,
    node: NodeId,
    extra_hosts: &[String],
) -> Result<Certified, CertificateError> {
    let name = node_name(node);
    let mut hosts = vec![name.clone()];
    hosts.extend_from_slice(extra_hosts);
    let mut params = params(hosts, &name)?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages =
        vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
    params.use_authority_key_identifier_extension = true;
    let key = KeyPair::generate()?;
    let certificate = params.signed_by(&key, &authority.0)?;
    Ok(Certified { certificate: certificate.pem(), key: key.serialize_pem() })
}

fn params(hosts: Vec<String>, common_name: &str) -> Result<CertificateParams, CertificateError> {
    if let Some(wrong) = hosts.iter().find(|host| !is_host(host)) {
        return Err(CertificateError::Host(wrong.clone()));
    }
    let mut params = CertificateParams::new(hosts)?;
    params.distinguished_name.push(DnType::CommonName, common_name);
    let now = SystemTime::now();
    params.not_before = (now - BEFORE).into();
    params.not_after = (now + AFTER).into();
    Ok(params)
}

fn is_host(host: &str) -> bool {
    rustls::pki_types::ServerName::try_from(host).is_ok()
}
