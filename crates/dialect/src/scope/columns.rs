//! The columns of tables, queries and select lists.

use std::sync::Arc;

use mysql_common::constants::ColumnType;
use sqlparser::ast::{
    Cte, Expr, JoinOperator, ObjectName, Query, Select, SelectItem,
    SelectItemQualifiedWildcardKind, SetExpr, TableAlias, TableFactor, TableWithJoins,
};

use tare_mysql::wire::column::WireType;

use super::{Column, Names, Relation, Scope};
use crate::name::last_name;
use crate::types::{self, fixed};

/// Subqueries deeper than this have columns of unknown type: the search is quadratic in depth.
const MAX_TYPED_DEPTH: usize = 12;

impl Names<'_> {
    fn named(&mut self, name: &ObjectName) -> Option<Arc<Vec<Column>>> {
        let part = |i: usize| {
            name.0
                .get(i)
                .and_then(|p| p.as_ident())
                .map(|i| i.value.clone())
        };
        match name.0.len() {
            1 => {
                let table = part(0)?;
                if let Some(columns) = self.ctes.get(&table.to_lowercase()) {
                    return Some(columns.clone());
                }
                let database = self.database?.to_owned();
                self.table(&database, &table)
            }
            2 => self.table(&part(0)?, &part(1)?),
            _ => None,
        }
    }

    /// The tables of a SELECT's FROM.
    pub fn scope(&mut self, select: &Select) -> Scope {
        self.tables(&select.from)
    }

    /// The tables of a FROM clause.
    pub fn tables(&mut self, from: &[TableWithJoins]) -> Scope {
        let mut scope = Scope::default();
        for table in from {
            self.joined(table, &mut scope);
        }
        scope
    }

    fn joined(&mut self, table: &TableWithJoins, scope: &mut Scope) {
        let first = scope.relations.len();
        self.factor(&table.relation, scope);
        for join in &table.joins {
            let before = scope.relations.len();
            self.factor(&join.relation, scope);
            match &join.join_operator {
                JoinOperator::Left(_) | JoinOperator::LeftOuter(_) => {
                    mark_nullable(&mut scope.relations[before..]);
                }
                JoinOperator::Right(_) | JoinOperator::RightOuter(_) => {
                    mark_nullable(&mut scope.relations[first..before]);
                }
                _ => {}
            }
        }
    }

    fn factor(&mut self, factor: &TableFactor, scope: &mut Scope) {
        match factor {
            TableFactor::Table { name, alias, .. } => {
                let columns = self.named(name);
                let called = alias
                    .as_ref()
                    .map_or_else(|| last_name(name), |a| a.name.value.clone());
                let database = match (alias, name.0.as_slice()) {
                    (None, [database, _]) => database.as_ident().map(|i| i.value.clone()),
                    _ => self.database.map(str::to_owned),
                };
                scope.relations.push(Relation {
                    alias: called,
                    database,
                    columns,
                });
            }
            TableFactor::Derived {
                subquery, alias, ..
            } => {
                let columns = self.columns(subquery);
                scope.relations.push(Relation {
                    alias: alias
                        .as_ref()
                        .map(|a| a.name.value.clone())
                        .unwrap_or_default(),
                    database: None,
                    columns: columns.map(|c| Arc::new(renamed(c, alias.as_ref()))),
                });
            }
            TableFactor::NestedJoin {
                table_with_joins, ..
            } => self.joined(table_with_joins, scope),
            _ => scope.relations.push(Relation {
                alias: String::new(),
                database: None,
                columns: None,
            }),
        }
    }

    /// Adds the common table expressions of a query.
    pub fn with(&mut self, query: &Query) {
        let Some(with) = &query.with else { return };
        for Cte { alias, query, .. } in &with.cte_tables {
            let name = alias.name.value.to_lowercase();
            // A recursive one reads itself: at first only its names are known.
            let first = match query.body.as_ref() {
                SetExpr::SetOperation { left, .. } => self.body(left),
                _ => None,
            };
            if let Some(columns) = first {
                self.ctes
                    .insert(name.clone(), Arc::new(renamed(columns, Some(alias))));
            }
            if let Some(columns) = self.columns(query) {
                self.ctes
                    .insert(name, Arc::new(renamed(columns, Some(alias))));
            }
        }
    }

    /// The columns of a query's result.
    pub fn columns(&mut self, query: &Query) -> Option<Vec<Column>> {
        if self.depth > MAX_TYPED_DEPTH {
            return None;
        }
        self.depth += 1;
        let ctes = query.with.as_ref().map(|_| self.ctes.clone());
        self.with(query);
        let columns = self.body(&query.body);
        if let Some(ctes) = ctes {
            self.ctes = ctes;
        }
        self.depth -= 1;
        columns
    }

    /// The columns of a query's body.
    pub fn body(&mut self, body: &SetExpr) -> Option<Vec<Column>> {
        match body {
            SetExpr::Select(select) => {
                let scope = self.scope(select);
                self.scopes.push(scope);
                let columns = self.projection(&select.projection);
                self.scopes.pop();
                columns
            }
            SetExpr::Query(query) => self.columns(query),
            SetExpr::SetOperation { left, right, .. } => {
                let mut columns = self.body(left)?;
                let others = self.body(right)?;
                for (column, other) in columns.iter_mut().zip(others) {
                    column.wire = types::merged(column.wire, other.wire);
                    if let (Some(a), Some(b)) = (&column.def, &other.def) {
                        column.def = Some(Arc::new(types::both(a, b, column.wire)));
                    }
                    column.stored = false;
                    column.members = None;
                }
                Some(columns)
            }
            SetExpr::Values(values) => {
                let row = values.rows.first()?;
                let columns = row.iter().enumerate().map(|(i, e)| {
                    let name = format!("column_{i}");
                    let wire = types::of(e, self);
                    Column {
                        wire,
                        stored: false,
                        system: false,
                        members: None,
                        zoned: false,
                        def: self
                            .defines
                            .then(|| Arc::new(types::definition_from_wire(wire, &name))),
                        name,
                    }
                });
                Some(columns.collect())
            }
            _ => None,
        }
    }

    fn projection(&mut self, items: &[SelectItem]) -> Option<Vec<Column>> {
        let mut columns = Vec::new();
        for item in items {
            match item {
                SelectItem::Wildcard(_) => {
                    for relation in &self.scopes.last()?.relations {
                        columns.extend(relation.columns.as_ref()?.iter().map(selected));
                    }
                }
                SelectItem::QualifiedWildcard(
                    SelectItemQualifiedWildcardKind::ObjectName(name),
                    _,
                ) => {
                    let alias = last_name(name);
                    let relations = &self.scopes.last()?.relations;
                    let relation = relations
                        .iter()
                        .find(|r| r.alias.eq_ignore_ascii_case(&alias))?;
                    columns.extend(relation.columns.as_ref()?.iter().map(selected));
                }
                SelectItem::UnnamedExpr(e) => {
                    let name = match e {
                        Expr::Identifier(i) => i.value.clone(),
                        Expr::CompoundIdentifier(parts) => {
                            parts.last().map(|p| p.value.clone()).unwrap_or_default()
                        }
                        other => other.to_string(),
                    };
                    columns.push(self.item(e, name));
                }
                SelectItem::ExprWithAlias { expr, alias } => {
                    columns.push(self.item(expr, alias.value.clone()));
                }
                _ => return None,
            }
        }
        Some(columns)
    }

    /// An expression of a select list, as a column.
    fn item(&mut self, expr: &Expr, name: String) -> Column {
        let def = self
            .defines
            .then(|| Arc::new(types::definition_of(expr, &name, self)));
        let column = self.column_of(expr);
        let is_column = column.is_some();
        // What is computed of a FLOAT is a DOUBLE.
        let result = |t: WireType| match t.code {
            ColumnType::MYSQL_TYPE_FLOAT if !is_column => fixed(t.decimals),
            _ => t,
        };
        Column {
            stored: column.is_some_and(|c| c.stored),
            system: column.is_some_and(|c| c.system),
            members: column.and_then(|c| c.members.clone()),
            wire: types::of(expr, self).map(result),
            zoned: false,
            name,
            def,
        }
    }
}

/// A column as `*` selects it: a TIMESTAMP is converted to the time zone.
fn selected(column: &Column) -> Column {
    Column {
        zoned: false,
        ..column.clone()
    }
}

/// Marks the columns of the inner side of an outer join as nullable.
fn mark_nullable(relations: &mut [Relation]) {
    for columns in relations.iter_mut().filter_map(|r| r.columns.as_mut()) {
        if columns.iter().all(|c| c.def.is_none()) {
            continue;
        }
        let mut all = columns.as_ref().clone();
        for def in all.iter_mut().filter_map(|c| c.def.as_mut()) {
            let def = Arc::make_mut(def);
            def.nullable = true;
            def.auto_increment = false;
        }
        *columns = Arc::new(all);
    }
}

fn renamed(mut columns: Vec<Column>, alias: Option<&TableAlias>) -> Vec<Column> {
    if let Some(alias) = alias {
        for (column, name) in columns.iter_mut().zip(&alias.columns) {
            column.name.clone_from(&name.name.value);
        }
    }
    columns
}
