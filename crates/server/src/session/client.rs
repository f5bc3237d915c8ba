//! The client at the other end: its socket, and what was agreed on with it.

use std::sync::Arc;
use std::time::Duration;

use mysql_common::constants::CapabilityFlags;

use crate::socket::{PacketReader, PacketWriter, Stream};
use crate::state::SessionState;

/// Before a client is known it has nothing large to say.
const LOGIN_PACKET_BYTES: usize = 64 << 10;

/// A session's client.
#[derive(Debug)]
pub struct Client {
    /// From the client. It is taken out while the packet that lies in it is answered.
    pub reader: Option<PacketReader>,
    /// To the client.
    pub writer: PacketWriter,
    /// The socket.
    pub stream: Arc<Stream>,
    /// What client and server have agreed on.
    pub capabilities: CapabilityFlags,
    /// Whether the pool's poller knows the socket.
    pub polled: bool,
}

impl Client {
    /// A client that has yet to say who it is.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self {
            reader: Some(PacketReader::new(stream.clone(), LOGIN_PACKET_BYTES)),
            writer: PacketWriter::new(stream.clone()),
            stream,
            capabilities: CapabilityFlags::CLIENT_PROTOCOL_41,
            polled: false,
        }
    }

    /// wait_timeout: how long it may be idle.
    pub fn apply_wait_timeout(&self, state: &SessionState) {
        let seconds = state.text("wait_timeout").and_then(|t| t.parse().ok());
        let timeout = Duration::from_secs(seconds.unwrap_or(28_800));
        // An error says that the client has gone, which the next read will say, too.
        let _ = self.stream.set_read_timeout(Some(timeout));
    }

    /// Whether a next command has been read already.
    pub fn has_buffered(&self) -> bool {
        self.reader.as_ref().is_some_and(PacketReader::has_buffered)
    }

    /// Whether it takes OK packets for the end of a result.
    pub fn deprecates_eof(&self) -> bool {
        self.capabilities
            .contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    /// Whether it takes several statements in one text.
    pub fn sends_several(&self) -> bool {
        self.capabilities
            .contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    }

    /// Whether it takes several results of one statement.
    pub fn takes_several(&self) -> bool {
        self.capabilities.intersects(
            CapabilityFlags::CLIENT_MULTI_RESULTS | CapabilityFlags::CLIENT_MULTI_STATEMENTS,
        )
    }
}
