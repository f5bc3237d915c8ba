//! LIKE. SQLite's distinguishes accented letters and ignores the case of ASCII only, so functions of ours
//! compare. Indexes are used by the least and the greatest text that can match the pattern.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{BinaryOperator, Expr, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use crate::node::{self, binary, call, nested};
use crate::types;

/// How a LIKE is evaluated.
#[derive(Debug, Clone, Copy)]
pub(super) struct Like {
    /// Case and accents count.
    pub exactly: bool,
    /// The text is a table's column, and the pattern begins with a character, so that an index can be used.
    pub bounded: bool,
}

/// Whether texts of this type are compared byte by byte.
pub(super) fn is_exact(t: &WireType) -> bool {
    let has_collation = matches!(
        t.code,
        ColumnType::MYSQL_TYPE_VAR_STRING | ColumnType::MYSQL_TYPE_STRING
    );
    types::is_text(t)
        && (t.charset == CHARSET_BINARY
            || has_collation && t.flags.contains(ColumnFlags::BINARY_FLAG))
}

/// Whether a pattern is constant while a statement runs, and may begin with a character.
pub(super) fn has_fixed_beginning(pattern: &Expr) -> bool {
    let Expr::Value(v) = pattern else {
        return false;
    };
    match &v.value {
        Value::SingleQuotedString(s) | Value::DoubleQuotedString(s) => {
            !s.is_empty() && !s.starts_with(['%', '_'])
        }
        Value::Placeholder(_) => true,
        _ => false,
    }
}

impl Like {
    /// The calls that replace the LIKE, after its parts are rewritten.
    pub(super) fn written(self, expr: Expr) -> Expr {
        let Expr::Like {
            negated,
            expr: text,
            pattern,
            escape_char,
            ..
        } = expr
        else {
            return expr;
        };
        // The default escape of MySQL's LIKE is `\`.
        let escape = escape_char.map_or_else(|| node::text("\\"), |escape| *escape);
        let name = match self.exactly {
            true => "tare_like_exactly",
            false => "tare_like",
        };
        // Only a column is written more than once: a copy of the left operand of each LIKE would take
        // quadratic time in a chain.
        if negated || !self.bounded {
            let is_like = call(name, vec![*text, *pattern, escape]);
            return match negated {
                true => nested(node::not(is_like)),
                false => is_like,
            };
        }
        let is_like = call(
            name,
            vec![(*text).clone(), (*pattern).clone(), escape.clone()],
        );
        let bound = |name: &str, op: BinaryOperator| {
            let bound = call(name, vec![(*pattern).clone(), escape.clone()]);
            binary((*text).clone(), op, bound)
        };
        let low = bound("tare_like_from", BinaryOperator::GtEq);
        let high = bound("tare_like_to", BinaryOperator::LtEq);
        let within = binary(low, BinaryOperator::And, high);
        nested(binary(within, BinaryOperator::And, is_like))
    }
}
