//! OK, error and end-of-result packets.

use mysql_common::constants::StatusFlags;

use super::bytes::put_lenenc;
use super::packets::Packets;
use crate::error::SqlError;

/// The contents of an OK packet.
#[derive(Debug, Clone, Copy, Default)]
pub struct Ok<'a> {
    /// Rows changed.
    pub affected_rows: u64,
    /// The first generated AUTO_INCREMENT value.
    pub last_insert_id: u64,
    /// Warnings.
    pub warnings: u16,
    /// Words for a person: `Records: 3  Duplicates: 0  Warnings: 0`.
    pub info: &'a str,
}

/// Writes an OK packet.
#[inline]
pub fn ok(writer: &mut Packets, status: StatusFlags, ok: Ok<'_>) {
    let out = writer.begin();
    out.push(0);
    put_lenenc(out, ok.affected_rows);
    put_lenenc(out, ok.last_insert_id);
    out.extend_from_slice(&status.bits().to_le_bytes());
    out.extend_from_slice(&ok.warnings.to_le_bytes());
    if !ok.info.is_empty() {
        put_lenenc(out, ok.info.len() as u64);
        out.extend_from_slice(ok.info.as_bytes());
    }
    writer.end();
}

/// Writes an EOF packet.
#[inline]
pub fn eof(writer: &mut Packets, status: StatusFlags, warnings: u16) {
    let out = writer.begin();
    out.push(0xfe);
    out.extend_from_slice(&warnings.to_le_bytes());
    out.extend_from_slice(&status.bits().to_le_bytes());
    writer.end();
}

/// Writes the end of a result for a client with CLIENT_DEPRECATE_EOF.
#[inline]
pub fn result_end(writer: &mut Packets, status: StatusFlags, warnings: u16) {
    let out = writer.begin();
    out.extend_from_slice(&[0xfe, 0, 0]);
    out.extend_from_slice(&status.bits().to_le_bytes());
    out.extend_from_slice(&warnings.to_le_bytes());
    writer.end();
}

/// Writes an error packet. `with_state`: the client has agreed on protocol 4.1.
pub fn error(writer: &mut Packets, error: &SqlError, with_state: bool) {
    let out = writer.begin();
    out.push(0xff);
    out.extend_from_slice(&error.code.to_le_bytes());
    if with_state {
        out.push(b'#');
        out.extend_from_slice(error.state.as_bytes());
    }
    // MySQL's clients store 512 bytes of a message.
    let mut end = error.message.len().min(511);
    while !error.message.is_char_boundary(end) {
        end -= 1;
    }
    out.extend_from_slice(&error.message.as_bytes()[..end]);
    writer.end();
}
