//! What is left out, and why: each rule is a fact of MySQL 8.0.15 that Tare does not follow, and
//! docs/types.md says so.

use super::generate::Table;
use super::kinds::{Family, Kind};

/// Whether its values are doubles.
pub fn is_real(kind: &Kind) -> bool {
    kind.sql.starts_with("DOUBLE") || kind.sql.starts_with("FLOAT")
}

/// MySQL copies the bits of a column with the same width and the other sign: 4294967295 becomes -1
/// without a word, strict mode or not. Tare refuses it with error 1264.
pub fn copies_bits(to: &Kind, from: &Kind) -> bool {
    let width = |k: &Kind| k.sql.split(' ').next().unwrap_or_default().to_owned();
    let sign = |k: &Kind| k.sql.ends_with("UNSIGNED");
    to.family == Family::Number && width(to) == width(from) && sign(to) != sign(from)
}

/// An ENUM or a SET that is compared with numbers and texts in one IN or BETWEEN: MySQL makes doubles of
/// the texts, with a warning or an error.
pub fn mixes_members(kind: &Kind, a: &str, b: &str) -> bool {
    let is_text = |s: &str| s.starts_with('\'');
    kind.family == Family::Member && a != "NULL" && b != "NULL" && is_text(a) != is_text(b)
}

/// `time IN (NULL, ...)` finds nothing in MySQL, whatever follows, and `date IN (20200105, NULL)` neither.
pub fn is_lost_time(kind: &Kind, a: &str, b: &str) -> bool {
    matches!(kind.family, Family::Time | Family::Date) && (a == "NULL" || b == "NULL")
}

// A YEAR is compared with years alone: MySQL takes a number below 100 for one of two digits, even one that
// was computed. So the kind YEAR is a family of its own.

/// Products beyond 65 digits: MySQL drops digits of the factors before it multiplies them. Tare has all
/// digits, or error 1690.
pub fn multiplies(table: &Table, factor: &str) -> bool {
    let has = |kind: &str| table.columns.iter().any(|(_, k)| k.sql == kind);
    !(has("DECIMAL(65,30)") || factor.contains(" * ") && has("DECIMAL(30,10)"))
}

/// A text that is no date, compared with an indexed column in a statement that changes rows: MySQL
/// refuses it (1292) when it looks at the index, and not when it looks at the rows.
pub fn is_no_date(kind: &Kind, value: &str) -> bool {
    kind.family == Family::Date && ["'2021-13-01'", "'2021-01-01 25:00:00'"].contains(&value)
}

/// BETWEEN with a NULL: MySQL says NULL where one bound alone decides, or the other way round.
pub fn is_null_bound(a: &str, b: &str) -> bool {
    a == "NULL" || b == "NULL"
}

/// A number beyond a BIGINT column in BETWEEN and IN: MySQL takes its bits.
pub fn is_beyond(kind: &Kind, a: &str, b: &str) -> bool {
    let bounds = match kind.sql {
        "BIGINT UNSIGNED" => 0..=i128::from(u64::MAX),
        _ => i64::MIN.into()..=i64::MAX.into(),
    };
    let far = |s: &str| s.parse::<i128>().is_ok_and(|n| !bounds.contains(&n));
    kind.family == Family::Number && (far(a) || far(b))
}

/// A number in BETWEEN with a text and a number: MySQL compares doubles, in which 9223372036854775807 and the number before it
/// are equal.
pub fn mixes_numbers(kind: &Kind, a: &str, b: &str) -> bool {
    let is_text = |s: &str| s.starts_with('\'');
    kind.family == Family::Number && is_text(a) != is_text(b)
}

/// A date in IN or BETWEEN with a number and a text: MySQL compares texts, or finds rows without reason.
pub fn mixes_dates(kind: &Kind, a: &str, b: &str) -> bool {
    let is_text = |s: &str| s.starts_with('\'');
    kind.family == Family::Date && is_text(a) != is_text(b)
}

/// A number with a time, compared with a DATE: MySQL forgets the time.
pub fn has_time(kind: &Kind, value: &str) -> bool {
    kind.sql == "DATE" && value == "20200105010203"
}

/// `column = 'text' AND ...`: MySQL puts the text in the column's place on the other side, and compares
/// two texts as such, dates and binary strings among them.
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

/// `column = 5 AND column BETWEEN 18446744073709551614 AND 10`: MySQL puts 5 in the column's place, and compares it
/// with the bits of the bounds, -2 and 10.
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

/// CAST of a computed double to an integer: of 2 to the 63rd MySQL makes -9223372036854775808, and an error of what is
/// larger. Tare makes an error of both.
pub fn casts_computed_double(table: &Table, expression: &str) -> bool {
    let is_column = |c: &(String, &'static Kind)| c.0 == expression;
    let mut reals = table.columns.iter().filter(|c| is_real(c.1));
    !table.columns.iter().any(is_column) && reals.any(|c| expression.contains(c.0.as_str()))
}

/// SUM and AVG of doubles: MySQL adds one after the other, Tare keeps what is lost on the way.
///
/// MySQL also adds GREATEST and LEAST that are NULL, when they are doubles.
pub fn adds_doubles(table: &Table, function: &str) -> bool {
    matches!(function, "SUM" | "AVG") && table.columns.iter().any(|(_, k)| is_real(k))
}

/// Whether a column of FLOAT is in an expression.
///
/// CAST of a FLOAT beyond BIGINT to an integer: MySQL has -9223372036854775808, whatever the sign. GREATEST,
/// LEAST and COALESCE of a FLOAT and another number: MySQL shows six digits of the other one, too.
pub fn has_float(table: &Table, expression: &str) -> bool {
    let mut columns = table.columns.iter();
    columns.any(|(name, kind)| kind.sql == "FLOAT" && expression.contains(name.as_str()))
}

/// A DOUBLE copied to a DOUBLE(M,D) by an UPDATE: MySQL copies the bits, and does not see that it is out of
/// range or has more digits.
pub fn copies_double(to: &Kind, from: &Kind) -> bool {
    to.sql == "DOUBLE(10,3)" && from.sql == "DOUBLE"
}

/// DOUBLE(M,D) beside a number whose digits are known, too: MySQL takes them for equal where they differ by less than
/// half of the last digit. What is added to a double has no such digits.
pub fn unfixed(table: &Table, side: String) -> String {
    let mut columns = table.columns.iter();
    match columns.any(|(name, kind)| kind.sql == "DOUBLE(10,3)" && side.contains(name.as_str())) {
        true => format!("({side} + 0e0)"),
        false => side,
    }
}

/// ROUND of a whole number of 22 digits or more, as MySQL counts them: it makes a DECIMAL of it.
pub fn is_wide(expression: &str) -> bool {
    expression.starts_with("CAST") || expression.contains(" * ")
}

/// What may be -9223372036854775808 is not taken from a number as it is: 0 - -9223372036854775808 is
/// the smallest number again in MySQL, and error 1690 in Tare.
pub fn subtracted(table: &Table, operand: &str) -> String {
    let is_big = |c: &&(String, &Kind)| c.0 == operand && c.1.sql == "BIGINT";
    match table.columns.iter().find(is_big) {
        Some(_) => format!("NULLIF({operand}, -9223372036854775808)"),
        None => operand.to_owned(),
    }
}

/// Digits that an indexed column has no place for: MySQL rounds the literal when it looks at the index
/// (`tinyint >= -0.5` is `tinyint >= 0`, `tinyint = -0.5` finds -1), and not when it looks at the rows.
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

/// A double beyond a DECIMAL column: a statement that changes rows and looks at the column's index is error 1292 in MySQL.
pub fn is_no_decimal(kind: &Kind, value: &str) -> bool {
    let limit = match kind.sql {
        "DECIMAL(10,2)" => 1e8,
        "DECIMAL(30,10)" => 1e20,
        "DECIMAL(65,30)" => 1e35,
        _ => return false,
    };
    value.contains('e') && value.parse::<f64>().is_ok_and(|x| x.abs() >= limit)
}

/// A fraction of a second that an indexed column has no digits for: MySQL rounds it when it looks at the
/// index, and not when it looks at the rows.
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

/// Members of a SET in another order than its own: MySQL finds them by an index, and not in rows.
pub fn is_unordered(kind: &Kind, value: &str) -> bool {
    kind.family == Family::Member && value == "'z,x'"
}

/// MIN and MAX of an ENUM or a SET: in the order of its texts, or of its numbers where MySQL looks at an
/// index.
pub fn has_two_orders(kind: &Kind) -> bool {
    kind.family == Family::Member
}

/// MIN and MAX of texts: of equal ones (`E` and `é`) either may be the answer. They are compared.
pub fn has_equals(kind: &Kind) -> bool {
    kind.family == Family::Text
}

// COUNT of an expression that cannot be NULL: MySQL does not compute it, and does not see that it is out of
// range. Columns alone are counted.

/// An expression without a column. MySQL computes what is negated before it looks at a row, and says that
/// it is out of range even if there is none.
pub fn is_constant(expression: &str) -> bool {
    !expression.contains('c') && !expression.contains("id")
}

// The second operand of an operator whose first is NULL: MySQL does not compute it, and does not see that
// it is out of range. Second operands are columns and literals.

// An UPDATE of a unique key's column that changes several rows: which row is changed first decides whether a
// key is there twice for a while. One row is changed.

/// The sign of a zero, `-0`: MySQL keeps it in a DOUBLE, and finds that a row has changed by it, or that
/// two zeros are two groups. SQLite does not. What is added to 0 has none.
pub fn unsigned_zero(kind: &Kind, value: String) -> String {
    match is_real(kind) {
        true => format!("{value} + 0"),
        false => value,
    }
}
