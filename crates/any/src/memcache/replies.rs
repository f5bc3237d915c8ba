//! Reads replies: where each ends, and what it says.

use super::binary;
use crate::parts::{append_cut, take};

/// Bytes of a line that are stored: an error's text, or a meta command's flags.
const MAX_LINE_BYTES: usize = 512;

/// A reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its last line, or the text of an error in a packet.
    pub line: Vec<u8>,
    /// The number of values in it.
    pub values: u64,
    /// Of a packet: the code and number of its request, and its status.
    pub packet: Option<Packet>,
}

/// What a packet says besides its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    pub code: u8,
    pub number: u32,
    pub status: u16,
    /// Whether it is one of several, which a last one without a key follows.
    pub has_key: bool,
}

/// What a command has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// There is no such item.
    Missing,
    /// The item has changed.
    Exists,
    /// There is an item, or none, so that nothing was stored.
    NotStored,
    Error,
}

/// The status of a request whose lengths are wrong.
pub const INVALID_ARGUMENTS: u16 = 4;
/// The status of a request with an unknown code.
pub const UNKNOWN_COMMAND: u16 = 0x81;

impl Reply {
    /// The first word.
    pub fn word(&self) -> &[u8] {
        let end = self.line.iter().position(|&byte| byte == b' ');
        &self.line[..end.unwrap_or(self.line.len())]
    }

    pub fn outcome(&self) -> Outcome {
        match self.packet.map(|packet| packet.status) {
            Some(0) => return Outcome::Done,
            Some(1) => return Outcome::Missing,
            Some(2) => return Outcome::Exists,
            Some(5) => return Outcome::NotStored,
            Some(_) => return Outcome::Error,
            None => {}
        }
        match self.word() {
            b"ERROR" | b"ERROR:" | b"CLIENT_ERROR" | b"SERVER_ERROR" => Outcome::Error,
            b"NOT_FOUND" | b"NF" | b"EN" => Outcome::Missing,
            b"EXISTS" | b"EX" => Outcome::Exists,
            b"NOT_STORED" | b"NS" => Outcome::NotStored,
            _ => Outcome::Done,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// Before a line or packet.
    #[default]
    Start,
    Line,
    /// In a value, of which so many bytes are left, and whether the reply ends behind it.
    Value(u64, bool),
    Header,
    /// In a packet's body, of which so many bytes are left.
    Body(u64),
}

/// Reads replies from parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    /// The bytes of the line or header.
    bytes: Vec<u8>,
    reply: Reply,
}

impl Parser {
    /// Reads the next bytes, and calls `done` with each reply that they complete.
    pub fn read(&mut self, mut part: &[u8], mut done: impl FnMut(&Reply)) {
        while let Some(&byte) = part.first() {
            match self.state {
                State::Start => {
                    self.bytes.clear();
                    self.state = match byte {
                        binary::REPLY => State::Header,
                        _ => State::Line,
                    };
                }
                State::Line => {
                    let end = memchr::memchr(b'\n', part);
                    let bytes = &part[..end.unwrap_or(part.len())];
                    append_cut(&mut self.bytes, bytes, MAX_LINE_BYTES);
                    part = &part[bytes.len()..];
                    if end.is_some() {
                        part = &part[1..];
                        self.end_line(&mut done);
                    }
                }
                State::Value(mut left, is_last) => {
                    take(&mut part, &mut left);
                    self.state = State::Value(left, is_last);
                    if left == 0 {
                        self.state = State::Start;
                        if is_last {
                            self.end(&mut done);
                        }
                    }
                }
                State::Header => {
                    let length = part.len().min(binary::HEADER_BYTES - self.bytes.len());
                    self.bytes.extend_from_slice(&part[..length]);
                    part = &part[length..];
                    self.end_header(&mut done);
                }
                State::Body(mut left) => {
                    let body = take(&mut part, &mut left);
                    if self.reply.outcome() == Outcome::Error {
                        append_cut(&mut self.reply.line, body, MAX_LINE_BYTES);
                    }
                    self.state = State::Body(left);
                    if left == 0 {
                        self.end(&mut done);
                    }
                }
            }
        }
    }

    /// Whether the next byte begins a line or packet.
    pub fn is_between(&self) -> bool {
        matches!(self.state, State::Start)
    }

    fn end_line(&mut self, done: &mut impl FnMut(&Reply)) {
        self.state = State::Start;
        if self.bytes.last() == Some(&b'\r') {
            self.bytes.pop();
        }
        let mut words = self.bytes.split(|&byte| byte == b' ');
        let mut length = |number| {
            let text = std::str::from_utf8(words.nth(number)?).ok()?;
            text.parse::<u64>().ok()?.checked_add(2)
        };
        let is_one_of_many = [&b"STAT "[..], b"ITEM ", b"PREFIX ", b"key=", b"mg "]
            .iter()
            .any(|start| self.bytes.starts_with(start));
        if self.bytes.starts_with(b"VALUE ") {
            self.reply.values += 1;
            if let Some(length) = length(3) {
                self.state = State::Value(length, false);
            }
        } else if !is_one_of_many {
            let value = match self.bytes.starts_with(b"VA ") {
                true => length(1),
                false => None,
            };
            self.reply.line.clone_from(&self.bytes);
            match value {
                Some(length) => self.state = State::Value(length, true),
                None => self.end(done),
            }
        }
    }

    fn end_header(&mut self, done: &mut impl FnMut(&Reply)) {
        let Some(header) = self.bytes.first_chunk::<{ binary::HEADER_BYTES }>() else {
            return;
        };
        let body = u32::from_be_bytes([header[8], header[9], header[10], header[11]]);
        self.reply.packet = Some(Packet {
            code: header[1],
            number: u32::from_be_bytes([header[12], header[13], header[14], header[15]]),
            status: u16::from_be_bytes([header[6], header[7]]),
            has_key: header[2] != 0 || header[3] != 0,
        });
        match body {
            0 => self.end(done),
            left => self.state = State::Body(left.into()),
        }
    }

    fn end(&mut self, done: &mut impl FnMut(&Reply)) {
        self.state = State::Start;
        done(&self.reply);
        self.reply.line.clear();
        (self.reply.values, self.reply.packet) = (0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::read_in_all_parts;

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let packet = |status: u8, body: &[u8]| {
            let mut header = [0; binary::HEADER_BYTES];
            header[0] = binary::REPLY;
            header[7] = status;
            header[11] = body.len() as u8;
            [&header[..], body].concat()
        };
        let (done, failed) = (packet(0, b""), packet(4, b"Invalid arguments"));
        let pieces: &[&[u8]] = &[
            b"STORED\r\n",
            b"VALUE a 0 3\r\nabc\r\n",
            b"VALUE a 0 18446744073709551615\r\n",
            b"VALUE\r\n",
            b"VA 2 f0\r\nab\r\n",
            b"VA 18446744073709551614\r\n",
            b"END\r\n",
            b"STAT a 1\r\n",
            b"CLIENT_ERROR bad\r\n",
            b"\n",
            b"\0\xff",
            &done,
            &failed,
        ];
        read_in_all_parts(pieces, 300, |parts| {
            let (mut parser, mut all) = (Parser::default(), Vec::new());
            for part in parts {
                parser.read(part, |reply| all.push(reply.clone()));
            }
            all
        });
    }

    #[test]
    fn parts_of_any_size_give_the_same_replies() {
        let mut bytes = b"STORED\r\nVALUE a 0 5\r\nEND\r\n\r\nVALUE b 0 0 7\r\n\r\nEND\r\nEND\r\nVA 4 kx O7\r\nEN\r\n\r\n\
            EN\r\nHD\r\n12\r\nSTAT pid 1\r\nSTAT VALUE 2\r\nEND\r\nkey=a exp=-1\r\nEND\r\n\
            CLIENT_ERROR bad data chunk\r\nNOT_FOUND\r\n"
            .to_vec();
        bytes.extend([
            0x81, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0,
        ]);
        bytes.extend(b"a\r\n");
        bytes.extend([
            0x81, 1, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0,
        ]);
        bytes.extend(b"long");
        let read = |size: usize| {
            let (mut parser, mut all) = (Parser::default(), Vec::new());
            for part in bytes.chunks(size) {
                parser.read(part, |reply| all.push(reply.clone()));
            }
            all
        };
        let once = read(bytes.len());
        let lines: Vec<(&str, u64, Outcome)> = once
            .iter()
            .map(|reply| {
                (
                    str::from_utf8(&reply.line).expect("text"),
                    reply.values,
                    reply.outcome(),
                )
            })
            .collect();
        let expected = [
            ("STORED", 0, Outcome::Done),
            ("END", 2, Outcome::Done),
            ("END", 0, Outcome::Done),
            ("VA 4 kx O7", 0, Outcome::Done),
            ("EN", 0, Outcome::Missing),
            ("HD", 0, Outcome::Done),
            ("12", 0, Outcome::Done),
            ("END", 0, Outcome::Done),
            ("END", 0, Outcome::Done),
            ("CLIENT_ERROR bad data chunk", 0, Outcome::Error),
            ("NOT_FOUND", 0, Outcome::Missing),
            ("", 0, Outcome::Done),
            ("long", 0, Outcome::Error),
        ];
        assert_eq!(lines, expected);
        for size in 1..bytes.len() {
            assert_eq!(read(size), once, "parts of {size}");
        }
    }
}
