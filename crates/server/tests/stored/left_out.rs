//! Rules for what is not compared. Each rule is a behaviour of MySQL 8.0.15 that Tare does not copy;
//! docs/types.md lists them.

use super::generate::Table;
use super::kinds::{Family, Kind};

/// Whether a kind's values are doubles.
pub fn is_real(kind: &Kind) -> bool {
    kind.sql.starts_with("DOUBLE") || kind.sql.starts_with("FLOAT")
}

/// MySQL copies the bits between columns of the same width and different sign: 4294967295 becomes -1
/// without a warning, strict mode or not. Tare refuses it with error 1264.
pub fn copies_bits(to: &Kind, from: &Kind) -> bool {
    let width = |k: &Kind| k.sql.split(' ').next().unwrap_or_default().to_owned();
    let sign = |k: &Kind| k.sql.ends_with("UNSIGNED");
    to.family == Family::Number && width(to) == width(from) && sign(to) != sign(from)
}

/// An ENUM or a SET compared with numbers and texts in one IN or BETWEEN: MySQL converts the texts to
/// doubles, with a warning or an error.
pub fn mixes_members(kind: &Kind, a: &str, b: &str) -> bool {
    let is_text = |s: &str| s.starts_with('\'');
    kind.family == Family::Member && a != "NULL" && b != "NULL" && is_text(a) != is_text(b)
}

/// `time IN (NULL, ...)` matches nothing in MySQL, and `date IN (20200105, NULL)` neither.
pub fn is_lost_time(kind: &Kind, a: &str, b: &str) -> bool {
    matches!(kind.family, Family::Time | Family::Date) && (a == "NULL" || b == "NULL")
}

// A YEAR is compared with YEARs only: MySQL reads a number below 100 as a year of two digits, even a
// computed one. Hence the kind YEAR is a family of its own.

/// Products of more than 65 digits: MySQL drops digits of the factors before it multiplies them. Tare has all
/// digits, or error 1690.
pub fn multiplies(table: &Table, factor: &str) -> bool {
    let has = |kind: &str| table.columns.iter().any(|(_, k)| k.sql == kind);
    !(has("DECIMAL(65,30)") || factor.contains(" * ") && has("DECIMAL(30,10)"))
}

/// A text that is not a date, compared with an indexed column in a statement that changes rows: MySQL
/// refuses it (1292) when it uses the index, and not when it reads the rows.
pub fn is_no_date(kind: &Kind, value: &str) -> bool {
    kind.family == Family::Date && ["'2021-13-01'", "'2021-01-01 25:00:00'"].contains(&value)
}

/// The same, and a day that its month has not. MySQL 9.7 refuses them where they are compared with a date (1525),
/// and so does Tare if it serves as 9.7.
pub fn is_outside_of_calendar(kind: &Kind, value: &str) -> bool {
    is_no_date(kind, value) || kind.family == Family::Date && value.starts_with("'2020-02-30")
}

/// BETWEEN with a NULL: MySQL returns NULL where one bound decides, or the reverse.
pub fn is_null_bound(a: &str, b: &str) -> bool {
    a == "NULL" || b == "NULL"
}

/// A number out of a BIGINT column's range in BETWEEN and IN: MySQL uses its bits.
pub fn is_beyond(kind: &Kind, a: &str, b: &str) -> bool {
    let bounds = match kind.sql {
        "BIGINT UNSIGNED" => 0..=i128::from(u64::MAX),
        _ => i64::MIN.into()..=i64::MAX.into(),
    };
    let far = |s: &str| s.parse::<i128>().is_ok_and(|n| !bounds.contains(&n));
    kind.family == Family::Number && (far(a) || far(b))
}

/// A number in BETWEEN with a text and a number: MySQL compares doubles, in which 9223372036854775807 and the
/// number before it are equal.
pub fn mixes_numbers(kind: &Kind, a: &str, b: &str) -> bool {
    let is_text = |s: &str| s.starts_with('\'');
    kind.family == Family::Number && is_text(a) != is_text(b)
}

/// A date in IN or BETWEEN with a number and a text: MySQL compares texts, or matches rows that it should not.
pub fn mixes_dates(kind: &Kind, a: &str, b: &str) -> bool {
    let is_text = |s: &str| s.starts_with('\'');
    kind.family == Family::Date && is_text(a) != is_text(b)
}

/// A number with a time part, compared with a DATE: MySQL ignores the time.
pub fn has_time(kind: &Kind, value: &str) -> bool {
    kind.sql == "DATE" && value == "20200105010203"
}

/// `column = 'text' AND ...`: MySQL substitutes the text for the column on the other side, and compares two
/// texts as texts, also for dates and binary strings.
pub fn propagates(table: &Table, a: &str, b: &str) -> bool {
    let sets = |side: &str, name: &str| {
        ["= '", "= x'", "<=> '", "<=> x'"]
            .iter()
            .any(|op| side.contains(&format!("{name} {op}")))
    };
    table.columns.iter().any(|(name, _)| {
        sets(a, name) && b.contains(name.as_str()) || sets(b, name) && a.contains(name.as_str())
    })
}

/// `column = 5 AND column BETWEEN 18446744073709551614 AND 10`: MySQL substitutes 5 for the column, and compares
/// it with the bits of the bounds, -2 and 10.
pub fn propagates_bits(a: &str, b: &str) -> bool {
    let has_bits = |side: &str| {
        let bounds = side.split(" BETWEEN ").skip(1);
        bounds
            .flat_map(|rest| rest.split(' ').step_by(2).take(2))
            .any(|bound| {
                let number = bound.trim_matches(['(', ')']).parse::<i128>();
                number.is_ok_and(|n| n > i64::MAX.into())
            })
    };
    has_bits(a) || has_bits(b)
}

/// CAST of a computed double to an integer: MySQL converts 2 to the 63rd to -9223372036854775808, and refuses
/// larger ones. Tare refuses both.
pub fn casts_computed_double(table: &Table, expression: &str) -> bool {
    let is_column = |c: &(String, &'static Kind)| c.0 == expression;
    let mut reals = table.columns.iter().filter(|c| is_real(c.1));
    !table.columns.iter().any(is_column) && reals.any(|c| expression.contains(c.0.as_str()))
}

/// SUM and AVG of doubles: MySQL adds them in order, Tare compensates for rounding.
///
/// MySQL also adds GREATEST and LEAST that are NULL, if they are doubles.
pub fn adds_doubles(table: &Table, function: &str) -> bool {
    matches!(function, "SUM" | "AVG") && table.columns.iter().any(|(_, k)| is_real(k))
}

/// Whether a FLOAT column is in an expression.
///
/// CAST of a FLOAT beyond BIGINT to an integer: MySQL returns -9223372036854775808, whatever the sign. GREATEST,
/// LEAST and COALESCE of a FLOAT and another number: MySQL returns six digits of the other one too.
pub fn has_float(table: &Table, expression: &str) -> bool {
    let mut columns = table.columns.iter();
    columns.any(|(name, kind)| kind.sql == "FLOAT" && expression.contains(name.as_str()))
}

/// A DOUBLE that an UPDATE assigns to a DOUBLE(M,D): MySQL copies the bits, even if it is out of range or has
/// more digits.
pub fn copies_double(to: &Kind, from: &Kind) -> bool {
    to.sql == "DOUBLE(10,3)" && from.sql == "DOUBLE"
}

/// DOUBLE(M,D) compared with a number of known digits: MySQL finds them equal if they differ by less than half
/// of the last digit. The sum with a double has no such digits.
pub fn unfixed(table: &Table, side: String) -> String {
    let mut columns = table.columns.iter();
    match columns.any(|(name, kind)| kind.sql == "DOUBLE(10,3)" && side.contains(name.as_str())) {
        true => format!("({side} + 0e0)"),
        false => side,
    }
}

/// ROUND of an integer of 22 digits or more, as MySQL counts them: it converts it to a DECIMAL.
pub fn is_wide(expression: &str) -> bool {
    expression.starts_with("CAST") || expression.contains(" * ")
}

/// An expression that may be -9223372036854775808 is not subtracted unchanged: 0 - -9223372036854775808 is
/// the smallest number again in MySQL, and error 1690 in Tare.
pub fn subtracted(table: &Table, operand: &str) -> String {
    let is_big = |c: &&(String, &Kind)| c.0 == operand && c.1.sql == "BIGINT";
    match table.columns.iter().find(is_big) {
        Some(_) => format!("NULLIF({operand}, -9223372036854775808)"),
        None => operand.to_owned(),
    }
}

/// More digits than an indexed column has: MySQL rounds the literal when it uses the index
/// (`tinyint >= -0.5` is `tinyint >= 0`, `tinyint = -0.5` matches -1), and not when it reads the rows.
pub fn rounds(kind: &Kind, value: &str) -> bool {
    let scale = match kind.sql {
        "DECIMAL(10,2)" => 2,
        "DECIMAL(30,10)" => 10,
        "DECIMAL(65,30)" => 30,
        "DOUBLE(10,3)" => 3,
        "DOUBLE" => usize::MAX,
        "FLOAT" => return is_no_float(value),
        _ => 0,
    };
    let has = value
        .trim_matches('\'')
        .split_once('.')
        .map_or(0, |(_, f)| f.len());
    kind.family == Family::Number && has > scale
}

fn is_no_float(value: &str) -> bool {
    let number = value.trim_matches('\'').parse::<f64>();
    number.is_ok_and(|x| f64::from(x as f32) != x)
}

/// A double out of a DECIMAL column's range: error 1292 in MySQL in a statement that changes rows and uses the
/// column's index.
pub fn is_no_decimal(kind: &Kind, value: &str) -> bool {
    let limit = match kind.sql {
        "DECIMAL(10,2)" => 1e8,
        "DECIMAL(30,10)" => 1e20,
        "DECIMAL(65,30)" => 1e35,
        _ => return false,
    };
    value.contains('e') && value.parse::<f64>().is_ok_and(|x| x.abs() >= limit)
}

/// More digits of a second's fraction than an indexed column has: MySQL rounds when it uses the index, and
/// not when it reads the rows.
pub fn has_more_digits(kind: &Kind, value: &str) -> bool {
    let digits = match kind.sql {
        "DATETIME(3)" => 3,
        "TIMESTAMP(6) NULL" => 6,
        _ => 0,
    };
    let has = value
        .trim_matches('\'')
        .split_once('.')
        .map_or(0, |(_, f)| f.len());
    kind.family == Family::Date && has > digits
}

/// Members of a SET in another order than the SET's: MySQL matches them by an index, and not in rows.
pub fn is_unordered(kind: &Kind, value: &str) -> bool {
    kind.family == Family::Member && value == "'z,x'"
}

/// MIN and MAX of an ENUM or a SET: by their texts, or by their numbers if MySQL uses an index.
pub fn has_two_orders(kind: &Kind) -> bool {
    kind.family == Family::Member
}

/// MIN and MAX of texts: either of two equal ones (`E` and `é`) is right, so they are compared as equal.
pub fn has_equals(kind: &Kind) -> bool {
    kind.family == Family::Text
}

// COUNT of an expression that cannot be NULL: MySQL does not evaluate it, and so misses that it is out of
// range. Only columns are counted.

/// An expression without a column. MySQL evaluates what is negated before it reads a row, and reports that
/// it is out of range even if there is no row.
pub fn is_constant(expression: &str) -> bool {
    !expression.contains('c') && !expression.contains("id")
}

// The second operand of an operator whose first is NULL: MySQL does not evaluate it, and so misses that it
// is out of range. Second operands are columns and literals.

// An UPDATE of a unique key's column that changes several rows: their order decides whether a key is
// temporarily a duplicate. So only one row is changed.

/// The sign of a zero, `-0`: MySQL stores it in a DOUBLE, counts it as a change of the row, and as a group of
/// its own. SQLite does not. The sum with 0 has no sign.
pub fn unsigned_zero(kind: &Kind, value: String) -> String {
    match is_real(kind) {
        true => format!("{value} + 0"),
        false => value,
    }
}

/// ROUND of a double, and to more digits than a number has: the result has no fixed number of digits in 9.7,
/// which Tare follows.
pub fn has_real(table: &Table, expression: &str) -> bool {
    let real = table.columns.iter().filter(|(_, kind)| is_real(kind));
    real.into_iter()
        .any(|(name, _)| expression.contains(name.as_str()))
}
