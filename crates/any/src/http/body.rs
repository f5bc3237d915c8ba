//! The end of a body.

use super::line::Line;
use crate::parts::take;

/// What follows is no body: a chunk without a length, or more bytes than belong to it.
#[derive(Debug, PartialEq, Eq)]
pub struct NotBody;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// So many bytes are left.
    Bytes(u64),
    /// All that follows on the connection.
    Rest,
    /// Before or in the line with a chunk's length.
    Length,
    /// In a chunk of which so many bytes are left.
    Chunk(u64),
    /// In the line end behind a chunk.
    ChunkEnd,
    /// In the headers behind the last chunk.
    Trailers,
}

/// A body that is read.
#[derive(Debug)]
pub struct Body {
    state: State,
    line: Line,
}

impl Body {
    fn new(state: State) -> Self {
        let line = Line::default();
        Self { state, line }
    }

    /// A body of so many bytes.
    pub fn of_length(length: u64) -> Self {
        Self::new(State::Bytes(length))
    }

    /// A body that ends with the connection.
    pub fn of_rest() -> Self {
        Self::new(State::Rest)
    }

    /// A body in chunks.
    pub fn of_chunks() -> Self {
        Self::new(State::Length)
    }

    /// Whether the body ends with the connection.
    pub fn is_rest(&self) -> bool {
        self.state == State::Rest
    }

    /// Reads the next bytes. `part` has then what follows. True: the body has ended.
    pub fn read(&mut self, part: &mut &[u8]) -> Result<bool, NotBody> {
        loop {
            match self.state {
                State::Bytes(0) => return Ok(true),
                _ if part.is_empty() => return Ok(false),
                State::Bytes(mut left) | State::Chunk(mut left) => {
                    let length = take(part, &mut left).len();
                    self.advance(length as u64);
                }
                State::Rest => *part = &[],
                State::Length | State::ChunkEnd | State::Trailers => {
                    let Some(line) = self.line.read(part) else {
                        return Ok(false);
                    };
                    let (is_empty, length) = (line.is_empty(), chunk_length(line));
                    self.state = match (self.state, length) {
                        (State::Trailers, _) if is_empty => return Ok(true),
                        (State::Trailers, _) => State::Trailers,
                        (State::ChunkEnd, _) if is_empty => State::Length,
                        (State::Length, Some(0)) => State::Trailers,
                        (State::Length, Some(length)) => State::Chunk(length),
                        _ => return Err(NotBody),
                    };
                }
            }
        }
    }

    /// Bytes follow that nobody sees. True: the body has ended.
    pub fn skip(&mut self, bytes: u64) -> Result<bool, NotBody> {
        match self.state {
            State::Rest => {}
            State::Bytes(left) | State::Chunk(left) if bytes <= left => self.advance(bytes),
            _ => return Err(NotBody),
        }
        Ok(self.state == State::Bytes(0))
    }

    fn advance(&mut self, bytes: u64) {
        self.state = match self.state {
            State::Bytes(left) => State::Bytes(left - bytes),
            State::Chunk(left) if left == bytes => State::ChunkEnd,
            State::Chunk(left) => State::Chunk(left - bytes),
            state => state,
        };
    }
}

/// The length in a chunk's first line: hexadecimal digits, which an extension may follow.
fn chunk_length(line: &[u8]) -> Option<u64> {
    let end = line.iter().position(|byte| !byte.is_ascii_hexdigit());
    let (digits, rest) = line.split_at(end.unwrap_or(line.len()));
    let has_extension = rest
        .trim_ascii_start()
        .first()
        .is_none_or(|&byte| byte == b';');
    let digits = str::from_utf8(digits).ok().filter(|_| has_extension)?;
    u64::from_str_radix(digits, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bytes belong to the body.
    fn length(mut body: Body, bytes: &[u8], size: usize) -> Result<usize, NotBody> {
        let mut read = 0;
        for mut part in bytes.chunks(size) {
            let before = part.len();
            let has_ended = body.read(&mut part)?;
            read += before - part.len();
            if has_ended {
                return Ok(read);
            }
        }
        Ok(usize::MAX)
    }

    #[test]
    fn bodies_end_by_length_or_last_chunk() {
        let chunks = b"5\r\nabc\r\n\r\nA ;x=\"y\"\r\n0123456789\r\n00\r\nTrailer: x\r\n\r\n";
        let bytes = [chunks, &b"GET / HTTP/1.1\r\n"[..]].concat();
        for size in 1..bytes.len() {
            assert_eq!(length(Body::of_chunks(), &bytes, size), Ok(chunks.len()));
            assert_eq!(length(Body::of_length(7), &bytes, size), Ok(7));
            assert_eq!(length(Body::of_rest(), &bytes, size), Ok(usize::MAX));
        }
        for wrong in [
            &b"x\r\n"[..],
            b"\r\n",
            b"1\r\nabc\r\n",
            b"-1\r\n",
            b"1x\r\n",
            b"11111111111111111\r\n",
        ] {
            assert_eq!(length(Body::of_chunks(), wrong, 2), Err(NotBody));
        }
    }

    #[test]
    fn bytes_that_nobody_sees_are_parts_of_the_body() {
        let mut body = Body::of_length(10);
        assert_eq!(body.skip(9), Ok(false));
        assert_eq!(body.skip(2), Err(NotBody));
        assert_eq!(body.skip(1), Ok(true));
        let mut body = Body::of_chunks();
        assert_eq!(body.skip(1), Err(NotBody));
        assert_eq!(body.read(&mut &b"a\r\n"[..]), Ok(false));
        assert_eq!(body.skip(10), Ok(false));
        assert_eq!(body.read(&mut &b"\r\n0\r\n\r\n"[..]), Ok(true));
    }
}
