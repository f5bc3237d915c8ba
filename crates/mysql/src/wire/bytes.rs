//! Integers and strings as the protocol writes them. mysql_common writes them, and does not read them: its
//! `ParseBuf` takes the length bytes 0xfb and 0xff for 0, where a malformed packet has to be refused.

use mysql_common::io::BufMutExt as _;

/// Appends a length-encoded integer.
#[inline]
pub fn put_lenenc(out: &mut Vec<u8>, n: u64) {
    out.put_lenenc_int(n);
}

/// Appends a length-encoded string.
#[inline]
pub fn put_lenenc_str(out: &mut Vec<u8>, text: &[u8]) {
    out.put_lenenc_str(text);
}

/// Appends an integer in decimal as a length-encoded string, without allocating.
#[inline]
pub fn put_lenenc_int_text(out: &mut Vec<u8>, magnitude: u64, negative: bool) {
    let mut digits = [0u8; 21];
    let mut at = digits.len();
    let mut rest = magnitude;
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if negative {
        at -= 1;
        digits[at] = b'-';
    }
    put_lenenc_str(out, &digits[at..]);
}

/// Reads a packet from front to back. A read past its end, or of a malformed length, is `None`.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    rest: &'a [u8],
}

impl<'a> Cursor<'a> {
    /// Starts at the front.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The bytes that have not been read.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// The next `n` bytes.
    pub fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.rest.split_at_checked(n)?;
        self.rest = tail;
        Some(head)
    }

    /// The next `N` bytes as an array.
    pub fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    /// One byte.
    pub fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[b]| b)
    }

    /// Two bytes, little endian.
    pub fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    /// Four bytes, little endian.
    pub fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Eight bytes, little endian.
    pub fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length-encoded integer.
    pub fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            n @ 0..=250 => Some(u64::from(n)),
            0xfc => self.u16().map(u64::from),
            0xfd => self
                .array::<3>()
                .map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xfe => self.u64(),
            _ => None,
        }
    }

    /// A length-encoded string.
    pub fn lenenc_str(&mut self) -> Option<&'a [u8]> {
        let n = self.lenenc()?;
        self.take(usize::try_from(n).ok()?)
    }

    /// A string up to its zero byte, which is read too.
    pub fn null_str(&mut self) -> Option<&'a [u8]> {
        let n = self.rest.iter().position(|&b| b == 0)?;
        let text = self.take(n)?;
        self.take(1)?;
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lenenc_survives_the_round_trip() {
        for n in [
            0,
            250,
            251,
            0xffff,
            0x1_0000,
            0xff_ffff,
            0x100_0000,
            u64::MAX,
        ] {
            let mut out = Vec::new();
            put_lenenc(&mut out, n);
            let mut cursor = Cursor::new(&out);
            assert_eq!(cursor.lenenc(), Some(n));
            assert!(cursor.rest().is_empty());
            assert_eq!(Cursor::new(&out[..out.len() - 1]).lenenc(), None);
        }
    }

    #[test]
    fn malformed_lengths_are_refused() {
        for packet in [&[0xfb, b'a'][..], &[0xff, b'a'], &[5, b'a'], &[0xfe; 9]] {
            assert_eq!(Cursor::new(packet).lenenc_str(), None, "{packet:?}");
        }
        assert_eq!(Cursor::new(b"no zero byte").null_str(), None);
    }

    #[test]
    fn integers_print_as_text() {
        for (n, text) in [(0i64, "0"), (-1, "-1"), (i64::MIN, "-9223372036854775808")] {
            let mut out = Vec::new();
            put_lenenc_int_text(&mut out, n.unsigned_abs(), n < 0);
            assert_eq!(&out[1..], text.as_bytes());
        }
        let mut out = Vec::new();
        put_lenenc_int_text(&mut out, u64::MAX, false);
        assert_eq!(&out[1..], b"18446744073709551615");
    }
}
