//! Names in sight of an expression: the columns of a FROM clause, and their types as far as they
//! are known before SQLite has prepared anything.

use std::collections::HashMap;
use std::sync::Arc;

use sqlparser::ast::{
    Cte, Expr, Ident, ObjectName, Query, Select, SelectItem, SelectItemQualifiedWildcardKind,
    SetExpr, TableAlias, TableFactor, TableWithJoins,
};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::wire::column::WireType;
use tare_mysql::wire::types::{wire_of, wire_type};

use super::name::last_name;
use super::schema::{Schema, SystemColumn};
use super::types;

/// A column in sight.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type, where that is known.
    pub wire: Option<WireType>,
    /// Whether it is a table's own: then SQLite knows its affinity and its collation.
    pub stored: bool,
}

/// A table of a FROM clause.
#[derive(Debug, Clone)]
pub struct Relation {
    /// What expressions call it.
    pub alias: String,
    /// Its database, where it has no alias.
    pub database: Option<String>,
    /// Its columns; `None` when they are not known.
    pub columns: Option<Arc<Vec<Column>>>,
}

/// The tables of one SELECT.
#[derive(Debug, Clone, Default)]
pub struct Scope {
    /// In the order of FROM.
    pub relations: Vec<Relation>,
}

/// Where the columns of tables are found.
pub struct Names<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    /// Where tables are looked up.
    pub schema: &'a mut dyn Schema,
    /// Columns of common table expressions in sight, the innermost last.
    pub ctes: HashMap<String, Arc<Vec<Column>>>,
    known: HashMap<(String, String), Option<Arc<Vec<Column>>>>,
    /// SELECTs around the one that is looked at, the innermost last.
    pub scopes: Vec<Scope>,
    depth: usize,
}

/// Subqueries deeper than this have columns of unknown type: the search is quadratic in depth.
const DEPTH: usize = 12;

impl<'a> Names<'a> {
    /// For a session with a default database or without.
    pub fn new(database: Option<&'a str>, schema: &'a mut dyn Schema) -> Self {
        Self {
            database,
            schema,
            ctes: HashMap::new(),
            known: HashMap::new(),
            scopes: Vec::new(),
            depth: 0,
        }
    }

    /// The definition of a database's table.
    pub fn definition(&mut self, database: &str, table: &str) -> Option<Arc<TableDef>> {
        if is_system_schema(database) {
            return None;
        }
        self.schema.user_table(database, table).ok().flatten()
    }

    /// The columns of a table.
    fn table(&mut self, database: &str, table: &str) -> Option<Arc<Vec<Column>>> {
        let key = (database.to_owned(), table.to_owned());
        if let Some(found) = self.known.get(&key) {
            return found.clone();
        }
        let found = if is_system_schema(database) {
            let column = |c: &SystemColumn| Column {
                name: c.name.to_owned(),
                wire: Some(wire_type(&c.column_type.to_lowercase(), c.nullable)),
                stored: true,
            };
            self.schema
                .system_table(database, table)
                .map(|columns| Arc::new(columns.iter().map(column).collect::<Vec<_>>()))
        } else {
            self.definition(database, table).map(|def| {
                let column = |c: &ColumnDef| Column {
                    name: c.name.clone(),
                    wire: Some(wire_of(c)),
                    stored: def.view.is_none(),
                };
                Arc::new(def.columns.iter().map(column).collect::<Vec<_>>())
            })
        };
        self.known.insert(key, found.clone());
        found
    }

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
            self.factor(&table.relation, &mut scope);
            for join in &table.joins {
                self.factor(&join.relation, &mut scope);
            }
        }
        scope
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
            } => {
                self.factor(&table_with_joins.relation, scope);
                for join in &table_with_joins.joins {
                    self.factor(&join.relation, scope);
                }
            }
            _ => scope.relations.push(Relation {
                alias: String::new(),
                database: None,
                columns: None,
            }),
        }
    }

    /// Takes the common table expressions of a query into sight.
    pub fn with(&mut self, query: &Query) {
        let Some(with) = &query.with else { return };
        for Cte { alias, query, .. } in &with.cte_tables {
            let name = alias.name.value.to_lowercase();
            // A recursive one sees itself: first by its names alone.
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
        if self.depth > DEPTH {
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
                    column.stored = false;
                }
                Some(columns)
            }
            SetExpr::Values(values) => {
                let row = values.rows.first()?;
                let columns = row.iter().enumerate().map(|(i, e)| Column {
                    name: format!("column_{i}"),
                    wire: types::of(e, self),
                    stored: false,
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
                        columns.extend(relation.columns.as_ref()?.iter().cloned());
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
                    columns.extend(relation.columns.as_ref()?.iter().cloned());
                }
                SelectItem::UnnamedExpr(e) => columns.push(Column {
                    name: match e {
                        Expr::Identifier(i) => i.value.clone(),
                        Expr::CompoundIdentifier(parts) => {
                            parts.last().map(|p| p.value.clone()).unwrap_or_default()
                        }
                        other => other.to_string(),
                    },
                    wire: types::of(e, self),
                    stored: self.column_of(e).is_some_and(|c| c.stored),
                }),
                SelectItem::ExprWithAlias { expr, alias } => columns.push(Column {
                    name: alias.value.clone(),
                    wire: types::of(expr, self),
                    stored: self.column_of(expr).is_some_and(|c| c.stored),
                }),
                _ => return None,
            }
        }
        Some(columns)
    }

    /// The column that an expression names, in the innermost SELECT that has one.
    pub fn column_of(&self, expr: &Expr) -> Option<&Column> {
        let (table, name) = match expr {
            Expr::Nested(inner) => return self.column_of(inner),
            Expr::Identifier(name) => (None, name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, name] => (Some(table), name),
                _ => return None,
            },
            _ => return None,
        };
        self.find(table, name)
    }

    fn find(&self, table: Option<&Ident>, name: &Ident) -> Option<&Column> {
        for scope in self.scopes.iter().rev() {
            for relation in &scope.relations {
                if table.is_some_and(|t| !relation.alias.eq_ignore_ascii_case(&t.value)) {
                    continue;
                }
                let Some(columns) = &relation.columns else {
                    continue;
                };
                let found = columns
                    .iter()
                    .find(|c| c.name.eq_ignore_ascii_case(&name.value));
                if found.is_some() {
                    return found;
                }
            }
        }
        None
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
