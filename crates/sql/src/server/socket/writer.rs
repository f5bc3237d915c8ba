//! Packets to a client.

use std::io;
use std::sync::Arc;

use super::{FULL, KEEP_BUFFER, Stream};

/// A result is sent in pieces of about this size.
const FLUSH_AT: usize = 64 << 10;

/// Writes packets: they are gathered in one buffer and sent together.
#[derive(Debug)]
pub struct PacketWriter {
    stream: Arc<Stream>,
    buffer: Vec<u8>,
    /// Where the open packet's header is.
    open: usize,
    sequence: u8,
    sent: u64,
}

impl PacketWriter {
    /// A writer to a socket.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self {
            stream,
            buffer: Vec::with_capacity(1024),
            open: 0,
            sequence: 0,
            sent: 0,
        }
    }

    /// Sets the number of the next packet.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Bytes sent since the connection began.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Opens a packet; its payload is appended to what is returned.
    #[inline]
    pub fn begin(&mut self) -> &mut Vec<u8> {
        self.open = self.buffer.len();
        self.buffer.extend_from_slice(&[0; 4]);
        &mut self.buffer
    }

    /// The open packet.
    #[inline]
    pub fn payload(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Closes the open packet.
    #[inline]
    pub fn end(&mut self) {
        let len = self.buffer.len() - self.open - 4;
        if len >= FULL {
            return self.end_slow(len);
        }
        let [a, b, c, _] = (len as u32).to_le_bytes();
        self.buffer[self.open..self.open + 4].copy_from_slice(&[a, b, c, self.sequence]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// A payload of 16 MiB and more is cut into pieces, each with a header.
    #[cold]
    fn end_slow(&mut self, len: usize) {
        let payload = self.buffer.split_off(self.open + 4);
        self.buffer.truncate(self.open);
        let mut pieces = payload.chunks_exact(FULL);
        for piece in &mut pieces {
            self.buffer
                .extend_from_slice(&[0xff, 0xff, 0xff, self.sequence]);
            self.buffer.extend_from_slice(piece);
            self.sequence = self.sequence.wrapping_add(1);
        }
        let last = pieces.remainder();
        debug_assert_eq!(last.len(), len % FULL);
        let [a, b, c, _] = (last.len() as u32).to_le_bytes();
        self.buffer.extend_from_slice(&[a, b, c, self.sequence]);
        self.buffer.extend_from_slice(last);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Appends packets that are complete but for their sequence numbers.
    pub fn replay(&mut self, packets: &[u8]) {
        let mut at = self.buffer.len();
        self.buffer.extend_from_slice(packets);
        while at < self.buffer.len() {
            let [a, b, c] = [0, 1, 2].map(|i| self.buffer[at + i]);
            self.buffer[at + 3] = self.sequence;
            self.sequence = self.sequence.wrapping_add(1);
            at += 4 + u32::from_le_bytes([a, b, c, 0]) as usize;
        }
    }

    /// Where a later [`PacketWriter::since`] begins.
    pub fn mark(&self) -> usize {
        self.buffer.len()
    }

    /// The packets since a mark, which must not have been flushed.
    pub fn since(&self, mark: usize) -> &[u8] {
        &self.buffer[mark..]
    }

    /// Takes back the packets since a mark that has not been flushed.
    pub fn rewind(&mut self, mark: usize, sequence: u8) {
        self.buffer.truncate(mark);
        self.sequence = sequence;
    }

    /// Sends when enough has been gathered; to be called between packets.
    #[inline]
    pub fn flush_if_full(&mut self) -> io::Result<()> {
        if self.buffer.len() >= FLUSH_AT {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Sends what has been gathered.
    pub fn flush(&mut self) -> io::Result<()> {
        if self.buffer.is_empty() {
            return Ok(());
        }
        self.sent += self.buffer.len() as u64;
        let result = self.stream.send_all(&self.buffer);
        self.buffer.clear();
        if self.buffer.capacity() > KEEP_BUFFER {
            self.buffer = Vec::with_capacity(1024);
        }
        result
    }
}
