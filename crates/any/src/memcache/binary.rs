//! Requests of the binary protocol.

use super::commands::{self, Kind};
use super::requests::{Arrival, Fault, NotRequests, Silence};
use crate::parts::{append_cut, take};
use crate::request::Request;

/// The first byte of a request.
pub const REQUEST: u8 = 0x80;
/// The first byte of a reply.
pub const REPLY: u8 = 0x81;
/// Bytes of a packet before its body.
pub const HEADER_BYTES: usize = 24;
/// The longest extras and key that the server accepts: 20 and 250 bytes.
const MAX_STORED_BYTES: usize = HEADER_BYTES + 270;

/// A packet that is being read: its header, its extras and its key.
#[derive(Debug, Default)]
pub struct Packet {
    bytes: Vec<u8>,
    /// How many bytes were read.
    read: u64,
}

/// The code's command, and whether it is one of the quiet variants.
fn command(code: u8) -> (&'static str, bool) {
    match code {
        0x00 | 0x0c => ("get", false),
        0x09 | 0x0d => ("get", true),
        0x01 => ("set", false),
        0x11 => ("set", true),
        0x02 => ("add", false),
        0x12 => ("add", true),
        0x03 => ("replace", false),
        0x13 => ("replace", true),
        0x04 => ("delete", false),
        0x14 => ("delete", true),
        0x05 => ("incr", false),
        0x15 => ("incr", true),
        0x06 => ("decr", false),
        0x16 => ("decr", true),
        0x07 => ("quit", false),
        0x17 => ("quit", true),
        0x08 => ("flush_all", false),
        0x18 => ("flush_all", true),
        0x0a => ("noop", false),
        0x0b => ("version", false),
        0x0e => ("append", false),
        0x19 => ("append", true),
        0x0f => ("prepend", false),
        0x1a => ("prepend", true),
        0x10 => ("stats", false),
        // The server does not answer it.
        0x1b => ("verbosity", true),
        0x1c => ("touch", false),
        0x1d | 0x23 => ("gat", false),
        0x1e | 0x24 => ("gat", true),
        0x20 => ("sasl_list_mechs", false),
        0x21 => ("sasl_auth", false),
        0x22 => ("sasl_step", false),
        _ => ("other", false),
    }
}

impl Packet {
    /// Whether a part of it was read.
    pub fn is_begun(&self) -> bool {
        self.read != 0
    }

    fn header(&self) -> Option<&[u8; HEADER_BYTES]> {
        self.bytes.first_chunk()
    }

    /// Lengths of extras and key, and of the complete packet.
    fn lengths(&self) -> Option<(usize, usize, u64)> {
        let header = self.header()?;
        let key = usize::from(u16::from_be_bytes([header[2], header[3]]));
        let body = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
        Some((header[4].into(), key, HEADER_BYTES as u64 + u64::from(body)))
    }

    /// Reads the next bytes of the packet. Returns how many.
    pub fn read(&mut self, part: &[u8]) -> Result<usize, NotRequests> {
        let end = match self.lengths() {
            None => HEADER_BYTES as u64,
            Some((.., end)) => end,
        };
        let mut rest = part;
        let part = take(&mut rest, &mut (end - self.read));
        append_cut(&mut self.bytes, part, MAX_STORED_BYTES);
        self.read += part.len() as u64;
        if self.bytes.first() != Some(&REQUEST) {
            return Err(NotRequests);
        }
        match self.lengths() {
            Some((extras, key, end)) if (HEADER_BYTES + extras + key) as u64 > end => {
                Err(NotRequests)
            }
            _ => Ok(part.len()),
        }
    }

    /// Whether all of it was read.
    pub fn is_complete(&self) -> bool {
        self.lengths().is_some_and(|(.., end)| self.read == end)
    }

    /// The complete packet as a command.
    pub fn arrival(&self) -> Option<Arrival> {
        let header = self.header()?;
        let (extras, key, end) = self.lengths()?;
        let (name, is_quiet) = command(header[1]);
        let command = commands::named(name)?;
        let body = &self.bytes[HEADER_BYTES..];
        let (extra, rest) = body.split_at(extras.min(body.len()));
        let value = end - (HEADER_BYTES + extras + key) as u64;
        let mut request = Request::default();
        let mut put = |bytes: &[u8]| {
            request.begin_argument();
            request.append(bytes);
        };
        let number = |at: usize, length: usize| {
            let bytes = extra.get(at..at + length).unwrap_or_default();
            let number = bytes
                .iter()
                .fold(0, |number, &byte| number << 8 | u64::from(byte));
            number.to_string().into_bytes()
        };
        put(name.as_bytes());
        if name == "gat" {
            put(&number(0, 4));
        }
        if key != 0 {
            put(&rest[..key.min(rest.len())]);
        }
        // As the line of the text protocol has it.
        match (name, command.kind) {
            ("append" | "prepend", _) => put(value.to_string().as_bytes()),
            (_, Kind::Store) => {
                put(&number(0, 4));
                put(&number(4, 4));
                put(value.to_string().as_bytes());
            }
            (_, Kind::Number) => put(&number(0, 8)),
            (_, Kind::Touch) => put(&number(0, 4)),
            _ => {}
        }
        let opaque = u32::from_be_bytes([header[12], header[13], header[14], header[15]]);
        Some(Arrival {
            command,
            request,
            silence: match (name, is_quiet) {
                ("quit" | "verbosity", true) => Silence::Always,
                (_, true) => Silence::Maybe,
                (_, false) => Silence::Never,
            },
            fault: Fault::None,
            counted: u64::from(command.kind != Kind::Other),
            packet: Some((header[1], opaque)),
        })
    }
}
