//! One client of whichever system: it takes one lock, and gives it back.

use crate::Error;
use crate::conclave::Conclave;
use crate::etcd::Etcd;
use crate::redis::Redis;
use crate::servers::Servers;
use crate::zookeeper::ZooKeeper;
use std::net::SocketAddr;
use std::time::Duration;

/// How a system is spoken to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Our HTTP API.
    Conclave,
    /// The JSON gateway of etcd's API, version 3.
    Etcd,
    /// ZooKeeper's own.
    ZooKeeper,
    /// Redis's own, RESP.
    Redis,
}

/// A system under load.
#[derive(Clone, Debug)]
pub struct Target {
    /// How it is spoken to.
    pub protocol: Protocol,
    /// Where its servers are.
    pub servers: Vec<SocketAddr>,
}

/// What a client wants.
#[derive(Clone, Debug)]
pub struct Want {
    /// The name of the lock.
    pub name: String,
    /// What tells it from the other clients.
    pub label: String,
    /// How long its session lives without a sign of life.
    pub ttl: Duration,
    /// Whether others want the same lock.
    pub shared: bool,
    /// The server that it begins with, counted round and round.
    pub first: usize,
}

/// A client of a system.
#[derive(Debug)]
pub struct Client {
    spoken: Spoken,
}

#[derive(Debug)]
enum Spoken {
    Conclave(Conclave),
    Etcd(Etcd),
    ZooKeeper(ZooKeeper),
    Redis(Redis),
}

impl Client {
    /// Opens a session.
    pub async fn open(target: &Target, want: Want) -> Result<Self, Error> {
        let servers = Servers::new(&target.servers, want.first);
        let mut spoken = match target.protocol {
            Protocol::Conclave => Spoken::Conclave(Conclave::new(servers, want)),
            Protocol::Etcd => Spoken::Etcd(Etcd::new(servers, want)),
            Protocol::ZooKeeper => Spoken::ZooKeeper(ZooKeeper::new(servers, want)),
            Protocol::Redis => Spoken::Redis(Redis::new(servers, want)),
        };
        match &mut spoken {
            Spoken::Conclave(client) => client.open().await?,
            Spoken::Etcd(client) => client.open().await?,
            Spoken::ZooKeeper(client) => client.open().await?,
            Spoken::Redis(client) => client.open().await?,
        }
        Ok(Self { spoken })
    }

    /// Waits until it has the lock; the number of this entry, where the system has one. After an
    /// error that may pass, it may be repeated.
    pub async fn acquire(&mut self) -> Result<Option<u64>, Error> {
        match &mut self.spoken {
            Spoken::Conclave(client) => client.acquire().await.map(Some),
            Spoken::Etcd(client) => client.acquire().await.map(Some),
            Spoken::ZooKeeper(client) => client.acquire().await.map(Some),
            Spoken::Redis(client) => client.acquire().await.map(|()| None),
        }
    }

    /// Gives it back. After an error that may pass, it may be repeated.
    pub async fn release(&mut self) -> Result<(), Error> {
        match &mut self.spoken {
            Spoken::Conclave(client) => client.release().await,
            Spoken::Etcd(client) => client.release().await,
            Spoken::ZooKeeper(client) => client.release().await,
            Spoken::Redis(client) => client.release().await,
        }
    }

    /// A sign of life.
    pub async fn keep_alive(&mut self) -> Result<(), Error> {
        match &mut self.spoken {
            Spoken::Conclave(client) => client.keep_alive().await,
            Spoken::Etcd(client) => client.keep_alive().await,
            Spoken::ZooKeeper(client) => client.keep_alive().await,
            Spoken::Redis(client) => client.keep_alive().await,
        }
    }
}
