//! A client's socket, and the packets on it.

mod reader;
mod tls;
mod writer;

pub use self::reader::{PacketReader, ReadError};
pub use self::tls::{Tls, cipher};
pub use self::writer::PacketWriter;

use std::fmt;
use std::io::{self, Read};
use std::net::{Shutdown, TcpStream};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{SendFlags, send};
use tare::Operation;
use tare_mysql::interrupt;

use crate::points::CLIENT_CONNECTION;

/// The socket of a connection, and its instrument.
pub struct Stream {
    socket: Socket,
    point: tare::socket::Instance,
    /// TLS, once the connection is encrypted.
    tls: OnceLock<Box<Tls>>,
    since: Instant,
    /// The deadline of all reads, in nanoseconds from `since`; 0 is none.
    deadline_ns: AtomicU64,
    idle_timeout_ms: AtomicU64,
    read_timeout_ms: AtomicU64,
    /// Which of these two the socket has: [`NO_LIMIT`], [`FIRST_BYTE`] or [`MORE_BYTES`].
    read_limit: AtomicU8,
    write_timeout_ms: AtomicU64,
}

const NO_LIMIT: u8 = 0;
const FIRST_BYTE: u8 = 1;
const MORE_BYTES: u8 = 2;

/// How long the server waits for a client.
#[derive(Debug, Clone, Copy)]
pub struct Timeouts {
    /// For the first byte of a command; MySQL's wait_timeout.
    pub idle: Duration,
    /// For more of a packet; net_read_timeout.
    pub read: Duration,
    /// For a client that does not read; net_write_timeout.
    pub write: Duration,
}

/// How often a blocked write checks whether its statement must stop.
const STOP_CHECK_INTERVAL: Timespec = Timespec {
    tv_sec: 0,
    tv_nsec: 20_000_000,
};

/// How long a write may stay blocked when its statement must stop.
const STOPPED_WRITE_GRACE: Duration = Duration::from_millis(60);

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
        Self {
            socket,
            point,
            tls: OnceLock::new(),
            since: Instant::now(),
            deadline_ns: AtomicU64::new(0),
            idle_timeout_ms: AtomicU64::new(0),
            read_timeout_ms: AtomicU64::new(0),
            read_limit: AtomicU8::new(NO_LIMIT),
            write_timeout_ms: AtomicU64::new(0),
        }
    }

    /// The socket itself.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The client's address, for TCP.
    pub fn peer_address(&self) -> Option<String> {
        match &self.socket {
            Socket::Unix(_) => None,
            Socket::Tcp(s) => Some(s.peer_addr().ok()?.ip().to_canonical().to_string()),
        }
    }

    /// Records that the calling thread serves the client.
    pub fn own(&self) {
        self.point.own();
    }

    /// Records whether the session waits for the client.
    pub fn idle(&self, is_idle: bool) {
        self.point.idle(is_idle);
    }

    fn set_read_timeout(&self, timeout: Option<Duration>) -> io::Result<()> {
        match &self.socket {
            Socket::Unix(s) => s.set_read_timeout(timeout),
            Socket::Tcp(s) => s.set_read_timeout(timeout),
        }
    }

    /// Limits how long all reads together may take from now on; `None` removes the limit.
    pub fn set_deadline(&self, limit: Option<Duration>) {
        let at = limit.map_or(0, |limit| (self.since.elapsed() + limit).as_nanos() as u64);
        self.deadline_ns.store(at, Ordering::Relaxed);
    }

    /// Sets the timeouts; zero is no limit.
    pub fn set_timeouts(&self, timeouts: Timeouts) {
        for (own, timeout) in [
            (&self.idle_timeout_ms, timeouts.idle),
            (&self.read_timeout_ms, timeouts.read),
            (&self.write_timeout_ms, timeouts.write),
        ] {
            own.store(timeout.as_millis() as u64, Ordering::Relaxed);
        }
        self.read_limit.store(NO_LIMIT, Ordering::Relaxed);
    }

    /// Limits how long one read may take: of a command's first byte, or of more of a packet.
    fn limit_read(&self, is_first: bool) -> io::Result<()> {
        let (limit, timeout) = match is_first {
            true => (FIRST_BYTE, &self.idle_timeout_ms),
            false => (MORE_BYTES, &self.read_timeout_ms),
        };
        if self.read_limit.load(Ordering::Relaxed) == limit {
            return Ok(());
        }
        self.read_limit.store(limit, Ordering::Relaxed);
        let limit = timeout.load(Ordering::Relaxed);
        self.set_read_timeout((limit > 0).then(|| Duration::from_millis(limit)))
    }

    /// Shuts the socket down: a thread that reads from it sees its end.
    pub fn shutdown(&self, how: Shutdown) {
        // An error means that the client has already gone.
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

    /// Receives without recording a wait: the session is idle.
    fn recv_idle(&self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.tls.get() {
            None => self.read_raw(buffer),
            Some(tls) => tls.read(self, buffer),
        }
    }

    fn read_raw(&self, buffer: &mut [u8]) -> io::Result<usize> {
        let deadline = self.deadline_ns.load(Ordering::Relaxed);
        if deadline != 0 {
            let now = self.since.elapsed().as_nanos() as u64;
            match deadline.checked_sub(now) {
                None | Some(0) => return Err(io::ErrorKind::TimedOut.into()),
                Some(left) => self.set_read_timeout(Some(Duration::from_nanos(left)))?,
            }
        }
        match &self.socket {
            Socket::Unix(s) => (&*s).read(buffer),
            Socket::Tcp(s) => (&*s).read(buffer),
        }
    }

    fn write_raw(&self, bytes: &[u8]) -> io::Result<usize> {
        match self.write_now(bytes) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.write_slow(bytes),
            done => done,
        }
    }

    fn write_now(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(send(
            self,
            bytes,
            SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
        )?)
    }

    /// Waits until the client has received what was sent before, but not if the statement must stop: the
    /// client has part of a packet then, after which no error can be sent.
    #[cold]
    fn write_slow(&self, bytes: &[u8]) -> io::Result<usize> {
        let limit = match self.write_timeout_ms.load(Ordering::Relaxed) {
            0 => Duration::MAX,
            ms => Duration::from_millis(ms),
        };
        let (since, mut stopped) = (Instant::now(), None);
        loop {
            let mut polled = [PollFd::new(self, PollFlags::OUT)];
            // The next write reports an error.
            let _ = poll(&mut polled, Some(&STOP_CHECK_INTERVAL));
            match self.write_now(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                done => return done,
            }
            let ends = interrupt::must_stop();
            let waits = since.elapsed() >= limit
                || ends
                    && stopped.get_or_insert_with(Instant::now).elapsed() >= STOPPED_WRITE_GRACE;
            if waits {
                return Err(io::ErrorKind::TimedOut.into());
            }
        }
    }

    /// Encrypts the connection from here on. `sent` is the part of the client's handshake that was read
    /// already.
    pub fn encrypt(&self, config: Arc<rustls::ServerConfig>, sent: &[u8]) -> io::Result<()> {
        let tls = Tls::accept(self, config, sent)?;
        // A client requests TLS once, before it logs in.
        let _ = self.tls.set(Box::new(tls));
        Ok(())
    }

    /// How the connection is encrypted, if it is.
    pub fn tls(&self) -> Option<&Tls> {
        self.tls.get().map(Box::as_ref)
    }

    /// Whether the connection cannot be eavesdropped on: it is encrypted, or a Unix socket.
    pub fn is_secure(&self) -> bool {
        self.tls.get().is_some() || matches!(self.socket, Socket::Unix(_))
    }

    /// Whether received bytes wait in a buffer, where polling the socket does not report them.
    pub fn has_buffered(&self) -> bool {
        self.tls.get().is_some_and(|tls| tls.has_buffered())
    }

    fn send_all(&self, bytes: &[u8]) -> io::Result<()> {
        let mut wait = self.point.follow(Operation::Send);
        wait.bytes(bytes.len() as u64);
        if let Some(tls) = self.tls.get() {
            return tls.write_all(self, bytes);
        }
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.write_raw(rest) {
                Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                Ok(sent) => rest = &rest[sent..],
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Whether the client has closed its end. Does not block.
    pub fn is_gone(&self) -> bool {
        let mut polled = [PollFd::new(self, PollFlags::RDHUP)];
        let closed = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        poll(&mut polled, Some(&Timespec::default())).is_ok_and(|n| n > 0)
            && polled[0].revents().intersects(closed)
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tare_mysql::wire::packets::MAX_PAYLOAD_BYTES;

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
        for len in [
            0,
            1,
            MAX_PAYLOAD_BYTES - 1,
            MAX_PAYLOAD_BYTES,
            MAX_PAYLOAD_BYTES + 1,
            2 * MAX_PAYLOAD_BYTES,
        ] {
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
            assert_eq!(usize::from(next), len / MAX_PAYLOAD_BYTES + 1);
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
