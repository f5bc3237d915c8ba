//! Packets from a client.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tare_mysql::error::SqlError;
use tare_mysql::memory;
use tare_mysql::wire::packets::{MAX_IDLE_BUFFER_BYTES, MAX_PAYLOAD_BYTES};

use super::Stream;
use crate::points::IDLE;

/// The size of the read buffer, in bytes: two pages hold every statement of sysbench. A larger packet
/// grows it temporarily.
const READ_BUFFER_BYTES: usize = 8 << 10;

/// Why no packet came.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The client closed the connection between two packets.
    #[error("the client closed the connection")]
    Closed,
    /// The packet is larger than max_allowed_packet.
    #[error("packet of {0} bytes is larger than max_allowed_packet")]
    TooLarge(usize),
    /// The sequence number is not the expected one.
    #[error("packets out of order: got {got} instead of {expected}")]
    OutOfOrder {
        /// The received number.
        got: u8,
        /// The expected number.
        expected: u8,
    },
    /// The session may not hold the packet.
    #[error("{0}")]
    Memory(SqlError),
    /// No first byte of a packet came in time.
    #[error("the client is idle")]
    Idle,
    /// No more of a packet came in time.
    #[error("the client has sent a part of a packet")]
    Stalled,
    /// The socket failed, or closed in the middle of a packet.
    #[error("reading from the client: {0}")]
    Io(#[from] io::Error),
}

/// Reads packets.
#[derive(Debug)]
pub struct PacketReader {
    stream: Arc<Stream>,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    /// A packet that was sent in several parts of 16 MiB.
    joined: Vec<u8>,
    max_packet: usize,
    received: u64,
}

impl PacketReader {
    /// A reader of packets up to `max_packet` bytes.
    pub fn new(stream: Arc<Stream>, max_packet: usize) -> Self {
        Self {
            stream,
            buffer: vec![0; READ_BUFFER_BYTES],
            start: 0,
            end: 0,
            joined: Vec::new(),
            max_packet,
            received: 0,
        }
    }

    /// Bytes received since the connection began.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// Sets max_allowed_packet.
    pub fn set_max_packet(&mut self, bytes: usize) {
        self.max_packet = bytes;
    }

    /// Whether bytes of the next packet are in a buffer.
    pub fn has_buffered(&self) -> bool {
        self.end > self.start || self.stream.has_buffered()
    }

    /// Takes the bytes that were read after the last packet.
    pub fn take_rest(&mut self) -> Vec<u8> {
        let rest = self.buffer[self.start..self.end].to_vec();
        (self.start, self.end) = (0, 0);
        rest
    }

    /// Frees a buffer that a large packet needed, unless a part of the next packet is in it.
    pub fn free_large_buffers(&mut self) {
        if self.start == self.end && self.buffer.len() > MAX_IDLE_BUFFER_BYTES {
            self.buffer = vec![0; READ_BUFFER_BYTES];
            (self.start, self.end) = (0, 0);
        }
        if self.joined.capacity() > MAX_IDLE_BUFFER_BYTES {
            self.joined = Vec::new();
        }
    }

    /// Doubles the full buffer, but not beyond `n` bytes: what a client announces takes no memory before it
    /// comes.
    fn grow(&mut self, n: usize) -> Result<(), ReadError> {
        let bytes = (2 * self.buffer.len()).min(n);
        // The old and the new buffer exist at the same time.
        if !memory::admit(bytes) {
            return Err(ReadError::Memory(memory::exhausted()));
        }
        self.buffer.resize(bytes, 0);
        Ok(())
    }

    /// Reads until `n` bytes are in the buffer. `Ok(false)`: the client closed before the first.
    fn fill(&mut self, n: usize, idle: bool) -> Result<bool, ReadError> {
        if self.end - self.start >= n {
            return Ok(true);
        }
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            self.end -= self.start;
            self.start = 0;
        }
        while self.end < n {
            if self.end == self.buffer.len() {
                self.grow(n)?;
            }
            let is_first = idle && self.end == 0;
            self.stream.limit_read(is_first)?;
            let result = if is_first {
                let idle = tare::idle::start(&IDLE);
                self.stream.idle(true);
                let result = self.stream.recv_idle(&mut self.buffer[self.end..]);
                self.stream.idle(false);
                drop(idle);
                result
            } else {
                self.stream.recv(&mut self.buffer[self.end..])
            };
            match result {
                Ok(0) if self.end == 0 => return Ok(false),
                Ok(0) => return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into()),
                Ok(read) => {
                    self.end += read;
                    self.received += read as u64;
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e)
                    if matches!(
                        e.kind(),
                        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                    ) =>
                {
                    return Err(match is_first {
                        true => ReadError::Idle,
                        false => ReadError::Stalled,
                    });
                }
                Err(e) => return Err(e.into()),
            }
        }
        Ok(true)
    }

    fn header(&mut self, sequence: u8, first: bool) -> Result<usize, ReadError> {
        if !self.fill(4, first && sequence == 0)? {
            return Err(if first {
                ReadError::Closed
            } else {
                io::Error::from(io::ErrorKind::UnexpectedEof).into()
            });
        }
        let [a, b, c, got] = [0, 1, 2, 3].map(|i| self.buffer[self.start + i]);
        self.start += 4;
        if got != sequence {
            return Err(ReadError::OutOfOrder {
                got,
                expected: sequence,
            });
        }
        Ok(u32::from_le_bytes([a, b, c, 0]) as usize)
    }

    /// Reads a packet. Returns its payload, and the sequence number that the answer begins with.
    pub fn read(&mut self, sequence: u8) -> Result<(&[u8], u8), ReadError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
        }
        let len = self.header(sequence, true)?;
        let mut next = sequence.wrapping_add(1);
        // The limit is checked before the payload is read.
        if len > self.max_packet {
            return Err(ReadError::TooLarge(len));
        }
        self.payload(len)?;
        let from = self.start;
        self.start += len;
        if len < MAX_PAYLOAD_BYTES {
            return Ok((&self.buffer[from..from + len], next));
        }
        self.joined.clear();
        self.join(from, len)?;
        loop {
            let len = self.header(next, false)?;
            next = next.wrapping_add(1);
            if self.joined.len() + len > self.max_packet {
                return Err(ReadError::TooLarge(self.joined.len() + len));
            }
            self.payload(len)?;
            self.join(self.start, len)?;
            self.start += len;
            if len < MAX_PAYLOAD_BYTES {
                return Ok((&self.joined, next));
            }
        }
    }

    /// Adds a part to the packet that comes in several parts.
    fn join(&mut self, from: usize, len: usize) -> Result<(), ReadError> {
        if !memory::admit(self.joined.len() + len) {
            return Err(ReadError::Memory(memory::exhausted()));
        }
        self.joined
            .extend_from_slice(&self.buffer[from..from + len]);
        Ok(())
    }

    fn payload(&mut self, len: usize) -> Result<(), ReadError> {
        if len > 0 && !self.fill(len, false)? {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }

    /// Reads and drops what the client still sends, so that a connection reset does not discard the error.
    pub fn drain(&mut self, for_at_most: Duration, bytes: usize) {
        if self.stream.set_read_timeout(Some(for_at_most)).is_err() {
            return;
        }
        let mut left = bytes;
        let mut scrap = vec![0; READ_BUFFER_BYTES * 8];
        while left > 0 {
            match self.stream.recv(&mut scrap) {
                Ok(0) | Err(_) => return,
                Ok(n) => left = left.saturating_sub(n),
            }
        }
    }
}
