//! Reads requests: arrays of bulk strings, or lines.

use std::mem;

use crate::parts;
use crate::request::Request;

/// The longest line that the server accepts (PROTO_INLINE_MAX_SIZE).
const MAX_LINE_BYTES: u64 = 64 * 1024;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before a request.
    #[default]
    Start,
    /// In the number of an array's elements.
    Count,
    /// Before the `$` of an argument.
    Argument,
    /// In the length of an argument.
    Length,
    /// In an argument, of which so many bytes are left.
    Bulk(u64),
    /// In the line end behind an argument.
    End(u8),
    /// In a line: whether in a word of it.
    Line(bool),
}

/// What a connection sends is no request: TLS, the cluster's bus.
#[derive(Debug, PartialEq, Eq)]
pub struct NotRequests;

/// Whether these bytes begin with a complete request that is an array: a line may be the part of a value.
pub fn is_start(bytes: &[u8]) -> bool {
    let (mut parser, mut count) = (Parser::default(), 0);
    bytes.first() == Some(&b'*') && parser.read(bytes, |_| count += 1).is_ok() && count != 0
}

/// Digits of a length that is read at once.
const MAX_DIGITS: usize = 9;

/// Reads a length behind this mark, with its line end. `None`: it is none, or is not written so, or goes on.
#[inline(always)]
pub fn read_length(bytes: &mut &[u8], mark: u8) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    if *first != mark {
        return None;
    }
    if let [digit @ b'0'..=b'9', b'\r', b'\n', behind @ ..] = rest {
        *bytes = behind;
        return Some(usize::from(digit - b'0'));
    }
    let mut length = 0;
    for (digits, byte) in rest.iter().take(MAX_DIGITS + 1).enumerate() {
        match byte {
            b'0'..=b'9' if digits < MAX_DIGITS => {
                length = 10 * length + usize::from(byte - b'0');
            }
            b'\r' if digits != 0 && rest.get(digits + 1) == Some(&b'\n') => {
                *bytes = &rest[digits + 2..];
                return Some(length);
            }
            _ => return None,
        }
    }
    None
}

/// Reads requests from parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    /// The number that is read, or the bytes of the line.
    number: u64,
    is_negative: bool,
    /// Arguments that are left.
    left: u64,
    request: Request,
}

impl Parser {
    /// Reads the next bytes, and calls `done` with each request that they complete. `done` may take the
    /// request and leave another one, whose memory serves the next.
    pub fn read(
        &mut self,
        mut part: &[u8],
        mut done: impl FnMut(&mut Request),
    ) -> Result<(), NotRequests> {
        while let Some(&byte) = part.first() {
            match self.state {
                State::Bulk(mut left) => {
                    self.request.append(parts::take(&mut part, &mut left));
                    self.state = match left {
                        0 => State::End(2),
                        left => State::Bulk(left),
                    };
                    continue;
                }
                State::Start if byte == b'*' => {
                    if self.read_complete(&mut part) {
                        self.end_request(&mut done);
                        continue;
                    }
                    self.begin_number(State::Count);
                }
                State::Start => {
                    self.begin_number(State::Line(false));
                    continue;
                }
                State::Line(_) if byte == b'\n' => self.end_line(&mut done),
                State::Line(in_word) => self.read_line(byte, in_word)?,
                State::Argument if byte == b'$' => self.begin_number(State::Length),
                State::Argument => return Err(NotRequests),
                State::Count | State::Length => {
                    part = self.read_number(part)?;
                    continue;
                }
                State::End(2) => self.state = State::End(1),
                State::End(_) => self.end_argument(&mut done),
            }
            part = &part[1..];
        }
        Ok(())
    }

    /// Whether the next byte begins a request.
    pub fn is_at_start(&self) -> bool {
        self.state == State::Start
    }

    /// Reads the request that these bytes are, if they are all of one and nothing else, and returns it. The next
    /// one needs its memory ([`give_back`](Self::give_back)). `None`: nothing was read.
    #[inline]
    pub fn take_single(&mut self, mut bytes: &[u8]) -> Option<Request> {
        if self.state != State::Start || !self.read_complete(&mut bytes) {
            return None;
        }
        let request = mem::take(&mut self.request);
        if bytes.is_empty() {
            return Some(request);
        }
        self.give_back(request);
        None
    }

    /// The request that is read next gets this one's memory.
    #[inline]
    pub fn give_back(&mut self, request: Request) {
        self.request = request;
        self.request.clear();
    }

    /// Reads the request with which a part begins, if all of it is there and it is an array of bulk strings, and
    /// moves behind it. False: nothing was read.
    #[inline]
    fn read_complete(&mut self, part: &mut &[u8]) -> bool {
        let mut rest = *part;
        let mut read = || {
            let count = read_length(&mut rest, b'*').filter(|count| *count != 0)?;
            for _ in 0..count {
                let length = read_length(&mut rest, b'$')?;
                // With its line end.
                let (argument, behind) = rest.split_at_checked(length + 2)?;
                self.request.push(&argument[..length]);
                rest = behind;
            }
            Some(())
        };
        match read() {
            Some(()) => {
                *part = rest;
                true
            }
            None => {
                self.request.clear();
                false
            }
        }
    }

    fn begin_number(&mut self, state: State) {
        (self.state, self.number, self.is_negative) = (state, 0, false);
    }

    /// Reads digits up to the end of their line. Returns the bytes behind it.
    fn read_number<'a>(&mut self, mut part: &'a [u8]) -> Result<&'a [u8], NotRequests> {
        let mut number = self.number;
        while let [byte, rest @ ..] = part {
            part = rest;
            match byte {
                b'0'..=b'9' => {
                    number = number
                        .saturating_mul(10)
                        .saturating_add(u64::from(byte - b'0'));
                }
                b'-' => self.is_negative = true,
                b'\r' => {}
                b'\n' => {
                    self.number = number;
                    self.end_number();
                    return Ok(part);
                }
                _ => return Err(NotRequests),
            }
        }
        self.number = number;
        Ok(part)
    }

    fn end_number(&mut self) {
        match self.state {
            State::Count if self.number == 0 || self.is_negative => self.state = State::Start,
            State::Count => {
                self.left = self.number;
                self.state = State::Argument;
            }
            _ => {
                self.request.begin_argument();
                self.state = match self.number {
                    0 => State::End(2),
                    length => State::Bulk(length),
                };
            }
        }
    }

    fn end_argument(&mut self, done: &mut impl FnMut(&mut Request)) {
        self.left -= 1;
        self.state = State::Argument;
        if self.left == 0 {
            self.end_request(done);
        }
    }

    fn end_request(&mut self, done: &mut impl FnMut(&mut Request)) {
        self.state = State::Start;
        done(&mut self.request);
        self.request.clear();
    }

    /// Reads a byte of a line.
    fn read_line(&mut self, byte: u8, in_word: bool) -> Result<(), NotRequests> {
        self.number += 1;
        let is_space = byte.is_ascii_whitespace();
        if self.number > MAX_LINE_BYTES || byte < b' ' && !is_space {
            return Err(NotRequests);
        }
        if !is_space {
            if !in_word {
                self.request.begin_argument();
            }
            self.request.append(&[byte]);
        }
        self.state = State::Line(!is_space);
        Ok(())
    }

    fn end_line(&mut self, done: &mut impl FnMut(&mut Request)) {
        match self.request.count() {
            0 => self.state = State::Start,
            _ => self.end_request(done),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::read_in_all_parts;
    use crate::request::{MAX_ARGUMENT_BYTES, MAX_ARGUMENTS};

    /// The requests in these bytes, read in parts of this size.
    fn requests(bytes: &[u8], size: usize) -> Result<Vec<Vec<String>>, NotRequests> {
        let (mut parser, mut all) = (Parser::default(), Vec::new());
        for part in bytes.chunks(size) {
            parser.read(part, |request| {
                let arguments = 0..request.stored();
                all.push(
                    arguments
                        .map(|at| String::from_utf8_lossy(request.argument(at)).into_owned())
                        .collect(),
                );
            })?;
        }
        Ok(all)
    }

    #[test]
    fn parts_of_any_size_give_the_same_requests() {
        let bytes = b"*2\r\n$3\r\nGET\r\n$4\r\na\r\nb\r\n*0\r\nPING  x\r\n\r\n*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$0\r\n\r\n*1\r\n$4\r\nQUIT\r\n";
        let expected = [
            vec!["GET", "a\r\nb"],
            vec!["PING", "x"],
            vec!["SET", "k", ""],
            vec!["QUIT"],
        ];
        for size in 1..=bytes.len() {
            let all = requests(bytes, size).expect("requests");
            assert_eq!(all, expected, "parts of {size}");
        }
    }

    #[test]
    fn only_a_complete_array_is_the_start_of_a_request() {
        let get = b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";
        assert!(is_start(get) && is_start(&get.repeat(3)));
        assert!(is_start(&[&get[..], &get[..9]].concat()));
        for part in 1..get.len() {
            assert!(!is_start(&get[..part]), "{part}");
            assert!(!is_start(&get[part..]), "{part}");
        }
        for other in [
            &b""[..],
            b"GET k\r\n",
            b"*0\r\n",
            b"*2\r\nGET\r\n",
            b"\x16\x03\x01",
        ] {
            assert!(!is_start(other), "{other:?}");
        }
    }

    #[test]
    fn long_arguments_are_cut_and_counted() {
        let value = "x".repeat(1000);
        let mut bytes = format!("*102\r\n$3\r\nSET\r\n$1000\r\n{value}\r\n").into_bytes();
        for _ in 0..100 {
            bytes.extend_from_slice(b"$1\r\ny\r\n");
        }
        for size in [1, 100, bytes.len()] {
            let mut parser = Parser::default();
            let mut counted = Vec::new();
            for part in bytes.chunks(size) {
                let read = parser.read(part, |request| {
                    assert_eq!(
                        request.argument(1),
                        "x".repeat(MAX_ARGUMENT_BYTES).as_bytes()
                    );
                    assert!(request.is_cut(1) && !request.is_cut(0) && request.text(1).is_none());
                    counted.push((request.count(), request.stored()));
                });
                assert_eq!(read, Ok(()));
            }
            assert_eq!(counted, [(102, MAX_ARGUMENTS)]);
        }
    }

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let pieces: &[&[u8]] = &[
            b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
            b"*1\r\n",
            b"*0\r\n",
            b"*-1\r\n",
            b"*3\n",
            b"*18446744073709551616\r\n",
            b"$0\r\n\r\n",
            b"$4\r\na\r\nb\r\n",
            b"$-1\r\n",
            b"$99999999999999999999\r\n",
            b"PING x\r\n",
            b"  \t\n",
            b"\r\n",
            b"\0\xff",
        ];
        read_in_all_parts(pieces, 300, |parts| {
            let (mut parser, mut all) = (Parser::default(), Vec::new());
            let is_read = parts.iter().all(|part| {
                let read = parser.read(part, |request| {
                    let arguments = (0..request.stored()).map(|at| request.argument(at).to_vec());
                    all.push((request.count(), arguments.collect::<Vec<_>>()));
                });
                read.is_ok()
            });
            (all, is_read)
        });
    }

    #[test]
    fn other_protocols_are_recognised() {
        let hello = [0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3];
        assert_eq!(requests(&hello, 11), Err(NotRequests));
        assert_eq!(requests(b"RCmb\0\0\x01", 7), Err(NotRequests));
        assert_eq!(requests(b"*1\r\nGET\r\n", 20), Err(NotRequests));
    }

    #[test]
    fn what_never_ends_takes_bounded_memory() {
        let line = " x".repeat(MAX_LINE_BYTES as usize / 2);
        let bulk = format!("*9\r\n$99999999999999999999\r\n{line}");
        let digits = format!("*{line}", line = "1".repeat(line.len()));
        let words = format!("*99999999999\r\n{}", "$1\r\nx\r\n".repeat(line.len()));
        for bytes in [&line, &bulk, &digits, &words] {
            let mut parser = Parser::default();
            for part in bytes.as_bytes().chunks(777) {
                assert_eq!(parser.read(part, |_| panic!("a request")), Ok(()));
            }
            let size = parser.request.size();
            let limit = 2 * MAX_ARGUMENTS * (MAX_ARGUMENT_BYTES + 8);
            assert!(size <= limit, "{size} bytes");
        }
        let too_long = format!("{line} ");
        assert_eq!(requests(too_long.as_bytes(), 777), Err(NotRequests));
    }
}
