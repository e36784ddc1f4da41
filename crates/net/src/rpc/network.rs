//! The network below the calls: how connections are made and taken.
//!
//! It is TCP, but in a simulation, which brings a [`Network`] of its own.

use crate::cable::cable;
use crate::link::wire::Stream;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use tokio::net::{TcpListener, TcpStream};

/// What comes of an attempt to connect, or to accept.
pub type Connecting<'a, T> = Pin<Box<dyn Future<Output = io::Result<T>> + Send + 'a>>;

/// The place of one node in a network.
pub trait Network: Send + Sync + 'static {
    /// Where this node listens.
    fn local_addr(&self) -> io::Result<SocketAddr>;

    /// The next connection that somebody makes to this node.
    fn accept(&self) -> Connecting<'_, (Connection, SocketAddr)>;

    /// Connects to `host:port`.
    fn connect<'a>(&'a self, address: &'a str) -> Connecting<'a, Connection>;
}

/// A connection.
pub enum Connection {
    /// Over TCP; it may be secured by TLS.
    Tcp(TcpStream),
    /// In a simulation.
    Simulated(Box<dyn Stream>),
}

/// The place of one node in a network. Cheap to clone.
#[derive(Clone)]
pub struct Listener(pub Arc<dyn Network>);

impl From<TcpListener> for Listener {
    fn from(listener: TcpListener) -> Self {
        Self(Arc::new(listener))
    }
}

impl Network for TcpListener {
    fn local_addr(&self) -> io::Result<SocketAddr> {
        Self::local_addr(self)
    }

    fn accept(&self) -> Connecting<'_, (Connection, SocketAddr)> {
        Box::pin(async {
            let (stream, address) = Self::accept(self).await?;
            Ok((Connection::Tcp(stream), address))
        })
    }

    fn connect<'a>(&'a self, address: &'a str) -> Connecting<'a, Connection> {
        Box::pin(async move {
            cable().plugged_in().await;
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            Ok(Connection::Tcp(stream))
        })
    }
}
