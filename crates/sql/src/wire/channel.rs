//! A client's socket, and the packets on it.

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use tare::Operation;

use crate::server::points::{CLIENT_CONNECTION, IDLE};

/// The payload of a packet that is continued by another one.
const FULL: usize = 0xff_ffff;
/// What is read at a time: two pages are enough for any sysbench statement, and a larger
/// packet grows the buffer for as long as it is there.
const READ_BUFFER: usize = 8 << 10;
/// Buffers that grew beyond this are given back after the statement that needed them.
const KEEP_BUFFER: usize = 256 << 10;
/// A result is sent in pieces of about this size.
const FLUSH_AT: usize = 64 << 10;

/// The socket of a connection, and what is known of its waits.
pub struct Stream {
    socket: Socket,
    point: tare::socket::Instance,
}

/// A socket.
pub enum Socket {
    /// Unix domain socket.
    Unix(UnixStream),
    /// TCP.
    Tcp(TcpStream),
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Stream({})", self.as_raw_fd())
    }
}

impl Stream {
    /// A client's socket.
    pub fn new(socket: Socket) -> Self {
        let fd = match &socket {
            Socket::Unix(s) => s.as_raw_fd(),
            Socket::Tcp(s) => s.as_raw_fd(),
        };
        let mut point = tare::socket::Instance::new(&CLIENT_CONNECTION, fd);
        if let Socket::Tcp(socket) = &socket
            && let Ok(peer) = socket.peer_addr()
        {
            point.peer(&peer.ip().to_string(), peer.port());
        }
        Self { socket, point }
    }

    /// The socket itself.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// Says that the calling thread serves the client.
    pub fn own(&self) {
        self.point.own();
    }

    /// Says whether it waits for the client.
    pub fn idle(&self, is_idle: bool) {
        self.point.idle(is_idle);
    }

    /// Limits how long one read may take.
    pub fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(s) => s.set_read_timeout(timeout),
            Socket::Tcp(s) => s.set_read_timeout(timeout),
        }
    }

    /// Limits how long one write may take.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(s) => s.set_write_timeout(timeout),
            Socket::Tcp(s) => s.set_write_timeout(timeout),
        }
    }

    /// Ends the conversation: a thread that reads from the socket sees its end.
    pub fn shutdown(&self, how: Shutdown) {
        // An error says that the client has already gone.
        let _ = match &self.socket {
            Socket::Unix(s) => s.shutdown(how),
            Socket::Tcp(s) => s.shutdown(how),
        };
    }

    fn recv(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut wait = self.point.wait(Operation::Recv);
        let result = self.recv_idle(buffer);
        if let Ok(n) = result {
            wait.bytes(n as u64);
        }
        result
    }

    /// Without a wait of its own: the session is idle.
    fn recv_idle(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match &self.socket {
            Socket::Unix(s) => (&*s).read(buffer),
            Socket::Tcp(s) => (&*s).read(buffer),
        }
    }

    fn send_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut wait = self.point.follow(Operation::Send);
        wait.bytes(bytes.len() as u64);
        match &self.socket {
            Socket::Unix(s) => (&*s).write_all(bytes),
            Socket::Tcp(s) => (&*s).write_all(bytes),
        }
    }

    /// Whether the client has closed its end. Does not block.
    pub fn is_gone(&self) -> bool {
        let mut poll = libc::pollfd {
            fd: self.as_raw_fd(),
            events: libc::POLLRDHUP,
            revents: 0,
        };
        // SAFETY: `poll` is one valid pollfd, and its descriptor is open for as long as `self`.
        let n = unsafe { libc::poll(&mut poll, 1, 0) };
        n > 0 && poll.revents & (libc::POLLRDHUP | libc::POLLHUP | libc::POLLERR) != 0
    }
}

impl AsRawFd for Stream {
    fn as_raw_fd(&self) -> RawFd {
        match &self.socket {
            Socket::Unix(s) => s.as_raw_fd(),
            Socket::Tcp(s) => s.as_raw_fd(),
        }
    }
}

impl AsFd for Stream {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(s) => s.as_fd(),
            Socket::Tcp(s) => s.as_fd(),
        }
    }
}

/// Why no packet came.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The client closed the connection between two packets.
    #[error("the client closed the connection")]
    Closed,
    /// The packet is larger than max_allowed_packet.
    #[error("packet of {0} bytes is larger than max_allowed_packet")]
    TooLarge(usize),
    /// The sequence number is not the one that must come.
    #[error("packets out of order: got {got} instead of {expected}")]
    OutOfOrder {
        /// What came.
        got: u8,
        /// What should have come.
        expected: u8,
    },
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
    /// A packet that came in several pieces of 16 MiB.
    joined: Vec<u8>,
    max_packet: usize,
    received: u64,
}

impl PacketReader {
    /// A reader of packets up to `max_packet` bytes.
    pub fn new(stream: Arc<Stream>, max_packet: usize) -> Self {
        Self {
            stream,
            buffer: vec![0; READ_BUFFER],
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

    /// Whether bytes of a next packet have been read already.
    pub fn has_buffered(&self) -> bool {
        self.end > self.start
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
        if self.buffer.len() < n {
            self.buffer.resize(n, 0);
        }
        while self.end < n {
            let result = if idle && self.end == 0 {
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

    /// The next packet's payload, and the sequence number that the answer begins with.
    pub fn read(&mut self, sequence: u8) -> Result<(&[u8], u8), ReadError> {
        if self.start == self.end {
            (self.start, self.end) = (0, 0);
            if self.buffer.len() > KEEP_BUFFER {
                self.buffer = vec![0; READ_BUFFER];
            }
            if self.joined.capacity() > KEEP_BUFFER {
                self.joined = Vec::new();
            }
        }
        let len = self.header(sequence, true)?;
        let mut next = sequence.wrapping_add(1);
        // The limit is looked at before a byte of the payload is waited for.
        if len > self.max_packet {
            return Err(ReadError::TooLarge(len));
        }
        self.payload(len)?;
        let from = self.start;
        self.start += len;
        if len < FULL {
            return Ok((&self.buffer[from..from + len], next));
        }
        self.joined.clear();
        self.joined
            .extend_from_slice(&self.buffer[from..from + len]);
        loop {
            let len = self.header(next, false)?;
            next = next.wrapping_add(1);
            if self.joined.len() + len > self.max_packet {
                return Err(ReadError::TooLarge(self.joined.len() + len));
            }
            self.payload(len)?;
            self.joined
                .extend_from_slice(&self.buffer[self.start..self.start + len]);
            self.start += len;
            if len < FULL {
                return Ok((&self.joined, next));
            }
        }
    }

    fn payload(&mut self, len: usize) -> Result<(), ReadError> {
        if len > 0 && !self.fill(len, false)? {
            return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
        }
        Ok(())
    }

    /// Reads and drops what is on its way, so that a refusal is not lost in a connection reset.
    pub fn drain(&mut self, for_at_most: Duration, bytes: usize) {
        if self.stream.set_read_timeout(Some(for_at_most)).is_err() {
            return;
        }
        let mut left = bytes;
        let mut scrap = vec![0; READ_BUFFER * 8];
        while left > 0 {
            match self.stream.recv(&mut scrap) {
                Ok(0) | Err(_) => return,
                Ok(n) => left = left.saturating_sub(n),
            }
        }
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    fn pair() -> (Arc<Stream>, Arc<Stream>) {
        let (a, b) = UnixStream::pair().expect("a socket pair");
        (
            Arc::new(Stream::new(Socket::Unix(a))),
            Arc::new(Stream::new(Socket::Unix(b))),
        )
    }

    #[test]
    fn large_packets_are_cut_and_joined() {
        for len in [0, 1, FULL - 1, FULL, FULL + 1, 2 * FULL] {
            let (a, b) = pair();
            let sender = std::thread::spawn(move || {
                let mut writer = PacketWriter::new(a);
                writer.begin().resize(4 + len, 7);
                writer.end();
                writer.flush().expect("the other end reads");
            });
            let mut reader = PacketReader::new(b, 64 << 20);
            let (payload, next) = reader.read(0).expect("a packet");
            assert_eq!(payload.len(), len);
            assert!(payload.iter().all(|&x| x == 7));
            assert_eq!(usize::from(next), len / FULL + 1);
            sender.join().expect("the sender ends");
        }
    }

    #[test]
    fn a_packet_above_the_limit_is_refused_by_its_header() {
        let (a, b) = pair();
        a.send_all(&[0, 0, 1, 0]).expect("sent");
        let mut reader = PacketReader::new(b, 65_535);
        assert!(matches!(reader.read(0), Err(ReadError::TooLarge(65_536))));
    }

    #[test]
    fn sequence_and_end_are_checked() {
        let (a, b) = pair();
        a.send_all(&[1, 0, 0, 3, 9]).expect("sent");
        let mut reader = PacketReader::new(b, 100);
        assert!(matches!(
            reader.read(0),
            Err(ReadError::OutOfOrder {
                got: 3,
                expected: 0
            })
        ));
        let (a, b) = pair();
        a.send_all(&[9, 0, 0, 0, 1]).expect("sent");
        drop(a);
        let mut reader = PacketReader::new(b.clone(), 100);
        assert!(matches!(reader.read(0), Err(ReadError::Io(_))));
        assert!(b.is_gone());
        assert!(matches!(
            PacketReader::new(b, 100).read(0),
            Err(ReadError::Closed)
        ));
    }
}
