//! Ports that are free right now.

use crate::failure::Usage;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// Where everything is.
pub struct Ports {
    /// Where `up` itself serves: at the port that was named, or a free one if that was 0.
    pub http: TcpListener,
    /// Of the nodes' APIs: at the ports that follow it, or free ones.
    pub apis: Vec<SocketAddr>,
    /// Of the links between nodes: free ones.
    pub peers: Vec<SocketAddr>,
}

/// Chooses them. All are taken until the last is found, so that no two are the same.
pub fn choose(http: SocketAddr, count: u32) -> anyhow::Result<Ports> {
    let mut apis = match http.port() {
        0 => free(http.ip(), count + 1)?,
        _ => following(http, count + 1)?,
    };
    let peers = free(links_at(http.ip()), count)?;
    let own = apis.remove(0);
    Ok(Ports { http: own, apis: addresses(&apis)?, peers: addresses(&peers)? })
}

/// Nodes of one machine meet on loopback, wherever their APIs are served.
fn links_at(http: IpAddr) -> IpAddr {
    match http {
        _ if http.is_loopback() => http,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    }
}

fn free(ip: IpAddr, count: u32) -> io::Result<Vec<TcpListener>> {
    (0..count).map(|_| TcpListener::bind((ip, 0))).collect()
}

fn following(first: SocketAddr, count: u32) -> anyhow::Result<Vec<TcpListener>> {
    let mut listeners = Vec::new();
    for offset in 0..count {
        let port = u32::from(first.port()) + offset;
        let Ok(port) = u16::try_from(port) else {
            let takes =
                format!("this takes {count} ports from there on: one for each node, and one");
            return Err(Usage::flag("--http", first, takes).into());
        };
        let bound = TcpListener::bind(SocketAddr::new(first.ip(), port)).map_err(|error| {
            let what = match error.kind() == ErrorKind::AddrInUse {
                true => format!("port {port} is taken"),
                false => format!("port {port} cannot be had: {error}"),
            };
            let takes = format!("{what}; name another first port, or 0 to choose free ones");
            Usage::flag("--http", first, takes)
        });
        listeners.push(bound?);
    }
    Ok(listeners)
}

fn addresses(listeners: &[TcpListener]) -> io::Result<Vec<SocketAddr>> {
    listeners.iter().map(TcpListener::local_addr).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn no_two_ports_are_the_same() {
        for _ in 0..300 {
            let Ports { http, apis, peers } = choose((HERE, 0).into(), 20).unwrap();
            let own = http.local_addr().unwrap();
            let all: BTreeSet<SocketAddr> = apis.into_iter().chain(peers).chain([own]).collect();
            assert_eq!(all.len(), 41);
        }
    }

    #[test]
    fn a_port_that_is_taken_is_named_with_its_flag() {
        let taken = TcpListener::bind((HERE, 0)).unwrap();
        let address = taken.local_addr().unwrap();
        let error = choose(address, 1).map(drop).unwrap_err().to_string();
        let expected = format!("--http {address}: port {} is taken; ", address.port());
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn links_stay_on_loopback_wherever_the_apis_are() {
        assert_eq!(links_at(Ipv4Addr::UNSPECIFIED.into()), HERE);
        assert_eq!(links_at(Ipv4Addr::new(192, 0, 2, 1).into()), HERE);
        assert_eq!(links_at(Ipv6Addr::UNSPECIFIED.into()), IpAddr::V6(Ipv6Addr::LOCALHOST));
        let other = IpAddr::V4(Ipv4Addr::new(127, 0, 0, 2));
        assert_eq!(links_at(other), other);
    }

    #[test]
    fn ports_end_somewhere() {
        let error = choose((HERE, u16::MAX).into(), 2).map(drop).unwrap_err().to_string();
        assert!(error.contains("this takes 3 ports from there on: "), "{error}");
    }

    #[test]
    fn the_nodes_have_the_ports_that_follow() {
        // Some port that is free with the three behind it; others may take one meanwhile.
        let found = (0..100).find_map(|_| {
            let first = TcpListener::bind((HERE, 0)).unwrap().local_addr().unwrap();
            let ports = choose(first, 3).ok()?;
            Some((first, ports.http.local_addr().unwrap(), ports.apis))
        });
        let (first, own, apis) = found.unwrap();
        assert_eq!(own, first);
        let expected = (1..=3).map(|offset| first.port() + offset);
        assert!(apis.iter().map(SocketAddr::port).eq(expected), "{apis:?}");
    }
}
