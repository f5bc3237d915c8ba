//! Reads responses: where each ends, and its status.

use super::body::Body;
use super::line::{self, Header, Headers, Letters, Line};

/// What the server writes is no response: a frame of HTTP/2, bytes behind an upgrade.
#[derive(Debug, PartialEq, Eq)]
pub struct NotResponse;

/// Those of the headers that are read.
const LETTERS: Letters = Letters::new(b"ct");
/// The longest status line that is stored.
const MAX_STATUS_BYTES: usize = 64;

/// Statuses from this one on are errors.
pub const ERRORS: u16 = 400;

/// A response's headers.
#[derive(Debug, Default)]
pub struct Head {
    pub status: u16,
    /// The status and its reason, if it is one of [`ERRORS`] or higher: `404 Not Found`.
    pub line: String,
    /// Whether the server closes the connection after it.
    pub closes: bool,
    length: Option<u64>,
    is_chunked: bool,
}

/// What a response depends on in its request.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request {
    /// The response has no body (HEAD).
    pub without_body: bool,
    /// The response has no headers (HTTP/0.9).
    pub without_headers: bool,
}

/// What the parser has read.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The headers of the final response.
    Head,
    /// The end of the response.
    End,
    /// The connection has another protocol from now on. This is also the response's end.
    Upgrade,
}

#[derive(Debug, Default)]
enum State {
    /// Before a response.
    #[default]
    Start,
    /// In its first line.
    Status,
    Headers,
    Body(Body),
}

/// Reads responses from parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    line: Line,
    head: Head,
}

impl Parser {
    /// The headers of the response that is read.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Whether a response was begun that is not complete.
    pub fn is_within(&self) -> bool {
        !matches!(self.state, State::Start)
    }

    /// Whether the response ends only with the connection.
    pub fn ends_with_connection(&self) -> bool {
        matches!(&self.state, State::Body(body) if body.is_rest())
    }

    /// Reads the next bytes up to an event. `part` has then what follows. `None`: all bytes were read.
    pub fn next(
        &mut self,
        part: &mut &[u8],
        request: Request,
    ) -> Result<Option<Event>, NotResponse> {
        loop {
            match &mut self.state {
                State::Body(body) => match body.read(part) {
                    Ok(true) => return Ok(Some(self.end())),
                    Ok(false) => return Ok(None),
                    Err(_) => return Err(NotResponse),
                },
                _ if part.is_empty() => return Ok(None),
                State::Start => {
                    self.head.clear();
                    self.line.clear();
                    self.state = State::Status;
                    if request.without_headers {
                        self.head.closes = true;
                        self.state = State::Body(Body::of_rest());
                        return Ok(Some(Event::Head));
                    }
                    if part[0] != b'H' {
                        return Err(NotResponse);
                    }
                }
                State::Status => {
                    let Some(line) = self.line.read(part) else {
                        return Ok(None);
                    };
                    let (status, text) = status(line).ok_or(NotResponse)?;
                    self.head.status = status;
                    if status >= ERRORS {
                        (self.head.line).push_str(&String::from_utf8_lossy(text));
                    }
                    self.state = State::Headers;
                }
                State::Headers => {
                    let Self { line, head, .. } = self;
                    let read = |header: Header| {
                        head.read(header);
                        true
                    };
                    if line.read_headers(part, LETTERS, read) != Headers::Complete {
                        return Ok(None);
                    }
                    match self.head.status {
                        101 => {
                            self.state = State::Start;
                            return Ok(Some(Event::Upgrade));
                        }
                        100..200 => self.state = State::Start,
                        _ => {
                            self.state = State::Body(self.head.body(request));
                            return Ok(Some(Event::Head));
                        }
                    }
                }
            }
        }
    }

    /// The server has written bytes that nobody sees, of a file. True: the response has ended.
    pub fn skip(&mut self, bytes: u64) -> Result<bool, NotResponse> {
        let State::Body(body) = &mut self.state else {
            return Err(NotResponse);
        };
        let has_ended = body.skip(bytes).map_err(|_| NotResponse)?;
        if has_ended {
            self.end();
        }
        Ok(has_ended)
    }

    fn end(&mut self) -> Event {
        self.state = State::Start;
        Event::End
    }
}

impl Head {
    /// Another response begins.
    fn clear(&mut self) {
        let mut line = std::mem::take(&mut self.line);
        line.clear();
        *self = Self {
            line,
            ..Self::default()
        };
    }

    #[inline(always)]
    fn read(&mut self, header: Header) {
        if let Some(value) = header.value(b"Connection") {
            self.closes |= value.eq_ignore_ascii_case(b"close");
        } else if let Some(value) = header.value(b"Content-Length") {
            self.length = line::number(value);
        } else if let Some(value) = header.value(b"Transfer-Encoding") {
            self.is_chunked = value.eq_ignore_ascii_case(b"chunked");
        }
    }

    fn body(&self, request: Request) -> Body {
        match (self.status, self.length) {
            (204 | 304, _) => Body::of_length(0),
            _ if request.without_body => Body::of_length(0),
            _ if self.is_chunked => Body::of_chunks(),
            (_, Some(length)) => Body::of_length(length),
            (_, None) => Body::of_rest(),
        }
    }
}

/// The status of a first line, and its text.
fn status(line: &[u8]) -> Option<(u16, &[u8])> {
    let rest = line.strip_prefix(b"HTTP/1.")?.get(1..)?.trim_ascii_start();
    let digits = rest.get(..3)?;
    let status = line::number(digits)?;
    Some((status as u16, &rest[..rest.len().min(MAX_STATUS_BYTES)]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::read_in_all_parts;

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let pieces: &[&[u8]] = &[
            b"HTTP/1.1 200 OK\r\n",
            b"HTTP/1.0 404  \r\n",
            b"HTTP/1.1 100 Continue\r\n\r\n",
            b"HTTP/1.1 101 Switching Protocols\r\n\r\n",
            b"HTTP/1.1 204 No Content\r\n\r\n",
            b"Content-Length: 3\r\n",
            b"Content-Length: 18446744073709551615\r\n",
            b"Content-Length: x\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Connection: close\r\n",
            b"\r\n",
            b"abc",
            b"3\r\nabc\r\n",
            b"ffffffffffffffff\r\n",
            b"0\r\n\r\n",
            b"\0\xff",
        ];
        for without_body in [false, true] {
            let request = Request {
                without_body,
                without_headers: false,
            };
            read_in_all_parts(pieces, 150, |parts| {
                let (mut parser, mut all) = (Parser::default(), Vec::new());
                for mut part in parts.iter().copied() {
                    loop {
                        match parser.next(&mut part, request) {
                            Ok(Some(event)) => all.push(format!("{event:?} {:?}", parser.head())),
                            Ok(None) => break,
                            Err(_) => return (all, false),
                        }
                    }
                }
                (all, true)
            });
        }
    }

    /// The events of these bytes, read in parts of this size, as text.
    fn events(bytes: &[u8], size: usize, request: Request) -> Result<String, NotResponse> {
        let (mut parser, mut all) = (Parser::default(), String::new());
        for mut part in bytes.chunks(size) {
            while let Some(event) = parser.next(&mut part, request)? {
                match event {
                    Event::Head => {
                        let head = parser.head();
                        match head.line.is_empty() {
                            true => all.push_str(&format!("{} ", head.status)),
                            false => all.push_str(&format!("{} ", head.line)),
                        }
                    }
                    Event::End => all.push_str("; "),
                    Event::Upgrade => all.push_str("upgrade "),
                }
            }
        }
        if parser.ends_with_connection() {
            all.push_str("rest");
        }
        Ok(all)
    }

    #[test]
    fn responses_end_by_length_chunks_or_connection() {
        let body = Request::default();
        let head = Request {
            without_body: true,
            without_headers: false,
        };
        let simple = Request {
            without_body: false,
            without_headers: true,
        };
        for (bytes, request, expected) in [
            (&b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcHTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n"[..], body, "200 ; 404 Not Found ; "),
            (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n", body, "204 ; "),
            (b"HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n", body, "304 ; "),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\nHTTP/1.1 500 \r\nContent-Length: 1\r\n\r\n", body, "200 ; 500  "),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n", head, "200 ; "),
            (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nHTTP/1.1 200 OK\r\n", body, "200 rest"),
            (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n", body, "upgrade "),
            (b"<html>", simple, "0 rest"),
        ] {
            for size in 1..=bytes.len() {
                assert_eq!(events(bytes, size, request).as_deref(), Ok(expected), "{size}");
            }
        }
    }

    #[test]
    fn other_protocols_are_recognised() {
        let settings = [0, 0, 18, 4, 0, 0, 0, 0, 0];
        for bytes in [
            &settings[..],
            b"HELLO\r\n",
            b"HTTP/2.0 200\r\n",
            b"HTTP/1.1 2\r\n",
            b"<html>\r\n",
        ] {
            assert_eq!(events(bytes, 4, Request::default()), Err(NotResponse));
        }
    }
}
