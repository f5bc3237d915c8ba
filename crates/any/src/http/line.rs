//! Lines from parts of any size.

/// Bytes of a line that are stored.
pub const MAX_LINE_BYTES: usize = 4096;

/// How far headers were read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Headers {
    /// More follow.
    Incomplete,
    /// All of them.
    Complete,
    /// Up to one that stopped it.
    Stopped,
}

/// The letters with which the names of some headers begin: a bit for each.
#[derive(Clone, Copy)]
pub struct Letters(u32);

impl Letters {
    /// These, in lower case.
    pub const fn new(letters: &[u8]) -> Self {
        let (mut bits, mut at) = (0, 0);
        while at < letters.len() {
            bits |= 1 << (letters[at] - b'a');
            at += 1;
        }
        Self(bits)
    }

    /// Whether a byte is one of them, in any case.
    #[inline(always)]
    fn contain(self, byte: u8) -> bool {
        let number = (byte | 0x20).wrapping_sub(b'a');
        number < 26 && self.0 >> number & 1 != 0
    }
}

/// The positions of all line feeds in some bytes. Lines of headers are short: a search for each costs more than
/// to compare a block of bytes at a time.
struct LineFeeds<'b> {
    blocks: std::slice::Iter<'b, Block>,
    rest: Option<Block>,
    /// Where the block begins.
    at: usize,
    /// A bit for each byte of the block that is a line feed and was not returned.
    feeds: u32,
}

/// Bytes that are compared at once.
type Block = [u8; 16];

/// A bit for each byte of a block that is a line feed.
#[inline(always)]
fn feeds_of(block: &Block) -> u32 {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{
            _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
        };
        // SAFETY: each processor of this architecture has these instructions, and a block has 16 bytes.
        unsafe {
            let bytes = _mm_loadu_si128(block.as_ptr().cast());
            let feeds = _mm_cmpeq_epi8(bytes, _mm_set1_epi8(b'\n' as i8));
            _mm_movemask_epi8(feeds) as u32
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    {
        let bits = block.iter().enumerate();
        bits.fold(0, |feeds, (at, &byte)| {
            feeds | u32::from(byte == b'\n') << at
        })
    }
}

impl<'b> LineFeeds<'b> {
    fn new(bytes: &'b [u8]) -> Self {
        let (blocks, end) = bytes.as_chunks();
        let mut rest = [0; size_of::<Block>()];
        rest[..end.len()].copy_from_slice(end);
        Self {
            blocks: blocks.iter(),
            rest: Some(rest),
            at: 0usize.wrapping_sub(size_of::<Block>()),
            feeds: 0,
        }
    }
}

impl Iterator for LineFeeds<'_> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        while self.feeds == 0 {
            self.feeds = match self.blocks.next() {
                Some(block) => feeds_of(block),
                None => feeds_of(&self.rest.take()?),
            };
            self.at = self.at.wrapping_add(size_of::<Block>());
        }
        let first = self.feeds.trailing_zeros() as usize;
        self.feeds &= self.feeds - 1;
        Some(self.at + first)
    }
}

/// A line that is read.
#[derive(Debug, Default)]
pub struct Line {
    /// What earlier parts had of it.
    bytes: Vec<u8>,
    /// Whether the next part begins another line.
    is_done: bool,
}

impl Line {
    /// The next line, without its end, cut after [`MAX_LINE_BYTES`]. `part` has then what follows. `None`: the
    /// line does not end in this part.
    pub fn read<'a, 'p: 'a>(&'a mut self, part: &mut &'p [u8]) -> Option<&'a [u8]> {
        if std::mem::take(&mut self.is_done) {
            self.bytes.clear();
        }
        let Some(end) = memchr::memchr(b'\n', part) else {
            self.append(part);
            *part = &[];
            return None;
        };
        let line = &part[..end];
        *part = &part[end + 1..];
        self.is_done = true;
        let line = match self.bytes.is_empty() {
            true => line,
            false => {
                self.append(line);
                &self.bytes
            }
        };
        Some(without_end(line))
    }

    /// Reads headers. `take` is called with those whose names begin with one of these letters; false: it reads no more.
    /// `part` has then what follows.
    #[inline(always)]
    pub fn read_headers(
        &mut self,
        part: &mut &[u8],
        letters: Letters,
        mut take: impl FnMut(Header) -> bool,
    ) -> Headers {
        let mut take_line = |line: &[u8]| match line.first() {
            None => Some(Headers::Complete),
            // Most headers are of no interest.
            Some(&first) if !letters.contain(first) => None,
            Some(_) => (!take(Header(line))).then_some(Headers::Stopped),
        };
        if !self.is_done && !self.bytes.is_empty() {
            let Some(line) = self.read(part) else {
                return Headers::Incomplete;
            };
            if let Some(end) = take_line(line) {
                return end;
            }
        }
        let (all, mut start) = (*part, 0);
        for end in LineFeeds::new(all) {
            let line = &all[start..end];
            start = end + 1;
            // An empty line may have a carriage return.
            if line
                .first()
                .is_some_and(|&first| first != b'\r' && !letters.contain(first))
            {
                continue;
            }
            if let Some(end) = take_line(without_end(line)) {
                *part = &all[start..];
                return end;
            }
        }
        *part = &[];
        self.clear();
        self.append(&all[start..]);
        Headers::Incomplete
    }

    fn append(&mut self, part: &[u8]) {
        let space = MAX_LINE_BYTES - self.bytes.len();
        self.bytes.extend_from_slice(&part[..part.len().min(space)]);
    }

    /// Forgets what was read of a line.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.is_done = false;
    }
}

/// A line without its line end, cut.
fn without_end(line: &[u8]) -> &[u8] {
    let line = &line[..line.len().min(MAX_LINE_BYTES)];
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// The line of a header.
#[derive(Clone, Copy)]
pub struct Header<'l>(&'l [u8]);

impl<'l> Header<'l> {
    /// Its value, if this is its name, which most programs write so.
    #[inline(always)]
    pub fn value<const N: usize>(self, name: &[u8; N]) -> Option<&'l [u8]> {
        let (own, rest) = self.0.split_first_chunk::<N>()?;
        let value = rest.strip_prefix(b":")?;
        // An array of this size is compared in a few words.
        let is_named = own == name || own.eq_ignore_ascii_case(name);
        is_named.then(|| value.trim_ascii())
    }
}

/// A value that is a decimal number.
pub fn number(value: &[u8]) -> Option<u64> {
    let add = |number: u64, &byte: &u8| {
        let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
        number.checked_mul(10)?.checked_add(digit)
    };
    let number = value.iter().try_fold(0, add);
    number.filter(|_| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_the_same_in_parts_of_any_size_and_are_cut() {
        let long = "x".repeat(3 * MAX_LINE_BYTES);
        let text = format!("GET / HTTP/1.1\r\n\n{long}\r\n\r\nend\n");
        for size in [1, 2, 7, 1000, text.len()] {
            let (mut line, mut all) = (Line::default(), Vec::new());
            for mut part in text.as_bytes().chunks(size) {
                while !part.is_empty() {
                    if let Some(line) = line.read(&mut part) {
                        all.push(String::from_utf8_lossy(line).into_owned());
                    }
                }
                assert!(line.bytes.capacity() <= 2 * MAX_LINE_BYTES);
            }
            let expected = ["GET / HTTP/1.1", "", &long[..MAX_LINE_BYTES], "", "end"];
            assert_eq!(all, expected, "parts of {size}");
        }
    }

    #[test]
    fn each_line_feed_has_its_position() {
        let bytes: Vec<u8> = (0..=255).chain(*b"\n\n\x0b\x8a\n").collect();
        for start in 0..20 {
            for end in start..bytes.len() {
                let part = &bytes[start..end];
                let expected: Vec<_> = memchr::memchr_iter(b'\n', part).collect();
                assert_eq!(LineFeeds::new(part).collect::<Vec<_>>(), expected);
            }
        }
        let letters = Letters::new(b"az");
        let have = (0..=255).filter(|&byte| letters.contain(byte));
        assert_eq!(have.collect::<Vec<u8>>(), b"AZaz");
    }

    #[test]
    fn headers_have_names_and_values() {
        for line in [&b"Host:  a b "[..], b"hOST:a b", b"host:\ta b\t"] {
            assert_eq!(Header(line).value(b"Host"), Some(&b"a b"[..]));
        }
        for line in [&b"Host"[..], b"Host :a", b"Hos", b"Hosts:a", b":", b""] {
            assert_eq!(Header(line).value(b"Host"), None);
        }
        assert_eq!(number(b"17"), Some(17));
        for value in [&b""[..], b"-1", b"+1", b"1 ", b"18446744073709551616"] {
            assert_eq!(number(value), None);
        }
    }
}
