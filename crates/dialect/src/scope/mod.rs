//! The names that an expression can use: the columns of a FROM clause, and their types as far as they are
//! known before SQLite has prepared the statement.

mod columns;

use std::collections::HashMap;
use std::sync::Arc;

use sqlparser::ast::{Expr, Ident};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{base_type, members};
use tare_mysql::wire::column::WireType;
use tare_mysql::wire::types::{wire_of, wire_type};

use crate::schema::{Schema, SystemColumn};
use crate::types::{self, TypeCache};

/// A visible column.
#[derive(Debug, Clone)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// Its type, if it is known.
    pub wire: Option<WireType>,
    /// Whether it is a table's own column, which has affinity and collation in SQLite.
    pub stored: bool,
    /// Whether its table is in a system schema: its type does not determine its collation.
    pub system: bool,
    /// The members of an ENUM or a SET.
    pub members: Option<Arc<Members>>,
    /// Whether it is a TIMESTAMP that is stored in UTC and the session's time zone is another one.
    pub zoned: bool,
    /// Its definition in a table that is created from it, if [`Names::defines`].
    pub def: Option<Arc<ColumnDef>>,
}

/// The members of an ENUM or a SET.
#[derive(Debug)]
pub struct Members {
    /// Whether it is a SET.
    pub is_set: bool,
    /// In the order of their numbers.
    pub names: Vec<String>,
}

impl Members {
    /// The members of a column's type, if it is an ENUM or a SET.
    fn of(column_type: &str) -> Option<Arc<Self>> {
        let is_set = column_type.starts_with("set(");
        (is_set || column_type.starts_with("enum(")).then(|| {
            Arc::new(Self {
                is_set,
                names: members(column_type),
            })
        })
    }
}

/// A table of a FROM clause.
#[derive(Debug, Clone)]
pub struct Relation {
    /// The name that expressions use.
    pub alias: String,
    /// Its database, if it has no alias.
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

/// Resolves names to columns.
pub struct Names<'a> {
    /// The session's default database.
    pub database: Option<&'a str>,
    /// Where tables are looked up.
    pub schema: &'a mut dyn Schema,
    /// Columns of the visible common table expressions, the innermost last.
    pub ctes: HashMap<String, Arc<Vec<Column>>>,
    tables: HashMap<(String, String), Option<Arc<Vec<Column>>>>,
    /// The types that were determined already.
    pub(crate) types: TypeCache,
    /// The SELECTs around the current one, the innermost last.
    pub scopes: Vec<Scope>,
    /// Whether a table or a view is created from the columns, so that their definitions are needed.
    pub defines: bool,
    /// [`crate::Mode::zoned`].
    pub zoned: bool,
    /// How many subqueries are nested.
    depth: usize,
}

impl<'a> Names<'a> {
    /// For a session with a default database or without.
    pub fn new(database: Option<&'a str>, schema: &'a mut dyn Schema) -> Self {
        Self {
            database,
            schema,
            ctes: HashMap::new(),
            tables: HashMap::new(),
            types: TypeCache::default(),
            scopes: Vec::new(),
            defines: false,
            zoned: false,
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
    pub(crate) fn table(&mut self, database: &str, table: &str) -> Option<Arc<Vec<Column>>> {
        let key = (database.to_owned(), table.to_owned());
        if let Some(columns) = self.tables.get(&key) {
            return columns.clone();
        }
        let defines = self.defines;
        let definition = |def: ColumnDef| defines.then(|| Arc::new(def));
        let columns = if is_system_schema(database) {
            let column = |c: &SystemColumn| Column {
                name: c.name.to_owned(),
                wire: Some(wire_type(&c.column_type.to_lowercase(), c.nullable)),
                stored: true,
                system: true,
                members: None,
                zoned: false,
                def: definition(ColumnDef {
                    name: c.name.to_owned(),
                    column_type: c.column_type.to_owned(),
                    nullable: c.nullable,
                    ..ColumnDef::default()
                }),
            };
            self.schema
                .system_table(database, table)
                .map(|columns| Arc::new(columns.iter().map(column).collect::<Vec<_>>()))
        } else {
            self.definition(database, table).map(|def| {
                let is_view = def.view.is_some();
                let zoned = self.zoned && !is_view;
                let zoned = |c: &ColumnDef| zoned && base_type(&c.column_type) == "timestamp";
                let column = |c: &ColumnDef| Column {
                    zoned: zoned(c),
                    name: c.name.clone(),
                    wire: Some(match is_view {
                        true => types::loose(wire_of(c)),
                        false => wire_of(c),
                    }),
                    stored: !is_view && !zoned(c),
                    system: false,
                    members: Members::of(&c.column_type),
                    def: definition(c.clone()),
                };
                let columns: Vec<Column> = def.columns.iter().map(column).collect();
                Arc::new(columns)
            })
        };
        self.tables.insert(key, columns.clone());
        columns
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
                let column = columns
                    .iter()
                    .find(|c| c.name.eq_ignore_ascii_case(&name.value));
                if column.is_some() {
                    return column;
                }
            }
        }
        None
    }
}
