//! The results of IF, CASE, IFNULL and COALESCE: values of several types become values of their common type.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::Expr;
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::compare::{RESULTS, operand};
use super::exact::Class;
use super::rewriter::{Conversion, Rewriter};
use crate::function::{Parameter, arguments, name_of};
use crate::types;

fn is_moment(t: &WireType) -> bool {
    types::is_temporal(t) && t.code != ColumnType::MYSQL_TYPE_TIME
}

/// Whether values are bytes, which are no texts in SQLite.
pub(super) fn is_bytes(t: &WireType) -> bool {
    types::is_text(t) && t.charset == CHARSET_BINARY
}

/// Whether a text compares by its bytes.
pub(super) fn compares_bytes(t: &WireType) -> bool {
    t.flags.contains(ColumnFlags::BINARY_FLAG)
}

/// How a value of one type becomes one of another, which is its common type with others. Numbers are converted to texts,
/// and texts to bytes; integers become DECIMALs if `scales`.
pub(super) fn conversion(own: &WireType, to: &WireType, scales: bool) -> Option<Conversion> {
    let class = Class::of(Some(*own));
    if class == Class::Null {
        return None;
    }
    match Class::of(Some(*to)) {
        Class::Moment if is_moment(to) && own.code == ColumnType::MYSQL_TYPE_TIME => {
            Some(Conversion::Today(to.decimals))
        }
        Class::Moment => {
            let has_time = own.code != ColumnType::MYSQL_TYPE_DATE;
            let needs_time = to.code != ColumnType::MYSQL_TYPE_DATE;
            let is_same = own.decimals == to.decimals && has_time == needs_time;
            (class == Class::Moment && !is_same).then_some(Conversion::Fraction(to.decimals))
        }
        Class::Decimal if scales => {
            let is_exact = matches!(class, Class::Int | Class::Big | Class::Decimal);
            let differs = class != Class::Decimal || own.decimals != to.decimals;
            (is_exact && differs).then_some(Conversion::Scaled(to.decimals))
        }
        Class::Real => matches!(class, Class::Decimal | Class::Big).then_some(Conversion::Real),
        Class::Text if types::is_text(to) => match class {
            _ if is_bytes(to) => (!is_bytes(own)).then_some(Conversion::Bytes),
            Class::Int | Class::Big | Class::Decimal => Some(Conversion::Text),
            Class::Text if is_bytes(own) => Some(Conversion::Text),
            _ => None,
        },
        _ => None,
    }
}

impl Rewriter<'_> {
    /// Converts the results of IF, CASE, IFNULL and COALESCE to their common type.
    pub(super) fn unify_results(&mut self, expr: &mut Expr, later: &mut Vec<(usize, Conversion)>) {
        let (results, scales): (Vec<usize>, bool) = match &*expr {
            Expr::Case {
                conditions,
                else_result,
                ..
            } => {
                let all = conditions.len() + usize::from(else_result.is_some());
                ((RESULTS..RESULTS + all).collect(), false)
            }
            Expr::Function(f) => match name_of(f).as_str() {
                "if" => (vec![1, 2], false),
                "ifnull" | "coalesce" => ((0..arguments(f).len()).collect(), true),
                _ => return,
            },
            _ => return,
        };
        let Some(to) = types::of(expr, &mut self.names) else {
            return;
        };
        for i in results {
            let Some(result) = operand(expr, i) else {
                continue;
            };
            let Some(own) = types::of_operand(result, &mut self.names) else {
                continue;
            };
            let is_real = Class::of(Some(own)) == Class::Real;
            if types::is_text(&to) && (is_real || is_bit(&own)) {
                self.read_argument(Parameter::Text, i, result, later);
            }
            later.extend(conversion(&own, &to, scales).map(|c| (i, c)));
        }
    }
}

/// Whether values are bits, which are bytes as a text.
pub(super) fn is_bit(t: &WireType) -> bool {
    t.code == ColumnType::MYSQL_TYPE_BIT
}
