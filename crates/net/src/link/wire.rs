//! Framing: frames over a stream of bytes, read and written with limits on time and length.

use super::config::Limits;
use super::error::ConnectionError;
use super::frame::{MAGIC, language};
use crate::cable::{Cabled, cable};
use crate::tls::End;
use serde::Serialize;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout};
use tokio_util::bytes::{Buf, BytesMut};
use tokio_util::codec::{Decoder, LengthDelimitedCodec};

/// How much is read at once, and about how much is written at once.
pub(crate) const CHUNK: usize = 64 << 10;

/// A connection, with or without TLS.
pub trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// How long and how much a connection may take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WireLimits {
    /// The longest frame before [`Wire::trust`].
    pub greeting_max: usize,
    /// How long a frame may take from its first byte to its last.
    pub frame: Duration,
    /// After how long without a single byte a connection is taken for dead.
    pub silence: Duration,
}

impl From<&Limits> for WireLimits {
    fn from(limits: &Limits) -> Self {
        let Limits { greeting_max, frame, silence, .. } = *limits;
        Self { greeting_max, frame, silence }
    }
}

/// Both directions of a connection.
pub(crate) struct Wire {
    pub reader: Reader,
    pub writer: Writer,
    /// When it has to end, if it stands on certificates.
    pub end: Option<End>,
}

impl Wire {
    /// A fresh connection: frames are short until [`Wire::trust`].
    pub fn new(stream: Box<dyn Stream>, limits: impl Into<WireLimits>) -> Self {
        let (read, write) = tokio::io::split(Cabled { stream, cable: cable() });
        let WireLimits { silence, frame, greeting_max } = limits.into();
        let codec = LengthDelimitedCodec::builder().max_frame_length(greeting_max).new_codec();
        let reader =
            Reader { half: read, buffer: BytesMut::new(), codec, begun: None, silence, frame };
        let writer = Writer { half: write, buffer: Vec::new(), frame_max: greeting_max };
        Self { reader, writer, end: None }
    }

    /// From now on frames may have their full length.
    pub fn trust(&mut self, frame_max: usize) {
        self.reader.codec.set_max_frame_length(frame_max);
        self.writer.frame_max = frame_max;
    }
}

/// The direction towards us.
pub(crate) struct Reader {
    half: ReadHalf<Cabled>,
    buffer: BytesMut,
    codec: LengthDelimitedCodec,
    /// When the first byte of the frame under way arrived.
    begun: Option<Instant>,
    silence: Duration,
    frame: Duration,
}

impl Reader {
    /// Reads the magic bytes and judges by the first that differs; returns the version.
    pub async fn preface(&mut self) -> Result<u8, ConnectionError> {
        loop {
            let length = self.buffer.len().min(MAGIC.len());
            if self.buffer[..length] != MAGIC[..length] {
                return Err(ConnectionError::Foreign(language(&self.buffer)));
            }
            if self.buffer.len() > MAGIC.len() {
                self.buffer.advance(MAGIC.len());
                return Ok(self.buffer.get_u8());
            }
            self.more(self.silence).await?;
        }
    }

    /// The next frame, as bytes.
    pub async fn next(&mut self) -> Result<BytesMut, ConnectionError> {
        loop {
            if !self.buffer.is_empty() {
                self.begun.get_or_insert_with(Instant::now);
            }
            let limit = self.codec.max_frame_length();
            // The length is all that this codec ever objects to.
            let frame = self
                .codec
                .decode(&mut self.buffer)
                .map_err(|_| ConnectionError::LongFrame(limit))?;
            if let Some(frame) = frame {
                self.begun = None;
                return Ok(frame);
            }
            match self.begun {
                None => self.more(self.silence).await?,
                Some(begun) => {
                    let left = self.frame.saturating_sub(begun.elapsed());
                    if left.is_zero() {
                        return Err(ConnectionError::HalfFrame(self.frame));
                    }
                    match self.more(left.min(self.silence)).await {
                        Err(ConnectionError::Silent(_)) if left <= self.silence => {
                            return Err(ConnectionError::HalfFrame(self.frame));
                        }
                        result => result?,
                    }
                }
            }
        }
    }

    async fn more(&mut self, patience: Duration) -> Result<(), ConnectionError> {
        self.buffer.reserve(CHUNK);
        match timeout(patience, self.half.read_buf(&mut self.buffer)).await {
            Ok(Ok(0)) => Err(ConnectionError::Closed),
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(ConnectionError::Silent(patience)),
        }
    }

    /// Takes whatever still comes, until the other side closes: data left unread when a connection
    /// is closed would destroy what was said last.
    pub async fn drain(&mut self) {
        let mut left = CHUNK;
        while left > 0 {
            self.buffer.clear();
            if self.more(self.silence).await.is_err() {
                return;
            }
            left = left.saturating_sub(self.buffer.len());
        }
    }
}

/// The direction away from us. Frames are gathered and leave together.
pub(crate) struct Writer {
    half: WriteHalf<Cabled>,
    buffer: Vec<u8>,
    frame_max: usize,
}

impl Writer {
    pub fn preface(&mut self, version: u8) {
        self.buffer.extend_from_slice(MAGIC);
        self.buffer.push(version);
    }

    /// Adds a frame to those that leave next, with its length in front. One that is too long is
    /// not added.
    pub fn push(&mut self, frame: &impl Serialize) -> Result<(), ConnectionError> {
        add_frame(&mut self.buffer, frame, &[], self.frame_max)
    }

    /// How much waits to leave.
    pub fn waiting(&self) -> usize {
        self.buffer.len()
    }

    pub async fn flush(&mut self) -> Result<(), ConnectionError> {
        self.half.write_all(&self.buffer).await?;
        self.half.flush().await?;
        self.buffer.clear();
        Ok(())
    }

    /// Writes frames that somebody else has gathered.
    pub async fn write(&mut self, frames: &[u8]) -> Result<(), ConnectionError> {
        self.half.write_all(frames).await?;
        Ok(self.half.flush().await?)
    }

    /// Says that nothing more will come.
    pub async fn close(&mut self) -> Result<(), ConnectionError> {
        Ok(self.half.shutdown().await?)
    }
}

/// Adds a frame to this buffer: its length, its head in postcard, and a body as it is. One that is
/// too long is not added.
pub(crate) fn add_frame(
    buffer: &mut Vec<u8>,
    head: &impl Serialize,
    body: &[u8],
    frame_max: usize,
) -> Result<(), ConnectionError> {
    let start = buffer.len();
    buffer.extend_from_slice(&[0; 4]);
    *buffer = postcard::to_extend(head, std::mem::take(buffer))
        .map_err(|error| ConnectionError::Nonsense(error.to_string()))?;
    let length = buffer.len() - start - 4 + body.len();
    if length > frame_max {
        buffer.truncate(start);
        return Err(ConnectionError::LongFrame(frame_max));
    }
    buffer[start..start + 4].copy_from_slice(&(length as u32).to_be_bytes());
    buffer.extend_from_slice(body);
    Ok(())
}
