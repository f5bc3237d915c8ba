//! DECIMAL: exact numbers of up to 65 digits, with MySQL's rules for digits behind the point.
//!
//! A value is a text like `-12.50`. SQLite stores it so, in columns whose collation is [`compare`]: they
//! sort and group as numbers, and an index finds them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::str::FromStr;

use bigdecimal::num_bigint::{BigInt, Sign};
use bigdecimal::{BigDecimal, RoundingMode, Zero};

use crate::number::Number;

/// Digits of one of MySQL's words, and words of a number.
const WORD: i64 = 9;
const WORDS: i64 = 9;

/// An exact number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decimal(BigDecimal);

impl Decimal {
    /// Reads a text. `None` if it is not a number.
    pub fn parse(text: &str) -> Option<Self> {
        let number = Number::of(text.as_bytes());
        number.is_all().then(|| Self::of(&number)).flatten()
    }

    /// Reads the number at the beginning of a text, and 0 if there is none. Returns whether that was the complete
    /// text.
    pub fn prefix(text: &[u8]) -> (Self, bool) {
        let number = Number::of(text);
        if let Some(decimal) = Self::of(&number) {
            return (decimal, number.is_all());
        }
        // If the exponent is too large, only its first digits are read.
        let written = number.text().as_bytes();
        let decimal = (1..written.len()).rev().take(7).find_map(|n| {
            let shorter = Number::of(&written[..n]);
            shorter.is_all().then(|| Self::of(&shorter)).flatten()
        });
        (decimal.unwrap_or_else(|| Self::from(0i64)), false)
    }

    /// `None` if there is no number, or if its exponent means gigabytes of zeros.
    fn of(number: &Number<'_>) -> Option<Self> {
        let exponent = number.exponent();
        let is_far = |n: i64| n.unsigned_abs() > 400;
        if number.text().is_empty() || !exponent.is_empty() && exponent.parse().map_or(true, is_far)
        {
            return None;
        }
        let text = shortened(number);
        let text = text.strip_suffix('.').unwrap_or(&text);
        BigDecimal::from_str(text).ok().map(Self::unfolded)
    }

    /// The shortest number that reads as this double; `None` for one that is infinite.
    pub fn from_double(x: f64) -> Option<Self> {
        if !x.is_finite() {
            return None;
        }
        BigDecimal::from_str(&format!("{x}"))
            .ok()
            .map(Self::unfolded)
    }

    /// The number without an exponent: its scale is not negative.
    fn unfolded(number: BigDecimal) -> Self {
        let (_, scale) = number.as_bigint_and_exponent();
        Self(if scale < 0 {
            number.with_scale(0)
        } else {
            number
        })
    }

    /// Digits behind the point.
    pub fn scale(&self) -> i64 {
        self.0.fractional_digit_count()
    }

    /// Digits before the point; none of a number below 1.
    pub fn integer_digits(&self) -> i64 {
        if self.0.is_zero() {
            return 0;
        }
        (self.0.digits() as i64 - self.scale()).max(0)
    }

    /// As DECIMAL is written.
    pub fn text(&self) -> String {
        // -0.00 is 0.00.
        if self.0.is_zero() {
            return BigDecimal::new(BigInt::zero(), self.scale()).to_plain_string();
        }
        self.0.to_plain_string()
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.0.is_zero()
    }

    /// Whether it is below 0.
    pub fn is_negative(&self) -> bool {
        self.0.sign() == Sign::Minus
    }

    /// The nearest double.
    pub fn to_double(&self) -> f64 {
        self.text().parse().unwrap_or(0.0)
    }

    /// The integer that it is; `None` beyond 128 bits, or with digits behind the point.
    pub fn to_integer(&self) -> Option<i128> {
        let (integer, rest) = self.truncated(0).0.into_bigint_and_exponent();
        (rest == 0).then(|| i128::try_from(integer).ok()).flatten()
    }

    /// Rounded to a number of digits, half away from zero; a negative number rounds digits before the point.
    #[must_use]
    pub fn rounded(&self, digits: i64) -> Self {
        self.scaled(digits, RoundingMode::HalfUp)
    }

    /// Truncated to a number of digits.
    #[must_use]
    pub fn truncated(&self, digits: i64) -> Self {
        self.scaled(digits, RoundingMode::Down)
    }

    /// The next integer below.
    #[must_use]
    pub fn floor(&self) -> Self {
        self.scaled(0, RoundingMode::Floor)
    }

    /// The next integer above.
    #[must_use]
    pub fn ceil(&self) -> Self {
        self.scaled(0, RoundingMode::Ceiling)
    }

    fn scaled(&self, digits: i64, mode: RoundingMode) -> Self {
        Self::unfolded(self.0.with_scale_round(digits, mode))
    }

    /// The most digits behind the point that MySQL's words allow.
    pub fn max_scale(&self) -> i64 {
        let digits = self.integer_digits();
        (WORDS - digits.div_euclid(WORD) - i64::from(digits % WORD > 0)).max(0) * WORD
    }

    /// The number in MySQL's words: with fewer digits behind the point, or `None` if the digits before it do not
    /// fit.
    fn fitted(self) -> Option<Self> {
        let words = |digits: i64| digits.max(0).div_euclid(WORD) + i64::from(digits % WORD > 0);
        let integer_words = words(self.integer_digits());
        if integer_words > WORDS {
            return None;
        }
        let max_scale = (WORDS - integer_words) * WORD;
        Some(if words(self.scale()) * WORD > max_scale {
            self.truncated(max_scale)
        } else {
            self
        })
    }

    /// A sum with the scale of the longer number, which the library drops for a zero.
    fn with_longer_scale(&self, other: &Self, sum: BigDecimal) -> Self {
        Self(sum.with_scale(self.scale().max(other.scale())))
    }

    /// The sum; `None` where it is too large.
    pub fn plus(&self, other: &Self) -> Option<Self> {
        self.with_longer_scale(other, &self.0 + &other.0).fitted()
    }

    /// The difference; `None` where it is too large.
    pub fn minus(&self, other: &Self) -> Option<Self> {
        self.with_longer_scale(other, &self.0 - &other.0).fitted()
    }

    /// The product; `None` where it is too large.
    pub fn times(&self, other: &Self) -> Option<Self> {
        let digits = self.scale() + other.scale();
        Self((&self.0 * &other.0).with_scale(digits)).fitted()
    }

    /// The quotient, which has `more` digits behind the point than the dividend, and the rest of
    /// the last word; `None` where it is too large. The divisor is not 0.
    pub fn over(&self, divisor: &Self, more: i64) -> Option<Self> {
        let up = |digits: i64| digits.div_euclid(WORD) * WORD + i64::from(digits % WORD > 0) * WORD;
        let (a, b) = (up(self.scale()), up(divisor.scale()));
        let more = (more - (a - self.scale()) - (b - divisor.scale())).max(0);
        let digits = up(a + b + more);
        let shift = digits + divisor.scale() - self.scale();
        let (n, _) = self.0.as_bigint_and_exponent();
        let (d, _) = divisor.0.as_bigint_and_exponent();
        let ten = |by: i64| BigInt::from(10).pow(by.unsigned_abs() as u32);
        let quotient = if shift >= 0 {
            n * ten(shift) / d
        } else {
            n / (d * ten(shift))
        };
        Self(BigDecimal::new(quotient, digits)).fitted()
    }

    /// The integer quotient. The divisor is not 0.
    #[must_use]
    pub fn div(&self, divisor: &Self) -> Self {
        let (mine, theirs) = (self.scale(), divisor.scale());
        let scale = mine.max(theirs);
        let unscaled = |d: &Self| d.0.with_scale(scale).into_bigint_and_exponent().0;
        Self(BigDecimal::new(unscaled(self) / unscaled(divisor), 0))
    }

    /// The remainder, with the dividend's sign. The divisor is not 0.
    #[must_use]
    pub fn remainder(&self, divisor: &Self) -> Self {
        let scale = self.scale().max(divisor.scale());
        let unscaled = |d: &Self| d.0.with_scale(scale).into_bigint_and_exponent().0;
        Self(BigDecimal::new(unscaled(self) % unscaled(divisor), scale))
    }

    /// The number with the other sign.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self(-&self.0)
    }

    /// The number without its sign.
    #[must_use]
    pub fn abs(&self) -> Self {
        Self(self.0.abs())
    }
}

impl From<i64> for Decimal {
    fn from(n: i64) -> Self {
        Self(BigDecimal::from(n))
    }
}

impl From<i128> for Decimal {
    fn from(n: i128) -> Self {
        Self(BigDecimal::from(n))
    }
}

/// The limit of digits before the point, and behind it: [`WORDS`] have 81, and more change no result. The time of
/// reading grows with the square of their number.
const DIGITS: usize = 400;

/// A number with at most [`DIGITS`] digits on each side. A larger number becomes nines, which are out of range as
/// well.
fn shortened<'t>(number: &Number<'t>) -> Cow<'t, str> {
    if number.text().len() <= DIGITS {
        return number.text().into();
    }
    let (integer, fraction) = (number.significant(), number.fraction());
    let nines = "9".repeat(DIGITS);
    let integer = if integer.len() > DIGITS {
        &nines
    } else {
        integer
    };
    let fraction = &fraction[..fraction.len().min(DIGITS)];
    let sign = if number.is_negative() { "-" } else { "" };
    let point = if fraction.is_empty() { "" } else { "." };
    let mark = if number.exponent().is_empty() {
        ""
    } else {
        "e"
    };
    format!(
        "{sign}0{integer}{point}{fraction}{mark}{}",
        number.exponent()
    )
    .into()
}

/// Sign, digits before the point without leading zeros, digits behind it without trailing ones.
/// `None` for a text that is not a DECIMAL, or is longer than any.
fn parts(text: &[u8]) -> Option<(bool, &[u8], &[u8])> {
    if text.len() > 2 * DIGITS {
        return None;
    }
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        all => (false, all),
    };
    let point = digits.iter().position(|c| *c == b'.');
    let (integer, fraction) = match point {
        Some(at) => (&digits[..at], &digits[at + 1..]),
        None => (digits, &[][..]),
    };
    if integer.is_empty() && fraction.is_empty()
        || !integer.iter().chain(fraction).all(u8::is_ascii_digit)
    {
        return None;
    }
    let first = integer
        .iter()
        .position(|c| *c != b'0')
        .unwrap_or(integer.len());
    let last = fraction
        .iter()
        .rposition(|c| *c != b'0')
        .map_or(0, |i| i + 1);
    let (integer, fraction) = (&integer[first..], &fraction[..last]);
    Some((
        negative && !(integer.is_empty() && fraction.is_empty()),
        integer,
        fraction,
    ))
}

/// Compares two numbers, each written as DECIMAL is. Other texts are the number that they begin with, or 0, as
/// in MySQL.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (Some(x), Some(y)) = (parts(a), parts(b)) else {
        let read = |t: &[u8]| Decimal::prefix(t).0;
        return read(a).0.cmp(&read(b).0);
    };
    let size = |(_, integer, fraction): &(bool, &[u8], &[u8]), other: &(bool, &[u8], &[u8])| {
        let lengths = integer.len().cmp(&other.1.len());
        lengths
            .then_with(|| (*integer).cmp(other.1))
            .then_with(|| (*fraction).cmp(other.2))
    };
    match (x.0, y.0) {
        (false, true) => Ordering::Greater,
        (true, false) => Ordering::Less,
        (false, false) => size(&x, &y),
        (true, true) => size(&y, &x),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(text: &str) -> Decimal {
        Decimal::parse(text).expect(text)
    }

    #[test]
    fn arithmetic_is_exact() {
        assert_eq!(d("0.1").plus(&d("0.2")).unwrap().text(), "0.3");
        assert_eq!(d("0").plus(&d("1.00")).unwrap().text(), "1.00");
        assert_eq!(d("1").minus(&d("0.000")).unwrap().text(), "1.000");
        assert_eq!(d("0").times(&d("1.50")).unwrap().text(), "0.00");
        assert_eq!(d("1.50").times(&d("2.0")).unwrap().text(), "3.000");
        assert_eq!(d("1").over(&d("3"), 4).unwrap().text(), "0.333333333");
        assert_eq!(d("-7.5").div(&d("2")).text(), "-3");
        assert_eq!(d("-7.5").remainder(&d("2")).text(), "-1.5");
        assert_eq!(d("9e90").plus(&d("1")), None);
        let large = d("12345678901234567890.1234567891");
        assert_eq!(large.text(), "12345678901234567890.1234567891");
    }

    /// Found by `make fuzz`: these took hours, or overflowed.
    #[test]
    fn exponents_are_small_integers() {
        for text in [
            ".5E4000001000003.55",
            "1e-9223372036854775808",
            "1e4000000.5",
            "1e",
            "1e5e9",
        ] {
            assert_eq!(Decimal::parse(text), None, "{text}");
            Decimal::prefix(text.as_bytes());
        }
        // A text that is longer than any number is not read to its end.
        let long = "1".repeat(1 << 20);
        for text in [
            long.clone(),
            format!("-0.{long}"),
            format!("{long}.{long}x"),
        ] {
            let (decimal, _) = Decimal::prefix(text.as_bytes());
            assert!(decimal.integer_digits() <= 400 && decimal.scale() <= 400);
        }
    }

    #[test]
    fn long_numbers_have_fewer_digits_behind_the_point() {
        for (digits, scale) in [(0, 81), (1, 72), (9, 72), (10, 63), (49, 27), (65, 9)] {
            let number = if digits == 0 {
                "0.5".into()
            } else {
                "9".repeat(digits)
            };
            assert_eq!(d(&number).max_scale(), scale, "{number}");
        }
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (text, digits, rounded) in [
            ("1.115", 2, "1.12"),
            ("-1.115", 2, "-1.12"),
            ("0.5", 0, "1"),
            ("15", -1, "20"),
            ("1.2", 3, "1.200"),
            ("-0.4", 0, "0"),
        ] {
            assert_eq!(d(text).rounded(digits).text(), rounded, "{text}");
        }
        assert_eq!(d("-1.5").floor().text(), "-2");
        assert_eq!(d("-1.5").ceil().text(), "-1");
    }

    #[test]
    fn texts_compare_as_numbers() {
        let sorted = [
            "-10",
            "-9.5",
            "-0.01",
            "0.00",
            "0.1",
            "1",
            "1.05",
            "9",
            "10.0",
            "18446744073709551615",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(compare(a.as_bytes(), b.as_bytes()), i.cmp(&j), "{a} {b}");
            }
        }
        for (a, b) in [
            ("1", "1.000"),
            ("-0", "0"),
            ("01.5", "1.50"),
            ("1e2", "100"),
            ("x", "0"),
        ] {
            assert_eq!(
                compare(a.as_bytes(), b.as_bytes()),
                Ordering::Equal,
                "{a} {b}"
            );
        }
    }

    #[test]
    fn the_decimal_at_the_beginning_of_a_text_is_read() {
        for (text, number, all) in [
            ("12.5x", "12.5", false),
            ("x", "0", false),
            (" 7 ", "7", true),
            ("1e1", "10", true),
            ("1e", "1", false),
            ("-", "0", false),
        ] {
            let (decimal, is_all) = Decimal::prefix(text.as_bytes());
            assert_eq!((decimal.text().as_str(), is_all), (number, all), "{text}");
        }
    }
}
