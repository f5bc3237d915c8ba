//! Reads what a client sends: packets before the session begins, then messages with a type.

use super::messages::{self, Messages, NotUnderstood, fill};

/// The most bytes of a message that are stored. Of a longer text the first part is read.
const MAX_BODY_BYTES: usize = 1 << 16;
/// The longest packet before the session begins, and its length's four bytes.
const MAX_STARTUP_BYTES: usize = 10_004;
/// Bytes of other messages that are stored: names.
const MAX_NAMES_BYTES: usize = 512;

/// Codes of the packets that have no version.
const CANCEL: u32 = 80_877_102;
const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;

/// What a client has sent.
#[derive(Debug, PartialEq, Eq)]
pub enum Message<'b> {
    /// It requests encryption. The answer is one byte.
    Encryption,
    /// The session's parameters: names and values.
    Startup(Vec<(&'b [u8], &'b [u8])>),
    /// A simple query, and whether its end is not stored.
    Query(&'b [u8], bool),
    /// A statement's name and text.
    Parse(&'b [u8], &'b [u8]),
    /// A portal's and a statement's name.
    Bind(&'b [u8], &'b [u8]),
    /// The kind (`S`tatement or `P`ortal) and name of what is described or closed.
    Describe(u8, &'b [u8]),
    Close(u8, &'b [u8]),
    /// A portal's name.
    Execute(&'b [u8]),
    Sync,
    FunctionCall,
    /// CopyDone and CopyFail.
    CopyEnd,
    Terminate,
}

/// Reads requests, in parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    /// Whether the session has begun.
    has_begun: bool,
    /// A packet before that.
    packet: Vec<u8>,
    messages: Messages,
}

impl Parser {
    /// Whether the session has begun, and the next byte begins a message.
    pub fn is_at_start(&self) -> bool {
        self.has_begun && self.messages.is_at_start()
    }

    /// Reads bytes.
    pub fn read(
        &mut self,
        mut bytes: &[u8],
        mut report: impl FnMut(Message),
    ) -> Result<(), NotUnderstood> {
        while !self.has_begun {
            if !self.read_startup(&mut bytes, &mut report)? {
                return Ok(());
            }
        }
        while let Some(message) = self.messages.next(&mut bytes, stored_bytes)? {
            read_message(&message, &mut report)?;
        }
        Ok(())
    }

    /// False: more bytes have to come.
    fn read_startup(
        &mut self,
        bytes: &mut &[u8],
        report: &mut impl FnMut(Message),
    ) -> Result<bool, NotUnderstood> {
        if !fill(&mut self.packet, 8, bytes) {
            return Ok(false);
        }
        let word = |buffer: &[u8], at: usize| {
            u32::from_be_bytes([0, 1, 2, 3].map(|byte| buffer[at + byte]))
        };
        let length = word(&self.packet, 0) as usize;
        if !(8..=MAX_STARTUP_BYTES).contains(&length) {
            return Err(NotUnderstood);
        }
        if !fill(&mut self.packet, length, bytes) {
            return Ok(false);
        }
        let packet = std::mem::take(&mut self.packet);
        match word(&packet, 4) {
            TLS | GSS => report(Message::Encryption),
            CANCEL => return Err(NotUnderstood),
            version if version >> 16 == 3 => {
                self.has_begun = true;
                let mut fields = packet[8..].split(|&byte| byte == 0);
                let mut parameters = Vec::new();
                while let (Some(name), Some(value)) = (fields.next(), fields.next())
                    && !name.is_empty()
                {
                    parameters.push((name, value));
                }
                report(Message::Startup(parameters));
            }
            _ => return Err(NotUnderstood),
        }
        Ok(true)
    }
}

/// How many bytes of a message of this type are stored.
fn stored_bytes(kind: u8) -> Option<usize> {
    match kind {
        b'Q' | b'P' => Some(MAX_BODY_BYTES),
        b'B' | b'D' | b'C' | b'E' => Some(MAX_NAMES_BYTES),
        // Among them p: passwords.
        b'S' | b'H' | b'F' | b'X' | b'd' | b'c' | b'f' | b'p' => Some(0),
        _ => None,
    }
}

/// A message is complete.
fn read_message(
    message: &messages::Message,
    report: &mut impl FnMut(Message),
) -> Result<(), NotUnderstood> {
    // A text ends with a zero.
    fn take<'b>(body: &mut &'b [u8]) -> Option<&'b [u8]> {
        let end = body.iter().position(|&byte| byte == 0)?;
        let (text, rest) = (&body[..end], &body[end + 1..]);
        *body = rest;
        Some(text)
    }
    let mut rest = message.body;
    let object = match message.kind {
        b'D' | b'C' => *rest.split_off_first().ok_or(NotUnderstood)?,
        _ => 0,
    };
    let mut text = || match take(&mut rest) {
        None if message.is_cut => Ok(std::mem::take(&mut rest)),
        text => text.ok_or(NotUnderstood),
    };
    report(match message.kind {
        b'Q' => Message::Query(text()?, message.is_cut),
        b'P' => Message::Parse(text()?, text()?),
        b'B' => Message::Bind(text()?, text()?),
        b'E' => Message::Execute(text()?),
        b'D' => Message::Describe(object, text()?),
        b'C' => Message::Close(object, text()?),
        b'S' => Message::Sync,
        b'F' => Message::FunctionCall,
        b'c' | b'f' => Message::CopyEnd,
        b'X' => Message::Terminate,
        _ => return Ok(()),
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::messages::message;
    use super::*;
    use crate::random::read_in_all_parts;

    fn packet(code: u32, body: &[u8]) -> Vec<u8> {
        let length = (body.len() as u32 + 8).to_be_bytes();
        [&length[..], &code.to_be_bytes(), body].concat()
    }

    /// What is read of bytes in parts of this size.
    fn read(bytes: &[u8], size: usize) -> Result<Vec<String>, NotUnderstood> {
        let mut parser = Parser::default();
        let mut all = Vec::new();
        for part in bytes.chunks(size) {
            parser.read(part, |message| all.push(print(&message)))?;
            assert!(parser.messages.stored() <= MAX_BODY_BYTES);
        }
        Ok(all)
    }

    fn print(message: &Message) -> String {
        let text = |bytes: &[u8]| {
            String::from_utf8_lossy(bytes)
                .chars()
                .take(20)
                .collect::<String>()
        };
        match message {
            Message::Startup(parameters) => parameters
                .iter()
                .map(|(name, value)| format!("{}={} ", text(name), text(value)))
                .collect(),
            Message::Query(query, is_cut) => format!("Q {} {} {is_cut}", text(query), query.len()),
            Message::Parse(a, b) => format!("P {} {}", text(a), text(b)),
            Message::Bind(a, b) => format!("B {} {}", text(a), text(b)),
            Message::Describe(kind, name) => format!("D {} {}", char::from(*kind), text(name)),
            Message::Close(kind, name) => format!("C {} {}", char::from(*kind), text(name)),
            Message::Execute(name) => format!("E {}", text(name)),
            other => format!("{other:?}"),
        }
    }

    #[test]
    fn messages_are_read_in_parts_of_every_size() {
        let long = [&vec![b'x'; 100_000][..], b"\0"].concat();
        let bytes = [
            packet(TLS, b""),
            packet(GSS, b""),
            packet(
                3 << 16,
                b"user\0alice\0database\0\0application_name\0x y\0\0",
            ),
            message(b'p', b"geheim\0"),
            message(b'Q', b"SELECT 1\0"),
            message(b'Q', b"\0"),
            message(b'P', b"s\0SELECT $1\0\0\0"),
            message(b'B', &[b"p\0s\0", &long[..]].concat()),
            message(b'D', b"Pp\0"),
            message(b'C', &[b"S", &long[..]].concat()),
            message(b'E', b"p\0\0\0\0\0"),
            message(b'C', b"Ss\0"),
            message(b'H', b""),
            message(b'S', b""),
            message(b'Q', &long),
            message(b'd', &long),
            message(b'c', b""),
            message(b'F', &long),
            message(b'X', b""),
        ]
        .concat();
        for size in [1, 2, 3, 7, 8192, 65_535, 65_536, bytes.len()] {
            let expected = [
                "Encryption",
                "Encryption",
                "user=alice database= application_name=x y ",
                "Q SELECT 1 8 false",
                "Q  0 false",
                "P s SELECT $1",
                "B p s",
                "D P p",
                "C S xxxxxxxxxxxxxxxxxxxx",
                "E p",
                "C S s",
                "Sync",
                "Q xxxxxxxxxxxxxxxxxxxx 65536 true",
                "CopyEnd",
                "FunctionCall",
                "Terminate",
            ];
            assert_eq!(read(&bytes, size).expect("understood"), expected, "{size}");
        }
    }

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let packets = [
            packet(TLS, b""),
            packet(3 << 16, b"user\0a\0\0"),
            packet(3 << 16, b"user\0"),
            packet(3 << 16, b""),
        ];
        let messages = [
            message(b'Q', b"SELECT 1\0"),
            message(b'P', b"s\0SELECT $1\0\0\0"),
            message(b'B', b"p\0s\0\0\0"),
            message(b'D', b"Sp\0"),
            message(b'C', b"P\0"),
            message(b'E', b"\0\0\0\0\0"),
            message(b'S', b""),
            message(b'd', b"rows"),
            message(b'f', b"no\0"),
            b"Q\x7f\xff\xff\xff".to_vec(),
            b"\0\xff".to_vec(),
        ];
        let messages = messages.each_ref().map(Vec::as_slice);
        for first in &packets {
            read_in_all_parts(&messages, 80, |parts| {
                let (mut parser, mut all) = (Parser::default(), Vec::new());
                let is_read = [&**first].iter().chain(parts).all(|part| {
                    let read = parser.read(part, |message| all.push(print(&message)));
                    read.is_ok()
                });
                (all, is_read)
            });
        }
        let packets = packets.each_ref().map(Vec::as_slice);
        read_in_all_parts(&packets, 100, |parts| {
            let (mut parser, mut all) = (Parser::default(), Vec::new());
            let is_read = parts.iter().all(|part| {
                let read = parser.read(part, |message| all.push(print(&message)));
                read.is_ok()
            });
            (all, is_read)
        });
    }

    #[test]
    fn other_bytes_are_not_understood() {
        let startup = packet(3 << 16, b"user\0a\0\0");
        for bytes in [
            &[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc][..],
            b"GET / HTTP/1.1\r\n\r\n",
            &packet(2 << 16, &[0; 288]),
            &packet(CANCEL, &[0; 8]),
            &packet(3 << 16, &[b'x'; 10_000]),
            &[startup.clone(), b"Q\0\0\0\x03".to_vec()].concat(),
            &[startup.clone(), b"Q\xff\xff\xff\xff".to_vec()].concat(),
            &[startup.clone(), message(b'Q', b"no zero")].concat(),
            &[startup.clone(), message(b'B', b"p\0s")].concat(),
            &[startup.clone(), message(b'D', b"")].concat(),
            &[startup.clone(), message(b'!', b"")].concat(),
        ] {
            for size in [1, 5, bytes.len()] {
                assert!(read(bytes, size).is_err(), "{bytes:?}");
            }
        }
    }
}
