//! Ports that are free right now.

use crate::failure::Usage;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, TcpListener};

/// So many different free ports, chosen by the system.
pub fn free(ip: IpAddr, count: u32) -> anyhow::Result<Vec<SocketAddr>> {
    // All are kept until the last is found, so that no two are the same.
    let listeners: Result<Vec<_>, _> = (0..count).map(|_| TcpListener::bind((ip, 0))).collect();
    let addresses: Result<_, _> = listeners?.iter().map(TcpListener::local_addr).collect();
    Ok(addresses?)
}

/// The ports of the APIs: from this one on, or free ones if it is 0.
pub fn of_apis(first: SocketAddr, count: u32) -> anyhow::Result<Vec<SocketAddr>> {
    if first.port() == 0 {
        return free(first.ip(), count);
    }
    let mut addresses = Vec::new();
    for offset in 0..count {
        let port = u32::from(first.port()) + offset;
        let Ok(port) = u16::try_from(port) else {
            let takes = format!("{count} nodes take as many ports from there on");
            return Err(Usage::flag("--http", first, takes).into());
        };
        let address = SocketAddr::new(first.ip(), port);
        if let Err(error) = TcpListener::bind(address) {
            let what = match error.kind() == ErrorKind::AddrInUse {
                true => format!("port {port} is taken"),
                false => format!("port {port} cannot be had: {error}"),
            };
            let takes = format!("{what}; name another first port, or 0 to choose free ones");
            return Err(Usage::flag("--http", first, takes).into());
        }
        addresses.push(address);
    }
    Ok(addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::net::Ipv4Addr;

    const HERE: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    #[test]
    fn free_ports_are_all_different() {
        let ports: BTreeSet<SocketAddr> = free(HERE, 20).unwrap().into_iter().collect();
        assert_eq!(ports.len(), 20);
    }

    #[test]
    fn a_port_that_is_taken_is_named_with_its_flag() {
        let taken = TcpListener::bind((HERE, 0)).unwrap();
        let address = taken.local_addr().unwrap();
        let error = of_apis(address, 1).unwrap_err().to_string();
        let expected = format!("--http {address}: port {} is taken; ", address.port());
        assert!(error.starts_with(&expected), "{error}");
    }

    #[test]
    fn ports_end_somewhere() {
        let error = of_apis((HERE, u16::MAX).into(), 2).unwrap_err().to_string();
        assert!(error.ends_with("2 nodes take as many ports from there on"), "{error}");
    }
}
