//! Expressions as SHOW CREATE TABLE prints them: MySQL prints its tree, not the statement's text.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArguments, Ident, UnaryOperator};
use tare_mysql::table::identifier;

use crate::function::{arguments, name_of};

/// The text, which is read as the same expression again.
pub(super) fn print(expr: &Expr) -> String {
    let list = |all: &[Expr]| all.iter().map(print).collect::<Vec<_>>().join(",");
    match expr {
        Expr::Nested(inner) => print(inner),
        Expr::Identifier(name) if is_column(name) => identifier(&name.value),
        Expr::BinaryOp { left, op, right } => print_operation(left, op, right),
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => match expr.as_ref() {
            Expr::InList {
                expr,
                list,
                negated,
            } => print(&Expr::InList {
                expr: expr.clone(),
                list: list.clone(),
                negated: !negated,
            }),
            other => format!("(not({}))", print(other)),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => format!("-({})", print(expr)),
        Expr::InList {
            expr,
            list: all,
            negated,
        } => format!("({}{} in ({}))", print(expr), not(*negated), list(all)),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            let (expr, low, high) = (print(expr), print(low), print(high));
            format!("({expr}{} between {low} and {high})", not(*negated))
        }
        Expr::IsNull(inner) => format!("({} is null)", print(inner)),
        Expr::IsNotNull(inner) => format!("({} is not null)", print(inner)),
        Expr::Like {
            negated,
            expr,
            pattern,
            escape_char: None,
            any: false,
        } => format!("({}{} like {})", print(expr), not(*negated), print(pattern)),
        Expr::Function(f) if f.over.is_none() && is_plain(&f.args) => {
            let arguments: Vec<String> = arguments(f).into_iter().map(print).collect();
            format!("{}({})", name_of(f), arguments.join(","))
        }
        other => other.to_string(),
    }
}

fn is_column(name: &Ident) -> bool {
    name.quote_style.is_some() || !name.value.starts_with('@')
}

/// Whether a call has only arguments.
fn is_plain(arguments: &FunctionArguments) -> bool {
    matches!(arguments, FunctionArguments::List(list)
        if list.clauses.is_empty() && list.duplicate_treatment.is_none())
}

fn not(negated: bool) -> &'static str {
    if negated { " not" } else { "" }
}

/// A chain of AND or of OR has one pair of parentheses, every other operator its own.
fn print_operation(left: &Expr, op: &BinaryOperator, right: &Expr) -> String {
    use BinaryOperator::{And, Or, Xor};
    let word = match op {
        And | Or | Xor => op.to_string().to_lowercase(),
        _ => op.to_string(),
    };
    let side = |expr: &Expr| {
        let text = print(expr);
        let mut inner = expr;
        while let Expr::Nested(next) = inner {
            inner = next;
        }
        match inner {
            Expr::BinaryOp { op: same, .. } if same == op && matches!(op, And | Or) => {
                text[1..text.len() - 1].to_owned()
            }
            _ => text,
        }
    };
    format!("({} {word} {})", side(left), side(right))
}
