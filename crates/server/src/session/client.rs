//! The client of a session: its socket and its capabilities.

use std::sync::Arc;
use std::time::Duration;

use mysql_common::constants::CapabilityFlags;

use crate::socket::{PacketReader, PacketWriter, Stream, Timeouts};
use crate::state::SessionState;
use tare_mysql::charset::text_charset;
use tare_mysql::wire::column::TextCharset;

/// The largest packet of a login: attributes have up to 64 KiB.
const LOGIN_PACKET_BYTES: usize = 68 << 10;

/// A session's client.
#[derive(Debug)]
pub struct Client {
    /// Reads packets. It is taken out while the packet in its buffer is processed.
    pub reader: Option<PacketReader>,
    /// Writes packets.
    pub writer: PacketWriter,
    /// The socket.
    pub stream: Arc<Stream>,
    /// The capabilities that client and server share.
    pub capabilities: CapabilityFlags,
    /// The character set of the texts that it gets.
    pub charset: TextCharset,
    /// Whether the socket is registered with the pool's poller.
    pub polled: bool,
}

impl Client {
    /// A client that has not logged in.
    pub fn new(stream: Arc<Stream>) -> Self {
        Self {
            reader: Some(PacketReader::new(stream.clone(), LOGIN_PACKET_BYTES)),
            writer: PacketWriter::new(stream.clone()),
            stream,
            capabilities: CapabilityFlags::CLIENT_PROTOCOL_41,
            charset: TextCharset::default(),
            polled: false,
        }
    }

    /// Applies wait_timeout, net_read_timeout and net_write_timeout.
    pub fn apply_timeouts(&self, state: &SessionState) {
        let seconds = |name, default| {
            let seconds = state.text(name).and_then(|text| text.parse().ok());
            Duration::from_secs(seconds.unwrap_or(default))
        };
        self.stream.set_timeouts(Timeouts {
            idle: seconds("wait_timeout", 28_800),
            read: seconds("net_read_timeout", 30),
            write: seconds("net_write_timeout", 60),
        });
    }

    /// Applies character_set_results. A handshake names a collation of it, too.
    pub fn apply_charset(&mut self, state: &SessionState, collation: Option<u16>) {
        let charset = state.text("character_set_results").unwrap_or_default();
        self.charset = text_charset(&charset, collation);
    }

    /// Whether a next command has been read already.
    pub fn has_buffered(&self) -> bool {
        self.reader.as_ref().is_some_and(PacketReader::has_buffered)
    }

    /// Whether a result ends with an OK packet instead of EOF.
    pub fn deprecates_eof(&self) -> bool {
        self.capabilities
            .contains(CapabilityFlags::CLIENT_DEPRECATE_EOF)
    }

    /// Whether it may send several statements in one text.
    pub fn has_multi_statements(&self) -> bool {
        self.capabilities
            .contains(CapabilityFlags::CLIENT_MULTI_STATEMENTS)
    }

    /// Whether it takes several results of one statement.
    pub fn has_multi_results(&self) -> bool {
        self.capabilities.intersects(
            CapabilityFlags::CLIENT_MULTI_RESULTS | CapabilityFlags::CLIENT_MULTI_STATEMENTS,
        )
    }
}
