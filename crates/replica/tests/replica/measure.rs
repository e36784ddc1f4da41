//! How fast a cluster is, by hand: `cargo test -p conclave-replica --test replica -- --ignored
//! --nocapture`.

use crate::kit::{Cluster, quick};
use conclave_table::Change;
use std::time::{Duration, Instant};

async fn writes(cluster: &Cluster, writers: usize) -> f64 {
    let leader = cluster.leader().await;
    let until = Instant::now() + Duration::from_secs(3);
    let started = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..writers {
        let replica = cluster.replica(leader).clone();
        tasks.push(tokio::spawn(async move {
            let mut count = 0;
            while Instant::now() < until {
                replica.propose(Change::Tick).await.expect("it leads");
                count += 1;
            }
            count
        }));
    }
    let mut total = 0;
    for task in tasks {
        total += task.await.expect("it does not panic");
    }
    f64::from(total) / started.elapsed().as_secs_f64()
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures"]
async fn writes_per_second() {
    for nodes in [1, 3] {
        let cluster = Cluster::running(nodes, quick()).await;
        for writers in [1, 16, 64] {
            println!("{nodes} nodes, {writers} writers: {:.0}/s", writes(&cluster, writers).await);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "it measures"]
async fn time_without_a_leader() {
    let mut cluster = Cluster::running(3, quick()).await;
    cluster.propose(Change::Tick).await;
    for round in 0..20 {
        let leader = cluster.leader().await;
        let started = Instant::now();
        if round % 2 == 0 {
            cluster.kill(leader).await;
        } else {
            cluster.stop(leader).await;
        }
        let stopped = started.elapsed();
        cluster.propose(Change::Tick).await;
        let how = if round % 2 == 0 { "killed" } else { "stopped" };
        println!("{how} in {stopped:?}, next entry after {:?}", started.elapsed());
        cluster.start(leader).await.expect("its disk is in order");
        let index = cluster.propose(Change::Tick).await.index;
        cluster.applied(leader, index).await;
        // The next quick election may come only after a while.
        tokio::time::sleep(Duration::from_secs(6)).await;
    }
}
