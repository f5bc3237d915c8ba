//! Reads requests, as far as Tare needs: where each ends, what it asks for, and who asks.

use super::body::Body;
use super::line::{self, Header, Headers, Letters, Line};
use super::methods::{self, Method};

/// Bytes of a target that are stored.
pub const MAX_TARGET_BYTES: usize = 512;
/// Those of the headers that are read.
const LETTERS: Letters = Letters::new(b"acht");
/// The longest names of users and hosts that are stored.
const MAX_NAME_BYTES: usize = 64;

/// A request, as far as it was read.
#[derive(Debug, Default)]
pub struct Request {
    /// `None`: its first line was not read, or is none.
    pub method: Option<&'static Method>,
    /// What it asks for, cut.
    pub target: Vec<u8>,
    pub is_target_cut: bool,
    /// The host of its server, empty = it names none.
    pub host: String,
    /// The user's name that it claims.
    pub user: Option<String>,
    /// Whether it begins a connection of HTTP/2.
    pub is_preface: bool,
    /// Whether the response has no header: HTTP/0.9.
    pub is_simple: bool,
    /// Whether its headers were read.
    pub has_headers: bool,
    /// Whether all of it was read.
    pub is_complete: bool,
}

impl Request {
    /// Forgets all of it, but not its memory.
    pub fn clear(&mut self) {
        let Self {
            mut target,
            mut host,
            ..
        } = std::mem::take(self);
        target.clear();
        host.clear();
        (self.target, self.host) = (target, host);
    }

    /// Reads its first line. False: it is none.
    fn read_line(&mut self, line: &[u8]) -> bool {
        let words = split_word(line).and_then(|(method, rest)| Some((method, split_word(rest)?)));
        let Some((method, (target, rest))) = words else {
            return false;
        };
        self.method = methods::find(method);
        let is_sign = |byte: &u8| byte.is_ascii_uppercase() || b"-_".contains(byte);
        let is_listed = self.method.is_some_and(Method::is_listed);
        if !is_listed && !method.iter().all(is_sign) {
            self.method = None;
            return false;
        }
        let version = last_word(rest);
        let stored = target.len().min(MAX_TARGET_BYTES);
        self.target.extend_from_slice(&target[..stored]);
        self.is_target_cut = stored < target.len();
        self.is_simple = version.is_none() && line.len() < line::MAX_LINE_BYTES;
        self.is_preface = method == b"PRI" && version == Some(b"HTTP/2.0");
        true
    }

    fn set_host(&mut self, value: &[u8]) {
        let end = match value.first() {
            // An address of IPv6.
            Some(b'[') => value.iter().position(|&byte| byte == b']').map(|at| at + 1),
            _ => value.iter().position(|&byte| byte == b':'),
        };
        let host = &value[..end.unwrap_or(value.len())];
        let is_sign = |byte: &u8| {
            byte.is_ascii_alphanumeric()
                || matches!(byte, b'-' | b'.' | b'_' | b'[' | b']' | b':' | b'*')
        };
        if host.len() <= MAX_NAME_BYTES
            && host.iter().all(is_sign)
            && let Ok(host) = str::from_utf8(host)
        {
            self.host.clear();
            self.host.push_str(host);
            self.host.make_ascii_lowercase();
        }
    }
}

/// The first word of a line, and what follows.
fn split_word(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let start = line.iter().position(|&byte| byte != b' ')?;
    let line = &line[start..];
    Some(line.split_at(memchr::memchr(b' ', line).unwrap_or(line.len())))
}

/// The last word of a line.
fn last_word(line: &[u8]) -> Option<&[u8]> {
    let end = line.iter().rposition(|&byte| byte != b' ')?;
    let line = &line[..=end];
    Some(memchr::memrchr(b' ', line).map_or(line, |space| &line[space + 1..]))
}

/// Whether these bytes begin with the first line of a request, and its method has an instrument.
pub fn is_start(bytes: &[u8]) -> bool {
    let end = bytes.iter().position(|&byte| byte == b'\n');
    let mut words = bytes[..end.unwrap_or(0)].split(|&byte| byte == b' ');
    let is_listed = |name: &[u8]| methods::find(name).is_some_and(|method| method.is_listed());
    words.next().is_some_and(is_listed)
        && words.next().is_some_and(|target| !target.is_empty())
        && words
            .next_back()
            .is_some_and(|version| version.starts_with(b"HTTP/1."))
}

/// The user's name in a value of the header Authorization.
fn user(value: &[u8]) -> Option<String> {
    let (scheme, rest) = value.split_at_checked(6)?;
    if !scheme.eq_ignore_ascii_case(b"basic ") {
        return None;
    }
    let mut name = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for &byte in rest.trim_ascii_start() {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        (bits, count) = ((bits << 6 | u32::from(digit)) & 0xffff, count + 6);
        if count >= 8 {
            count -= 8;
            match (bits >> count) as u8 {
                // The password follows.
                b':' => return String::from_utf8(name).ok().filter(|name| !name.is_empty()),
                byte if byte.is_ascii_control() => return None,
                byte => name.push(byte),
            }
        }
        if name.len() > MAX_NAME_BYTES {
            return None;
        }
    }
    None
}

/// What the parser has read.
#[derive(Debug, PartialEq, Eq)]
pub enum Event {
    /// The first byte of a request.
    Begin,
    /// Something of the request: see its fields.
    Progress,
}

#[derive(Debug, Default)]
enum State {
    /// Before a request.
    #[default]
    Start,
    /// In its first line.
    Line,
    /// In its headers.
    Headers,
    Body(Body),
    /// It is malformed: the server will answer it, and close the connection.
    Malformed,
}

/// Reads requests from parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    line: Line,
    length: Option<u64>,
    is_chunked: bool,
    /// Whether headers begin with the next byte.
    is_before_headers: bool,
    last: LastHeaders,
}

/// The longest headers that are stored.
const MAX_HEADER_BYTES: usize = 2048;

/// The headers of the last request without a body and without a user. Most clients send the same ones with each
/// request.
#[derive(Debug, Default)]
struct LastHeaders {
    /// Up to the empty line. Empty: there are none.
    bytes: Vec<u8>,
    host: String,
    /// Whether the connection has had a request before. Many have one only.
    is_repeated: bool,
}

impl LastHeaders {
    /// Whether the next headers are the same. `part` has then what follows.
    fn take(&self, part: &mut &[u8], request: &mut Request) -> bool {
        let rest = part.strip_prefix(&*self.bytes);
        let Some(rest) = rest.filter(|_| !self.bytes.is_empty()) else {
            return false;
        };
        *part = rest;
        request.host.clear();
        request.host.push_str(&self.host);
        true
    }

    /// Headers were read.
    fn store(&mut self, bytes: &[u8], request: &Request) {
        self.bytes.clear();
        if std::mem::replace(&mut self.is_repeated, true) && bytes.len() <= MAX_HEADER_BYTES {
            self.bytes.extend_from_slice(bytes);
            self.host.clone_from(&request.host);
        }
    }
}

impl Parser {
    /// Reads the next bytes up to an event, and changes the request that they are of. `part` has then what
    /// follows. `None`: all bytes were read.
    pub fn next(&mut self, part: &mut &[u8], request: &mut Request) -> Option<Event> {
        loop {
            if part.is_empty() {
                return None;
            }
            match &mut self.state {
                State::Start => {
                    self.state = State::Line;
                    self.line.clear();
                    (self.length, self.is_chunked) = (None, false);
                    return Some(Event::Begin);
                }
                State::Line => {
                    let line = self.line.read(part)?;
                    // The server ignores empty lines before it.
                    if line.is_empty() {
                        continue;
                    }
                    if !request.read_line(line) {
                        self.state = State::Malformed;
                    } else if request.is_simple {
                        request.has_headers = true;
                        self.end(request);
                    } else {
                        (self.state, self.is_before_headers) = (State::Headers, true);
                    }
                    return Some(Event::Progress);
                }
                State::Headers => {
                    let is_start = std::mem::take(&mut self.is_before_headers);
                    if is_start && !request.is_preface && self.last.take(part, request) {
                        request.has_headers = true;
                        self.end(request);
                        return Some(Event::Progress);
                    }
                    let all = *part;
                    let Self {
                        line,
                        length,
                        is_chunked,
                        ..
                    } = self;
                    let read = |header: Header| {
                        if let Some(value) = header.value(b"Host") {
                            request.set_host(value);
                        } else if let Some(value) = header.value(b"Authorization") {
                            request.user = user(value);
                        } else if let Some(value) = header.value(b"Content-Length") {
                            let value = line::number(value).unwrap_or(u64::MAX);
                            return length.replace(value).is_none();
                        } else if let Some(value) = header.value(b"Transfer-Encoding") {
                            let is_first = !std::mem::replace(is_chunked, true);
                            return is_first && value.eq_ignore_ascii_case(b"chunked");
                        }
                        true
                    };
                    match line.read_headers(part, LETTERS, read) {
                        Headers::Incomplete => return None,
                        Headers::Complete => {
                            self.end_headers(request);
                            if is_start && request.is_complete && request.user.is_none() {
                                let bytes = &all[..all.len() - part.len()];
                                self.last.store(bytes, request);
                            }
                            return Some(Event::Progress);
                        }
                        Headers::Stopped => self.state = State::Malformed,
                    }
                }
                State::Body(body) => match body.read(part) {
                    Ok(true) => {
                        self.end(request);
                        return Some(Event::Progress);
                    }
                    Ok(false) => return None,
                    Err(_) => self.state = State::Malformed,
                },
                State::Malformed => *part = &[],
            }
        }
    }

    fn end_headers(&mut self, request: &mut Request) {
        request.has_headers = true;
        match (self.length, self.is_chunked) {
            (Some(_), true) | (Some(u64::MAX), _) => self.state = State::Malformed,
            _ if request.is_preface => self.state = State::Malformed,
            (_, true) => self.state = State::Body(Body::of_chunks()),
            (None | Some(0), false) => self.end(request),
            (Some(length), false) => self.state = State::Body(Body::of_length(length)),
        }
    }

    fn end(&mut self, request: &mut Request) {
        request.is_complete = true;
        self.state = State::Start;
    }

    /// Whether the next byte begins a request.
    pub fn is_at_start(&self) -> bool {
        matches!(self.state, State::Start)
    }

    /// Whether nobody knows where the next request begins.
    pub fn is_malformed(&self) -> bool {
        matches!(self.state, State::Malformed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::read_in_all_parts;

    impl Request {
        /// Bytes of memory that it takes.
        fn size(&self) -> usize {
            let user = self.user.as_ref().map_or(0, String::capacity);
            self.target.capacity() + self.host.capacity() + user
        }
    }

    /// The requests in these bytes, read in parts of this size.
    fn requests(bytes: &[u8], size: usize) -> Vec<Request> {
        methods::create("test");
        requests_of(bytes.chunks(size))
    }

    fn requests_of<'b>(parts: impl Iterator<Item = &'b [u8]>) -> Vec<Request> {
        let (mut parser, mut all) = (Parser::default(), Vec::<Request>::new());
        let mut spare = Request::default();
        for mut part in parts {
            while let Some(event) = parser.next(&mut part, all.last_mut().unwrap_or(&mut spare)) {
                if event == Event::Begin {
                    all.push(Request::default());
                }
            }
        }
        assert_eq!(spare.size(), 0);
        all
    }

    fn describe(request: &Request) -> String {
        let method = request.method.map_or("-", |method| method.name);
        let target = String::from_utf8_lossy(&request.target);
        let user = request.user.as_deref().unwrap_or("-");
        let state = if request.is_complete {
            "complete"
        } else {
            "open"
        };
        format!("{method} {target} {} {user} {state}", request.host)
    }

    #[test]
    fn parts_of_any_size_give_the_same_requests() {
        let bytes = b"\r\nGET /a HTTP/1.1\r\nHost: A.example:80\r\nAuthorization: Basic YW5uOnNlY3JldA==\r\n\r\n\
            POST  /b  HTTP/1.1\nhost: [::1]:8080\ncontent-length: 9\n\nGET /x\r\n\r\
            PUT /c HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nGET \r\n0\r\n\r\n\
            BREW /d HTTP/1.0\r\nAuthorization: Bearer x\r\nno header\r\n\r\n\
            GET /old\r\n\
            DELETE /e HTTP/1.1\r\nHost: e\r\n";
        let expected = [
            "GET /a a.example ann complete",
            "POST /b [::1] - complete",
            "PUT /c  - complete",
            "? /d  - complete",
            "GET /old  - complete",
            "DELETE /e e - open",
        ];
        for size in 1..=bytes.len() {
            let all = requests(bytes, size);
            let all: Vec<_> = all.iter().map(describe).collect();
            assert_eq!(all, expected, "parts of {size}");
        }
    }

    #[test]
    fn what_is_malformed_is_one_request_that_does_not_end() {
        let next = "GET /next HTTP/1.1\r\n\r\n";
        for wrong in [
            "garbage\r\n\r\n",
            "get / HTTP/1.1\r\n\r\n",
            "GET\r\n\r\n",
            "\x16\x03\x01\x02\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: x\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
            "POST / HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n",
            "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n",
            "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        ] {
            let all = requests(format!("{wrong}{next}").as_bytes(), 5);
            assert_eq!(all.len(), 1, "{wrong}");
            assert!(!all[0].is_complete, "{wrong}");
            assert_eq!(all[0].is_preface, wrong.starts_with("PRI"));
        }
    }

    #[test]
    fn a_first_line_with_a_listed_method_is_the_start_of_a_request() {
        methods::create("test");
        assert!(is_start(b"GET /a HTTP/1.1\r\nHost: a"));
        assert!(is_start(b"PROPFIND / HTTP/1.0\n"));
        for other in [
            &b"GET /a HTTP/1.1"[..],
            b"GET /old\r\n",
            b"BREW /a HTTP/1.1\r\n",
            b"get /a HTTP/1.1\r\n",
            b"ET /a HTTP/1.1\r\n",
            b"GET  HTTP/1.1\r\n",
            b"PRI * HTTP/2.0\r\n\r\n",
            b"\r\nGET /a HTTP/1.1\r\n",
            b"",
            b"\x16\x03\x01\n",
        ] {
            assert!(!is_start(other), "{other:?}");
        }
    }

    #[test]
    fn users_are_names_without_passwords() {
        assert_eq!(user(b"basic  YW5uOg=="), Some("ann".to_owned()));
        // Without `:`, without a name, with a line end, with other bytes, and too long.
        for value in [
            "Basic YW5u",
            "Basic Onh4",
            "Basic YQo6",
            "Basic a!",
            "Basic",
            "Digest YW5uOg==",
            "Basic /zo=",
        ] {
            assert_eq!(user(value.as_bytes()), None, "{value}");
        }
        let long = format!("Basic {}", "YWFh".repeat(99));
        assert_eq!(user(long.as_bytes()), None);
    }

    #[test]
    fn what_never_ends_takes_bounded_memory() {
        let long = "x".repeat(1 << 20);
        let headers = "a: b\r\n".repeat(1 << 16);
        for text in [
            format!("GET /{long}"),
            format!("GET /{long} HTTP/1.1\r\nHost: {long}\r\n{long}: {long}\r\n{headers}"),
            long.clone(),
            format!("GET / HTTP/1.1\r\nAuthorization: Basic {long}\r\n{headers}"),
            format!(
                "PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1;{long}\r\nx\r\n0\r\n{headers}"
            ),
        ] {
            let all = requests(text.as_bytes(), 777);
            assert_eq!(all.len(), 1);
            assert!(all[0].size() <= 2 * MAX_TARGET_BYTES, "{}", all[0].size());
            assert!(!all[0].is_complete);
        }
    }

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let pieces: &[&[u8]] = &[
            b"GET /a/17 HTTP/1.1\r\n",
            b"POST /b HTTP/1.1\r\n",
            b"Host: a\r\n",
            b"Content-Length: 5\r\n",
            b"Transfer-Encoding: chunked\r\n",
            b"Authorization: Basic YW5uOg==\r\n",
            b"\r\n",
            b"\n",
            b"5\r\nabcde\r\n",
            b"0\r\n\r\n",
            b"\0\xff\r",
            b"GET /old\r\n",
            b"PRI * HTTP/2.0\r\n\r\n",
            b": \r\n",
            b" \r\n",
            b"hello",
        ];
        methods::create("test");
        read_in_all_parts(pieces, 300, |parts| {
            let all = requests_of(parts.iter().copied());
            all.iter().map(describe).collect::<Vec<_>>()
        });
    }
}
