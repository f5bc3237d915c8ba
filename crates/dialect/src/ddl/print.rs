//! Expressions as SHOW CREATE TABLE prints them: MySQL prints its tree, not the statement's text.

use sqlparser::ast::{BinaryOperator, Expr, FunctionArguments, Ident, UnaryOperator};
use tare_mysql::table::identifier;

use crate::function::{arguments, name_of};

/// The text, which is read as the same expression again.
pub(super) fn print(expr: &Expr) -> String {
    let mut text = String::new();
    put(expr, &mut text);
    text
}

/// The same without parentheses around all of it.
pub(super) fn print_inside(expr: &Expr) -> String {
    let mut text = String::new();
    put_inside(unnested(expr), &mut text);
    text
}

fn unnested(mut expr: &Expr) -> &Expr {
    while let Expr::Nested(inner) = expr {
        expr = inner;
    }
    expr
}

/// Whether MySQL prints parentheses around it.
fn has_parentheses(expr: &Expr) -> bool {
    match expr {
        Expr::BinaryOp { .. }
        | Expr::InList { .. }
        | Expr::Between { .. }
        | Expr::IsNull(_)
        | Expr::IsNotNull(_) => true,
        Expr::UnaryOp { op, .. } => *op == UnaryOperator::Not,
        Expr::Like {
            escape_char, any, ..
        } => escape_char.is_none() && !any,
        _ => false,
    }
}

fn put(expr: &Expr, text: &mut String) {
    let expr = unnested(expr);
    let has_parentheses = has_parentheses(expr);
    if has_parentheses {
        text.push('(');
    }
    put_inside(expr, text);
    if has_parentheses {
        text.push(')');
    }
}

fn put_inside(expr: &Expr, text: &mut String) {
    match expr {
        Expr::Identifier(name) if is_column(name) => text.push_str(&identifier(&name.value)),
        Expr::BinaryOp { left, op, right } => {
            put_side(left, op, text);
            match op {
                BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Xor => {
                    text.push_str(&format!(" {op} ").to_lowercase());
                }
                _ => text.push_str(&format!(" {op} ")),
            }
            put_side(right, op, text);
        }
        Expr::UnaryOp {
            op: UnaryOperator::Not,
            expr,
        } => match unnested(expr) {
            Expr::InList {
                expr,
                list,
                negated,
            } => put_in(expr, !negated, list, text),
            other => put_call("not", [other], text),
        },
        Expr::UnaryOp {
            op: UnaryOperator::Minus,
            expr,
        } => put_call("-", [expr.as_ref()], text),
        Expr::InList {
            expr,
            list,
            negated,
        } => put_in(expr, *negated, list, text),
        Expr::Between {
            expr,
            negated,
            low,
            high,
        } => {
            put(expr, text);
            put_negation(*negated, text);
            text.push_str(" between ");
            put(low, text);
            text.push_str(" and ");
            put(high, text);
        }
        Expr::IsNull(inner) => {
            put(inner, text);
            text.push_str(" is null");
        }
        Expr::IsNotNull(inner) => {
            put(inner, text);
            text.push_str(" is not null");
        }
        Expr::Like {
            negated,
            expr,
            pattern,
            escape_char: None,
            any: false,
        } => {
            put(expr, text);
            put_negation(*negated, text);
            text.push_str(" like ");
            put(pattern, text);
        }
        Expr::Function(f) if f.over.is_none() && is_plain(&f.args) => {
            put_call(&name_of(f), arguments(f), text);
        }
        other => text.push_str(&other.to_string()),
    }
}

/// A chain of AND or of OR has one pair of parentheses, every other operator its own.
fn put_side(expr: &Expr, op: &BinaryOperator, text: &mut String) {
    match unnested(expr) {
        side @ Expr::BinaryOp { op: same, .. }
            if same == op && matches!(op, BinaryOperator::And | BinaryOperator::Or) =>
        {
            put_inside(side, text);
        }
        side => put(side, text),
    }
}

fn put_in(expr: &Expr, negated: bool, list: &[Expr], text: &mut String) {
    put(expr, text);
    put_negation(negated, text);
    put_call(" in ", list, text);
}

fn put_call<'e>(name: &str, arguments: impl IntoIterator<Item = &'e Expr>, text: &mut String) {
    text.push_str(name);
    text.push('(');
    for (i, argument) in arguments.into_iter().enumerate() {
        if i > 0 {
            text.push(',');
        }
        put(argument, text);
    }
    text.push(')');
}

fn put_negation(negated: bool, text: &mut String) {
    if negated {
        text.push_str(" not");
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

#[cfg(test)]
mod tests {
    use tare_mysql::table::TableDef;

    use crate::ddl::definition;

    fn conditions(sql: &str) -> Vec<String> {
        let def: TableDef = definition(sql).expect(sql);
        let again = definition(&def.to_mysql()).expect("the stored text");
        assert_eq!(def.checks, again.checks, "{sql}");
        def.checks.into_iter().map(|c| c.condition).collect()
    }

    #[test]
    fn conditions_have_the_parentheses_of_the_tree() {
        for (condition, printed) in [
            ("a > 1", "`a` > 1"),
            ("((a)) > (1)", "`a` > 1"),
            (
                "(a > 1) AND (b > 1 AND a < 9)",
                "(`a` > 1) and (`b` > 1) and (`a` < 9)",
            ),
            (
                "a > 1 OR NOT (b IN (1, -2))",
                "(`a` > 1) or (`b` not in (1,-(2)))",
            ),
            ("(a) REGEXP (b)", "(a) REGEXP (b)"),
            ("(a) LIKE (b) ESCAPE '!'", "(a) LIKE (b) ESCAPE '!'"),
            ("NOT a", "not(`a`)"),
            ("(COALESCE(a, (b)))", "coalesce(`a`,`b`)"),
            (
                "a NOT BETWEEN 1 AND (b + 1)",
                "`a` not between 1 and (`b` + 1)",
            ),
        ] {
            let sql = format!("CREATE TABLE t (a INT, b INT, CHECK ({condition}))");
            assert_eq!(conditions(&sql), [printed], "{condition}");
        }
    }
}
