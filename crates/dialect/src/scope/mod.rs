//! The names that an expression can use: the columns of a FROM clause, and their types as far as they are
//! known before SQLite has prepared the statement.

mod columns;
mod grouped;

use std::collections::HashMap;
use std::sync::Arc;

use sqlparser::ast::{Expr, Ident};
use tare_mysql::schema::is_system_schema;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{base_type, members};
use tare_mysql::wire::column::{Definition, WireType};
use tare_mysql::wire::types::wire_in;

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
    /// The table that a client gets as its origin.
    pub origin: Option<Arc<Origin>>,
    /// Its type as a column of a temporary table, if that is not its own type without keys.
    pub temporary: Option<WireType>,
    /// Whether a DECIMAL has the digits behind the point of the value that IF, CASE or NULLIF chooses, not those of
    /// its type.
    pub own_scale: bool,
}

/// The table of a result's column, as a client gets it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The database; empty for a derived table.
    pub schema: String,
    /// The name that the statement uses for the table.
    pub table: String,
    /// The table.
    pub org_table: String,
    /// The column's name in the table.
    pub org_name: String,
    /// Whether it is a column of a derived table, or of a temporary one.
    pub derived: bool,
    /// Its definition in a temporary table, if it is of a view over several tables.
    pub sorted: Option<Definition>,
}

impl Column {
    /// A column of a result of this type that is no table's.
    pub fn of_type(name: String, wire: Option<WireType>) -> Self {
        Self {
            name,
            wire,
            stored: false,
            system: false,
            members: None,
            zoned: false,
            def: None,
            origin: None,
            temporary: None,
            own_scale: false,
        }
    }

    /// The type as a column of a temporary table.
    fn temporary_type(&self) -> Option<WireType> {
        self.temporary.or(self.wire.map(types::without_keys))
    }

    /// Makes it a column of a temporary table, if a view over several tables has another definition then.
    fn store_sorted(&mut self) -> bool {
        let Some((origin, sorted)) = self.origin.as_deref().and_then(|o| Some((o, o.sorted?)))
        else {
            return false;
        };
        // An alias becomes the column's name in the temporary table.
        let org_name = match self.name.eq_ignore_ascii_case(&origin.org_name) {
            true => origin.org_name.clone(),
            false => self.name.clone(),
        };
        self.wire = Some(sorted.wire);
        self.origin = Some(Arc::new(Origin {
            schema: sorted.schema.to_owned(),
            table: origin.table.clone(),
            org_table: sorted.org_table.to_owned(),
            org_name,
            derived: false,
            sorted: None,
        }));
        true
    }

    /// The same column of a temporary table.
    fn materialized(mut self) -> Self {
        self.wire = self.temporary_type();
        self.temporary = None;
        self.own_scale = false;
        let stored = |origin: &Origin| Origin {
            derived: true,
            ..origin.clone()
        };
        self.origin = self.origin.as_deref().map(|o| Arc::new(stored(o)));
        self
    }

    /// The same column of a derived table.
    fn derived(mut self, alias: &str) -> Self {
        let origin = self.origin.as_deref().filter(|o| !o.schema.is_empty());
        // A table that becomes one of the statement around it has the name that it had within.
        let org_table = origin.map(|o| match o.derived {
            true => o.org_table.clone(),
            false => o.table.clone(),
        });
        self.origin = Some(Arc::new(Origin {
            schema: origin.map(|o| o.schema.clone()).unwrap_or_default(),
            table: alias.to_owned(),
            org_table: org_table.unwrap_or_default(),
            org_name: self.name.clone(),
            derived: true,
            sorted: None,
        }));
        self
    }
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
    /// The columns of the last query as they are before its rows are stored in a temporary table, if they are.
    pub(crate) ungrouped: Option<Vec<Column>>,
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
            ungrouped: None,
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
        let origin = |schema: &str, org_table: &str, name: &str| {
            Some(Arc::new(Origin {
                schema: schema.to_owned(),
                table: org_table.to_owned(),
                org_table: org_table.to_owned(),
                org_name: name.to_owned(),
                derived: false,
                sorted: None,
            }))
        };
        let columns = if is_system_schema(database) {
            let column = |c: &SystemColumn| Column {
                name: c.name.to_owned(),
                wire: Some(c.definition.wire),
                stored: true,
                system: true,
                members: None,
                zoned: false,
                temporary: None,
                own_scale: false,
                origin: Some(Arc::new(Origin {
                    schema: c.definition.schema.to_owned(),
                    table: c.definition.table.to_owned(),
                    org_table: c.definition.org_table.to_owned(),
                    org_name: c.definition.org_name.unwrap_or(c.name).to_owned(),
                    derived: false,
                    sorted: c.sorted,
                })),
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
                let view_types = def.view.as_deref().and_then(|text| {
                    let types = self.view_types(text, database)?;
                    (types.len() == def.columns.len()).then_some(types)
                });
                let zoned = self.zoned && !is_view;
                let zoned = |c: &ColumnDef| zoned && base_type(&c.column_type) == "timestamp";
                let column = |(i, c): (usize, &ColumnDef)| Column {
                    zoned: zoned(c),
                    temporary: None,
                    own_scale: false,
                    name: c.name.clone(),
                    wire: view_types
                        .as_ref()
                        .and_then(|types| types[i])
                        .or_else(|| Some(wire_in(&def, c))),
                    origin: origin(database, &def.name, &c.name),
                    stored: !is_view && !zoned(c),
                    system: false,
                    members: Members::of(&c.column_type),
                    def: definition(c.clone()),
                };
                let columns: Vec<Column> = def.columns.iter().enumerate().map(column).collect();
                Arc::new(columns)
            })
        };
        self.tables.insert(key, columns.clone());
        columns
    }

    /// The types of a view's columns, from the text of its query.
    fn view_types(&mut self, text: &str, database: &str) -> Option<Vec<Option<WireType>>> {
        let query = crate::read::parse_query(text)?;
        let mut names = Names::new(Some(database), &mut *self.schema);
        names.depth = self.depth + 1;
        let columns = names.columns(&query)?;
        let is_merged = columns::is_merged(&query, names.schema);
        let type_of = |column: Column| match is_merged {
            true => column.wire,
            false => column.materialized().wire,
        };
        Some(columns.into_iter().map(type_of).collect())
    }

    /// The column that an expression names, in the innermost SELECT that has one.
    pub fn column_of(&self, expr: &Expr) -> Option<&Column> {
        self.relation_column(expr).map(|(_, column)| column)
    }

    /// The same, with its table.
    pub(crate) fn relation_column(&self, expr: &Expr) -> Option<(&Relation, &Column)> {
        let (table, name) = match expr {
            Expr::Nested(inner) => return self.relation_column(inner),
            Expr::Identifier(name) => (None, name),
            Expr::CompoundIdentifier(parts) => match parts.as_slice() {
                [.., table, name] => (Some(table), name),
                _ => return None,
            },
            _ => return None,
        };
        self.find(table, name)
    }

    fn find(&self, table: Option<&Ident>, name: &Ident) -> Option<(&Relation, &Column)> {
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
                if let Some(column) = column {
                    return Some((relation, column));
                }
            }
        }
        None
    }
}
