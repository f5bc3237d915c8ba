//! Packets of MySQL's protocol, as far as the relay has to know them.

use std::io::{self, Read};

/// A packet's header: three bytes of length, one of its number.
pub const HEADER: usize = 4;
/// Commands that a relay looks into: another database, and a statement's text.
pub const COM_INIT_DB: u8 = 2;
const COM_QUERY: u8 = 3;

/// Flags of a connection.
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

/// OK, with no rows, as the answer to a command.
pub const OK: [u8; 11] = [7, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0];

/// In an answer's status: another one follows.
const MORE_RESULTS: u16 = 8;

/// One packet, with its header.
pub fn packet(from: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut packet = vec![0; HEADER];
    from.read_exact(&mut packet)?;
    let length = u32::from_le_bytes([packet[0], packet[1], packet[2], 0]) as usize;
    packet.resize(HEADER + length, 0);
    from.read_exact(&mut packet[HEADER..])?;
    Ok(packet)
}

/// A packet of these bytes.
fn framed(number: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len()).expect("shorter than 16 MiB");
    let mut packet = length.to_le_bytes()[..3].to_vec();
    packet.push(number);
    packet.extend_from_slice(body);
    packet
}

/// A statement.
pub fn query(sql: &str) -> Vec<u8> {
    framed(0, &[&[COM_QUERY], sql.as_bytes()].concat())
}

/// The first packet of a command is number 0: what belongs to a login is not.
pub fn command(packet: &[u8]) -> Option<(u8, &[u8])> {
    let (header, body) = packet.split_at(HEADER);
    let (&command, rest) = body.split_first()?;
    (header[3] == 0).then_some((command, rest))
}

/// The statement of a packet that has one.
pub fn text(packet: &[u8]) -> Option<&[u8]> {
    let (_, text) = command(packet).filter(|(command, _)| *command == COM_QUERY)?;
    // Where server and client know attributes: none of them, in one set. No statement begins so.
    Some(text.strip_prefix(&[0, 1]).unwrap_or(text))
}

/// What a client's first packet asks for.
pub fn flags(login: &[u8]) -> u32 {
    login
        .get(HEADER..HEADER + 4)
        .and_then(|bytes| bytes.try_into().ok())
        .map_or(0, u32::from_le_bytes)
}

/// Has a client's first packet ask for less.
pub fn ask_less(login: &mut [u8], flags: u32) {
    for (asked, flag) in login.iter_mut().skip(HEADER).zip(flags.to_le_bytes()) {
        *asked &= !flag;
    }
}

/// A server's first packet.
pub struct Greeting<'a>(pub &'a mut [u8]);

impl Greeting<'_> {
    /// Where its connection's number is: after the protocol's and the server's version.
    fn number(&self) -> Option<usize> {
        let version = self.0.get(HEADER + 1..)?;
        Some(HEADER + 1 + version.iter().position(|byte| *byte == 0)? + 1)
    }

    pub fn connection(&self) -> Option<u32> {
        let at = self.number()?;
        Some(u32::from_le_bytes(self.0.get(at..at + 4)?.try_into().ok()?))
    }

    /// Offers less, and nothing that only MariaDB has.
    pub fn without(&mut self, flags: u32) -> Option<()> {
        // The number, eight bytes of a challenge, and one of nothing; then character set and status.
        let low = self.number()? + 13;
        for (at, byte) in [low, low + 1, low + 5, low + 6]
            .into_iter()
            .zip(flags.to_le_bytes())
        {
            *self.0.get_mut(at)? &= !byte;
        }
        // After the upper flags, the challenge's length and six bytes of nothing MariaDB has flags of its own.
        self.0.get_mut(low + 14..low + 18)?.fill(0);
        Some(())
    }
}

/// What a client says first that has these flags, and is root without a password.
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
    framed(1, &body)
}

/// utf8mb4_0900_ai_ci.
const UTF8MB4: u8 = 255;

/// An answer to a statement, packet by packet.
#[derive(Debug)]
pub struct Answer(pub Vec<Vec<u8>>);

impl Answer {
    /// Reads one to its end, of a connection with these flags.
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

    /// Several as one: a call's, which ends with an OK. What is no result is the program's alone.
    pub fn of_a_call(flags: u32, answers: Vec<Self>) -> Self {
        let mut packets = Vec::new();
        for mut answer in answers {
            match answer.0.first().and_then(|first| first.get(HEADER)) {
                Some(0) => continue,
                Some(0xff) => {
                    packets.extend(answer.0);
                    return Self(numbered(packets));
                }
                _ => {}
            }
            if let Some(last) = answer.0.last_mut() {
                let at = status_place(flags, last);
                last[at] |= MORE_RESULTS as u8;
            }
            packets.extend(answer.0);
        }
        packets.push(OK.to_vec());
        Self(numbered(packets))
    }

    /// The values of its first row as SQL has them; `None` if it has none.
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

/// Status of a packet that says OK: after the numbers of rows and of the last row.
fn ok_status(packet: &[u8]) -> u16 {
    let mut rest = &packet[HEADER + 1..];
    let (_rows, _last) = (number(&mut rest), number(&mut rest));
    rest.get(..2)
        .map_or(0, |s| u16::from_le_bytes([s[0], s[1]]))
}

/// Where a packet that ends rows has its status.
fn status_place(flags: u32, packet: &[u8]) -> usize {
    if flags & CLIENT_DEPRECATE_EOF == 0 {
        return HEADER + 3;
    }
    let mut rest = &packet[HEADER + 1..];
    let (_rows, _last) = (number(&mut rest), number(&mut rest));
    packet.len() - rest.len()
}

/// Packets of one answer, in their order.
fn numbered(mut packets: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    for (number, packet) in packets.iter_mut().enumerate() {
        packet[HEADER - 1] = (number + 1) as u8;
    }
    packets
}

/// Status if a packet ends rows.
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

/// Type of a column: the second byte after six texts, a length, a character set and a width.
fn kind(column: &[u8]) -> Option<u8> {
    let mut rest = &column[HEADER..];
    for _ in 0..6 {
        bytes(&mut rest)?;
    }
    rest.get(7).copied()
}

/// Texts are quoted, numbers are not.
fn literal(kind: u8, value: &[u8]) -> String {
    let text = String::from_utf8_lossy(value);
    match kind {
        0..=5 | 8 | 9 | 0xf6 => text.into_owned(),
        _ => format!("'{}'", text.replace('\\', "\\\\").replace('\'', "''")),
    }
}

/// A number of one to nine bytes.
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

/// A text with its length before it, or NULL.
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
