//! Arguments of functions and casts: converted to what the function reads, where their own type is another one.

use mysql_common::constants::ColumnType;
use sqlparser::ast::{BinaryOperator, DataType, DateTimeField, Expr, UnaryOperator, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, NOT_FIXED, WireType};

use super::compare::operand;
use super::exact::{Class, origin_of};
use super::operands::operands;
use super::rewriter::{Conversion, Rewriter};
use crate::function::{Parameter, argument_mut, arguments, name_of, parameter};
use crate::{node, types};

/// Replaces a hexadecimal or bit literal by its number. False: it is none, or its number has more than 64 bits.
pub(super) fn number_literally(expr: &mut Expr) -> bool {
    let Expr::Value(v) = &*expr else {
        return match expr {
            Expr::Nested(inner) => number_literally(inner),
            _ => false,
        };
    };
    let Value::HexStringLiteral(hex) = &v.value else {
        return false;
    };
    let number = match hex.is_empty() {
        true => Ok(0),
        false => u64::from_str_radix(hex, 16),
    };
    let Ok(number) = number else { return false };
    *expr = node::digits(number.to_string());
    true
}

/// What a cast reads its operand as.
pub(super) fn read_by_cast(data_type: &DataType) -> Parameter {
    use DataType::*;
    match data_type {
        Signed | SignedInteger | Unsigned | UnsignedInteger | Decimal(_) | Numeric(_) | Dec(_)
        | Double(_) | DoublePrecision | Float(_) | Real => Parameter::Cast,
        Date | Datetime(_) => Parameter::Moment,
        Time(..) => Parameter::Clock,
        JSON => Parameter::Any,
        _ => Parameter::Text,
    }
}

/// What an INTERVAL of a unit reads its amount as.
fn read_by_interval(unit: Option<&DateTimeField>) -> Parameter {
    match unit {
        Some(DateTimeField::Second | DateTimeField::Seconds) => Parameter::Number,
        // A composite unit has a text.
        Some(DateTimeField::Custom(_)) | None => Parameter::Text,
        Some(_) => Parameter::Bits,
    }
}

/// Whether an expression is the number of a member of an ENUM or a SET.
fn is_member(expr: &Expr) -> bool {
    matches!(expr, Expr::Prefixed { prefix, .. } if prefix.value == node::MEMBER_MARK)
}

/// Whether a unit is one of a date.
fn is_date_unit(unit: &DateTimeField) -> bool {
    let unit = unit.to_string().to_ascii_uppercase();
    matches!(
        unit.as_str(),
        "YEAR" | "QUARTER" | "MONTH" | "WEEK" | "DAY" | "YEAR_MONTH"
    )
}

/// Whether the first argument of TIMESTAMPADD is the unit SECOND.
fn is_second(unit: &Expr) -> bool {
    let unit = unit.to_string().to_ascii_uppercase();
    unit.trim_matches('\'').trim_start_matches("SQL_TSI_") == "SECOND"
}

impl Rewriter<'_> {
    /// Prepares the operands of operators, functions and casts that read numbers, bits or truth values.
    pub(super) fn read_operands(&mut self, expr: &mut Expr, later: &mut Vec<(usize, Conversion)>) {
        match expr {
            Expr::BinaryOp { left, op, right }
                if types::is_bits(op) && !types::joins_bytes(op, left, right, &mut self.names) =>
            {
                self.read_argument(Parameter::Bits, 0, left, later);
                self.read_argument(Parameter::Bits, 1, right, later);
            }
            Expr::UnaryOp {
                op: UnaryOperator::BitwiseNot,
                expr,
            } if !types::is_byte_string(expr, &mut self.names) => {
                self.read_argument(Parameter::Bits, 0, expr, later);
            }
            Expr::BinaryOp {
                left,
                op: BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor,
                right,
            } => {
                self.read_truth(0, left, later);
                self.read_truth(1, right, later);
            }
            Expr::UnaryOp {
                op: UnaryOperator::Not | UnaryOperator::BangNot,
                expr,
            }
            | Expr::IsTrue(expr)
            | Expr::IsFalse(expr)
            | Expr::IsNotTrue(expr)
            | Expr::IsNotFalse(expr) => self.read_truth(0, expr, later),
            Expr::Case {
                operand: None,
                conditions,
                ..
            } => conditions.iter_mut().for_each(|when| {
                number_literally(&mut when.condition);
                self.condition(&mut when.condition, false);
            }),
            Expr::Extract { field, expr, .. } => {
                // As a time, a YEAR is a number.
                let is_number = !is_date_unit(field) && self.class(expr) == Class::Int;
                if !is_number {
                    self.read_argument(Parameter::DateParts, 0, expr, later);
                }
            }
            Expr::Interval(interval) => {
                let kind = read_by_interval(interval.leading_field.as_ref());
                self.read_argument(kind, 0, &mut interval.value, later);
            }
            Expr::MemberOf(member) => {
                self.read_argument(Parameter::DocumentPart, 0, &mut member.value, later);
            }
            Expr::Function(_) => self.read_arguments(expr, later),
            Expr::Ceil { expr, .. } | Expr::Floor { expr, .. } => {
                self.read_argument(Parameter::Number, 0, expr, later);
            }
            Expr::UnaryOp {
                op: UnaryOperator::Minus,
                expr,
            } => self.read_argument(Parameter::Number, 0, expr, later),
            Expr::Cast {
                expr, data_type, ..
            }
            | Expr::Convert {
                expr,
                data_type: Some(data_type),
                ..
            } => self.read_argument(read_by_cast(data_type), 0, expr, later),
            _ => {}
        }
    }

    /// Prepares an operand whose truth is read. A JSON document is true unless it is the number 0,
    /// except for IF and CASE, which read its number.
    fn read_truth(&mut self, i: usize, expr: &mut Expr, later: &mut Vec<(usize, Conversion)>) {
        if number_literally(expr) {
            return;
        }
        let wire = types::of(expr, &mut self.names);
        if wire.as_ref().is_some_and(types::is_json) {
            later.push((i, Conversion::JsonTruth));
        } else if wire.as_ref().is_some_and(types::is_temporal) {
            later.push((i, Conversion::Digits));
        }
    }

    /// Writes a condition that is a date, a time or a member of an ENUM or a SET as `condition IS TRUE`; a JSON document
    /// only if its truth is read, and not its number.
    pub(super) fn condition(&mut self, expr: &mut Expr, reads_truth: bool) {
        let members = self.names.column_of(expr).map(|c| c.members.is_some());
        let wire = types::of(expr, &mut self.names);
        let is = |test: fn(&WireType) -> bool| wire.as_ref().is_some_and(test);
        if members == Some(true) || is(types::is_temporal) || reads_truth && is(types::is_json) {
            node::replace(expr, |e| Expr::IsTrue(Box::new(e)));
        }
    }

    /// MySQL does not warn of these if they are read as numbers and are none: TEXT, BLOB, ENUM and SET columns, IFNULL and
    /// COALESCE, and what is compared with a YEAR.
    pub(super) fn silence_long_texts(
        &mut self,
        expr: &mut Expr,
        later: &mut [(usize, Conversion)],
    ) {
        if later.is_empty() {
            return;
        }
        let is_year = |t: &WireType| t.code == ColumnType::MYSQL_TYPE_YEAR;
        let compares_year = operands(expr).is_some_and(|all| {
            all.iter().any(|e| {
                let column = self.names.column_of(e);
                column.is_some_and(|c| c.wire.as_ref().is_some_and(is_year))
            })
        });
        for (i, conversion) in later {
            let quiet = match conversion {
                Conversion::Number => Conversion::QuietNumber,
                Conversion::Real => Conversion::QuietReal,
                Conversion::Integer => Conversion::QuietInteger,
                _ => continue,
            };
            let Some(operand) = operand(expr, *i) else {
                continue;
            };
            let column = self.names.column_of(operand);
            let is_quiet = column
                .is_some_and(|c| c.members.is_some() || c.wire.is_some_and(|t| t.is_long_text()));
            let is_choice = matches!(&*operand, Expr::Function(f)
                if matches!(name_of(f).as_str(), "ifnull" | "coalesce"));
            if is_quiet || is_choice || compares_year {
                *conversion = quiet;
            }
        }
    }

    /// Prepares the arguments of a call.
    pub(super) fn read_arguments(&mut self, expr: &mut Expr, later: &mut Vec<(usize, Conversion)>) {
        let Expr::Function(f) = expr else { return };
        let name = name_of(f);
        // If one of its arguments is a number, FIELD compares all as numbers.
        let is_text = |c| {
            matches!(
                c,
                Class::Text | Class::Moment | Class::Null | Class::Unknown
            )
        };
        let compares_numbers =
            name == "field" && !arguments(f).iter().all(|e| is_text(self.class(e)));
        let compares_texts = matches!(name.as_str(), "greatest" | "least")
            && arguments(f).iter().any(|e| self.class(e) == Class::Text);
        // Only seconds have a fraction.
        let adds_integer =
            name == "timestampadd" && !arguments(f).first().is_some_and(|unit| is_second(unit));
        let mut n = 0;
        while let Some(argument) = argument_mut(f, n) {
            let mut kind = parameter(&name, n);
            if name == "bit_count" && types::is_byte_string(argument, &mut self.names) {
                kind = Parameter::Any;
            }
            if n == 0 && matches!(name.as_str(), "bin" | "conv" | "oct") {
                // They read a text's digits; a literal of bytes is a number.
                number_literally(argument);
            }
            // HEX of a number is that of its bits.
            if name == "hex" {
                kind = match self.class(argument) {
                    Class::Int | Class::Big | Class::Decimal | Class::Real => Parameter::Bits,
                    _ => Parameter::Text,
                };
            }
            if n == 0 && name == "if" && !number_literally(argument) {
                let wire = types::of(argument, &mut self.names);
                if wire.as_ref().is_some_and(types::is_json) {
                    later.push((0, Conversion::JsonScalar));
                } else {
                    self.condition(argument, false);
                }
            }
            if compares_texts {
                kind = Parameter::Text;
            }
            if types::is_interval(argument) {
                kind = Parameter::Any;
            }
            if n == 1 && adds_integer {
                kind = Parameter::Bits;
            }
            match compares_numbers && !number_literally(argument) {
                true => later.push((n, Conversion::Real)),
                false => self.read_argument(kind, n, argument, later),
            }
            n += 1;
        }
    }

    /// Prepares an argument: a literal is replaced now, other expressions after they are rewritten.
    pub(super) fn read_argument(
        &mut self,
        kind: Parameter,
        n: usize,
        argument: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) {
        let is_number = matches!(
            kind,
            Parameter::Integer | Parameter::Bits | Parameter::Number | Parameter::Cast
        );
        if kind == Parameter::DocumentPart {
            let part = self.document_part(argument);
            later.push((n, Conversion::DocumentPart(part)));
            return;
        }
        if kind == Parameter::Any || is_number && number_literally(argument) {
            return;
        }
        let wire = types::of(argument, &mut self.names);
        let conversion = match (kind, Class::of(wire)) {
            (Parameter::Cast, _) if wire.as_ref().is_some_and(types::is_json) => {
                Conversion::JsonScalar
            }
            (
                Parameter::Integer | Parameter::Bits | Parameter::Number | Parameter::Cast,
                Class::Moment,
            ) => Conversion::Digits,
            (Parameter::Number, Class::Text) => Conversion::Real,
            // The number of a member is an integer in SQLite.
            (Parameter::Number, Class::Real) if is_member(argument) => Conversion::Real,
            (Parameter::Integer | Parameter::Bits, Class::Text) => Conversion::Integer,
            (Parameter::Integer | Parameter::Bits, Class::Real) => {
                Conversion::Rounded(origin_of(argument))
            }
            (Parameter::Bits, Class::Big | Class::Decimal) => Conversion::Bits,
            (Parameter::Moment | Parameter::DateParts, Class::Int)
                if wire.is_some_and(|t| t.code == ColumnType::MYSQL_TYPE_YEAR) =>
            {
                Conversion::YearStart
            }
            (Parameter::Moment | Parameter::DateParts | Parameter::Clock, Class::Decimal) => {
                Conversion::Real
            }
            (Parameter::DateParts, Class::Text | Class::Unknown) => Conversion::DateText,
            (Parameter::Clock, Class::Moment)
                if wire.is_some_and(|t| t.code == ColumnType::MYSQL_TYPE_DATE) =>
            {
                Conversion::Moment
            }
            (Parameter::Text, Class::Real) => {
                let is_column = self.names.column_of(argument).is_some();
                let float = wire.is_some_and(|t| t.code == ColumnType::MYSQL_TYPE_FLOAT);
                let decimals = wire.map_or(NOT_FIXED, |t| t.decimals);
                Conversion::Printed(is_column && float, decimals)
            }
            (Parameter::Text, Class::Int) => match wire {
                Some(t) if t.code == ColumnType::MYSQL_TYPE_BIT => {
                    Conversion::BitBytes(t.length.clamp(1, 64).div_ceil(8) as u8)
                }
                _ => return,
            },
            _ => return,
        };
        later.push((n, conversion));
    }

    /// CHARSET, COLLATION and COERCIBILITY, which an argument's type determines.
    pub(super) fn text_property(&mut self, name: &str, expr: &Expr) -> Option<Expr> {
        if !matches!(name, "charset" | "collation" | "coercibility") {
            return None;
        }
        let Expr::Function(f) = expr else { return None };
        let arguments = arguments(f);
        let argument = arguments.first()?;
        let wire = types::of(argument, &mut self.names)?;
        let is_text = types::is_text(&wire) && wire.charset != CHARSET_BINARY;
        let is_json = types::is_json(&wire);
        Some(match name {
            "charset" if is_text || is_json => node::text("utf8mb4"),
            "charset" => node::text("binary"),
            "collation" if is_json => node::text("utf8mb4_bin"),
            "collation" if is_text => node::text("utf8mb4_general_ci"),
            "collation" => node::text("binary"),
            _ => {
                let variable = match argument {
                    Expr::Identifier(name) => name.value.strip_prefix('@'),
                    _ => None,
                };
                node::number(match Class::of(Some(wire)) {
                    // A user variable, whatever its value.
                    _ if variable.is_some_and(|name| !name.starts_with('@')) => 2,
                    Class::Null => 6,
                    Class::Text if self.names.column_of(argument).is_some() => 2,
                    Class::Text if variable.is_some() => 3,
                    Class::Text if is_json => 2,
                    Class::Text => 4,
                    _ => 5,
                })
            }
        })
    }
}
