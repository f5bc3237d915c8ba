//! The packets of MySQL's protocol that the relay reads or writes.

use std::io::{self, Read};

/// Bytes of a packet's header: three of length, one sequence number.
pub const HEADER: usize = 4;
/// Commands that the relay parses.
pub const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;

/// Capability flags.
pub const CLIENT_CONNECT_WITH_DB: u32 = 1 << 3;
pub const CLIENT_COMPRESS: u32 = 1 << 5;
pub const CLIENT_SSL: u32 = 1 << 11;
pub const CLIENT_PLUGIN_AUTH: u32 = 1 << 19;
pub const CLIENT_CONNECT_ATTRS: u32 = 1 << 20;
pub const CLIENT_PLUGIN_AUTH_LENENC: u32 = 1 << 21;
pub const CLIENT_SESSION_TRACK: u32 = 1 << 23;
pub const CLIENT_DEPRECATE_EOF: u32 = 1 << 24;
pub const CLIENT_OPTIONAL_METADATA: u32 = 1 << 25;
pub const CLIENT_ZSTD: u32 = 1 << 26;
pub const CLIENT_QUERY_ATTRIBUTES: u32 = 1 << 27;

/// An OK packet without rows.
pub const OK: [u8; 11] = [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];

/// The status flag SERVER_MORE_RESULTS_EXISTS.
const MORE_RESULTS: u16 = 8;

/// Reads one packet, with its header.
pub fn packet(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; HEADER];
    from.read_exact(&mut packet)?;
    let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]) as usize;
    packet.resize(HEADER + length, 0);
    from.read_exact(&mut packet[HEADER..])?;
    Ok(packet)
}

/// A packet with this sequence number and body.
fn frame(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("shorter than 16 MiB");
    let mut packet = length.to_le_bytes()[..3].to_vec();
    packet.push(number);
    packet.extend_from_slice(body);
    packet
}

/// A COM_QUERY packet.
pub fn query(sql: &str) -> Vec<u8> {
    frame(0, &[&[COM_QUERY], sql.as_bytes()].concat())
}

/// Command and body of a command's first packet, whose sequence number is 0. Packets of a login have others.
pub fn command(packet: &[u8]) -> Option<(u8, &[u8])> {
    let (header, body) = packet.split_at(HEADER);
    let (&command, rest) = body.split_first()?;
    (header[3] == 0).then_some((command, rest))
}

/// The statement in a COM_QUERY packet.
pub fn text(packet: &[u8]) -> Option<&[u8]> {
    let (_, text) = command(packet).filter(|(command, _)| *command == COM_QUERY)?;
    // With query attributes, a prefix says that there are none. No statement begins like that.
    Some(text.strip_prefix(&[0, 1]).unwrap_or(text))
}

/// Capability flags of a client's first packet.
pub fn flags(login: &[u8]) -> u32 {
    login
        .get(HEADER..HEADER + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}

/// Removes capabilities from a client's first packet.
pub fn remove_requested(login: &mut [u8], flags: u32) {
    for (byte, flag) in login.iter_mut().skip(HEADER).zip(flags.to_le_bytes()) {
        *byte &= !flag;
    }
}

/// A server's first packet.
pub struct Greeting<'a>(pub &'a mut [u8]);

impl Greeting<'_> {
    /// The offset of the connection id, after the protocol's and the server's version.
    fn id_offset(&self) -> Option<usize> {
        let version = self.0.get(HEADER + 1..)?;
        Some(HEADER + 1 + version.iter().position(|byte| *byte == 0)? + 1)
    }

    pub fn connection(&self) -> Option<u32> {
        let at = self.id_offset()?;
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    /// Removes these capabilities and all that only MariaDB has.
    pub fn remove_capabilities(&mut self, flags: u32) -> Option<()> {
        // Four bytes of id, eight of a challenge and a filler precede the lower flags.
        let low = self.id_offset()? + 13;
        for (at, byte) in [low, low + 1, low + 5, low + 6]
            .into_iter()
            .zip(flags.to_le_bytes())
        {
            *self.0.get_mut(at)? &= !byte;
        }
        // MariaDB's flags follow the upper flags, the challenge's length and six bytes of filler.
        self.0.get_mut(low + 14..low + 18)?.fill(0);
        Some(())
    }
}

/// A client's first packet with these capabilities, for root without a password.
pub fn login(flags: u32) -> Vec<u8> {
    let unused = CLIENT_CONNECT_WITH_DB
        | CLIENT_SSL
        | CLIENT_PLUGIN_AUTH
        | CLIENT_CONNECT_ATTRS
        | CLIENT_PLUGIN_AUTH_LENENC;
    let mut body = (flags & !unused).to_le_bytes().to_vec();
    body.extend_from_slice(&(1u32 << 24).to_le_bytes());
    body.push(UTF8MB4);
    body.extend_from_slice(&[0; 23]);
    body.extend_from_slice(b"root\0");
    body.push(0);
    frame(1, &body)
}

/// utf8mb4_0900_ai_ci.
const UTF8MB4: u8 = 255;

/// The packets of an answer to a statement.
#[derive(Debug)]
pub struct Answer(pub Vec<Vec<u8>>);

impl Answer {
    /// Reads an answer to its end. `flags` are the connection's capabilities.
    pub fn read(flags: u32, mut packet: impl FnMut() -> io::Result<Vec<u8>>) -> io::Result<Self> {
        let mut packets = Vec::new();
        loop {
            let first = packet()?;
            let kind = first.get(HEADER).copied();
            packets.push(first);
            let status = match kind {
                Some(0) => ok_status(packets.last().expect("it was pushed")),
                Some(0xff | 0xfb) | None => 0,
                Some(_) => {
                    let columns = columns(&packets[packets.len() - 1]);
                    let until_rows = columns + usize::from(flags & CLIENT_DEPRECATE_EOF == 0);
                    for _ in 0..until_rows {
                        packets.push(packet()?);
                    }
                    loop {
                        let row = packet()?;
                        let end = end_status(flags, &row);
                        packets.push(row);
                        if let Some(status) = end {
                            break status;
                        }
                    }
                }
            };
            if status & MORE_RESULTS == 0 {
                return Ok(Self(packets));
            }
        }
    }

    /// Combines the answers of a procedure's statements into one that ends with an OK packet. Answers
    /// without a result set are dropped.
    pub fn combine(flags: u32, answers: Vec<Self>) -> Self {
        let mut packets = Vec::new();
        for mut answer in answers {
            match answer.0.first().and_then(|first| first.get(HEADER)) {
                Some(0) => continue,
                Some(0xff) => {
                    packets.extend(answer.0);
                    return Self(renumber(packets));
                }
                _ => {}
            }
            if let Some(last) = answer.0.last_mut() {
                let at = status_offset(flags, last);
                last[at] |= MORE_RESULTS as u8;
            }
            packets.extend(answer.0);
        }
        packets.push(OK.to_vec());
        Self(renumber(packets))
    }

    /// The first row as SQL literals; `None` if there is no row.
    pub fn literals(&self, flags: u32) -> Option<Vec<String>> {
        let first = self.0.first()?;
        if matches!(first.get(HEADER)?, 0 | 0xff | 0xfb) {
            return None;
        }
        let columns = columns(first);
        let row = 1 + columns + usize::from(flags & CLIENT_DEPRECATE_EOF == 0);
        let mut rest = self.0.get(row)?.get(HEADER..)?;
        let mut literals = Vec::new();
        for column in &self.0[1..=columns] {
            literals.push(match bytes(&mut rest)? {
                None => "NULL".to_owned(),
                Some(value) => literal(kind(column)?, value),
            });
        }
        Some(literals)
    }
}

/// Status of an OK packet, after the affected rows and the last insert id.
fn ok_status(packet: &[u8]) -> u16 {
    let mut rest = &packet[HEADER + 1..];
    let (_rows, _last) = (number(&mut rest), number(&mut rest));
    rest.get(..2)
        .map_or(0, |s| u16::from_le_bytes([s[0], s[1]]))
}

/// The offset of the status in a packet that ends rows.
fn status_offset(flags: u32, packet: &[u8]) -> usize {
    if flags & CLIENT_DEPRECATE_EOF == 0 {
        return HEADER + 3;
    }
    let mut rest = &packet[HEADER + 1..];
    let (_rows, _last) = (number(&mut rest), number(&mut rest));
    packet.len() - rest.len()
}

/// Sets the sequence numbers of the packets of one answer.
fn renumber(mut packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    for (number, packet) in packets.iter_mut().enumerate() {
        packet[HEADER - 1] = (number + 1) as u8;
    }
    packets
}

/// The status, if the packet ends rows.
fn end_status(flags: u32, packet: &[u8]) -> Option<u16> {
    match packet.get(HEADER)? {
        0xff => Some(0),
        0xfe if flags & CLIENT_DEPRECATE_EOF != 0 && packet.len() < 0x00ff_ffff => {
            Some(ok_status(packet))
        }
        0xfe if packet.len() < HEADER + 9 => {
            Some(u16::from_le_bytes([packet[HEADER + 3], packet[HEADER + 4]]))
        }
        _ => None,
    }
}

fn columns(first: &[u8]) -> usize {
    number(&mut &first[HEADER..]).map_or(0, |n| n as usize)
}

/// The type of a column, which follows six texts, a length, a character set and a width.
fn kind(column: &[u8]) -> Option<u8> {
    let mut rest = &column[HEADER..];
    for _ in 0..6 {
        bytes(&mut rest)?;
    }
    rest.get(7).copied()
}

/// An SQL literal of a value.
fn literal(kind: u8, value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match kind {
        0..=5 | 8 | 9 | 0xf6 => text.into_owned(),
        _ => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
    }
}

/// Reads a length-encoded integer.
fn number(rest: &mut &[u8]) -> Option<u64> {
    let (&first, after) = rest.split_first()?;
    let width = match first {
        0xfc => 2,
        0xfd => 3,
        0xfe => 8,
        small => {
            *rest = after;
            return Some(small.into());
        }
    };
    let (bytes, after) = after.split_at_checked(width)?;
    *rest = after;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u64::from(*byte)),
    )
}

/// Reads a length-encoded string or NULL.
fn bytes<'a>(rest: &mut &'a [u8]) -> Option<Option<&'a [u8]>> {
    if rest.first() == Some(&0xfb) {
        *rest = &rest[1..];
        return Some(None);
    }
    let length = number(rest)?;
    let (value, after) = rest.split_at_checked(length as usize)?;
    *rest = after;
    Some(Some(value))
}
