//! The names of a result's columns.

use sqlparser::ast::{
    Expr, ObjectNamePart, Query, SelectItem, SetExpr, TableFactor, TableWithJoins, UnaryOperator,
    Value,
};

use tare_mysql::series::Series;

use crate::name::ident;
use crate::names;
use crate::rewrite::Rewriter;

impl Rewriter<'_> {
    pub(in crate::rewrite) fn name_columns(&self, query: &mut Query, text: &str) {
        let mut body = &mut query.body;
        let select = loop {
            match body.as_mut() {
                SetExpr::Select(select) => break select,
                SetExpr::SetOperation { left, .. } => body = left,
                SetExpr::Query(query) => body = &mut query.body,
                _ => return,
            }
        };
        let texts = names::projection(text);
        let has_texts = texts.len() == select.projection.len();
        let has_original_names = self.mode.series.has_views_of_information()
            && names_information_schema(&select.from, self.database, self.mode.series);
        for (i, item) in select.projection.iter_mut().enumerate() {
            let SelectItem::UnnamedExpr(expr) = item else {
                continue;
            };
            let name = match literal_or_column(expr) {
                // A view's columns keep their own names, and information_schema is made of views.
                column @ (Expr::Identifier(_) | Expr::CompoundIdentifier(_))
                    if has_original_names && !is_variable(column) =>
                {
                    continue;
                }
                Expr::Identifier(name)
                    if name.quote_style.is_some() || !name.value.starts_with('@') =>
                {
                    name.value.clone()
                }
                Expr::CompoundIdentifier(parts)
                    if parts[0].quote_style.is_some() || !parts[0].value.starts_with('@') =>
                {
                    parts.last().map(|p| p.value.clone()).unwrap_or_default()
                }
                Expr::Prefixed { value, .. } if matches!(value.as_ref(), Expr::Value(_)) => {
                    match value.as_ref() {
                        Expr::Value(v) => literal_name(&v.value).unwrap_or_default(),
                        _ => String::new(),
                    }
                }
                Expr::Value(v) => match literal_name(&v.value) {
                    Some(name) => name,
                    None if has_texts => inner_text(&texts[i]).to_owned(),
                    None => v.value.to_string(),
                },
                _ if has_texts => texts[i].clone(),
                other => other.to_string(),
            };
            *item = SelectItem::ExprWithAlias {
                expr: expr.clone(),
                alias: ident(short(&name)),
            };
        }
    }
}

/// MySQL cuts a column's name after 256 bytes, and at a zero byte.
fn short(name: &str) -> &str {
    let zero = name.find('\0').unwrap_or(name.len());
    let mut end = zero.min(256);
    while !name.is_char_boundary(end) {
        end -= 1;
    }
    &name[..end]
}

fn is_variable(expr: &Expr) -> bool {
    let first = match expr {
        Expr::Identifier(name) => Some(name),
        Expr::CompoundIdentifier(parts) => parts.first(),
        _ => None,
    };
    first.is_some_and(|name| name.quote_style.is_none() && name.value.starts_with('@'))
}

/// Tables of information_schema whose columns have the names that a statement writes: they are no views of
/// MySQL's dictionary, or are built differently. So are those of InnoDB.
const TABLES_NAMED_AS_TYPED: [&str; 15] = [
    "applicable_roles",
    "collations",
    "column_privileges",
    "enabled_roles",
    "engines",
    "optimizer_trace",
    "plugins",
    "processlist",
    "profiling",
    "role_column_grants",
    "role_routine_grants",
    "role_table_grants",
    "schema_privileges",
    "table_privileges",
    "user_privileges",
];

/// Those of InnoDB that are views of the dictionary.
const INNODB_VIEWS: [&str; 4] = [
    "innodb_datafiles",
    "innodb_fields",
    "innodb_foreign_cols",
    "innodb_tablespaces_brief",
];

/// Whether a table's columns have the names that a statement writes.
fn is_named_as_typed(table: &str, series: Series) -> bool {
    let table = table.to_ascii_lowercase();
    let named = |all: &[&str]| all.contains(&table.as_str());
    match table.starts_with("innodb_") {
        true => !named(&INNODB_VIEWS),
        false if series == Series::V8_0 && named(&["key_column_usage", "table_constraints"]) => {
            true
        }
        false => named(&TABLES_NAMED_AS_TYPED),
    }
}

/// Whether the columns keep the names that information_schema's views give them.
fn names_information_schema(
    from: &[TableWithJoins],
    database: Option<&str>,
    series: Series,
) -> bool {
    const SCHEMA: &str = "information_schema";
    let is = |name: &str, part: &ObjectNamePart| {
        part.as_ident()
            .is_some_and(|i| i.value.eq_ignore_ascii_case(name))
    };
    let of = |factor: &TableFactor| {
        let name = match factor {
            TableFactor::Table { name, .. } => name,
            // A derived table that is merged keeps the names, too.
            TableFactor::Derived { subquery, .. } => {
                return matches!(subquery.body.as_ref(), SetExpr::Select(select)
                    if names_information_schema(&select.from, database, series));
            }
            _ => return false,
        };
        let (here, table) = match name.0.as_slice() {
            [table] => (
                database.is_some_and(|d| d.eq_ignore_ascii_case(SCHEMA)),
                table,
            ),
            [schema, table] => (is(SCHEMA, schema), table),
            _ => return false,
        };
        here && !table
            .as_ident()
            .is_some_and(|i| is_named_as_typed(&i.value, series))
    };
    from.iter()
        .any(|t| of(&t.relation) || t.joins.iter().any(|j| of(&j.relation)))
}

/// The expression that names a column: without parentheses and a plus sign.
fn literal_or_column(expr: &Expr) -> &Expr {
    let mut inner = expr;
    loop {
        match inner {
            Expr::Nested(e) => inner = e,
            Expr::UnaryOp {
                op: UnaryOperator::Plus,
                expr: e,
            } => inner = e,
            Expr::Value(_)
            | Expr::Identifier(_)
            | Expr::CompoundIdentifier(_)
            | Expr::Prefixed { .. } => {
                return inner;
            }
            _ => return expr,
        }
    }
}

fn literal_name(value: &Value) -> Option<String> {
    match value {
        Value::SingleQuotedString(s)
        | Value::DoubleQuotedString(s)
        | Value::NationalStringLiteral(s) => Some(s.trim_start().to_owned()),
        Value::Number(n, _) => Some(n.clone()),
        _ => None,
    }
}

fn inner_text(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '+'))
}
