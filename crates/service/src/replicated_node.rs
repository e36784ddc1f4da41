//! Runs one node with the replicated engine: replica, engine and API, put together and shut down.

use crate::audit::Audit;
use crate::data_watch::DataWatch;
use crate::http::Server;
use crate::node::{self, Ended, NodeError, QUEUE, Shutdown};
use crate::prepared_api::PreparedApi;
use crate::{Command, Config, EngineConfig, NodeFacts, ReplicatedEngine};
use conclave_core::NodeId;
use conclave_net::Tls;
use conclave_replica::{Boxed, Founder, Host, Replica, ReplicaConfig, ReplicaError, Timing};
use std::sync::Arc;
use tokio::sync::mpsc;
use tracing::info;

/// Runs a node until it is told to stop, or has to.
pub async fn run(config: Config, audit: Option<Audit>, shutdown: Shutdown) -> Ended {
    let running = start(config, audit).await?;
    let ended = tokio::select! {
        () = node::hand_over_after(shutdown, &running.commands) => Ok(()),
        why = running.replica.ended() => Err(why),
    };
    running.stop().await;
    ended?;
    info!("stopped");
    Ok(())
}

/// A node at work.
struct Running {
    engine: Arc<ReplicatedEngine>,
    replica: Replica,
    server: Server,
    commands: mpsc::Sender<Command>,
    _data: DataWatch,
}

/// On the heap, so that the code of the engine is made in this crate, and not, unoptimised, in that
/// of the command line.
fn start(config: Config, audit: Option<Audit>) -> Boxed<'static, Result<Running, NodeError>> {
    Box::pin(async move {
        let api = PreparedApi::prepare(&config, audit.clone()).await?;
        let replica = replica_config(&config)?;
        let certificate_end = replica.tls.as_ref().map(Tls::end);
        let (commands, taken) = mpsc::channel::<Command>(QUEUE);
        let engine = ReplicatedEngine::start(EngineConfig { replica, audit }, taken).await?;
        let Some(replica) = engine.replica().cloned() else {
            return Err(ReplicaError::Refused("the replica did not start".to_string()).into());
        };
        info!(
            node = config.id,
            cluster = %config.cluster,
            links = %config.listen,
            api = %api.address(),
            "started"
        );
        let data = DataWatch::start(config.data.clone());
        let facts = NodeFacts { data: data.state(), certificate_end, syncs: None };
        let server = api.serve(&config, facts, commands.clone());
        Ok(Running { engine, replica, server, commands, _data: data })
    })
}

impl Running {
    /// Requests under way are answered by whoever leads now: the links to it still stand.
    fn stop(self) -> Boxed<'static, ()> {
        Box::pin(async move {
            // Whatever streams end now, it is not their clients that end them.
            self.engine.stopping().send_replace(true);
            self.server.stop().await;
            self.replica.stop().await;
        })
    }
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
        timing: Timing::default(),
        host: Host::default(),
    })
}
