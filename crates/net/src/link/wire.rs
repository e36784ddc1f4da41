//! Framing: frames over a stream of bytes, read and written with limits on time and length.

use super::config::Limits;
use super::error::ConnectionError;
use super::frame::{Frame, MAGIC, VERSION, language};
use crate::tls::End;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::{Instant, timeout};
use tokio_util::bytes::{Buf, BytesMut};
use tokio_util::codec::{Decoder, LengthDelimitedCodec};

/// How much is read at once, and about how much is written at once.
pub(super) const CHUNK: usize = 64 << 10;

/// A connection, with or without TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}
impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// Both directions of a connection.
pub(super) struct Wire {
    pub reader: Reader,
    pub writer: Writer,
    /// When it has to end, if it stands on certificates.
    pub end: Option<End>,
}

impl Wire {
    /// A fresh connection: frames are short until [`Wire::trust`].
    pub fn new(stream: Box<dyn Stream>, limits: &Limits) -> Self {
        let (read, write) = tokio::io::split(stream);
        let codec =
            LengthDelimitedCodec::builder().max_frame_length(limits.greeting_max).new_codec();
        let Limits { silence, frame, greeting_max, .. } = *limits;
        let reader =
            Reader { half: read, buffer: BytesMut::new(), codec, begun: None, silence, frame };
        let writer = Writer { half: write, buffer: Vec::new(), frame_max: greeting_max };
        Self { reader, writer, end: None }
    }

    /// From now on frames may have their full length.
    pub fn trust(&mut self, limits: &Limits) {
        self.reader.codec.set_max_frame_length(limits.frame_max);
        self.writer.frame_max = limits.frame_max;
    }
}

/// The direction towards us.
pub(super) struct Reader {
    half: ReadHalf<Box<dyn Stream>>,
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
pub(super) struct Writer {
    half: WriteHalf<Box<dyn Stream>>,
    buffer: Vec<u8>,
    frame_max: usize,
}

impl Writer {
    pub fn preface(&mut self) {
        self.buffer.extend_from_slice(MAGIC);
        self.buffer.push(VERSION);
    }

    /// Adds a frame to those that leave next, with its length in front. One that is too long is
    /// not added.
    pub fn push(&mut self, frame: &Frame<'_>) -> Result<(), ConnectionError> {
        let start = self.buffer.len();
        self.buffer.extend_from_slice(&[0; 4]);
        self.buffer = postcard::to_extend(frame, std::mem::take(&mut self.buffer))
            .map_err(|error| ConnectionError::Nonsense(error.to_string()))?;
        let length = self.buffer.len() - start - 4;
        if length > self.frame_max {
            self.buffer.truncate(start);
            return Err(ConnectionError::LongFrame(self.frame_max));
        }
        self.buffer[start..start + 4].copy_from_slice(&(length as u32).to_be_bytes());
        Ok(())
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

    /// Says that nothing more will come.
    pub async fn close(&mut self) -> Result<(), ConnectionError> {
        Ok(self.half.shutdown().await?)
    }
}
