//! The limit of recursive queries: @@cte_max_recursion_depth.
//!
//! SQLite takes rows one by one from a queue and has no iterations. So each row has, in a hidden column, its
//! number of steps from the first rows. The expression that computes the next number refuses one beyond the
//! limit (3636). `c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c)` becomes
//!
//! ```sql
//! "tare c" (n, "tare depth") AS (
//!   SELECT 1, tare_deeper('', 0) COLLATE tare_any
//!   UNION ALL SELECT n + 1, tare_deeper(c."tare depth", 0) FROM "tare c" AS c),
//! c (n) AS (SELECT n FROM "tare c")
//! ```
//!
//! In the collation all texts are equal, so UNION, which drops duplicate rows, ignores the column.

use sqlparser::ast::{
    Cte, Expr, Ident, Query, Select, SelectItem, SelectItemQualifiedWildcardKind, SetExpr,
    SetOperator, SetQuantifier, TableAlias, TableAliasColumnDef, TableFactor, TableWithJoins,
};

use tare_mysql::error::SqlError;

use super::Rewriter;
use crate::error::Result;
use crate::name::{ident, last_name};
use crate::node::{self, query};

/// The column with the number of steps.
const DEPTH_COLUMN: &str = "tare depth";

impl Rewriter<'_> {
    /// Limits the recursive queries of a WITH, after the query is rewritten.
    pub(super) fn limit_recursion(&mut self, query: &mut Query) -> Result<()> {
        let Some(with) = query.with.as_mut().filter(|with| with.recursive) else {
            return Ok(());
        };
        let mut limited = Vec::with_capacity(with.cte_tables.len());
        for mut cte in std::mem::take(&mut with.cte_tables) {
            check_union(&cte)?;
            let columns = self.columns_of(&cte);
            let outside = columns.and_then(|columns| limit(&mut cte, columns));
            limited.push(cte);
            limited.extend(outside);
        }
        with.cte_tables = limited;
        Ok(())
    }

    /// The names of its columns.
    fn columns_of(&self, cte: &Cte) -> Option<Vec<Ident>> {
        let listed = &cte.alias.columns;
        if !listed.is_empty() {
            return Some(listed.iter().map(|column| column.name.clone()).collect());
        }
        let resolved = self.names.ctes.get(&cte.alias.name.value.to_lowercase())?;
        Some(resolved.iter().map(|column| ident(&column.name)).collect())
    }
}

/// 3573: a query that reads itself has rows that it begins with, and others.
fn check_union(cte: &Cte) -> Result<()> {
    let name = &cte.alias.name.value;
    match cte.query.body.as_ref() {
        SetExpr::Select(select) if reads(&select.from, name) => {
            let message =
                format!("Recursive Common Table Expression '{name}' should contain a UNION");
            Err(SqlError::new(3573, message).into())
        }
        _ => Ok(()),
    }
}

/// Limits a recursive query; returns the one that replaces it for other readers.
fn limit(cte: &mut Cte, columns: Vec<Ident>) -> Option<Cte> {
    let name = cte.alias.name.clone();
    let inner = ident(&format!("tare {}", name.value));
    let all = is_all(&cte.query.body);
    let mut terms = terms(&mut cte.query.body)?;
    if !terms.iter().any(|select| reads(&select.from, &name.value)) {
        return None;
    }
    let can = |select: &&mut Select| !reads(&select.from, &name.value) || names_columns(select);
    if !terms.iter().all(can) {
        return None;
    }
    for select in &mut terms {
        let before = match read_as(&mut select.from, &name.value, &inner) {
            Some(alias) => {
                hide(&mut select.projection, &alias, &columns);
                Expr::CompoundIdentifier(vec![alias, ident(DEPTH_COLUMN)])
            }
            None => node::text(""),
        };
        let deeper = node::call("tare_deeper", vec![before, node::number((!all).into())]);
        let depth = node::collate(deeper, "tare_any");
        select.projection.push(SelectItem::UnnamedExpr(depth));
    }
    let named = |name: &Ident, columns: &[Ident]| TableAlias {
        explicit: false,
        name: name.clone(),
        columns: columns
            .iter()
            .map(|name| TableAliasColumnDef {
                name: name.clone(),
                data_type: None,
            })
            .collect(),
        at: None,
    };
    let selected = columns.iter().cloned().map(Expr::Identifier);
    let select = query::select_from(
        selected.map(query::unnamed).collect(),
        query::table(inner.clone().into()),
    );
    let outside = query::with(named(&name, &columns), query::query(select));
    let mut with_depth = columns;
    with_depth.push(ident(DEPTH_COLUMN));
    cte.alias = named(&inner, &with_depth);
    outside.cte_tables.into_iter().next()
}

/// Whether duplicate rows stay: all operators are UNION ALL.
fn is_all(mut body: &SetExpr) -> bool {
    while let SetExpr::SetOperation {
        set_quantifier,
        left,
        ..
    } = body
    {
        if *set_quantifier != SetQuantifier::All {
            return false;
        }
        body = left;
    }
    true
}

/// The SELECTs of a UNION; `None` if it has anything else.
fn terms(mut body: &mut SetExpr) -> Option<Vec<&mut Select>> {
    let mut terms = Vec::new();
    loop {
        match body {
            SetExpr::SetOperation {
                op: SetOperator::Union,
                left,
                right,
                ..
            } => {
                let SetExpr::Select(select) = right.as_mut() else {
                    return None;
                };
                terms.push(select.as_mut());
                body = left;
            }
            SetExpr::Select(select) => {
                terms.push(select);
                return Some(terms);
            }
            _ => return None,
        }
    }
}

/// A table of a FROM clause by this name, without a database.
fn is_table(factor: &TableFactor, name: &str) -> bool {
    matches!(factor, TableFactor::Table { name: table, .. }
        if table.0.len() == 1 && last_name(table).eq_ignore_ascii_case(name))
}

fn reads(from: &[TableWithJoins], name: &str) -> bool {
    from.iter().any(|table| {
        let joined = table.joins.iter().map(|join| &join.relation);
        std::iter::once(&table.relation)
            .chain(joined)
            .any(|factor| is_table(factor, name))
    })
}

/// Replaces a table of a FROM clause by another one; returns the alias, which stays.
fn read_as(from: &mut [TableWithJoins], name: &str, inner: &Ident) -> Option<Ident> {
    for table in from {
        let joined = table.joins.iter_mut().map(|join| &mut join.relation);
        for factor in std::iter::once(&mut table.relation).chain(joined) {
            if !is_table(factor, name) {
                continue;
            }
            let TableFactor::Table { name, alias, .. } = factor else {
                continue;
            };
            let called = match alias {
                Some(alias) => alias.name.clone(),
                None => ident(&last_name(name)),
            };
            alias.get_or_insert_with(|| query::table_alias(called.clone(), Vec::new()));
            *name = inner.clone().into();
            return Some(called);
        }
    }
    None
}

/// Whether `*` of a select list can be expanded without the hidden column.
fn names_columns(select: &Select) -> bool {
    let mut items = select.projection.iter();
    let is_single = matches!(select.from.as_slice(), [one] if one.joins.is_empty());
    is_single || !items.any(|item| matches!(item, SelectItem::Wildcard(_)))
}

/// Expands `*` and `c.*` to the visible columns.
fn hide(items: &mut Vec<SelectItem>, alias: &Ident, columns: &[Ident]) {
    let mut expanded = Vec::with_capacity(items.len());
    for item in std::mem::take(items) {
        let all = match &item {
            SelectItem::Wildcard(_) => true,
            SelectItem::QualifiedWildcard(
                SelectItemQualifiedWildcardKind::ObjectName(table),
                _,
            ) => last_name(table).eq_ignore_ascii_case(&alias.value),
            _ => false,
        };
        match all {
            true => expanded.extend(columns.iter().map(|column| {
                let of = vec![alias.clone(), column.clone()];
                SelectItem::UnnamedExpr(Expr::CompoundIdentifier(of))
            })),
            false => expanded.push(item),
        }
    }
    *items = expanded;
}
