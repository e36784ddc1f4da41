//! The servers of one system, as one client sees them: it talks to one, and goes to the next when
//! that one does not answer (client-side fail-over).

use crate::Error;
use std::io;
use std::net::SocketAddr;
use tokio::net::TcpStream;

/// Where a client may go.
#[derive(Clone, Debug)]
pub struct Servers {
    addresses: Vec<SocketAddr>,
    current: usize,
}

impl Servers {
    /// All of them, beginning with this one, counted round and round.
    pub fn new(addresses: &[SocketAddr], first: usize) -> Self {
        Self { addresses: addresses.to_vec(), current: first }
    }

    /// A connection to the current one. If there is none, the next one is the current one.
    pub async fn connect(&mut self) -> Result<TcpStream, Error> {
        match TcpStream::connect(self.address()?).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                Ok(stream)
            }
            Err(error) => {
                self.advance();
                Err(error.into())
            }
        }
    }

    /// Goes on to the next.
    pub fn advance(&mut self) {
        self.current += 1;
    }

    fn address(&self) -> Result<SocketAddr, Error> {
        let place = self.current.checked_rem(self.addresses.len());
        let address = place.and_then(|place| self.addresses.get(place));
        address.copied().ok_or_else(|| io::Error::other("no server was named").into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_goes_round_its_servers() {
        let addresses: Vec<SocketAddr> =
            (1..=3).map(|port| ([127, 0, 0, 1], port).into()).collect();
        let mut servers = Servers::new(&addresses, 4);
        assert_eq!(servers.address().unwrap(), addresses[1]);
        servers.advance();
        servers.advance();
        assert_eq!(servers.address().unwrap(), addresses[0]);
        assert!(Servers::new(&[], 0).address().is_err());
    }
}
