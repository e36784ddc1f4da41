//! A stretch of network that breaks.

use super::kit::listener;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use tokio::io::{AsyncReadExt, copy};
use tokio::net::TcpStream;
use tokio::sync::Notify;
use tokio::task::JoinSet;

/// Passes connections on to the target and cuts them.
pub struct Proxy {
    pub address: String,
    pub cuts: Arc<AtomicU64>,
    /// Cuts the connection that stands.
    pub scissors: Arc<Notify>,
    _task: JoinSet<()>,
}

impl Proxy {
    /// Cuts each connection after a random number of bytes in either direction, up to this many.
    pub async fn start(target: String, seed: u64, bytes_max: u64) -> Self {
        let (listener, address) = listener().await;
        let (cuts, scissors) = (Arc::new(AtomicU64::new(0)), Arc::new(Notify::new()));
        let (count, cut) = (Arc::clone(&cuts), Arc::clone(&scissors));
        let mut task = JoinSet::new();
        task.spawn(async move {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            loop {
                let (near, _) = listener.accept().await.unwrap();
                let limits = [(); 2].map(|()| random.next_u64() % bytes_max);
                if let Ok(far) = TcpStream::connect(&target).await {
                    tokio::select! {
                        () = pass(near, far, limits) => {}
                        () = cut.notified() => {}
                    }
                }
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { address, cuts, scissors, _task: task }
    }
}

/// Until one direction has had its share of bytes, or closes.
async fn pass(mut near: TcpStream, mut far: TcpStream, [forth, back]: [u64; 2]) {
    let (near_read, mut near_write) = near.split();
    let (far_read, mut far_write) = far.split();
    let (mut near_read, mut far_read) = (near_read.take(forth), far_read.take(back));
    tokio::select! {
        _ = copy(&mut near_read, &mut far_write) => {}
        _ = copy(&mut far_read, &mut near_write) => {}
    }
}
