//! Packets to a client.

use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use tare_mysql::wire::packets::Packets;

use super::Stream;

/// The size at which buffered packets are sent, in bytes.
const FLUSH_BYTES: usize = 64 << 10;

/// Buffers packets, which [`Packets`] builds, and sends them to a socket together.
#[derive(Debug)]
pub struct PacketWriter {
    stream: Arc<Stream>,
    packets: Packets,
    sent: u64,
    /// A write has failed: the client may have part of a packet, after which nothing can be sent.
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

    /// Sends the buffered packets if they are large enough. Call it between packets.
    #[inline]
    pub fn flush_if_full(&mut self) -> io::Result<()> {
        if self.packets.bytes().len() >= FLUSH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Sends the buffered packets.
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
