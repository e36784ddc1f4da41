//! At most once and in order; not later than useful.

use super::kit::{A, B, Host, config, limits, listener, pair};
use super::proxy::Proxy;
use conclave_net::{Limits, News, Packet};

fn numbers(host: &Host) -> Vec<u64> {
    host.transient.iter().map(|number| number % Packet::transient_from(1)).collect()
}

async fn until_arrived(host: &mut Host, number: u64) {
    let arrived = |news: &News| {
        matches!(news, News::Arrived { packet, .. }
            if packet.number % Packet::transient_from(1) == number)
    };
    host.until("a transient message", arrived).await;
}

#[tokio::test]
async fn a_short_interruption_loses_and_repeats_nothing() {
    let (first, second) = (listener().await, listener().await);
    let proxy = Proxy::start(second.1.clone(), 1, u64::MAX).await;
    let mut a = Host::start(first.0, config(A, &[first.1.clone(), proxy.address.clone()]));
    let mut b = Host::start(second.0, config(B, &[first.1, second.1]));
    a.until_connected(B).await;
    for number in 1..=900 {
        a.send_transient(B, number).await;
        if number % 300 == 0 {
            proxy.scissors.notify_one();
        }
        tokio::task::yield_now().await;
    }
    until_arrived(&mut b, 900).await;
    assert_eq!(numbers(&b), (1..=900).collect::<Vec<_>>());
}

#[tokio::test]
async fn what_was_meant_for_an_earlier_start_of_the_peer_is_dropped() {
    let (mut a, mut b) = pair(|_| {}).await;
    a.until_connected(B).await;
    a.send_transient(B, 1).await;
    until_arrived(&mut b, 1).await;
    let links = b.links.take().unwrap();
    let address = links.local_addr();
    links.stop().await;
    a.until("the end of the link", |news| matches!(news, News::Disconnected { .. })).await;
    a.send_transient(B, 2).await;
    let again = tokio::net::TcpListener::bind(address).await.unwrap();
    let mut b = Host::start(again, {
        b.config.incarnation += 1;
        b.config
    });
    a.until_connected(B).await;
    a.send_transient(B, 3).await;
    until_arrived(&mut b, 3).await;
    assert_eq!(numbers(&b), [3]);
}

#[tokio::test]
async fn a_sender_that_starts_again_is_heard_again() {
    let (mut a, mut b) = pair(|_| {}).await;
    for number in 1..=5 {
        a.send_transient(B, number).await;
    }
    until_arrived(&mut b, 5).await;
    a.restart().await;
    a.send_transient(B, 1).await;
    until_arrived(&mut b, 1).await;
    assert_eq!(numbers(&b), [1, 2, 3, 4, 5, 1]);
}

#[tokio::test]
async fn the_oldest_give_way_when_there_are_too_many() {
    let (first, second) = (listener().await, listener().await);
    let mut a = config(A, &[first.1.clone(), second.1.clone()]);
    a.limits = Limits { transient_packets: 100, ..limits() };
    let address = second.0.local_addr().unwrap();
    drop(second.0); // Nobody is there yet.
    let mut a = Host::start(first.0, a);
    for number in 1..=1_000 {
        a.send_transient(B, number).await;
    }
    let late = tokio::net::TcpListener::bind(address).await.unwrap();
    let mut b = Host::start(late, config(B, &[first.1, second.1]));
    until_arrived(&mut b, 1_000).await;
    let kept = numbers(&b);
    assert!(kept.len() < 300, "{} were kept", kept.len());
    assert!(kept.is_sorted_by(|one, next| one < next), "out of order: {kept:?}");
    assert_eq!(kept[kept.len() - 100..], (901..=1_000).collect::<Vec<_>>());
}
