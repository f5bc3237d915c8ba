//! Packets to a client.

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tare_mysql::wire::packets::Packets;

use super::Stream;

/// A result is sent in pieces of about this size.
const FLUSH_AT: usize = 64 << 10;

/// Writes packets to a socket. They are gathered and sent together; [`Packets`] makes them.
#[derive(Debug)]
pub struct PacketWriter {
    stream: Arc<Stream>,
    packets: Packets,
    sent: u64,
    /// A part of a packet may be all that the client has got: nothing can be told it any more.
    broken: bool,
}

impl Deref for PacketWriter {
    type Target = Packets;

    fn deref(&self) -> &Packets {
        &self.packets
    }
}

impl DerefMut for PacketWriter {
    fn deref_mut(&mut self) -> &mut Packets {
        &mut self.packets
    }
}

impl PacketWriter {
    /// A writer to a socket.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self {
            stream,
            packets: Packets::default(),
            sent: 0,
            broken: false,
        }
    }

    /// Bytes sent since the connection began.
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// Sends when enough has been gathered; to be called between packets.
    #[inline]
    pub fn flush_if_full(&mut self) -> io::Result<()> {
        if self.packets.bytes().len() >= FLUSH_AT {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Sends what has been gathered.
    pub fn flush(&mut self) -> io::Result<()> {
        let bytes = self.packets.bytes();
        if bytes.is_empty() {
            return Ok(());
        }
        if self.broken {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.sent += bytes.len() as u64;
        let result = self.stream.send_all(bytes);
        self.broken = result.is_err();
        self.packets.clear();
        result
    }
}
