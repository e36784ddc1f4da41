//! How many requests a second one connection carries. Run by hand:
//! `cargo test --release -p conclave-net --test network throughput -- --ignored --nocapture`.

use super::kit::{limits, pair};
use conclave_net::rpc::Purpose;
use std::time::{Duration, Instant};

const REQUESTS: u32 = 200_000;

async fn measure(askers: u32, bytes: usize) {
    let (a, b) = pair(limits()).await;
    let to = b.address();
    a.echo(&to, Purpose::Service).await;
    let mut request = vec![7; bytes];
    request[..4].copy_from_slice(b"echo");
    let started = Instant::now();
    let tasks: Vec<_> = (0..askers)
        .map(|_| {
            let rpc = a.rpc.clone();
            let to = to.clone();
            let request = request.clone();
            tokio::spawn(async move {
                for _ in 0..REQUESTS / askers {
                    let deadline = tokio::time::Instant::now() + Duration::from_secs(60);
                    rpc.request(&to, Purpose::Service, request.clone(), deadline).await.unwrap();
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let rate = f64::from(REQUESTS) / started.elapsed().as_secs_f64();
    println!("{askers} askers, {bytes} bytes: {rate:.0} pairs per second");
}

#[tokio::test]
#[ignore = "a measurement"]
async fn throughput_on_one_thread_for_both_ends() {
    for askers in [1, 16, 64, 512] {
        measure(askers, 100).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "a measurement"]
async fn throughput_on_two_threads() {
    for askers in [1, 16, 64, 512] {
        measure(askers, 100).await;
    }
}
