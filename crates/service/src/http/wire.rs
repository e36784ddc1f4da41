//! Connections as they come: plain, or by TLS.
//!
//! Whoever speaks plain HTTP where TLS is spoken is told so in plain HTTP, and let go.

use super::authorize::Shown;
use conclave_net::{ApiTls, ServerStream, close_gently};
use conclave_page::WriteTimeout;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

/// Every TLS connection begins with this byte, and no request of HTTP does.
const HANDSHAKE: u8 = 0x16;
const NOT_PLAIN: &str = "HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n\
    connection: close\r\n\r\n{\"error\":{\"code\":\"bad_request\",\"message\":\
    \"this address takes https://, not http://\",\"retry\":false}}";

/// One connection.
pub enum Wire {
    /// As it is.
    Plain(WriteTimeout<TcpStream>),
    /// Encrypted. What the other side does not take is noticed below that.
    Tls(Box<ServerStream<WriteTimeout<TcpStream>>>),
}

impl Wire {
    /// Greets whoever has come, by TLS if there are certificates, and says which one it shows.
    pub async fn greet(
        stream: TcpStream,
        tls: Option<&ApiTls>,
        write: Duration,
    ) -> io::Result<(Self, Shown)> {
        let Some(tls) = tls else {
            return Ok((Self::Plain(WriteTimeout::new(stream, write)), Shown::default()));
        };
        let mut first = [0];
        let came = stream.peek(&mut first).await?;
        let mut stream = WriteTimeout::new(stream, write);
        if came > 0 && first[0] != HANDSHAKE {
            stream.write_all(NOT_PLAIN.as_bytes()).await?;
            close_gently(stream).await;
            return Err(io::Error::other("it speaks plain HTTP"));
        }
        let (stream, client) = tls.accept(stream).await?;
        Ok((Self::Tls(Box::new(stream)), Shown(client)))
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_read(cx, buffer),
            Self::Tls(stream) => Pin::new(stream).poll_read(cx, buffer),
        }
    }
}

impl AsyncWrite for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write(cx, bytes),
            Self::Tls(stream) => Pin::new(stream).poll_write(cx, bytes),
        }
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_flush(cx),
            Self::Tls(stream) => Pin::new(stream).poll_flush(cx),
        }
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_shutdown(cx),
            Self::Tls(stream) => Pin::new(stream).poll_shutdown(cx),
        }
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match self.get_mut() {
            Self::Plain(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
            Self::Tls(stream) => Pin::new(stream).poll_write_vectored(cx, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        match self {
            Self::Plain(stream) => stream.is_write_vectored(),
            Self::Tls(stream) => stream.is_write_vectored(),
        }
    }
}
