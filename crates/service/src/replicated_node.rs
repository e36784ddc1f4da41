//! Runs one node with the replicated engine: replica, engine and API, put together and shut down.

use crate::data_watch::DataWatch;
use crate::node::{self, NodeError, QUEUE};
use crate::{Command, Config, EngineConfig, ReplicatedEngine, http};
use conclave_core::NodeId;
use conclave_replica::{Founder, ReplicaConfig, ReplicaError, Timing};
use std::future::Future;
use std::time::Duration;
use tokio::sync::mpsc;
use tracing::info;

/// A snapshot is made after so many entries of the log.
const SNAPSHOT_ENTRIES: u64 = 100_000;

/// Runs a node until it is told to stop, or has to.
pub async fn run(config: Config, shutdown: impl Future<Output = ()>) -> Result<(), NodeError> {
    let api = node::listen(config.http).await?;
    let replica = replica_config(&config)?;
    let (command, commands) = mpsc::channel::<Command>(QUEUE);
    let engine = ReplicatedEngine::start(EngineConfig { replica }, commands).await?;
    let Some(replica) = engine.replica().cloned() else {
        return Err(ReplicaError::Refused("the replica did not start".to_string()).into());
    };
    info!(
        node = config.id,
        cluster = %config.cluster,
        links = %config.listen,
        api = %api.local_addr().unwrap_or(config.http),
        "started"
    );
    let data = DataWatch::start(config.data.clone());
    let server = http::serve(api, node::http_config(&config, &data), command.clone());
    let ended = tokio::select! {
        () = node::hand_over_after(shutdown, &command) => Ok(()),
        why = replica.ended() => Err(why),
    };
    // Requests under way are answered by whoever leads now: the links to it still stand.
    server.stop().await;
    replica.stop().await;
    ended?;
    info!("stopped");
    Ok(())
}

fn replica_config(config: &Config) -> Result<ReplicaConfig, NodeError> {
    let tls = config.tls.as_ref().map(|tls| node::load_tls(tls, config.me())).transpose()?;
    let founder = |(id, address): (u32, &crate::Address)| Founder {
        id: NodeId(id),
        peer: address.peer.clone(),
        api: address.api.clone(),
    };
    Ok(ReplicaConfig {
        cluster: config.cluster.clone(),
        me: config.me(),
        founders: (0..).zip(&config.nodes).map(founder).collect(),
        listen: config.listen,
        data: config.data.clone(),
        tls,
        timing: Timing {
            heartbeat: Duration::from_millis(100),
            election: (Duration::from_millis(500), Duration::from_secs(1)),
            renewals: Duration::from_millis(50),
            snapshot_entries: SNAPSHOT_ENTRIES,
        },
    })
}
