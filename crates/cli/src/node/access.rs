//! Who may talk to a node: certificates for its links and its API, tokens, and the audit log.

use super::file::{ApiFiles, TlsFiles};
use super::plan::Checked;
use conclave_lab::files;
use conclave_net::Fingerprint;
use conclave_service::{ApiAccess, ApiCertificates, Tls, tokens};
use std::net::SocketAddr;
use std::path::PathBuf;

const TOKEN_MIN: usize = 16;

/// What was typed about it.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AccessFlags {
    /// The certificate of the authority that signed those of the APIs and of their clients
    /// [default: that of --tls-authority]
    #[arg(long, value_name = "FILE")]
    pub api_authority: Option<String>,
    /// The certificate of this node's API, good for its host: with it, the API is https
    #[arg(long, value_name = "FILE")]
    pub api_certificate: Option<String>,
    /// The key that belongs to it
    #[arg(long, value_name = "FILE")]
    pub api_key: Option<String>,
    /// Serve only clients that show a certificate of that authority
    #[arg(long)]
    pub api_require_certificate: bool,
    /// A file that says who may do what, by token or certificate; read again when it changes
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<String>,
    /// A file with the token that callers must show to use force
    #[arg(long, value_name = "FILE")]
    pub admin_token_file: Option<String>,
    /// Write down who took, gave back, lost or was forced out of what
    #[arg(long, value_name = "FILE")]
    pub audit: Option<String>,
    /// Serve the API beyond this machine without certificates or tokens
    #[arg(long)]
    pub insecure: bool,
}

impl<'a> Checked<'a> {
    /// Who may use the API, which is served there.
    pub(super) fn access(&mut self, links: Option<&Tls>, http: Option<SocketAddr>) -> ApiAccess {
        let flags = &self.flags.access;
        let file = self.file;
        let path = |typed: &Option<String>, written: &Option<String>| {
            typed.as_ref().or(written.as_ref()).map(PathBuf::from)
        };
        let tokens = path(&flags.tokens, &file.tokens);
        let audit = path(&flags.audit, &file.audit);
        if let Some(path) = &tokens {
            let text = files::read(&path.display().to_string());
            if let Err(problem) = text.and_then(|text| tokens::check(&text)) {
                self.mistakes.add(format!("--tokens {}: {problem}", path.display()));
            }
        }
        let tls = self.api_certificates(links);
        let open = tls.is_none() || tokens.is_none();
        let insecure = self.flags.access.insecure || file.insecure;
        if let Some(http) = http.filter(|http| open && !insecure && !http.ip().is_loopback()) {
            self.missing(format!(
                "--http {http}: beyond this machine the API takes --api-certificate, --api-key \
                 and --tokens ('conclave cert' and 'conclave token' make them), or --insecure"
            ));
        }
        ApiAccess { admin_token: self.token(), tokens, tls, audit }
    }

    fn api_certificates(&mut self, links: Option<&Tls>) -> Option<ApiCertificates> {
        let ApiFiles { authority, certificate, key, require_certificate } =
            self.file.api.clone().unwrap_or_default();
        let flags = &self.flags.access;
        let required = flags.api_require_certificate || require_certificate;
        let certificate = flags.api_certificate.clone().or(certificate);
        let key = flags.api_key.clone().or(key);
        let mut authority = flags.api_authority.clone().or(authority);
        if certificate.is_some() || key.is_some() {
            let shared = links.map(|links| links.authority.display().to_string());
            authority = authority.or(shared);
        }
        let parts = [
            ("--api-authority", authority),
            ("--api-certificate", certificate),
            ("--api-key", key),
        ];
        self.all_or_none(&parts);
        if required && parts.iter().all(|(_, path)| path.is_none()) {
            self.missing("--api-require-certificate: takes --api-certificate and --api-key too");
        }
        let deny = links.map(|links| links.deny.clone()).unwrap_or_default();
        let [authority, certificate, key] = parts.map(|(_, path)| path.map(PathBuf::from));
        let (authority, certificate, key) = (authority?, certificate?, key?);
        Some(ApiCertificates { authority, certificate, key, required, deny })
    }

    pub(super) fn tls(&mut self) -> Option<Tls> {
        let file = self.file.tls.clone().unwrap_or_default();
        let TlsFiles { authority, certificate, key } = file;
        let parts = [
            ("--tls-authority", self.flags.tls_authority.clone().or(authority)),
            ("--tls-certificate", self.flags.tls_certificate.clone().or(certificate)),
            ("--tls-key", self.flags.tls_key.clone().or(key)),
        ];
        let given = parts.iter().filter(|(_, path)| path.is_some()).count();
        self.all_or_none(&parts);
        let deny = self.deny(given > 0);
        let [authority, certificate, key] = parts.map(|(_, path)| path.map(PathBuf::from));
        Some(Tls { authority: authority?, certificate: certificate?, key: key?, deny })
    }

    /// Three files that only make sense together, and that can be read.
    fn all_or_none(&mut self, parts: &[(&str, Option<String>); 3]) {
        let given = parts.iter().filter(|(_, path)| path.is_some()).count();
        for (flag, path) in parts {
            match path {
                None if given > 0 => {
                    self.missing(format!("{flag}: is missing; TLS takes all three"));
                }
                Some(path) => {
                    if let Err(reason) = files::read(path) {
                        self.mistakes.add(format!("{flag} {path}: {reason}"));
                    }
                }
                None => {}
            }
        }
    }

    /// What is typed is added to what is written: to forget one would let somebody in.
    fn deny(&mut self, tls: bool) -> Vec<Fingerprint> {
        let flags = self.flags;
        let file = self.file;
        let mut denied = Vec::new();
        for text in flags.deny.iter().chain(&file.deny) {
            match text.parse() {
                Ok(print) => denied.push(print),
                Err(takes) => self.mistakes.add(format!("--deny {text}: {takes}")),
            }
        }
        if !denied.is_empty() && !tls {
            self.missing("--deny: without TLS nobody shows a certificate; takes --tls-authority");
        }
        denied
    }

    pub(super) fn token_file(&self) -> Option<&'a String> {
        self.flags.access.admin_token_file.as_ref().or(self.file.admin_token_file.as_ref())
    }

    fn token(&mut self) -> Option<String> {
        let path = self.token_file()?;
        let token = files::read(path).map(|text| text.trim().to_string());
        let token = token.and_then(|token| match token.len() >= TOKEN_MIN {
            true => Ok(token),
            false => Err(format!("takes a file with a token of {TOKEN_MIN} characters or more")),
        });
        token
            .map_err(|reason| self.mistakes.add(format!("--admin-token-file {path}: {reason}")))
            .ok()
    }
}
