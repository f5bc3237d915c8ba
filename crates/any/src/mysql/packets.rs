//! The frame of a packet, the same in both directions: a length of three bytes, a sequence number, and the
//! payload. A payload of 16 MiB and more is in several packets, all of which but the last are full.

/// The length of a packet behind which its payload goes on.
const FULL: usize = 0xff_ffff;

/// Bytes that are not understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUnderstood;

/// A payload that is complete.
#[derive(Debug)]
pub struct Packet<'b> {
    /// The sequence number of its first packet.
    pub sequence: u8,
    /// Its first bytes, as many as are stored.
    pub body: &'b [u8],
    /// The number of its bytes.
    pub length: u64,
}

impl Packet<'_> {
    /// Whether it has more bytes than are stored.
    pub fn is_cut(&self) -> bool {
        (self.body.len() as u64) < self.length
    }

    /// Its first byte, 0 if it is empty.
    pub fn first(&self) -> u8 {
        self.body.first().copied().unwrap_or(0)
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// A header follows: of the next payload, or of the same one.
    #[default]
    Header,
    /// So many bytes of a packet follow, and whether it is full.
    Body(usize, bool),
}

/// Reads packets, in parts of any size.
#[derive(Debug, Default)]
pub struct Packets {
    state: State,
    header: [u8; 4],
    /// Bytes of the header that were read.
    header_bytes: usize,
    /// The sequence number of the payload's first packet. `None`: the payload has not begun.
    sequence: Option<u8>,
    /// How many bytes of the payload are stored.
    limit: usize,
    /// The number of bytes of the payload in packets that have ended, and in the present one.
    length: u64,
    /// The first bytes of a payload whose rest has to come.
    buffer: Vec<u8>,
    /// The last payload, if it came in parts.
    body: Vec<u8>,
}

/// The buffers keep so much memory.
const MAX_SPARE_BYTES: usize = 4096;

impl Packets {
    /// The next payload. `None`: more bytes have to come. `limit`: how many of its bytes are stored.
    pub fn next<'a, 'b: 'a>(
        &'a mut self,
        bytes: &mut &'b [u8],
        limit: usize,
    ) -> Option<Packet<'a>> {
        if self.body.capacity() > MAX_SPARE_BYTES {
            self.body = Vec::new();
        }
        loop {
            let State::Body(left, is_full) = self.state else {
                if !self.read_header(bytes, limit) {
                    return None;
                }
                continue;
            };
            let (part, rest) = bytes.split_at(left.min(bytes.len()));
            *bytes = rest;
            let is_complete = part.len() == left && !is_full;
            if is_complete && self.buffer.is_empty() {
                let packet = Packet {
                    sequence: self.sequence.take().unwrap_or(0),
                    // If bytes precede these, the limit is zero.
                    body: &part[..part.len().min(self.limit)],
                    length: std::mem::take(&mut self.length),
                };
                self.state = State::Header;
                return Some(packet);
            }
            let space = self.limit.saturating_sub(self.buffer.len());
            self.buffer
                .extend_from_slice(&part[..part.len().min(space)]);
            if part.len() < left {
                self.state = State::Body(left - part.len(), is_full);
                return None;
            }
            self.state = State::Header;
            if !is_full {
                self.body.clear();
                std::mem::swap(&mut self.body, &mut self.buffer);
                return Some(Packet {
                    sequence: self.sequence.take().unwrap_or(0),
                    body: &self.body,
                    length: std::mem::take(&mut self.length),
                });
            }
        }
    }

    /// Whether the next byte begins a payload.
    #[cfg(test)]
    pub fn is_between(&self) -> bool {
        self.sequence.is_none() && self.header_bytes == 0
    }

    /// Reads the header of a packet. False: more bytes have to come.
    fn read_header(&mut self, bytes: &mut &[u8], limit: usize) -> bool {
        while self.header_bytes < self.header.len() {
            let Some((&byte, rest)) = bytes.split_first() else {
                return false;
            };
            self.header[self.header_bytes] = byte;
            self.header_bytes += 1;
            *bytes = rest;
        }
        self.header_bytes = 0;
        let [a, b, c, sequence] = self.header;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if self.sequence.is_none() {
            (self.sequence, self.limit) = (Some(sequence), limit);
        }
        self.length += length as u64;
        self.state = State::Body(length, length == FULL);
        true
    }

    /// Bytes that are stored.
    #[cfg(test)]
    pub fn stored(&self) -> usize {
        self.buffer.capacity() + self.body.capacity()
    }
}

/// Reads the fields of a payload.
#[derive(Clone, Copy, Debug)]
pub struct Fields<'b>(pub &'b [u8]);

impl<'b> Fields<'b> {
    /// So many bytes.
    pub fn bytes(&mut self, count: usize) -> Option<&'b [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    /// A number of so many bytes, at most eight.
    pub fn number(&mut self, count: usize) -> Option<u64> {
        let mut number = [0; 8];
        number.get_mut(..count)?.copy_from_slice(self.bytes(count)?);
        Some(u64::from_le_bytes(number))
    }

    /// A number that is as long as its first byte says.
    pub fn length(&mut self) -> Option<u64> {
        match self.number(1)? {
            0xfc => self.number(2),
            0xfd => self.number(3),
            0xfe => self.number(8),
            0xfb | 0xff => None,
            number => Some(number),
        }
    }

    /// Bytes behind their length.
    pub fn counted(&mut self) -> Option<&'b [u8]> {
        let length = self.length()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// Bytes up to a zero, which may be missing at the end.
    pub fn terminated(&mut self) -> &'b [u8] {
        let end = self.0.iter().position(|&byte| byte == 0);
        let text = &self.0[..end.unwrap_or(self.0.len())];
        self.0 = &self.0[end.map_or(self.0.len(), |end| end + 1)..];
        text
    }
}

/// A packet with this payload.
#[cfg(test)]
pub fn packet(sequence: u8, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32).to_le_bytes();
    [&length[..3], &[sequence], body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The payloads in these bytes, read in parts of this size: sequence number, stored bytes, length.
    fn read(bytes: &[u8], size: usize, limit: usize) -> Vec<(u8, Vec<u8>, u64)> {
        let (mut packets, mut all) = (Packets::default(), Vec::new());
        for mut part in bytes.chunks(size) {
            while let Some(packet) = packets.next(&mut part, limit) {
                all.push((packet.sequence, packet.body.to_vec(), packet.length));
            }
        }
        assert!(packets.is_between());
        all
    }

    #[test]
    fn parts_of_any_size_give_the_same_packets() {
        let bytes = [packet(0, b"abc"), packet(7, b""), packet(2, b"defghi")].concat();
        for size in 1..=bytes.len() {
            let all = read(&bytes, size, 4);
            let expected = [
                (0, b"abc".to_vec(), 3),
                (7, Vec::new(), 0),
                (2, b"defg".to_vec(), 6),
            ];
            assert_eq!(all, expected, "parts of {size}");
        }
    }

    #[test]
    fn a_payload_of_several_packets_is_one() {
        for rest in [0, 1, 300] {
            let full = packet(3, &vec![b'x'; FULL]);
            let bytes = [full, packet(4, &vec![b'y'; rest]), packet(5, b"z")].concat();
            for size in [1 << 14, 999_983, FULL + 4, bytes.len()] {
                let all = read(&bytes, size, 8);
                assert_eq!(all.len(), 2, "{rest} in parts of {size}");
                assert_eq!(all[0], (3, b"xxxxxxxx".to_vec(), (FULL + rest) as u64));
                assert_eq!(all[1], (5, b"z".to_vec(), 1));
            }
        }
    }

    #[test]
    fn a_payload_that_is_not_stored_is_counted_and_takes_no_memory() {
        let bytes = [packet(0, &vec![b'x'; FULL]), packet(1, b"yz")].concat();
        assert_eq!(read(&bytes, 1000, 0), [(0, Vec::new(), FULL as u64 + 2)]);
        let mut packets = Packets::default();
        assert!(packets.next(&mut &bytes[..bytes.len() - 1], 100).is_none());
        assert!(packets.stored() <= 256);
    }

    #[test]
    fn numbers_have_the_length_of_their_first_byte() {
        let mut fields = Fields(&[5, 0xfc, 1, 2, 0xfd, 1, 0, 0, 0xfb, 2, b'a', b'b', b'c', 0]);
        assert_eq!(fields.length(), Some(5));
        assert_eq!(fields.length(), Some(0x201));
        assert_eq!(fields.length(), Some(1));
        assert_eq!(fields.length(), None);
        assert_eq!(fields.counted(), Some(&b"ab"[..]));
        assert_eq!(fields.terminated(), b"c");
        assert_eq!(fields.terminated(), b"");
        assert_eq!(fields.number(1), None);
    }
}
