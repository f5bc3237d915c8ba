//! Which clause of a statement a name that nobody knows stands in: SQLite tells the name alone.

use sqlparser::ast::{
    Expr, GroupByExpr, JoinConstraint, JoinOperator, OrderByKind, Query, Select, SelectItem,
    SetExpr, Statement, TableFactor, visit_expressions,
};
use tare_mysql::error::SqlError;

use super::{Mode, parse_statement, read};
use crate::join::constraint;

/// The error in MySQL's words: 1054 and 1052 with the clause.
pub fn blame(error: SqlError, sql: &str, mode: Mode) -> SqlError {
    if !matches!(error.code, 1054 | 1052) || !error.message.contains("field list") {
        return error;
    }
    let Some(name) = error.message.split('\'').nth(1).map(str::to_owned) else {
        return error;
    };
    // Only a name without its table is ambiguous.
    let wanted = Name {
        text: &name,
        exact: error.code == 1052,
    };
    let clause = read(sql, mode)
        .and_then(|mut reading| parse_statement(&mut reading.parser))
        .ok()
        .and_then(|statement| of_statement(&statement, &wanted));
    let Some((clause, written)) = clause else {
        return error;
    };
    let message = if error.code == 1054 {
        format!("Unknown column '{written}' in '{clause}'")
    } else {
        format!("Column '{written}' in {clause} is ambiguous")
    };
    SqlError::new(error.code, message)
}

/// The name that SQLite tells.
struct Name<'n> {
    text: &'n str,
    /// It is written as it stands here, not with fewer parts.
    exact: bool,
}

type Found = Option<(&'static str, String)>;

fn of_statement(statement: &Statement, name: &Name<'_>) -> Found {
    match statement {
        Statement::Query(query) => of_query(query, name),
        Statement::Explain { statement, .. } => of_statement(statement, name),
        Statement::Update(update) => {
            let assigned = update.assignments.iter();
            for assignment in assigned {
                let target = assignment.target.to_string().replace(['`', '"'], "");
                if same(&target, name) {
                    return Some(("field list", target));
                }
                if let Some(written) = within(&assignment.value, name) {
                    return Some(("field list", written));
                }
            }
            let selection = update.selection.as_ref()?;
            within(selection, name).map(|w| ("where clause", w))
        }
        Statement::Delete(delete) => {
            let selection = delete.selection.as_ref()?;
            within(selection, name).map(|w| ("where clause", w))
        }
        Statement::Insert(insert) => {
            let columns = insert
                .columns
                .iter()
                .map(|c| c.to_string().replace('`', ""));
            let mut columns = columns.filter(|c| same(c, name));
            columns
                .next()
                .map(|c| ("field list", c))
                .or_else(|| insert.source.as_ref().and_then(|q| of_query(q, name)))
        }
        _ => None,
    }
}

fn of_query(query: &Query, name: &Name<'_>) -> Found {
    let with = query.with.iter().flat_map(|w| &w.cte_tables);
    for cte in with {
        if let found @ Some(_) = of_query(&cte.query, name) {
            return found;
        }
    }
    if let found @ Some(_) = of_body(&query.body, name) {
        return found;
    }
    if let Some(order) = &query.order_by
        && let OrderByKind::Expressions(by) = &order.kind
    {
        for item in by {
            if let Some(written) = within(&item.expr, name) {
                return Some(("order clause", written));
            }
        }
    }
    None
}

fn of_body(body: &SetExpr, name: &Name<'_>) -> Found {
    match body {
        SetExpr::Select(select) => of_select(select, name),
        SetExpr::Query(query) => of_query(query, name),
        SetExpr::SetOperation { left, right, .. } => {
            of_body(left, name).or_else(|| of_body(right, name))
        }
        _ => None,
    }
}

fn of_select(select: &Select, name: &Name<'_>) -> Found {
    let factors = select
        .from
        .iter()
        .flat_map(|t| std::iter::once(&t.relation).chain(t.joins.iter().map(|j| &j.relation)));
    for factor in factors {
        if let TableFactor::Derived { subquery, .. } = factor
            && let found @ Some(_) = of_query(subquery, name)
        {
            return found;
        }
    }
    for item in &select.projection {
        let expr = match item {
            SelectItem::UnnamedExpr(e) | SelectItem::ExprWithAlias { expr: e, .. } => e,
            _ => continue,
        };
        if let Some(written) = within(expr, name) {
            return Some(("field list", written));
        }
    }
    for join in select.from.iter().flat_map(|t| &t.joins) {
        if let Some(on) = condition(&join.join_operator)
            && let Some(written) = within(on, name)
        {
            return Some(("on clause", written));
        }
        if let Some(columns) = using(&join.join_operator)
            && columns.iter().any(|c| same(c, name))
        {
            return Some(("from clause", name.text.to_owned()));
        }
    }
    if let Some(selection) = &select.selection
        && let Some(written) = within(selection, name)
    {
        return Some(("where clause", written));
    }
    if let GroupByExpr::Expressions(by, _) = &select.group_by {
        for expr in by {
            if let Some(written) = within(expr, name) {
                return Some(("group statement", written));
            }
        }
    }
    let having = select.having.as_ref()?;
    within(having, name).map(|w| ("having clause", w))
}

fn condition(operator: &JoinOperator) -> Option<&Expr> {
    match constraint(operator)? {
        JoinConstraint::On(on) => Some(on),
        _ => None,
    }
}

fn using(operator: &JoinOperator) -> Option<Vec<String>> {
    match constraint(operator)? {
        JoinConstraint::Using(columns) => Some(
            columns
                .iter()
                .map(|c| c.to_string().replace('`', ""))
                .collect(),
        ),
        _ => None,
    }
}

/// Whether a name as it is written is the one that SQLite names, which may have more parts.
fn same(written: &str, name: &Name<'_>) -> bool {
    let (written, exact) = (written.to_lowercase(), name.exact);
    let name = name.text.to_lowercase();
    written == name
        || !exact && name.ends_with(&format!(".{written}"))
        || !exact && written.ends_with(&format!(".{name}"))
}

/// The name as an expression has it, if it does; a subquery's own clauses are said to be its.
fn within(expr: &Expr, name: &Name<'_>) -> Option<String> {
    let mut found = None;
    let _ = visit_expressions(expr, |e| {
        let written = match e {
            Expr::Identifier(i) => i.value.clone(),
            Expr::CompoundIdentifier(parts) => parts
                .iter()
                .map(|p| p.value.as_str())
                .collect::<Vec<_>>()
                .join("."),
            _ => return std::ops::ControlFlow::<()>::Continue(()),
        };
        if found.is_none() && same(&written, name) {
            found = Some(written);
        }
        std::ops::ControlFlow::Continue(())
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clauses_are_found() {
        for (sql, clause) in [
            ("SELECT x FROM t", "field list"),
            ("SELECT 1 FROM t WHERE x = 1", "where clause"),
            ("SELECT 1 FROM t JOIN u ON t.x = u.a", "on clause"),
            ("SELECT 1 FROM t GROUP BY x", "group statement"),
            ("SELECT 1 FROM t ORDER BY x", "order clause"),
            ("SELECT a FROM t GROUP BY a HAVING x > 1", "having clause"),
            ("DELETE FROM t WHERE x = 1", "where clause"),
            ("UPDATE t SET x = 1", "field list"),
        ] {
            let error = SqlError::new(1054, "Unknown column 'x' in 'field list'");
            let message = blame(error, sql, Mode::default()).message;
            assert!(
                message.ends_with(&format!(" in '{clause}'")),
                "{sql}: {message}"
            );
        }
    }
}
