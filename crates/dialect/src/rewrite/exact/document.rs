//! The arguments of JSON functions: documents, and values that become parts of one.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{BinaryOperator, DataType, Expr, FunctionArg, FunctionArgExpr};
use sqlparser::ast::{FunctionArguments, UnaryOperator, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use crate::function::{Parameter, parameter};
use crate::rewrite::Rewriter;
use crate::rewrite::operands::is_comparison;
use crate::{node, types};

// What a value is as a part of a document, for `tare_json_value`.
const ANY: i64 = 0;
const DOCUMENT: i64 = 1;
const TEXT: i64 = 2;
const NUMBER: i64 = 3;
const TRUTH: i64 = 4;
const DATE: i64 = 5;
const TIME: i64 = 6;
const BYTES: i64 = 7;
const BIT: i64 = 8;
const PARAMETER: i64 = 9;

/// Whether an expression is true or false, as MySQL has it: not a number that is 0 or 1.
fn is_truth(expr: &Expr) -> bool {
    use BinaryOperator::{And, Or, Xor};
    match expr {
        Expr::Nested(inner) => is_truth(inner),
        Expr::Value(v) => matches!(v.value, Value::Boolean(_)),
        Expr::BinaryOp { op, .. } => is_comparison(op) || matches!(op, And | Or | Xor),
        Expr::UnaryOp { op, .. } => matches!(op, UnaryOperator::Not | UnaryOperator::BangNot),
        other => types::is_condition(other),
    }
}

/// The number of a type of bytes, which a document has in the text of such a value.
fn number_of_bytes(t: &WireType) -> i64 {
    match t.code {
        ColumnType::MYSQL_TYPE_STRING => 254,
        _ if t.is_long_text() => 252,
        _ => 15,
    }
}

impl Rewriter<'_> {
    /// What an expression is as a part of a document, and a detail: of bytes, the number of their type in MySQL; of a
    /// BIT, its bytes.
    pub(in crate::rewrite) fn json_kind(&mut self, expr: &Expr) -> (i64, i64) {
        if is_truth(expr) {
            return (TRUTH, 0);
        }
        let Some(t) = types::of(expr, &mut self.names) else {
            let is_parameter =
                matches!(expr, Expr::Value(v) if matches!(v.value, Value::Placeholder(_)));
            return (if is_parameter { PARAMETER } else { ANY }, 0);
        };
        match t.code {
            ColumnType::MYSQL_TYPE_NULL => (ANY, 0),
            ColumnType::MYSQL_TYPE_JSON => (DOCUMENT, 0),
            ColumnType::MYSQL_TYPE_DATE => (DATE, 0),
            ColumnType::MYSQL_TYPE_BIT => (BIT, t.length.clamp(1, 64).div_ceil(8).into()),
            _ if types::is_number(&t) => (NUMBER, 0),
            _ if types::is_temporal(&t) => (TIME, 0),
            _ if t.charset == CHARSET_BINARY => (BYTES, number_of_bytes(&t)),
            _ => (TEXT, 0),
        }
    }

    /// The same for the operand of a cast to JSON; `None` for a text, which is parsed, and for unknown types.
    pub(super) fn json_cast(&mut self, operand: &Expr) -> Option<(i64, i64)> {
        let t = types::of(operand, &mut self.names)?;
        let members = ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG;
        let is_parsed =
            types::is_text(&t) && t.charset != CHARSET_BINARY && !t.flags.intersects(members);
        let is_null = t.code == ColumnType::MYSQL_TYPE_NULL;
        (!is_parsed && !is_null).then(|| self.json_kind(operand))
    }

    /// Makes numbers of what cannot be a document and is a text in SQLite: the function refuses numbers.
    pub(super) fn refuse_documents(&mut self, call: &mut Expr, name: &str) {
        let Expr::Function(f) = call else { return };
        let FunctionArguments::List(list) = &mut f.args else {
            return;
        };
        let (documents, is_text) = match name {
            "json_array" | "json_arrayagg" | "json_object" | "json_objectagg" => (0, false),
            "json_quote" | "json_unquote" => (1, true),
            "json_contains" => (2, false),
            _ if name.starts_with("json_merge_") => (list.args.len(), false),
            _ => (1, false),
        };
        for (n, argument) in list.args.iter_mut().enumerate() {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                continue;
            };
            let members = ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG;
            let wire = types::of(e, &mut self.names);
            // An exact number is a text in SQLite, too. The names of members are texts.
            let is_exact = wire.is_some_and(|t| {
                t.code == ColumnType::MYSQL_TYPE_NEWDECIMAL
                    || t.code == ColumnType::MYSQL_TYPE_LONGLONG && t.is_unsigned()
            });
            let is_part = parameter(name, n) == Parameter::DocumentPart;
            if is_exact && !is_part && !name.starts_with("json_object") {
                node::replace(e, |e| node::cast(e, DataType::DoublePrecision));
                continue;
            }
            let is_refused = wire.is_some_and(|t| {
                types::is_temporal(&t)
                    || !is_text && t.flags.intersects(members)
                    || name == "json_quote" && t.code == ColumnType::MYSQL_TYPE_JSON
            });
            if n < documents && is_refused {
                node::replace(e, |e| node::cast(e, DataType::DoublePrecision));
            }
        }
    }
}
