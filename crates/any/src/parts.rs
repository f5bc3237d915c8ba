//! Bytes that come in parts of any size.

/// Takes the first bytes of a part, up to so many. `part` and `left` have then what is left of them.
#[inline]
pub fn take<'p>(part: &mut &'p [u8], left: &mut u64) -> &'p [u8] {
    let length = part.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
    let (taken, rest) = part.split_at(length);
    *part = rest;
    *left -= length as u64;
    taken
}

/// Appends bytes, as far as there is space for so many.
#[inline]
pub fn append_cut(into: &mut Vec<u8>, bytes: &[u8], most: usize) {
    let space = most.saturating_sub(into.len());
    into.extend_from_slice(&bytes[..bytes.len().min(space)]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_taken_and_cut() {
        let (mut part, mut left) = (&b"abcde"[..], 3);
        assert_eq!(
            (take(&mut part, &mut left), part, left),
            (&b"abc"[..], &b"de"[..], 0)
        );
        assert_eq!(take(&mut part, &mut left), b"");
        left = u64::MAX;
        assert_eq!(
            (take(&mut part, &mut left), part, left),
            (&b"de"[..], &b""[..], u64::MAX - 2)
        );
        let mut text = b"ab".to_vec();
        append_cut(&mut text, b"cde", 4);
        append_cut(&mut text, b"f", 1);
        assert_eq!(text, b"abcd");
    }
}
