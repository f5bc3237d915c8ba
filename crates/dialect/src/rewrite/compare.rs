//! Comparisons. MySQL compares texts without case, and a text with a number as numbers. SQLite compares by
//! the affinity and collation of a table's column, and has neither for other expressions. Where these
//! suffice, an operand that is a table's column is not converted, so that SQLite uses its indexes.

use mysql_common::constants::ColumnType;
use sqlparser::ast::{BinaryOperator, DataType, Expr, GroupByExpr, Select, SelectItem, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::argument::number_literally;
use super::exact::plan::{document, exact_text};
use super::like::{Like, has_fixed_beginning, is_exact};
use super::operands::{is_comparison, operands};
use super::rewriter::{Conversion, Rewriter};
use crate::error::Result;
use crate::{function, node, types};

/// What decides how an operand is compared.
pub(super) struct Side {
    /// Its type, if it is known.
    wire: Option<WireType>,
    /// A table's own column, which has affinity and collation in SQLite.
    stored: bool,
    /// A column of a system schema, whose bytes are texts in SQLite.
    system: bool,
    /// A column of a table, a view or a derived table.
    column: bool,
    literal: bool,
    /// The operand has a COLLATE, or is bytes.
    bytes: bool,
}

impl Side {
    /// An operand that has been converted to a number.
    fn number() -> Self {
        Self {
            wire: Some(WireType::double()),
            stored: false,
            system: false,
            column: false,
            literal: false,
            bytes: false,
        }
    }

    /// Its type, if it is known.
    pub(super) fn wire(&self) -> Option<&WireType> {
        self.wire.as_ref()
    }

    /// Whether SQLite has the operand as bytes.
    fn is_bytes(&self) -> bool {
        let bytes = |t: &WireType| types::is_text(t) && t.charset == CHARSET_BINARY;
        !self.system && self.wire.as_ref().is_some_and(bytes)
    }

    /// Whether the type is known and passes a test.
    pub(super) fn is(&self, test: fn(&WireType) -> bool) -> bool {
        self.wire.as_ref().is_some_and(test)
    }
}

impl Conversion {
    /// Wraps an operand in the function or cast that converts it.
    pub(super) fn apply(self, operand: &mut Expr) {
        let function = match self {
            Self::Number => "tare_number",
            Self::Digits => "tare_moment",
            Self::Real => "tare_real",
            Self::Read => "tare_exact",
            Self::DecimalOfText => "tare_decimal_of_text",
            Self::JsonTruth => "tare_json_truth",
            Self::JsonScalar => "tare_json_scalar",
            Self::DocumentBytes => "tare_json_bytes",
            Self::DocumentMoment => "tare_json_moment",
            Self::QuietNumber | Self::QuietReal | Self::QuietInteger => {
                let name = match self {
                    Self::QuietNumber => "tare_number",
                    Self::QuietReal => "tare_real",
                    _ => "tare_int",
                };
                let call = |e| node::call(name, vec![e, node::number(0)]);
                return node::replace(operand, call);
            }
            Self::Document => return node::replace(operand, document),
            Self::YearStart => "tare_year_start",
            Self::DateText => "tare_date_text",
            Self::Moment => {
                let call = |e| node::call("tare_datetime", vec![e, node::number(6)]);
                return node::replace(operand, call);
            }
            Self::Today(digits) => {
                let call = |e| node::call("tare_today", vec![e, node::number(digits.into())]);
                return node::replace(operand, call);
            }
            Self::TextMoment(is_date) => {
                let kind = node::number(is_date.into());
                let call = |e| node::call("tare_text_moment", vec![e, kind]);
                return node::replace(operand, call);
            }
            Self::Fraction(digits) => {
                let call = |e| node::call("tare_fraction", vec![e, node::number(digits.into())]);
                return node::replace(operand, call);
            }
            Self::Scaled(digits) => {
                let rest = [65, i64::from(digits), 0].map(node::number);
                let call = |e| node::call("tare_decimal", std::iter::once(e).chain(rest).collect());
                return node::replace(operand, call);
            }
            Self::ExactDigits => {
                let call = |e| exact_text(node::call("tare_moment_digits", vec![e]));
                return node::replace(operand, call);
            }
            Self::IgnoreCase => {
                return node::replace(operand, |e| node::nested(node::collate(e, "nocase")));
            }
            Self::CompareBytes => {
                return node::replace(operand, |e| node::nested(node::collate(e, "binary")));
            }
            Self::Text => return node::replace(operand, |e| node::cast(e, DataType::Text)),
            Self::Printed(single, decimals) => {
                let call = |e| {
                    let rest = [i64::from(single), i64::from(decimals), 0].map(node::number);
                    node::call("tare_shown", std::iter::once(e).chain(rest).collect())
                };
                return node::replace(operand, call);
            }
            Self::DocumentPart(part) => {
                let rest = part.to_numbers().map(node::number);
                let call =
                    |e| node::call("tare_json_value", std::iter::once(e).chain(rest).collect());
                return node::replace(operand, call);
            }
            Self::BitBytes(width) => {
                let call = |e| node::call("tare_bit_bytes", vec![e, node::number(width.into())]);
                return node::replace(operand, call);
            }
            Self::Integer => "tare_int",
            Self::Rounded(origin) => {
                let call = |e| node::call("tare_rounded", vec![e, node::number(origin)]);
                return node::replace(operand, call);
            }
            Self::Bits => "tare_word",
            Self::Exact => return node::replace(operand, exact_text),
            Self::Bytes => return node::replace(operand, |e| node::cast(e, DataType::Blob(None))),
        };
        node::replace(operand, |e| node::call(function, vec![e]));
    }
}

/// The number of the first result of a CASE: those of operands are less.
pub(super) const RESULTS: usize = 1 << 32;

/// An operand of a comparison or of arithmetic, by its number; the results of CASE are from [`RESULTS`] on, ELSE last.
pub(super) fn operand(expr: &mut Expr, i: usize) -> Option<&mut Expr> {
    match (expr, i) {
        (Expr::BinaryOp { left, .. }, 0) => Some(left),
        (Expr::BinaryOp { right, .. }, 1) => Some(right),
        (Expr::Function(f), i) => function::argument_mut(f, i),
        (Expr::Interval(interval), 0) => Some(&mut interval.value),
        (Expr::MemberOf(member), 0) => Some(&mut member.value),
        (
            Expr::Cast { expr, .. }
            | Expr::Convert { expr, .. }
            | Expr::UnaryOp { expr, .. }
            | Expr::Ceil { expr, .. }
            | Expr::Floor { expr, .. }
            | Expr::Extract { expr, .. }
            | Expr::IsTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsNotFalse(expr),
            0,
        ) => Some(expr),
        (Expr::Between { expr, .. } | Expr::InList { expr, .. }, 0) => Some(expr),
        (Expr::Between { low, .. }, 1) => Some(low),
        (Expr::Between { high, .. }, 2) => Some(high),
        // A list may be long: its operands are not collected for each.
        (Expr::InList { list, .. }, i) => list.get_mut(i - 1),
        (
            Expr::Case {
                conditions,
                else_result,
                ..
            },
            i @ RESULTS..,
        ) => match conditions.get_mut(i - RESULTS) {
            Some(when) => Some(&mut when.result),
            None => else_result.as_deref_mut(),
        },
        (Expr::Case { operand, .. }, 0) => operand.as_deref_mut(),
        (Expr::Case { conditions, .. }, i) => {
            conditions.get_mut(i - 1).map(|when| &mut when.condition)
        }
        _ => None,
    }
}

/// Converts an operand to a number: a literal now, other expressions after they are rewritten.
fn convert_to_number(expr: &mut Expr, i: usize, later: &mut Vec<(usize, Conversion)>) {
    if let Expr::Value(v) = expr {
        let number = match &v.value {
            Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => s.trim().parse().ok(),
            _ => None,
        };
        if let Some(n) = number {
            *expr = node::number(n);
            return;
        }
        if number_literally(expr) {
            return;
        }
    }
    later.push((i, Conversion::Number));
}

fn ignore_case(expr: &mut Expr) {
    node::replace(expr, |e| node::collate(e, "nocase"));
}

/// Appends midnight to a date that is compared with a DATETIME.
fn extend_to_datetime(expr: &mut Expr) {
    let Expr::Value(v) = expr else { return };
    let (Value::SingleQuotedString(s) | Value::DoubleQuotedString(s)) = &mut v.value else {
        return;
    };
    let is_date = s.len() == 10
        && s.bytes().enumerate().all(|(i, b)| {
            if matches!(i, 4 | 7) {
                b == b'-'
            } else {
                b.is_ascii_digit()
            }
        });
    if is_date {
        s.push_str(" 00:00:00");
    }
}

fn is_binary(expr: &Expr) -> bool {
    match expr {
        Expr::Collate { .. } => true,
        Expr::Cast { data_type, .. } => {
            types::of_cast(data_type).charset == CHARSET_BINARY
                && types::of_cast(data_type).code == ColumnType::MYSQL_TYPE_VAR_STRING
        }
        Expr::Prefixed { prefix, .. } => prefix.value.eq_ignore_ascii_case("_binary"),
        Expr::Nested(inner) => is_binary(inner),
        _ => false,
    }
}

/// The expression whose kind of value is compared: a COLLATE changes how, not what.
fn compared(expr: &Expr) -> &Expr {
    match expr {
        Expr::Collate { expr, .. } | Expr::Nested(expr) => compared(expr),
        _ => expr,
    }
}

impl Rewriter<'_> {
    pub(super) fn side(&mut self, expr: &Expr) -> Side {
        let system = self.names.column_of(expr).is_some_and(|c| c.system);
        let column = self.names.column_of(expr).map(|c| c.stored);
        Side {
            wire: types::of(compared(expr), &mut self.names),
            stored: column == Some(true),
            system,
            column: column.is_some(),
            literal: matches!(expr, Expr::Value(_)),
            bytes: is_binary(expr),
        }
    }

    /// Makes the texts that a SELECT computes sort and group without case, as columns do.
    pub(super) fn group_without_case(&mut self, select: &mut Select) {
        for item in &mut select.projection {
            if let SelectItem::UnnamedExpr(expr) | SelectItem::ExprWithAlias { expr, .. } = item {
                self.ignore_case_of_computed_text(expr);
            }
        }
        if let GroupByExpr::Expressions(by, _) = &mut select.group_by {
            for expr in by {
                self.ignore_case_of_computed_text(expr);
            }
        }
    }

    fn ignore_case_of_computed_text(&mut self, expr: &mut Expr) {
        let inner = match &*expr {
            Expr::Nested(inner) => inner.as_ref(),
            other => other,
        };
        let is_computed = match inner {
            Expr::Function(f) => f.over.is_none(),
            Expr::Case { .. }
            | Expr::Cast { .. }
            | Expr::Convert { .. }
            | Expr::Substring { .. }
            | Expr::Trim { .. } => true,
            _ => false,
        };
        if !is_computed {
            return;
        }
        let side = self.side(expr);
        if side.is(types::is_text)
            && !side.bytes
            && side.wire.is_some_and(|t| t.charset != CHARSET_BINARY)
        {
            ignore_case(expr);
        }
    }

    /// Prepares the operands of a comparison, before they are rewritten.
    pub(super) fn compare(&mut self, expr: &mut Expr) -> Result<()> {
        let mut later = Vec::new();
        self.plan_conversions(expr, &mut later)?;
        self.read_documents(expr, &mut later);
        self.unify_results(expr, &mut later);
        self.silence_long_texts(expr, &mut later);
        self.conversions.0.push(later);
        Ok(())
    }

    /// Converts the operands of a comparison, after they are rewritten.
    pub(super) fn convert(&mut self, expr: &mut Expr) {
        for (i, conversion) in self.conversions.0.pop().unwrap_or_default() {
            if let Some(operand) = operand(expr, i) {
                conversion.apply(operand);
            }
        }
    }

    /// Converts literals now, and adds the conversions of other operands to `later`, by operand number.
    fn plan_conversions(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) -> Result<()> {
        self.check_date_literal(expr)?;
        if self.compare_documents(expr, later)
            || self.compare_exact(expr, later)
            || self.compare_moments(expr, later)?
        {
            return Ok(());
        }
        match expr {
            Expr::BinaryOp {
                left,
                op:
                    BinaryOperator::Plus
                    | BinaryOperator::Minus
                    | BinaryOperator::Multiply
                    | BinaryOperator::Divide
                    | BinaryOperator::Modulo
                    | BinaryOperator::MyIntegerDivide,
                right,
            } => {
                let has_interval = types::is_interval(left) || types::is_interval(right);
                // In arithmetic 0x41 is 65, a date is the number of its digits, and a text is a double.
                for (i, side) in [left, right].into_iter().enumerate() {
                    number_literally(side);
                    if has_interval || is_arithmetic(side) {
                        continue;
                    }
                    let operand = self.side(side);
                    let conversion = match &operand.wire {
                        Some(t) if types::is_temporal(t) && t.decimals > 0 => {
                            Conversion::ExactDigits
                        }
                        Some(t) if types::is_temporal(t) => Conversion::Digits,
                        Some(t) if types::is_text(t) || types::is_json(t) => Conversion::Real,
                        None => Conversion::Number,
                        _ => continue,
                    };
                    later.push((i, conversion));
                }
            }
            Expr::BinaryOp { left, op, right } if is_comparison(op) => {
                let (a, b) = (self.side(left), self.side(right));
                if unify_kinds((0, left, &a), (1, right, &b), later) {
                    ignore_case(right);
                }
            }
            Expr::Between {
                expr, low, high, ..
            } => {
                let (mut a, b, c) = (self.side(expr), self.side(low), self.side(high));
                if a.is(types::is_text) && (b.is(types::is_number) || c.is(types::is_number)) {
                    compare_as_doubles([(0, expr, &a), (1, low, &b), (2, high, &c)], later);
                    return Ok(());
                }
                let first = unify_kinds((0, expr, &a), (1, low, &b), later);
                if later.contains(&(0, Conversion::Number)) {
                    a = Side::number();
                }
                let second = unify_kinds((0, expr, &a), (2, high, &c), later);
                if later.contains(&(0, Conversion::Real)) {
                    // If one bound makes the operand a double, the other bound is one, too.
                    for (i, bound) in [(1, &b), (2, &c)] {
                        if bound.is(is_bigint) {
                            later.push((i, Conversion::Real));
                        }
                    }
                }
                if first && second {
                    ignore_case(expr);
                }
            }
            Expr::InList { .. }
            | Expr::Case {
                operand: Some(_), ..
            } => {
                let mut all = operands(expr).unwrap_or_default().into_iter();
                if let Some(first) = all.next() {
                    self.plan_list_conversions(first, all.collect(), later);
                }
            }
            Expr::InSubquery { expr, .. } => {
                let a = self.side(expr);
                if !a.stored && !a.bytes && a.is(types::is_text) {
                    ignore_case(expr);
                }
            }
            _ => self.read_operands(expr, later),
        }
        Ok(())
    }

    /// The same for `expr IN (list)`, and for CASE with an operand, which compares in the same way.
    fn plan_list_conversions(
        &mut self,
        expr: &mut Expr,
        list: Vec<&mut Expr>,
        later: &mut Vec<(usize, Conversion)>,
    ) {
        if matches!(expr, Expr::Tuple(_)) {
            return;
        }
        let a = self.side(expr);
        let sides: Vec<Side> = list.iter().map(|e| self.side(e)).collect();
        let is_text_or_null = |s: &Side| s.is(types::is_text) || s.is(is_null);
        if is_text_or_null(&a)
            && sides.iter().all(is_text_or_null)
            && (a.is_bytes() || sides.iter().any(Side::is_bytes))
        {
            let all = std::iter::once(&a).chain(&sides).enumerate();
            let others = all.filter(|(_, s)| !s.is_bytes() && !s.system);
            later.extend(others.map(|(i, _)| (i, Conversion::Bytes)));
            return;
        }
        let all_numbers = sides
            .iter()
            .all(|s| s.is(types::is_number) || s.is(is_null));
        let has_number = sides.iter().any(|s| s.is(types::is_number));
        if a.is(types::is_text) && all_numbers && has_number {
            convert_to_number(expr, 0, later);
        } else if a.is(types::is_number) && !a.stored {
            for (i, (e, s)) in list.into_iter().zip(&sides).enumerate() {
                if s.is(types::is_text) {
                    convert_to_number(e, i + 1, later);
                }
            }
        } else if !a.stored && !a.bytes && !a.is(types::is_number) {
            ignore_case(expr);
        }
    }
}

/// Whether an operand is arithmetic, and so a number already. Does not determine its type, because in a
/// chain of operators that would take quadratic time.
fn is_arithmetic(expr: &Expr) -> bool {
    use BinaryOperator::{Divide, Minus, Modulo, Multiply, Plus};
    let Expr::BinaryOp { left, op, right } = expr else {
        return false;
    };
    (matches!(op, Plus | Minus | Multiply | Divide | Modulo) || types::is_div(op))
        && !types::is_interval(left)
        && !types::is_interval(right)
}

/// Whether a type is BIGINT. The result of a condition has the same code, but length 1.
fn is_bigint(t: &WireType) -> bool {
    t.code == ColumnType::MYSQL_TYPE_LONGLONG && t.length > 1
}

fn is_real(t: &WireType) -> bool {
    matches!(
        t.code,
        ColumnType::MYSQL_TYPE_DOUBLE | ColumnType::MYSQL_TYPE_FLOAT
    )
}

fn is_null(t: &WireType) -> bool {
    t.code == ColumnType::MYSQL_TYPE_NULL
}

fn is_datetime(t: &WireType) -> bool {
    matches!(
        t.code,
        ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP
    )
}

/// Converts the operands of BETWEEN to doubles.
fn compare_as_doubles(
    operands: [(usize, &mut Box<Expr>, &Side); 3],
    later: &mut Vec<(usize, Conversion)>,
) {
    for (i, operand, side) in operands {
        if side.is(types::is_temporal) {
            later.push((i, Conversion::Digits));
        } else if !side.is(is_null) && !number_literally(operand) {
            later.push((i, Conversion::Real));
        }
    }
}

/// Converts two operands to one kind. Returns whether they are texts that need a COLLATE.
fn unify_kinds(
    (i, left, a): (usize, &mut Expr, &Side),
    (j, right, b): (usize, &mut Expr, &Side),
    later: &mut Vec<(usize, Conversion)>,
) -> bool {
    if matches!(left, Expr::Tuple(_)) || matches!(right, Expr::Tuple(_)) {
        return false;
    }
    if a.is(types::is_text) && b.is(types::is_text) && (a.is_bytes() || b.is_bytes()) {
        for (n, side) in [(i, a), (j, b)] {
            if !side.is_bytes() && !side.system {
                later.push((n, Conversion::Bytes));
            }
        }
        return false;
    }
    // A BIGINT and a double are compared as doubles.
    let bigint = |s: &Side| !s.literal && s.is(is_bigint);
    let real = |s: &Side| !s.literal && s.is(is_real);
    if bigint(a) && real(b) || real(a) && bigint(b) {
        later.push((if bigint(a) { i } else { j }, Conversion::Real));
        return false;
    }
    if a.is(types::is_text) && b.is(types::is_number) {
        convert_to_number(left, i, later);
        return false;
    }
    if b.is(types::is_text) && a.is(types::is_number) {
        // A column's affinity converts a text that is a number.
        let reads_as_number = |e: &Expr| {
            matches!(e, Expr::Value(v)
            if matches!(&v.value, Value::SingleQuotedString(s) | Value::DoubleQuotedString(s)
                if s.trim().parse::<f64>().is_ok()))
        };
        if !(a.stored && (!b.literal || reads_as_number(right))) || b.column {
            convert_to_number(right, j, later);
        }
        return false;
    }
    if a.is(is_datetime) {
        extend_to_datetime(right);
    }
    if b.is(is_datetime) {
        extend_to_datetime(left);
    }
    if a.bytes || b.bytes || a.stored || b.stored {
        return false;
    }
    if a.is(types::is_number) && !a.stored && b.wire.is_none() && matches!(right, Expr::Value(_)) {
        // A parameter may be a text.
        convert_to_number(right, j, later);
        return false;
    }
    if b.is(types::is_number) && !b.stored && a.wire.is_none() && matches!(left, Expr::Value(_)) {
        convert_to_number(left, i, later);
        return false;
    }
    !(a.is(types::is_number) || b.is(types::is_number))
}

impl Rewriter<'_> {
    /// Plans how a LIKE is evaluated, before its parts are rewritten.
    pub(super) fn like(&mut self, text: &Expr, pattern: &Expr) -> Like {
        let (a, b) = (self.side(text), self.side(pattern));
        let compares_bytes = |s: &Side| s.is(is_exact) && !s.system;
        let exactly = a.bytes || b.bytes || compares_bytes(&a) || compares_bytes(&b);
        let is_text = a.is(types::is_text) && !exactly;
        let own = self
            .names
            .column_of(text)
            .is_some_and(|c| c.stored && !c.system);
        Like {
            exactly,
            bounded: own && is_text && has_fixed_beginning(pattern),
        }
    }
}
