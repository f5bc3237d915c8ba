//! FLOAT and DOUBLE: the doubles that a column can store.

use crate::types::parts;

/// A column type whose values are doubles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Real {
    /// It has no sign.
    pub unsigned: bool,
    /// FLOAT: single precision.
    pub single: bool,
    /// Digits, and how many of them are behind the point: `DOUBLE(10,3)`.
    pub digits: Option<(u8, u8)>,
}

impl Real {
    /// Parses a type such as `double(10,3) unsigned`; `None` for a type without doubles.
    pub fn of(column_type: &str) -> Option<Self> {
        let parts = parts(column_type);
        matches!(parts.base.as_str(), "float" | "double").then(|| Self {
            unsigned: parts.unsigned,
            single: parts.base == "float",
            digits: parts.fixed(),
        })
    }

    /// A value rounded to the digits of the column.
    pub fn rounded(&self, x: f64) -> f64 {
        let Some((_, scale)) = self.digits else {
            return x;
        };
        let power = 10f64.powi(scale.into());
        // As in MySQL, only the digits behind the point are rounded, half to even.
        match x.is_finite() {
            true => x.floor() + ((x - x.floor()) * power).round_ties_even() / power,
            false => x,
        }
    }

    /// The least and the greatest value.
    pub fn bounds(&self) -> (f64, f64) {
        let most = match self.single {
            true => f64::from(f32::MAX),
            false => f64::MAX,
        };
        let most = match self.digits {
            Some((digits, scale)) => {
                let integer_digits = i32::from(digits) - i32::from(scale);
                most.min(10f64.powi(integer_digits) - 10f64.powi(-i32::from(scale)))
            }
            None => most,
        };
        (if self.unsigned { 0.0 } else { -most }, most)
    }

    /// A rounded value within the bounds, as it is stored.
    pub fn stored(&self, x: f64) -> f64 {
        match self.single {
            true => f64::from(x as f32),
            false => x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(column_type: &str, x: f64) -> f64 {
        let real = Real::of(column_type).expect("a double");
        real.stored(real.rounded(x))
    }

    #[test]
    fn a_column_has_its_digits() {
        assert_eq!(stored("double", 0.1), 0.1);
        assert_eq!(stored("float", 0.1), 0.100_000_001_490_116_12);
        assert_eq!(stored("float", 16_777_217.0), 16_777_216.0);
        assert_eq!(stored("float(10,3)", 1_234_567.891_5), 1_234_567.875);
        assert_eq!(stored("double(10,3)", 0.001_5), 0.002);
        assert_eq!(stored("double(10,3)", -0.000_5), 0.0);
        assert_eq!(Real::of("decimal(10,3)"), None);
    }

    #[test]
    fn a_column_has_its_bounds() {
        let bounds = |t| Real::of(t).expect("a double").bounds();
        assert_eq!(bounds("double unsigned"), (0.0, f64::MAX));
        assert_eq!(bounds("float").1, 3.402_823_466_385_288_6e38);
        assert_eq!(bounds("double(10,3)"), (-9_999_999.999, 9_999_999.999));
        assert_eq!(bounds("float(4,0) unsigned"), (0.0, 9999.0));
    }
}
