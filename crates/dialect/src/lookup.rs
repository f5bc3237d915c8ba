//! The conditions of a SELECT on one table of a system schema: EXPLAIN reports which of the table's keys
//! serves them.

use sqlparser::ast::{BinaryOperator, Expr, GroupByExpr, Query, Select, SetExpr, Statement};
use sqlparser::ast::{TableFactor, UnaryOperator, Value};

use crate::schema::Schema;

/// How a condition compares a column with a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    /// `=`, with a string or with something else.
    Equal {
        /// Whether it is a string as written.
        string: bool,
    },
    /// `<`, `>=` and the like.
    Range,
    /// BETWEEN and LIKE.
    Within,
    /// `<>`.
    Unequal,
}

/// One of the conditions that WHERE joins by AND.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Condition {
    /// The column that it compares, and how; `None` for other conditions.
    pub column: Option<(String, Comparison)>,
    /// In MySQL's dialect.
    pub text: String,
}

/// The table and the conditions on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lookup {
    /// The schema, in lower case.
    pub schema: String,
    /// The table's name, as written.
    pub table: String,
    /// What the statement calls it.
    pub name: String,
    /// The conditions.
    pub conditions: Vec<Condition>,
}

/// The lookup of a SELECT on one table of performance_schema; `None` for any other statement.
pub fn of(statement: &Statement, database: Option<&str>, schema: &dyn Schema) -> Option<Lookup> {
    let Statement::Query(query) = statement else {
        return None;
    };
    let select = plain(query)?;
    let [from] = select.from.as_slice() else {
        return None;
    };
    let (TableFactor::Table { name, alias, .. }, true) = (&from.relation, from.joins.is_empty())
    else {
        return None;
    };
    let parts: Vec<&str> = name
        .0
        .iter()
        .map(|part| part.as_ident().map(|ident| ident.value.as_str()))
        .collect::<Option<_>>()?;
    let (of, table) = match parts[..] {
        [table] => (database?, table),
        [of, table] => (of, table),
        _ => return None,
    };
    let of = of.to_lowercase();
    if of != "performance_schema" || schema.system_table(&of, table).is_none() {
        return None;
    }
    let mut conditions = Vec::new();
    if let Some(selection) = &select.selection {
        split(selection, &mut conditions);
    }
    let name = alias.as_ref().map_or(table, |alias| &alias.name.value);
    Some(Lookup {
        schema: of,
        table: table.to_owned(),
        name: name.to_owned(),
        conditions,
    })
}

/// A query that is a SELECT and neither groups nor sorts.
fn plain(query: &Query) -> Option<&Select> {
    let SetExpr::Select(select) = query.body.as_ref() else {
        return None;
    };
    let groups = !matches!(&select.group_by, GroupByExpr::Expressions(by, _) if by.is_empty());
    let more = query.with.is_some()
        || query.order_by.is_some()
        || select.having.is_some()
        || select.distinct.is_some()
        || groups;
    (!more).then_some(select)
}

/// Takes AND apart.
fn split(expr: &Expr, into: &mut Vec<Condition>) {
    match expr {
        Expr::Nested(inside) => split(inside, into),
        Expr::BinaryOp {
            left,
            op: BinaryOperator::And,
            right,
        } => {
            split(left, into);
            split(right, into);
        }
        other => into.push(Condition {
            column: compared(other),
            text: other.to_string(),
        }),
    }
}

fn compared(expr: &Expr) -> Option<(String, Comparison)> {
    match expr {
        Expr::BinaryOp { left, op, right } => {
            let (column, value) = match (column(left), column(right)) {
                (Some(column), None) => (column, right),
                (None, Some(column)) => (column, left),
                _ => return None,
            };
            if !is_constant(value) {
                return None;
            }
            let compares = match op {
                BinaryOperator::Eq => Comparison::Equal {
                    string: is_string(value),
                },
                BinaryOperator::Lt
                | BinaryOperator::LtEq
                | BinaryOperator::Gt
                | BinaryOperator::GtEq => Comparison::Range,
                BinaryOperator::NotEq => Comparison::Unequal,
                _ => return None,
            };
            Some((column, compares))
        }
        Expr::Like {
            negated: false,
            expr,
            pattern,
            ..
        } if is_constant(pattern) => Some((column(expr)?, Comparison::Within)),
        Expr::Between {
            negated: false,
            expr,
            low,
            high,
        } if is_constant(low) && is_constant(high) => Some((column(expr)?, Comparison::Within)),
        _ => None,
    }
}

/// The column that an expression is. What begins with `@` is a variable.
fn column(expr: &Expr) -> Option<String> {
    let ident = match expr {
        Expr::Identifier(ident) => ident,
        Expr::CompoundIdentifier(parts) => parts.last()?,
        _ => return None,
    };
    (!ident.value.starts_with('@')).then(|| ident.value.clone())
}

fn is_constant(expr: &Expr) -> bool {
    match expr {
        Expr::Value(value) => !matches!(value.value, Value::Null),
        Expr::Identifier(ident) => ident.value.starts_with('@'),
        Expr::UnaryOp {
            op: UnaryOperator::Minus | UnaryOperator::Plus,
            expr,
        } => is_constant(expr),
        _ => false,
    }
}

fn is_string(expr: &Expr) -> bool {
    matches!(expr, Expr::Value(value)
        if matches!(value.value, Value::SingleQuotedString(_) | Value::DoubleQuotedString(_)))
}
