//! The API of a node before it is served: its port, its certificates, its tokens and its audit log.
//! Whatever can fail is tried before the node takes part in anything.

use crate::audit::Audit;
use crate::http::{self, HttpConfig, HttpLimits, Server};
use crate::node::NodeError;
use crate::tokens::TokenFile;
use crate::{ApiCertificates, Command, Config, Engine, NodeFacts};
use conclave_net::{ApiTls, TlsError, TlsFiles};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc;

/// All that it takes to serve the API.
pub struct PreparedApi {
    listener: TcpListener,
    address: SocketAddr,
    tls: Option<ApiTls>,
    tokens: Option<Arc<TokenFile>>,
    audit: Option<Audit>,
}

impl PreparedApi {
    /// Prepares it all, or says what is wrong.
    pub async fn prepare(config: &Config, audit: Option<Audit>) -> Result<Self, NodeError> {
        let access = &config.access;
        let address = config.http;
        let listener = TcpListener::bind(address)
            .await
            .map_err(|source| NodeError::Http { address, source })?;
        let address = listener.local_addr().unwrap_or(address);
        let tls = access.tls.as_ref().map(load).transpose()?;
        let tokens = access.tokens.as_deref().map(read).transpose()?;
        Ok(Self { listener, address, tls, tokens, audit })
    }

    /// Where it is.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Where it is written down who did what.
    pub fn audit(&self) -> Option<Audit> {
        self.audit.clone()
    }

    /// Serves it.
    pub fn serve(
        self,
        config: &Config,
        facts: NodeFacts,
        commands: mpsc::Sender<Command>,
    ) -> Server {
        let own = config.nodes.get(config.id as usize - 1).map(|node| node.api.clone());
        let served = HttpConfig {
            node: config.id,
            own: own.into_iter().chain([config.http.to_string()]).collect(),
            keeper: match config.engine {
                Engine::Replicated => None,
                Engine::Classic { .. } => config.nodes.first().map(|node| node.api.clone()),
            },
            admin_token: config.access.admin_token.clone(),
            tokens: self.tokens,
            tls: self.tls,
            audit: self.audit,
            lab: config.lab,
            limits: HttpLimits::default(),
            facts,
        };
        http::serve(self.listener, served, commands)
    }
}

fn load(files: &ApiCertificates) -> Result<ApiTls, TlsError> {
    let ApiCertificates { authority, certificate, key, required, deny } = files.clone();
    Ok(ApiTls::load(&TlsFiles { authority, certificate, key }, required)?.deny(deny))
}

fn read(path: &Path) -> Result<Arc<TokenFile>, NodeError> {
    let failed = |problem| NodeError::Tokens { path: path.to_path_buf(), problem };
    TokenFile::load(path).map(Arc::new).map_err(failed)
}

/// Opens the audit log, if there is to be one.
pub fn audit(config: &Config) -> Result<Option<Audit>, NodeError> {
    let Some(path) = &config.access.audit else { return Ok(None) };
    let failed = |source| NodeError::Audit { path: path.clone(), source };
    Audit::open(path, config.id).map(Some).map_err(failed)
}
