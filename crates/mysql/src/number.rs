//! The number that a text begins with, as MySQL reads it where it wants one.
//!
//! A text may have 64 MiB of digits: those that decide neither a double nor an integer are not read.

/// Digits of a double's decimal text that can decide how it is rounded (a double's exact value has 767), and
/// one digit in place of all that follow.
const MAX_DIGITS: usize = 800;

/// Bytes of a number that is parsed unshortened: a sign, [`MAX_DIGITS`], a point and an exponent.
const MAX_PARSED_BYTES: usize = MAX_DIGITS + 32;

/// A number as a text has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Number<'t> {
    /// The complete number; empty if there is none.
    text: &'t str,
    /// Digits before the point.
    integer: &'t str,
    /// Digits behind the point.
    fraction: &'t str,
    /// The exponent with its sign; empty if there is none.
    exponent: &'t str,
    /// What follows.
    rest: &'t [u8],
}

/// Where bytes of a kind end that begin at `from`.
fn end_of(bytes: &[u8], from: usize, is: fn(&u8) -> bool) -> usize {
    let bytes = bytes.get(from..).unwrap_or_default();
    from + bytes.iter().take_while(|b| is(b)).count()
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

impl<'t> Number<'t> {
    /// The number at the beginning of a text, after spaces.
    pub fn of(text: &'t [u8]) -> Self {
        let bytes = &text[end_of(text, 0, is_space)..];
        let digits = |from: usize| end_of(bytes, from, u8::is_ascii_digit);
        let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'-' | b'+')));
        // SAFETY: of signs, digits, a point and an `e`, which are ASCII.
        let part = |from: usize, to: usize| unsafe { str::from_utf8_unchecked(&bytes[from..to]) };
        let first = sign(0);
        let point = digits(first);
        let (fraction, mut end) = match bytes.get(point) {
            Some(b'.') => (point + 1, digits(point + 1)),
            _ => (point, point),
        };
        if point == first && end <= fraction {
            return Self {
                rest: bytes,
                ..Self::default()
            };
        }
        let mut number = Self {
            integer: part(first, point),
            fraction: part(fraction, end),
            ..Self::default()
        };
        if matches!(bytes.get(end), Some(b'e' | b'E')) {
            let from = end + 1 + sign(end + 1);
            let exponent = digits(from);
            if exponent > from {
                number.exponent = part(end + 1, exponent);
                end = exponent;
            }
        }
        number.text = part(0, end);
        number.rest = &bytes[end..];
        number
    }

    /// The same, without a point and an exponent.
    pub fn of_integer(text: &'t [u8]) -> Self {
        let bytes = &text[end_of(text, 0, is_space)..];
        let first = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
        let end = end_of(bytes, first, u8::is_ascii_digit);
        if end == first {
            return Self {
                rest: bytes,
                ..Self::default()
            };
        }
        // SAFETY: a sign and digits are ASCII.
        let text = unsafe { str::from_utf8_unchecked(&bytes[..end]) };
        Self {
            text,
            integer: &text[first..],
            rest: &bytes[end..],
            ..Self::default()
        }
    }

    /// Its text; empty if there is no number.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Whether there is one, and nothing but spaces follows it.
    pub fn is_all(&self) -> bool {
        !self.text.is_empty() && end_of(self.rest, 0, is_space) == self.rest.len()
    }

    /// The nearest double, and 0 where there is no number.
    pub fn double(&self) -> f64 {
        match self.text.len() {
            0 => 0.0,
            1..=MAX_PARSED_BYTES => self.text.parse().unwrap_or(0.0),
            _ => self.shortened().parse().unwrap_or(0.0),
        }
    }

    /// The nearest integer, and 0 where there is no number.
    pub fn int(&self) -> i64 {
        let parsed = match self.text.len() {
            0 => return 0,
            1..=MAX_PARSED_BYTES => self.text.parse().ok(),
            _ => None,
        };
        parsed.unwrap_or_else(|| self.double().round() as i64)
    }

    /// The digits before the point as 64 bits: the largest number if they are too many, and the complement of a
    /// negative number.
    pub fn bits(&self) -> i64 {
        let n = match self.significant() {
            "" => 0,
            digits => digits.parse().unwrap_or(u64::MAX),
        };
        match self.is_negative() {
            true => (n as i64).wrapping_neg(),
            false => n as i64,
        }
    }

    /// Whether it has a minus.
    pub(crate) fn is_negative(&self) -> bool {
        self.text.starts_with('-')
    }

    /// Digits before the point without the zeros that they begin with.
    pub(crate) fn significant(&self) -> &'t str {
        &self.integer[zeros(self.integer)..]
    }

    /// Digits behind the point.
    pub(crate) fn fraction(&self) -> &'t str {
        self.fraction
    }

    /// The exponent with its sign; empty where there is none.
    pub(crate) fn exponent(&self) -> &'t str {
        self.exponent
    }

    /// A number that is the same to a double.
    fn shortened(&self) -> String {
        let integer = self.significant();
        // The point's place, counted from the first digit that is not 0.
        let (fraction, point) = match integer.len() {
            0 => {
                let zeros = zeros(self.fraction);
                (&self.fraction[zeros..], -(zeros as i64))
            }
            digits => (self.fraction, digits as i64),
        };
        let mut digits = String::with_capacity(MAX_DIGITS + 1);
        let mut more = false;
        for part in [integer, fraction] {
            let (head, tail) = part.split_at(part.len().min(MAX_DIGITS - digits.len()));
            digits.push_str(head);
            more = more || zeros(tail) < tail.len();
        }
        digits.push(if more { '1' } else { '0' });
        // Larger ones are all the same to a double.
        const MAX_EXPONENT: i64 = 1 << 40;
        let exponent = match self.exponent.parse::<i64>() {
            Ok(n) => n.clamp(-MAX_EXPONENT, MAX_EXPONENT),
            Err(_) if self.exponent.is_empty() => 0,
            Err(_) if self.exponent.starts_with('-') => -MAX_EXPONENT,
            Err(_) => MAX_EXPONENT,
        };
        let sign = if self.is_negative() { "-" } else { "" };
        format!("{sign}0.{digits}e{}", point + exponent)
    }
}

/// How many zeros digits begin with.
fn zeros(digits: &str) -> usize {
    end_of(digits.as_bytes(), 0, |b| *b == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> (&str, bool) {
        let number = Number::of(text.as_bytes());
        (number.text(), number.is_all())
    }

    #[test]
    fn the_number_at_the_beginning_of_a_text_is_read() {
        for (text, number, all) in [
            ("12.5x", "12.5", false),
            (" -7 ", "-7", true),
            ("+.5e-3", "+.5e-3", true),
            ("1e", "1", false),
            ("1e+", "1", false),
            ("1.", "1.", true),
            (".", "", false),
            ("-", "", false),
            ("", "", false),
            ("é1", "", false),
            ("1\u{a0}", "1", false),
        ] {
            assert_eq!(read(text), (number, all), "{text:?}");
        }
        assert_eq!(Number::of(b"9223372036854775807 \xff").int(), i64::MAX);
        assert_eq!(Number::of(b"-1e30").int(), i64::MIN);
        assert_eq!(Number::of(b"2.5").int(), 3);
        assert_eq!(Number::of(b"x").double(), 0.0);
        for (text, bits, all) in [
            ("-12 ", -12, true),
            ("18446744073709551616", -1, true),
            ("1e3", 1, false),
            ("-.5", 0, false),
        ] {
            let number = Number::of_integer(text.as_bytes());
            assert_eq!((number.bits(), number.is_all()), (bits, all), "{text}");
        }
    }

    #[test]
    fn numbers_of_a_million_digits_are_doubles() {
        let nines = "9".repeat(1 << 20);
        let zeros = "0".repeat(1 << 20);
        let double = |text: &str| Number::of(text.as_bytes()).double();
        assert_eq!(double(&nines), f64::INFINITY);
        assert_eq!(double(&format!("-{nines}")), f64::NEG_INFINITY);
        assert_eq!(double(&format!("{nines}e-{}", nines.len())), 1.0);
        assert_eq!(double(&format!("{zeros}12.5{zeros}")), 12.5);
        assert_eq!(double(&format!("0.{zeros}25e{}", zeros.len())), 0.25);
        assert_eq!(double(&format!("1e{nines}")), f64::INFINITY);
        assert_eq!(double(&format!("{nines}e-{nines}")), 0.0);
        assert_eq!(double(&zeros), 0.0);
        assert_eq!(Number::of(format!("{zeros}7").as_bytes()).int(), 7);
    }

    proptest::proptest! {
        /// The result is the double that Rust reads from the unshortened text.
        #[test]
        fn a_shortened_number_is_the_same_double(
            text in "-?[0-9]{0,40}(00000){0,300}[0-9]{1,900}(\\.[0-9]{0,900})?(e[+-]?[0-9]{1,3})?",
        ) {
            let number = Number::of(text.as_bytes());
            proptest::prop_assert_eq!(number.text(), &text);
            proptest::prop_assert_eq!(number.shortened().parse::<f64>(), text.parse::<f64>());
        }
    }
}
