//! Packets that are written one after another into one buffer.

/// The payload of a packet that is continued by another one.
pub const MAX_PAYLOAD_BYTES: usize = 0xff_ffff;
/// A larger buffer is freed after its statement.
pub const MAX_IDLE_BUFFER_BYTES: usize = 256 << 10;

/// Appends a packet without a number; the number is given when it is sent.
pub fn put_packet(out: &mut Vec<u8>, payload: impl FnOnce(&mut Vec<u8>)) {
    let at = out.len();
    out.extend_from_slice(&[0; 4]);
    payload(out);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 3].copy_from_slice(&len.to_le_bytes()[..3]);
}

/// Packets gathered in one buffer, to be sent together.
#[derive(Debug)]
pub struct Packets {
    buffer: Vec<u8>,
    /// Where the open packet's header is.
    open: usize,
    sequence: u8,
}

impl Default for Packets {
    fn default() -> Self {
        Self {
            buffer: Vec::with_capacity(1024),
            open: 0,
            sequence: 0,
        }
    }
}

impl Packets {
    /// Sets the number of the next packet.
    pub fn set_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    /// The number of the next packet.
    pub fn sequence(&self) -> u8 {
        self.sequence
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
        if len >= MAX_PAYLOAD_BYTES {
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
        let mut pieces = payload.chunks_exact(MAX_PAYLOAD_BYTES);
        for piece in &mut pieces {
            self.buffer
                .extend_from_slice(&[0xff, 0xff, 0xff, self.sequence]);
            self.buffer.extend_from_slice(piece);
            self.sequence = self.sequence.wrapping_add(1);
        }
        let last = pieces.remainder();
        debug_assert_eq!(last.len(), len % MAX_PAYLOAD_BYTES);
        let [a, b, c, _] = (last.len() as u32).to_le_bytes();
        self.buffer.extend_from_slice(&[a, b, c, self.sequence]);
        self.buffer.extend_from_slice(last);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Appends packets that are complete except for their sequence numbers.
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

    /// Where a later [`Packets::since`] begins.
    pub fn mark(&self) -> usize {
        self.buffer.len()
    }

    /// The packets since a mark, which must not have been cleared.
    pub fn since(&self, mark: usize) -> &[u8] {
        &self.buffer[mark..]
    }

    /// Removes the packets since a mark that has not been cleared.
    pub fn rewind(&mut self, mark: usize, sequence: u8) {
        self.buffer.truncate(mark);
        self.sequence = sequence;
    }

    /// The packets gathered so far.
    pub fn bytes(&self) -> &[u8] {
        &self.buffer
    }

    /// Removes the packets once they are sent.
    pub fn clear(&mut self) {
        self.buffer.clear();
        if self.buffer.capacity() > MAX_IDLE_BUFFER_BYTES {
            self.buffer = Vec::with_capacity(1024);
        }
    }
}
