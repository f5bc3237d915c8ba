//! Nodes of SQLite's tree: what the rewriter puts in the place of what only MySQL has.
//!
//! The nodes are sqlparser's, so that rewritten code can still be inspected. Their text is SQLite's:
//! [`text`] and [`column`] quote as SQLite reads it, so a tree that has them must not be rewritten again.

pub mod query;

use sqlparser::ast::helpers::attached_token::AttachedToken;
use sqlparser::ast::{
    BinaryOperator, CaseWhen, CastKind, DataType, DuplicateTreatment, ExactNumberInfo, Expr,
    Function, FunctionArg, FunctionArgExpr, FunctionArgumentClause, FunctionArgumentList,
    FunctionArguments, Ident, ObjectName, OrderByExpr, OrderByOptions, UnaryOperator, Value,
};
use sqlparser::tokenizer::Span;

use crate::name::ident;

/// Takes an expression out of the tree.
pub fn take(expr: &mut Expr) -> Expr {
    std::mem::replace(expr, null())
}

/// Replaces an expression by what `with` returns for it.
pub fn replace(expr: &mut Expr, with: impl FnOnce(Expr) -> Expr) {
    let old = take(expr);
    *expr = with(old);
}

/// NULL.
pub fn null() -> Expr {
    Expr::value(Value::Null)
}

/// A number that is not negative, in digits.
pub fn digits(text: impl Into<String>) -> Expr {
    Expr::value(Value::Number(text.into(), false))
}

/// A number.
pub fn number(n: i64) -> Expr {
    let positive = digits(n.unsigned_abs().to_string());
    if n < 0 { negative(positive) } else { positive }
}

/// A number of 64 bits. One that does not fit into an i64 becomes the i64 with the same bits.
pub fn bits(n: u64) -> Expr {
    nested(number(n as i64))
}

/// A text. SQL ends at a zero byte, so a text with a zero byte is a cast of its bytes.
pub fn text(text: &str) -> Expr {
    if text.contains('\0') {
        let hex = text.bytes().map(|b| format!("{b:02x}")).collect();
        return cast(bytes(hex), DataType::Text);
    }
    // The printer does not change doubled quotes, whatever precedes them.
    Expr::value(Value::SingleQuotedString(text.replace('\'', "''")))
}

/// Bytes, in an even number of hexadecimal digits.
pub fn bytes(hex: String) -> Expr {
    Expr::value(Value::HexStringLiteral(hex))
}

/// The bytes of hexadecimal digits. The first of an odd number of digits is a byte of its own.
pub fn bytes_of(hex: &str) -> Vec<u8> {
    let (first, pairs) = hex.as_bytes().split_at(hex.len() % 2);
    std::iter::once(first)
        .chain(pairs.chunks(2))
        .filter_map(|digits| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok())
        .collect()
}

/// A column by its name, without its table.
pub fn column(name: &str) -> Expr {
    Expr::Identifier(ident(name))
}

/// An expression in parentheses.
pub fn nested(expr: Expr) -> Expr {
    Expr::Nested(Box::new(expr))
}

/// `left op right`.
pub fn binary(left: Expr, op: BinaryOperator, right: Expr) -> Expr {
    Expr::BinaryOp {
        left: Box::new(left),
        op,
        right: Box::new(right),
    }
}

/// `left IS right`: whether they are the same, NULL or not.
pub fn is(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::Custom("IS".into()), right)
}

/// `left IS NOT right`.
pub fn is_not(left: Expr, right: Expr) -> Expr {
    binary(left, BinaryOperator::Custom("IS NOT".into()), right)
}

/// `NOT expr`.
pub fn not(expr: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Not,
        expr: Box::new(expr),
    }
}

/// `NOT expr`, or the expression itself.
pub fn negated(negated: bool, expr: Expr) -> Expr {
    if negated { not(expr) } else { expr }
}

/// `-expr`. The expression is a number of digits, or in parentheses: `--` begins a comment.
pub fn negative(expr: Expr) -> Expr {
    Expr::UnaryOp {
        op: UnaryOperator::Minus,
        expr: Box::new(expr),
    }
}

/// `CAST(expr AS data_type)`.
pub fn cast(expr: Expr, data_type: DataType) -> Expr {
    Expr::Cast {
        kind: CastKind::Cast,
        expr: Box::new(expr),
        data_type,
        format: None,
    }
}

/// A value with SQLite's numeric affinity.
pub fn numeric(expr: Expr) -> Expr {
    cast(expr, DataType::Numeric(ExactNumberInfo::None))
}

/// `expr COLLATE collation`.
pub fn collate(expr: Expr, collation: &str) -> Expr {
    Expr::Collate {
        expr: Box::new(expr),
        collation: ObjectName::from(Ident::new(collation)),
    }
}

/// The name of a COLLATE that a statement has; `None` for one that [`collate`] has added, which has neither
/// quotes nor a place in the text.
pub fn collation_in_text(collation: &ObjectName) -> Option<&Ident> {
    let name = collation.0.last()?.as_ident()?;
    (name.quote_style.is_some() || name.span != Span::empty()).then_some(name)
}

/// `CASE WHEN condition THEN result ... ELSE otherwise END`.
pub fn case(branches: Vec<(Expr, Expr)>, otherwise: Expr) -> Expr {
    Expr::Case {
        case_token: AttachedToken::empty(),
        end_token: AttachedToken::empty(),
        operand: None,
        conditions: branches
            .into_iter()
            .map(|(condition, result)| CaseWhen { condition, result })
            .collect(),
        else_result: Some(Box::new(otherwise)),
    }
}

/// `name(arguments)`.
pub fn call(name: &str, arguments: Vec<Expr>) -> Expr {
    aggregate(name, false, arguments, Vec::new())
}

/// `name(*)`.
pub fn call_of_all(name: &str) -> Expr {
    let all = FunctionArg::Unnamed(FunctionArgExpr::Wildcard);
    function(name, None, vec![all], Vec::new())
}

/// `name(DISTINCT arguments clauses)`.
pub fn aggregate(
    name: &str,
    distinct: bool,
    arguments: Vec<Expr>,
    clauses: Vec<FunctionArgumentClause>,
) -> Expr {
    let distinct = distinct.then_some(DuplicateTreatment::Distinct);
    let unnamed = |e| FunctionArg::Unnamed(FunctionArgExpr::Expr(e));
    let arguments = arguments.into_iter().map(unnamed).collect();
    function(name, distinct, arguments, clauses)
}

/// `ORDER BY expr`, one of its parts.
pub fn order_by(expr: Expr) -> OrderByExpr {
    OrderByExpr {
        expr,
        options: OrderByOptions::default(),
        with_fill: None,
    }
}

fn function(
    name: &str,
    duplicate_treatment: Option<DuplicateTreatment>,
    args: Vec<FunctionArg>,
    clauses: Vec<FunctionArgumentClause>,
) -> Expr {
    Expr::Function(Function {
        name: ObjectName::from(Ident::new(name)),
        uses_odbc_syntax: false,
        parameters: FunctionArguments::None,
        args: FunctionArguments::List(FunctionArgumentList {
            duplicate_treatment,
            args,
            clauses,
        }),
        within_group: Vec::new(),
        filter: None,
        null_treatment: None,
        over: None,
    })
}

/// The word in front of a column of an ENUM or a SET whose number is meant.
pub const MEMBER_MARK: &str = "tare_member";

/// SQLite's function that returns the value of a user variable by its name.
const USER_VARIABLE: &str = "tare_user_variable";

/// A user variable, by its name without `@`.
pub fn user_variable(name: &str) -> Expr {
    call(USER_VARIABLE, vec![text(name)])
}

/// The name of a user variable that [`user_variable`] returned, as a literal.
pub fn user_variable_name(expr: &Expr) -> Option<&Expr> {
    let Expr::Function(Function {
        name,
        args: FunctionArguments::List(list),
        ..
    }) = expr
    else {
        return None;
    };
    let named = name.0.first()?.as_ident()?.value == USER_VARIABLE;
    match list.args.as_slice() {
        [FunctionArg::Unnamed(FunctionArgExpr::Expr(name))] if named => Some(name),
        _ => None,
    }
}

/// A column's default as its table's definition stores it: SQLite's text, which is not parsed again.
pub(crate) fn stored_default(text: String) -> Expr {
    nested(Expr::value(Value::Placeholder(text)))
}

/// Whether an expression is bytes by its form: a hexadecimal literal, or a cast to BLOB.
pub fn is_bytes(expr: &Expr) -> bool {
    match expr {
        Expr::Value(v) => matches!(v.value, Value::HexStringLiteral(_)),
        Expr::Cast { data_type, .. } => matches!(data_type, DataType::Blob(_)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_print_as_sqlite_reads_them() {
        for (node, printed) in [
            (text("it's"), "'it''s'"),
            (text(r"\'"), r"'\'''"),
            (text("''"), "''''''"),
            (text(r"a\''b"), r"'a\''''b'"),
            (text(r"\"), r"'\'"),
            (text("a\0'"), "CAST(X'610027' AS TEXT)"),
            (column("a\"b"), "\"a\"\"b\""),
            (number(-5), "-5"),
            (bits(u64::MAX), "(-1)"),
            (bits(1 << 63), "(-9223372036854775808)"),
            (call("f", vec![null(), number(1)]), "f(NULL, 1)"),
            (call("f", vec![]), "f()"),
            (call_of_all("count"), "count(*)"),
            (is_not(column("a"), null()), "\"a\" IS NOT NULL"),
            (
                aggregate("sum", true, vec![number(1)], vec![]),
                "sum(DISTINCT 1)",
            ),
            (collate(column("a"), "NOCASE"), "\"a\" COLLATE NOCASE"),
            (
                case(vec![(number(1), number(2))], null()),
                "CASE WHEN 1 THEN 2 ELSE NULL END",
            ),
        ] {
            assert_eq!(node.to_string(), printed);
        }
    }

    #[test]
    fn a_user_variable_has_its_name() {
        let name = user_variable("x");
        assert_eq!(user_variable_name(&name), Some(&text("x")));
        assert_eq!(
            user_variable_name(&call("tare_variable", vec![text("x")])),
            None
        );
    }
}
