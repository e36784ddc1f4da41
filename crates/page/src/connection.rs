//! Socket options of a connection that was accepted: when what is sent leaves, and how much of it
//! may wait unread.

use rustix::net::sockopt::set_socket_send_buffer_size;
use tokio::net::TcpStream;

/// How much of what nobody reads the system keeps for a connection, in bytes; Linux takes it twice.
/// Left alone it lets that grow to several MiB, for each of a thousand connections.
const UNREAD_MAX: usize = 64 << 10;

/// Sets the options of a connection. One that has gone already is noticed soon enough.
pub fn prepare(stream: &TcpStream) {
    // An event is not kept back until the client has acknowledged the one before.
    let _ = stream.set_nodelay(true);
    let _ = set_socket_send_buffer_size(stream, UNREAD_MAX);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::sockopt::set_socket_recv_buffer_size;
    use std::io::ErrorKind;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn little_is_kept_of_what_nobody_reads() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("it has one");
        let (reader, accepted) = tokio::join!(TcpStream::connect(address), listener.accept());
        let reader = reader.expect("it listens");
        let (stream, _) = accepted.expect("somebody came");
        prepare(&stream);
        set_socket_recv_buffer_size(&reader, 4 << 10).expect("a small one");
        stream.writable().await.expect("nothing is in its way");
        let mut kept = 0;
        let full = loop {
            match stream.try_write(&[0; 16 << 10]) {
                Ok(written) => kept += written,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), ErrorKind::WouldBlock);
        assert!(kept <= 4 * UNREAD_MAX, "{kept} bytes are kept");
    }
}
