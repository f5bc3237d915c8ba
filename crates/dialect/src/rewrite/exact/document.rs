//! The arguments of JSON functions: documents, and values that become parts of one.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::{BinaryOperator, DataType, Expr, FunctionArg, FunctionArgExpr};
use sqlparser::ast::{FunctionArguments, UnaryOperator, Value};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::Class;
use crate::function::{DocumentPart, Parameter, parameter};
use crate::rewrite::Rewriter;
use crate::rewrite::compare::operand;
use crate::rewrite::operands::{is_comparison, operands};
use crate::rewrite::rewriter::Conversion;
use crate::{node, types};

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
    /// What an expression is as a part of a document.
    pub(in crate::rewrite) fn document_part(&mut self, expr: &Expr) -> DocumentPart {
        if is_truth(expr) {
            return DocumentPart::Truth;
        }
        let Some(t) = types::of(expr, &mut self.names) else {
            let is_parameter =
                matches!(expr, Expr::Value(v) if matches!(v.value, Value::Placeholder(_)));
            return match is_parameter {
                true => DocumentPart::Parameter,
                false => DocumentPart::Unknown,
            };
        };
        match t.code {
            ColumnType::MYSQL_TYPE_NULL => DocumentPart::Unknown,
            ColumnType::MYSQL_TYPE_JSON => DocumentPart::Document,
            ColumnType::MYSQL_TYPE_DATE => DocumentPart::Date,
            ColumnType::MYSQL_TYPE_BIT => {
                DocumentPart::Bit(t.length.clamp(1, 64).div_ceil(8).into())
            }
            _ if types::is_number(&t) => DocumentPart::Number,
            _ if types::is_temporal(&t) => DocumentPart::Time,
            _ if t.charset == CHARSET_BINARY => DocumentPart::Bytes(number_of_bytes(&t)),
            _ => DocumentPart::Text,
        }
    }

    fn is_document(&mut self, expr: &Expr) -> bool {
        types::of(expr, &mut self.names)
            .as_ref()
            .is_some_and(types::is_json)
    }

    /// Whether a document is computed. That of a column has its collation.
    pub(super) fn computes_document(&mut self, expr: &Expr) -> bool {
        use BinaryOperator::Arrow;
        let may_compute = matches!(
            expr,
            Expr::BinaryOp { op: Arrow, .. }
                | Expr::Function(_)
                | Expr::Cast { .. }
                | Expr::Convert { .. }
                | Expr::Case { .. }
                | Expr::Subquery(_)
        );
        may_compute && self.is_document(expr)
    }

    /// Prepares a comparison with a document, which compares all operands as documents. False: it is none,
    /// or one that compares numbers or texts (BETWEEN and CASE).
    pub(in crate::rewrite) fn compare_documents(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) -> bool {
        let has_documents = matches!(expr, Expr::BinaryOp { .. } | Expr::InList { .. });
        let Some(operands) = operands(expr) else {
            return false;
        };
        let documents: Vec<bool> = operands.iter().map(|e| self.is_document(e)).collect();
        if has_documents && documents.contains(&true) {
            for (i, operand) in operands.iter().enumerate() {
                if !documents[i] {
                    let part = self.document_part(operand);
                    later.push((i, Conversion::DocumentPart(part)));
                    match part {
                        DocumentPart::Date | DocumentPart::Time => {
                            later.push((i, Conversion::DocumentMoment));
                        }
                        DocumentPart::Bytes(_) | DocumentPart::Bit(_) => {
                            later.push((i, Conversion::DocumentBytes));
                        }
                        _ => {}
                    }
                }
            }
            later.push((0, Conversion::Document));
            return true;
        }
        let has_numbers = documents.first() == Some(&true)
            && operands[1..]
                .iter()
                .all(|e| matches!(self.class(e), Class::Int | Class::Real | Class::Null));
        if has_numbers {
            later.push((0, Conversion::Real));
        }
        has_numbers
    }

    /// Reads the scalar of a document before its conversion to a number.
    pub(in crate::rewrite) fn read_documents(
        &mut self,
        expr: &mut Expr,
        later: &mut Vec<(usize, Conversion)>,
    ) {
        use Conversion::{Bits, Integer, JsonScalar, Number, Real, Rounded};
        let reads_number =
            |c: &Conversion| matches!(c, Number | Real | Integer | Rounded(_) | Bits);
        for n in (0..later.len()).rev() {
            let (i, conversion) = later[n];
            if reads_number(&conversion)
                && let Some(operand) = operand(expr, i)
                && self.is_document(operand)
            {
                later.insert(n, (i, JsonScalar));
            }
        }
    }

    /// The same for the operand of a cast to JSON; `None` for a text, which is parsed, and for unknown types.
    pub(super) fn cast_part(&mut self, operand: &Expr) -> Option<DocumentPart> {
        let t = types::of(operand, &mut self.names)?;
        let members = ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG;
        let is_parsed =
            types::is_text(&t) && t.charset != CHARSET_BINARY && !t.flags.intersects(members);
        let is_null = t.code == ColumnType::MYSQL_TYPE_NULL;
        (!is_parsed && !is_null).then(|| self.document_part(operand))
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
        let members = ColumnFlags::ENUM_FLAG | ColumnFlags::SET_FLAG;
        for (n, argument) in list.args.iter_mut().enumerate() {
            let FunctionArg::Unnamed(FunctionArgExpr::Expr(e)) = argument else {
                continue;
            };
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
