//! Reads replies, of RESP2 and RESP3: where each ends, and what is in it that matters.

use std::mem;

use super::requests::read_length;
use crate::parts::{append_cut, take};

/// Bytes of a line that are stored: an error's text.
const MAX_LINE_BYTES: usize = 256;
/// Bytes of an array's first element that are stored: the kind of a message.
const MAX_WORD_BYTES: usize = 16;
/// Errors among an array's elements that are stored: a script may return any number.
const MAX_ERRORS: usize = 4096;

/// A reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reply {
    /// Its type: the first byte.
    pub kind: u8,
    /// The text of an error or a simple string.
    pub line: String,
    /// The first element of an array, if it is a string.
    pub word: Vec<u8>,
    /// The number of an array's elements.
    pub elements: u64,
    /// The texts of errors among the elements, with the numbers of these.
    pub errors: Vec<(u64, String)>,
}

impl Reply {
    /// Makes it as at the beginning. Memory for one line and one word serves the next reply.
    fn clear(&mut self) {
        self.line.clear();
        self.word.clear();
        (self.kind, self.elements) = (0, 0);
        if !self.errors.is_empty() {
            self.errors = Vec::new();
        }
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        matches!(self.kind, b'-' | b'!')
    }

    /// Whether it is a message that no command has requested.
    pub fn is_push(&self) -> bool {
        self.kind == b'>'
    }

    /// Whether it is a message of a channel, as RESP2 has it.
    pub fn is_message(&self) -> bool {
        self.kind == b'*' && matches!(&self.word[..], b"message" | b"pmessage" | b"smessage")
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Before an element.
    #[default]
    Start,
    /// In the line of an element of this type.
    Line(u8),
    /// In the bytes of an element, of which so many are left, with the line end.
    Bulk(u8, u64),
}

/// An array, map or set whose elements are being read.
#[derive(Clone, Copy, Debug)]
struct Open {
    left: u64,
    /// Attributes precede what they are about.
    is_attribute: bool,
}

/// What a connection sends is no reply.
#[derive(Debug, PartialEq, Eq)]
pub struct NotReplies;

/// Reads replies from parts of any size.
#[derive(Debug, Default)]
pub struct Parser {
    state: State,
    open: Vec<Open>,
    line: Vec<u8>,
    /// The number of the present element of the outermost array.
    element: u64,
    reply: Reply,
}

/// The deepest nesting that is read.
const MAX_DEPTH: usize = 128;

/// Moves behind the reply with which a part begins, if all of it is there and it is one string or number, of which
/// nothing is stored. False: it is not.
#[inline(always)]
fn skip_simple(part: &mut &[u8]) -> bool {
    let mut rest = *part;
    let end = match rest.first() {
        Some(b'$') => {
            let length = read_length(&mut rest, b'$');
            length.and_then(|length| rest.get(length + 2..))
        }
        Some(b':') => {
            let digits = rest.iter().skip(1).position(|byte| !byte.is_ascii_digit());
            let line_end = digits.and_then(|digits| rest.get(digits + 1..));
            line_end.and_then(|behind| behind.strip_prefix(b"\r\n"))
        }
        _ => None,
    };
    if let Some(end) = end {
        *part = end;
    }
    end.is_some()
}

/// Whether these bytes are one reply that says that its command has succeeded, and nothing else.
#[inline]
pub fn is_success(mut bytes: &[u8]) -> bool {
    bytes == b"+OK\r\n" || bytes == b"$-1\r\n" || skip_simple(&mut bytes) && bytes.is_empty()
}

impl Parser {
    /// Whether the next byte begins a reply.
    pub fn is_at_start(&self) -> bool {
        self.state == State::Start && self.open.is_empty()
    }

    /// Reads the next bytes, and calls `done` with each reply that they complete.
    pub fn read(
        &mut self,
        mut part: &[u8],
        mut done: impl FnMut(&Reply),
    ) -> Result<(), NotReplies> {
        while let Some(&byte) = part.first() {
            match self.state {
                State::Start if self.open.is_empty() && skip_simple(&mut part) => {
                    self.reply.kind = byte;
                    done(&self.reply);
                    self.reply.clear();
                }
                State::Start => {
                    if !b"+-:_#,($!=*~%>|".contains(&byte) {
                        return Err(NotReplies);
                    }
                    if self.open.is_empty() && byte != b'|' {
                        self.reply.kind = byte;
                    }
                    self.state = State::Line(byte);
                    part = &part[1..];
                }
                State::Line(kind) => {
                    let end = part.iter().position(|&byte| byte == b'\n');
                    let text = &part[..end.unwrap_or(part.len())];
                    append_cut(&mut self.line, text, MAX_LINE_BYTES);
                    part = &part[text.len()..];
                    if end.is_some() {
                        part = &part[1..];
                        self.end_line(kind, &mut done)?;
                    }
                }
                State::Bulk(kind, mut left) => {
                    self.store(kind, take(&mut part, &mut left));
                    self.state = State::Bulk(kind, left);
                    if left == 0 {
                        self.end_bulk(kind, &mut done);
                    }
                }
            }
        }
        Ok(())
    }

    fn end_line(&mut self, kind: u8, done: &mut impl FnMut(&Reply)) -> Result<(), NotReplies> {
        self.state = State::Start;
        let mut line = mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        match kind {
            b'$' | b'!' | b'=' | b'*' | b'~' | b'>' | b'%' | b'|' => {
                let number = std::str::from_utf8(&line)
                    .ok()
                    .and_then(|text| text.parse::<i64>().ok());
                let number = number.ok_or(NotReplies)?;
                // -1: nothing, in RESP2.
                match u64::try_from(number) {
                    Ok(number) if matches!(kind, b'$' | b'!' | b'=') => {
                        self.state = State::Bulk(kind, number.saturating_add(2));
                    }
                    Ok(number) => self.begin_array(kind, number, done)?,
                    Err(_) => {
                        if self.open.is_empty() {
                            self.reply.kind = b'_';
                        }
                        self.end_element(done);
                    }
                }
            }
            b'-' => {
                self.store_error(&line);
                self.end_element(done);
            }
            _ => {
                if self.open.is_empty() {
                    // Numbers and the like are not stored.
                    if kind == b'+' {
                        self.reply.line.push_str(&String::from_utf8_lossy(&line));
                    }
                } else if self.is_first_element() {
                    let word = &line[..line.len().min(MAX_WORD_BYTES)];
                    self.reply.word.extend_from_slice(word);
                }
                self.end_element(done);
            }
        }
        // Its memory serves the next line.
        line.clear();
        self.line = line;
        Ok(())
    }

    fn begin_array(
        &mut self,
        kind: u8,
        number: u64,
        done: &mut impl FnMut(&Reply),
    ) -> Result<(), NotReplies> {
        let left = match kind {
            b'%' | b'|' => number.saturating_mul(2),
            _ => number,
        };
        let is_attribute = kind == b'|';
        if self.open.is_empty() && !is_attribute {
            (self.reply.elements, self.element) = (left, 0);
        }
        match left {
            0 if is_attribute => {}
            0 => self.end_element(done),
            _ if self.open.len() == MAX_DEPTH => return Err(NotReplies),
            left => self.open.push(Open { left, is_attribute }),
        }
        Ok(())
    }

    fn is_first_element(&self) -> bool {
        self.element == 0
            && matches!(
                self.open[..],
                [Open {
                    is_attribute: false,
                    ..
                }]
            )
    }

    /// Stores a part of a string. The last two bytes, the line end, are cut later.
    fn store(&mut self, kind: u8, part: &[u8]) {
        if kind == b'!' {
            append_cut(&mut self.line, part, MAX_LINE_BYTES);
        } else if self.is_first_element() {
            append_cut(&mut self.reply.word, part, MAX_WORD_BYTES);
        }
    }

    fn end_bulk(&mut self, kind: u8, done: &mut impl FnMut(&Reply)) {
        self.state = State::Start;
        if kind == b'!' {
            let line = mem::take(&mut self.line);
            self.store_error(line.strip_suffix(b"\r\n").unwrap_or(&line));
        } else if self.is_first_element() && self.reply.word.ends_with(b"\r\n") {
            self.reply.word.truncate(self.reply.word.len() - 2);
        }
        self.end_element(done);
    }

    fn store_error(&mut self, line: &[u8]) {
        let text = String::from_utf8_lossy(line).into_owned();
        match self.open[..] {
            [] => self.reply.line = text,
            [
                Open {
                    is_attribute: false,
                    ..
                },
            ] if self.reply.errors.len() < MAX_ERRORS => {
                self.reply.errors.push((self.element, text));
            }
            _ => {}
        }
    }

    fn end_element(&mut self, done: &mut impl FnMut(&Reply)) {
        while let Some(open) = self.open.last_mut() {
            open.left -= 1;
            let Open { left, is_attribute } = *open;
            if left != 0 {
                if self.open.len() == 1 {
                    self.element += 1;
                }
                return;
            }
            self.open.pop();
            if is_attribute {
                return;
            }
        }
        done(&self.reply);
        self.reply.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::read_in_all_parts;

    fn replies(bytes: &[u8], size: usize) -> Result<Vec<Reply>, NotReplies> {
        let (mut parser, mut all) = (Parser::default(), Vec::new());
        for part in bytes.chunks(size) {
            parser.read(part, |reply| all.push(reply.clone()))?;
        }
        Ok(all)
    }

    #[test]
    fn parts_of_any_size_give_the_same_replies() {
        let bytes = b"+OK\r\n-ERR no such thing\r\n:42\r\n$-1\r\n$5\r\na\r\nbc\r\n*-1\r\n*0\r\n\
            *3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n>2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n\
            *3\r\n+OK\r\n-WRONGTYPE no\r\n*2\r\n:1\r\n-ERR inner\r\n%1\r\n+a\r\n:1\r\n\
            |1\r\n+ttl\r\n:3\r\n$2\r\nok\r\n!9\r\nERR bulky\r\n_\r\n#t\r\n,1.5\r\n(123\r\n=6\r\ntxt:ab\r\n";
        let once = replies(bytes, bytes.len()).expect("replies");
        let kinds: Vec<u8> = once.iter().map(|reply| reply.kind).collect();
        assert_eq!(kinds, b"+-:_$_**>*%$!_#,(=");
        assert_eq!(once[1].line, "ERR no such thing");
        assert!(once[7].is_message() && once[8].is_push() && !once[9].is_message());
        assert_eq!(
            (once[9].elements, &once[9].errors[..]),
            (3, &[(1, "WRONGTYPE no".to_owned())][..])
        );
        assert_eq!(
            (once[12].is_error(), once[12].line.as_str()),
            (true, "ERR bulky")
        );
        for size in 1..bytes.len() {
            assert_eq!(replies(bytes, size).as_ref(), Ok(&once), "parts of {size}");
        }
    }

    #[test]
    fn any_bytes_are_read_the_same_in_all_parts() {
        let pieces: &[&[u8]] = &[
            b"+OK\r\n",
            b"-ERR no\r\n",
            b":1\r\n",
            b"$2\r\nab\r\n",
            b"$-1\r\n",
            b"$9223372036854775807\r\n",
            b"!5\r\nERR x\r\n",
            b"*2\r\n",
            b"*0\r\n",
            b"*-1\r\n",
            b"*9223372036854775807\r\n",
            b"%1\r\n",
            b"%9223372036854775807\r\n",
            b"|1\r\n",
            b"~1\r\n",
            b">2\r\n",
            b"_\r\n",
            b"\n",
            b"\0\xff",
        ];
        read_in_all_parts(pieces, 300, |parts| {
            let (mut parser, mut all) = (Parser::default(), Vec::new());
            let is_read = parts
                .iter()
                .all(|part| parser.read(part, |reply| all.push(reply.clone())).is_ok());
            (all, is_read)
        });
    }

    #[test]
    fn arrays_that_never_end_take_bounded_memory() {
        for nested in [&b"*9\r\n"[..], b"|1\r\n", b"%9223372036854775807\r\n"] {
            let mut parser = Parser::default();
            let result = parser.read(&nested.repeat(10 * MAX_DEPTH), |_| {});
            assert_eq!(result, Err(NotReplies));
            assert_eq!(parser.open.len(), MAX_DEPTH);
        }
    }

    #[test]
    fn errors_of_an_array_are_limited() {
        let elements = MAX_ERRORS + 1;
        let bytes = format!("*{elements}\r\n{}", "-ERR x\r\n".repeat(elements));
        let all = replies(bytes.as_bytes(), 777).expect("replies");
        assert_eq!((all.len(), all[0].errors.len()), (1, MAX_ERRORS));
    }

    #[test]
    fn what_is_no_reply_is_recognised() {
        assert_eq!(replies(b"REDIS0011", 9), Err(NotReplies));
        assert_eq!(replies(b"$abc\r\n", 6), Err(NotReplies));
    }
}
