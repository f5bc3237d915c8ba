//! Reads requests: lines with values behind them, or packets of the binary protocol.

use std::mem;

use super::binary;
use super::commands::{self, Command, Kind};
use crate::parts::take;
use crate::request::Request;

/// The longest key.
const MAX_KEY_BYTES: usize = 250;
/// The most memory of a request that the next one takes.
const MAX_SPARE_BYTES: usize = 1024;

/// Whether a command ends without a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Silence {
    /// It has a reply.
    Never,
    /// It has none.
    Always,
    /// It has one only if it fails, or if it finds something.
    Maybe,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Nothing that can be seen in it.
    None,
    /// It has too many arguments or too few: the answer is ERROR.
    Arguments,
    /// A key is too long, or an argument is no number.
    Format,
}

/// A command that has arrived.
#[derive(Debug)]
pub struct Arrival {
    pub command: &'static Command,
    pub request: Request,
    pub silence: Silence,
    pub fault: Fault,
    /// How many keys the server counts, if the reply is no error.
    pub counted: u64,
    /// Of a packet: its code and the number that its reply has, too.
    pub packet: Option<(u8, u32)>,
}

/// What a connection sends is of another protocol: TLS.
#[derive(Debug, PartialEq, Eq)]
pub struct NotRequests;

#[derive(Debug, Default)]
enum State {
    /// Before the connection's first byte, which says what follows.
    #[default]
    First,
    /// In a line.
    Line(Line),
    /// In a value, of which so many bytes are left, with its line end.
    Value(u64),
    /// In a packet.
    Packet(binary::Packet),
}

/// A line that is being read.
#[derive(Debug, Default)]
struct Line {
    /// Bytes of the present argument, 0 = between arguments.
    argument: usize,
    /// Whether the last byte is a carriage return, which ends the line if a line feed follows.
    is_returned: bool,
    /// The number of the first argument that is too long for a key, 0 = there is none.
    long: usize,
}

/// Reads requests from parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    request: Request,
    /// The command whose value is being read.
    storing: Option<Arrival>,
}

impl Parser {
    /// Reads the next bytes, and calls `done` with each command that they complete.
    pub fn read(
        &mut self,
        mut part: &[u8],
        mut done: impl FnMut(Arrival),
    ) -> Result<(), NotRequests> {
        while let Some(&byte) = part.first() {
            match &mut self.state {
                State::First => {
                    self.state = match byte {
                        binary::REQUEST => State::Packet(binary::Packet::default()),
                        b' '..=b'~' | b'\r' | b'\n' => State::Line(Line::default()),
                        _ => return Err(NotRequests),
                    }
                }
                State::Line(line) => {
                    let read = line.read(part, &mut self.request);
                    part = &part[read..];
                    if part.first() == Some(&b'\n') {
                        part = &part[1..];
                        self.end_line(&mut done);
                    }
                }
                State::Value(left) => {
                    take(&mut part, left);
                    if *left == 0 {
                        self.state = State::Line(Line::default());
                        if let Some(arrival) = self.storing.take() {
                            done(arrival);
                        }
                    }
                }
                State::Packet(packet) => {
                    let read = packet.read(part)?;
                    part = &part[read..];
                    if packet.is_complete() {
                        let packet = mem::take(packet);
                        done(packet.arrival().ok_or(NotRequests)?);
                    }
                }
            }
        }
        Ok(())
    }

    /// A request has ended: the next one takes its memory.
    pub fn reuse(&mut self, mut request: Request) {
        if self.request.size() == 0 && request.size() <= MAX_SPARE_BYTES {
            request.clear();
            self.request = request;
        }
    }

    /// Whether the next byte belongs to no value or packet that has begun.
    pub fn is_between(&self) -> bool {
        match &self.state {
            State::First | State::Line(_) => true,
            State::Value(_) => false,
            State::Packet(packet) => !packet.is_begun(),
        }
    }

    /// Whether the next byte begins a command.
    pub fn is_at_start(&self) -> bool {
        match &self.state {
            State::First => true,
            State::Line(line) => {
                line.argument == 0 && !line.is_returned && self.request.count() == 0
            }
            State::Value(_) => false,
            State::Packet(packet) => !packet.is_begun(),
        }
    }

    fn end_line(&mut self, done: &mut impl FnMut(Arrival)) {
        let request = mem::take(&mut self.request);
        let line = match &mut self.state {
            State::Line(line) => mem::take(line),
            _ => return,
        };
        let Some(command) = commands::find(request.argument(0)) else {
            return;
        };
        let count = request.count().saturating_sub(1);
        let is_malformed = !command.arguments.contains(&count);
        let last = request.argument(count);
        let silence = match command.name {
            "quit" => Silence::Always,
            _ if is_malformed => Silence::Never,
            _ if command.may_be_silent && count > 0 && last == b"noreply" => Silence::Always,
            "mg" | "ms" | "md" | "ma" if (2..=count).any(|at| request.argument(at) == b"q") => {
                Silence::Maybe
            }
            _ => Silence::Never,
        };
        let (counted, value) = match is_malformed {
            true => (0, None),
            false => line.counted(command, &request),
        };
        let fault = match is_malformed {
            true => Fault::Arguments,
            false if line.long != 0 && command.takes_many_keys() => Fault::Format,
            false if counted == 0 && command.kind != Kind::Other => Fault::Format,
            false => Fault::None,
        };
        let arrival = Arrival {
            command,
            request,
            silence,
            fault,
            counted,
            packet: None,
        };
        match value {
            None => done(arrival),
            Some(length) => {
                self.storing = Some(arrival);
                // With the line end.
                self.state = State::Value(length + 2);
            }
        }
    }
}

impl Line {
    /// Reads up to the line's end. Returns how many bytes were read.
    fn read(&mut self, part: &[u8], request: &mut Request) -> usize {
        let end = memchr::memchr(b'\n', part);
        let bytes = &part[..end.unwrap_or(part.len())];
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            if mem::take(&mut self.is_returned) {
                self.append(b"\r", request);
            }
            let length = match byte {
                b' ' => {
                    self.argument = 0;
                    1
                }
                b'\r' => {
                    self.is_returned = true;
                    1
                }
                _ => {
                    let word = memchr::memchr2(b' ', b'\r', rest).unwrap_or(rest.len());
                    self.append(&rest[..word], request);
                    word
                }
            };
            rest = &rest[length..];
        }
        bytes.len()
    }

    fn append(&mut self, bytes: &[u8], request: &mut Request) {
        if self.argument == 0 {
            request.begin_argument();
        }
        self.argument += bytes.len();
        request.append(bytes);
        let number = request.count() - 1;
        if self.argument > MAX_KEY_BYTES && number != 0 && self.long == 0 {
            self.long = number;
        }
    }

    /// How many keys the server counts of a command, and the length of the value that follows.
    fn counted(&self, command: &Command, request: &Request) -> (u64, Option<u64>) {
        let count = request.count().saturating_sub(1);
        let is_long = self.long != 0 && self.long == command.first_key;
        let number = |at: usize| number(request.argument(at));
        match command.kind {
            Kind::Get if command.takes_many_keys() => {
                let is_timed = command.first_key == 2;
                if is_timed && number(1).is_none() {
                    return (0, None);
                }
                // The server stops at a key that is too long.
                let end = if self.long == 0 { count + 1 } else { self.long };
                (end.saturating_sub(command.first_key) as u64, None)
            }
            Kind::Store => {
                let at = if command.is_meta() { 2 } else { 4 };
                let numbers = match command.name {
                    "ms" => 2..=2,
                    "cas" => 2..=5,
                    _ => 2..=4,
                };
                if is_long || at > count || numbers.into_iter().any(|at| number(at).is_none()) {
                    return (0, None);
                }
                // As the server cuts it.
                let length = number(at).unwrap_or(0) as i32;
                match u64::try_from(length) {
                    Ok(length) if length <= MAX_VALUE_BYTES => (1, Some(length)),
                    _ => (0, None),
                }
            }
            // An old form has a time, which must be zero.
            Kind::Delete if !command.is_meta() && count > 1 => {
                let second = request.argument(2);
                (u64::from(second == b"0" || second == b"noreply"), None)
            }
            // To mark an item as invalid counts as nothing.
            Kind::Number | Kind::Touch if !command.is_meta() => {
                (u64::from(!is_long && number(2).is_some()), None)
            }
            Kind::Other => (0, None),
            _ => (u64::from(!is_long), None),
        }
    }
}

/// The longest value: of its length and the line end the server makes an int.
const MAX_VALUE_BYTES: u64 = i32::MAX as u64 - 2;

/// A decimal number, as the server reads it.
fn number(text: &[u8]) -> Option<i128> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memcache::binary::REQUEST;
    use crate::random::read_in_all_parts;

    /// The commands in these bytes, read in parts of this size: name, number of arguments, keys, silence.
    fn arrivals(
        bytes: &[u8],
        size: usize,
    ) -> Result<Vec<(String, usize, u64, Silence)>, NotRequests> {
        commands::create("test");
        let (mut parser, mut all) = (Parser::default(), Vec::new());
        for part in bytes.chunks(size) {
            parser.read(part, |arrival| {
                let Arrival {
                    command,
                    request,
                    silence,
                    counted,
                    ..
                } = arrival;
                all.push((command.name.to_owned(), request.count(), counted, silence));
            })?;
        }
        Ok(all)
    }

    #[test]
    fn parts_of_any_size_give_the_same_commands() {
        let long = "x".repeat(251);
        let text = format!(
            "set a 0 0 5\r\nget\r\n\r\nget a  b {long} c\r\n get a\r\nset a 0 0 3 noreply\r\nabc\r\nms b 2 q\r\n\r\n\r\n\
             set a 0 0\r\nset {long} 0 0 1\r\nversion\r\ngat x a b\r\ngat 0 a b\r\ndelete a b noreply\r\n\
             set a 0 0 4294967297\r\nx\r\nincr a b\r\nmg a v q\r\n\r\nquit\n"
        );
        use Silence::{Always, Maybe, Never};
        let expected = [
            ("set", 5, 1, Never),
            ("get", 5, 2, Never),
            ("get", 2, 1, Never),
            ("set", 6, 1, Always),
            ("ms", 4, 1, Maybe),
            ("set", 4, 0, Never),
            ("set", 5, 0, Never),
            ("version", 1, 0, Never),
            ("gat", 4, 0, Never),
            ("gat", 4, 2, Never),
            ("delete", 4, 0, Always),
            ("set", 5, 1, Never),
            ("incr", 3, 0, Never),
            ("mg", 4, 1, Maybe),
            ("other", 0, 0, Never),
            ("quit", 1, 0, Always),
        ];
        let expected =
            expected.map(|(name, count, keys, silence)| (name.to_owned(), count, keys, silence));
        for size in 1..=text.len() {
            let all = arrivals(text.as_bytes(), size).expect("commands");
            assert_eq!(all, expected, "parts of {size}");
        }
    }

    #[test]
    fn packets_in_parts_of_any_size_are_the_same_commands() {
        let packet = |code, key: &str, extras: &[u8], value: &str| {
            let body = [extras, key.as_bytes(), value.as_bytes()].concat();
            let mut bytes = vec![
                0x80,
                code,
                0,
                key.len() as u8,
                extras.len() as u8,
                0,
                0,
                0,
                0,
                0,
            ];
            bytes.extend((body.len() as u16).to_be_bytes());
            bytes.extend([0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0]);
            bytes.extend(body);
            bytes
        };
        let value = packet(0x0a, "", &[], "");
        let value = String::from_utf8_lossy(&value).into_owned();
        let bytes = [
            packet(0x00, "a", &[], ""),
            packet(0x11, "a", &[0; 8], &value),
            packet(0x0d, "a", &[], ""),
            packet(0x0a, "", &[], ""),
            packet(0x77, "a", &[], "x"),
        ]
        .concat();
        let expected = [
            ("get", 2, 1, Silence::Never),
            ("set", 5, 1, Silence::Maybe),
            ("get", 2, 1, Silence::Maybe),
            ("noop", 1, 0, Silence::Never),
            ("other", 2, 0, Silence::Never),
        ];
        let expected =
            expected.map(|(name, count, keys, silence)| (name.to_owned(), count, keys, silence));
        for size in 1..=bytes.len() {
            assert_eq!(
                arrivals(&bytes, size).expect("commands"),
                expected,
                "parts of {size}"
            );
        }
        // The key is longer than the packet.
        let mut wrong = packet(0x00, "a", &[], "");
        wrong[3] = 9;
        assert_eq!(arrivals(&wrong, 100), Err(NotRequests));
    }

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        commands::create("test");
        let packet = |code: u8, key: u8, extras: u8, body: u8| {
            let header = [REQUEST, code, 0, key, extras, 0, 0, 0, 0, 0, 0, body];
            [&header[..], &[0; 12], &vec![b'x'; usize::from(body)]].concat()
        };
        let packets = [
            packet(0x01, 1, 8, 12),
            packet(0x05, 1, 20, 21),
            packet(0x1e, 3, 4, 7),
            packet(0x77, 200, 200, 255),
        ];
        let lines: &[&[u8]] = &[
            b"get a b\r\n",
            b"set a 0 0 3\r\nabc\r\n",
            b"set a 0 0 -1\r\n",
            b"set a 0 0 2147483645\r\n",
            b"set a 0 0 340282366920938463463374607431768211455\r\n",
            b"ms a 2 q\r\n\r\n\r\n",
            b"gat 0 a\r\n",
            b"delete a 0 noreply\n",
            b"mg a k Oq q\r\n",
            b" \r \r\n",
            b"\n",
            b"\0\xff",
        ];
        let packets = packets.each_ref().map(Vec::as_slice);
        for pieces in [lines, &packets, &[lines, &packets].concat()] {
            read_in_all_parts(pieces, 100, |parts| {
                let (mut parser, mut all) = (Parser::default(), Vec::new());
                let is_read = parts.iter().all(|part| {
                    let read = parser.read(part, |arrival| all.push(format!("{arrival:?}")));
                    read.is_ok()
                });
                (all, is_read)
            });
        }
    }

    #[test]
    fn other_protocols_are_recognised_and_lines_without_end_take_bounded_memory() {
        assert_eq!(arrivals(&[0x16, 3, 1, 2, 0, 1], 6), Err(NotRequests));
        let mut parser = Parser::default();
        for part in ["get ", &"x ".repeat(100_000), &"y".repeat(100_000)] {
            assert_eq!(
                parser.read(part.as_bytes(), |_| panic!("a command")),
                Ok(())
            );
        }
        assert!(parser.request.size() <= 20_000);
    }
}
