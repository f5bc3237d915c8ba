//! SHOW, and other results whose rows are made here.

use mysql_common::constants::StatusFlags;
use rusqlite::types::Value;
use sqlparser::ast::Expr;

use super::catalog::plain_default;
use super::error::{Result, SqlError};
use super::query::{borrowed, put_packet, wire_of};
use super::session::Session;
use super::shared::Shared;
use crate::catalog;
use crate::dialect::admin::{Filter, Scope, Show, What};
use crate::storage::connection::quote;
use crate::storage::databases::{SYSTEM_SCHEMAS, is_system_schema};
use crate::storage::tables::TableDef;
use crate::wire::bytes::put_lenenc;
use crate::wire::column::{Column, WireType};
use crate::wire::reply;
use crate::wire::value::{put_binary, put_text};

/// Character sets that clients may name: name, description, default collation, bytes.
pub const CHARSETS: &[(&str, &str, &str, i64)] = &[
    ("ascii", "US ASCII", "ascii_general_ci", 1),
    ("binary", "Binary pseudo charset", "binary", 1),
    ("latin1", "cp1252 West European", "latin1_swedish_ci", 1),
    ("utf8", "UTF-8 Unicode", "utf8_general_ci", 3),
    ("utf8mb3", "UTF-8 Unicode", "utf8_general_ci", 3),
    ("utf8mb4", "UTF-8 Unicode", "utf8mb4_general_ci", 4),
];

/// Collations: name, character set, number, whether it is the set's default.
const COLLATIONS: &[(&str, &str, i64, bool)] = &[
    ("ascii_general_ci", "ascii", 11, true),
    ("binary", "binary", 63, true),
    ("latin1_swedish_ci", "latin1", 8, true),
    ("utf8_bin", "utf8", 83, false),
    ("utf8_general_ci", "utf8", 33, true),
    ("utf8mb4_0900_ai_ci", "utf8mb4", 255, false),
    ("utf8mb4_bin", "utf8mb4", 46, false),
    ("utf8mb4_general_ci", "utf8mb4", 45, true),
    ("utf8mb4_unicode_ci", "utf8mb4", 224, false),
];

/// A result that is made here.
#[derive(Debug, Clone)]
pub struct Rows {
    names: Vec<String>,
    rows: Vec<Vec<Value>>,
}

impl Rows {
    /// No rows yet.
    pub fn new(names: &[&str]) -> Self {
        Self {
            names: names.iter().map(|n| (*n).to_owned()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push<const N: usize>(&mut self, row: [Text; N]) {
        self.rows.push(row.into_iter().map(|t| t.0).collect());
    }
}

/// A value of a made row; from texts, numbers and options of them.
#[derive(Debug, Clone)]
pub struct Text(Value);

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        Self(Value::Text(text.to_owned()))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self(Value::Text(text))
    }
}

impl From<i64> for Text {
    fn from(n: i64) -> Self {
        Self(Value::Integer(n))
    }
}

impl<T: Into<Text>> From<Option<T>> for Text {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self(Value::Null), Into::into)
    }
}

fn yes(b: bool) -> Text {
    if b { "YES" } else { "NO" }.into()
}

impl Shared {
    /// Counters of SHOW STATUS, by name.
    pub fn status(&self) -> Vec<(&'static str, String)> {
        use std::sync::atomic::Ordering::Relaxed;
        let c = &self.counters;
        vec![
            (
                "Aborted_connects",
                c.aborted_connects.load(Relaxed).to_string(),
            ),
            (
                "Connection_errors_internal",
                c.panics.load(Relaxed).to_string(),
            ),
            (
                "Connection_errors_max_connections",
                c.refused.load(Relaxed).to_string(),
            ),
            ("Connections", self.registry.total().to_string()),
            ("Max_used_connections", self.registry.peak().to_string()),
            ("Queries", c.questions.load(Relaxed).to_string()),
            ("Questions", c.questions.load(Relaxed).to_string()),
            ("Threads_connected", self.registry.len().to_string()),
            (
                "Threads_running",
                self.registry
                    .list()
                    .iter()
                    .filter(|p| p.command != "Sleep")
                    .count()
                    .to_string(),
            ),
            ("Uptime", self.started.elapsed().as_secs().to_string()),
        ]
    }
}

impl Session {
    /// SHOW.
    pub fn show(&mut self, show: &Show, more: bool, binary: bool) -> Result<()> {
        let rows = self.show_rows(show)?;
        let rows = self.filtered(rows, &show.filter)?;
        self.send(rows, more, binary)
    }

    fn default_database(&self, given: &Option<String>) -> Result<String> {
        let name = match given {
            Some(name) => name.clone(),
            None => self.state.database().ok_or_else(SqlError::no_database)?,
        };
        if !self.shared.databases.exists(&name) {
            return Err(SqlError::unknown_database(&name));
        }
        if !self.is_root() && !is_system_schema(&name) {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1044,
                format!("Access denied for user '{user}'@'{host}' to database '{name}'"),
            ));
        }
        Ok(name)
    }

    fn defs(&mut self, database: &str) -> Result<Vec<std::sync::Arc<TableDef>>> {
        let mut all: Vec<_> = self
            .connection()?
            .definitions(database)?
            .tables
            .values()
            .cloned()
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(all)
    }

    fn show_rows(&mut self, show: &Show) -> Result<Rows> {
        Ok(match &show.what {
            What::Databases => {
                let mut rows = Rows::new(&["Database"]);
                let mut names: Vec<String> = SYSTEM_SCHEMAS
                    .iter()
                    .filter(|s| catalog::is_catalog_schema(s))
                    .map(|s| (*s).to_owned())
                    .collect();
                if self.is_root() {
                    names.extend(self.shared.databases.names());
                }
                names.sort();
                for name in names {
                    rows.push([name.into()]);
                }
                rows
            }
            What::Tables(database) => {
                let database = self.default_database(database)?;
                let title = format!("Tables_in_{database}");
                let mut rows = if show.full {
                    Rows::new(&[&title, "Table_type"])
                } else {
                    Rows::new(&[&title])
                };
                let mut names: Vec<(String, &str)> = Vec::new();
                if is_system_schema(&database) {
                    let kind = if database.eq_ignore_ascii_case("information_schema") {
                        "SYSTEM VIEW"
                    } else {
                        "BASE TABLE"
                    };
                    names.extend(
                        catalog::tables()
                            .iter()
                            .filter(|t| t.schema().eq_ignore_ascii_case(&database))
                            .map(|t| (t.name().to_owned(), kind)),
                    );
                } else {
                    names.extend(self.defs(&database)?.iter().map(|d| {
                        (
                            d.name.clone(),
                            if d.view.is_some() {
                                "VIEW"
                            } else {
                                "BASE TABLE"
                            },
                        )
                    }));
                }
                for (name, kind) in names {
                    rows.rows.push(if show.full {
                        vec![Value::Text(name), Value::Text(kind.into())]
                    } else {
                        vec![Value::Text(name)]
                    });
                }
                rows
            }
            What::TableStatus(database) => self.table_status(database)?,
            What::Columns(database, table) => self.columns(database, table, show.full)?,
            What::Index(database, table) => self.indexes(database, table)?,
            What::CreateTable(database, table) => self.create_text(database, table)?,
            What::CreateDatabase(name) => {
                self.default_database(&Some(name.clone()))?;
                let mut rows = Rows::new(&["Database", "Create Database"]);
                rows.push([
                    name.as_str().into(),
                    format!("CREATE DATABASE `{name}` /*!40100 DEFAULT CHARACTER SET utf8mb4 */")
                        .into(),
                ]);
                rows
            }
            What::Variables(scope) => {
                let mut rows = Rows::new(&["Variable_name", "Value"]);
                let scope = if *scope == Scope::Global {
                    catalog::Scope::Global
                } else {
                    catalog::Scope::Session
                };
                for v in self.system()?.1.variables(scope) {
                    rows.push([v.name.into(), v.value.into()]);
                }
                rows
            }
            What::Status(scope) => {
                let mut rows = Rows::new(&["Variable_name", "Value"]);
                let scope = if *scope == Scope::Global {
                    catalog::Scope::Global
                } else {
                    catalog::Scope::Session
                };
                for v in self.system()?.1.status(scope) {
                    rows.push([v.name.into(), v.value.into()]);
                }
                rows
            }
            What::ProcessList => {
                let mut rows = Rows::new(&[
                    "Id", "User", "Host", "db", "Command", "Time", "State", "Info",
                ]);
                let (user, _) = self.state.user_host();
                for p in self.shared.registry.list() {
                    if !self.is_root() && p.user != user {
                        continue;
                    }
                    let info = if show.full {
                        p.info
                    } else {
                        p.info.chars().take(100).collect()
                    };
                    let info = (!info.is_empty()).then_some(info);
                    rows.push([
                        (p.id as i64).into(),
                        p.user.into(),
                        p.host.into(),
                        p.database.into(),
                        p.command.into(),
                        (p.since.elapsed().as_secs() as i64).into(),
                        p.state.into(),
                        info.into(),
                    ]);
                }
                rows
            }
            What::Warnings => {
                let mut rows = Rows::new(&["Level", "Code", "Message"]);
                for w in self.state.warnings() {
                    rows.push([w.level.into(), i64::from(w.code).into(), w.message.into()]);
                }
                rows
            }
            What::WarningCount => {
                let mut rows = Rows::new(&["@@session.warning_count"]);
                rows.push([i64::from(self.state.warning_count()).into()]);
                rows
            }
            What::Engines => {
                let mut rows = Rows::new(&[
                    "Engine",
                    "Support",
                    "Comment",
                    "Transactions",
                    "XA",
                    "Savepoints",
                ]);
                let version = format!("SQLite {}: one file per database, WAL", rusqlite::version());
                rows.push([
                    "SQLite".into(),
                    "DEFAULT".into(),
                    version.into(),
                    "YES".into(),
                    "NO".into(),
                    "YES".into(),
                ]);
                rows.push([
                    "PERFORMANCE_SCHEMA".into(),
                    "YES".into(),
                    "Performance Schema".into(),
                    "NO".into(),
                    "NO".into(),
                    "NO".into(),
                ]);
                rows
            }
            What::Collation => {
                let mut rows = Rows::new(&[
                    "Collation",
                    "Charset",
                    "Id",
                    "Default",
                    "Compiled",
                    "Sortlen",
                ]);
                for (name, charset, id, default) in COLLATIONS {
                    rows.push([
                        (*name).into(),
                        (*charset).into(),
                        (*id).into(),
                        if *default { "Yes" } else { "" }.into(),
                        "Yes".into(),
                        1i64.into(),
                    ]);
                }
                rows
            }
            What::Charset => {
                let mut rows =
                    Rows::new(&["Charset", "Description", "Default collation", "Maxlen"]);
                for (name, description, collation, bytes) in CHARSETS {
                    rows.push([
                        (*name).into(),
                        (*description).into(),
                        (*collation).into(),
                        (*bytes).into(),
                    ]);
                }
                rows
            }
            What::Grants => {
                let (user, host) = self.state.user_host();
                let mut rows = Rows::new(&[&format!("Grants for {user}@{host}")]);
                if self.is_root() {
                    rows.push([format!(
                        "GRANT ALL PRIVILEGES ON *.* TO `{user}`@`{host}` WITH GRANT OPTION"
                    )
                    .into()]);
                } else {
                    for schema in catalog::SCHEMAS {
                        rows.push([
                            format!("GRANT SELECT ON `{schema}`.* TO `{user}`@`{host}`").into()
                        ]);
                    }
                }
                rows
            }
            What::Privileges => {
                let mut rows = Rows::new(&["Privilege", "Context", "Comment"]);
                for p in [
                    "Alter", "Create", "Delete", "Drop", "Index", "Insert", "Select", "Shutdown",
                    "Super", "Update",
                ] {
                    rows.push([p.into(), "Tables".into(), "".into()]);
                }
                rows
            }
            What::Plugins => {
                let mut rows = Rows::new(&["Name", "Status", "Type", "Library", "License"]);
                for (name, kind) in [
                    ("mysql_native_password", "AUTHENTICATION"),
                    ("caching_sha2_password", "AUTHENTICATION"),
                    ("SQLite", "STORAGE ENGINE"),
                    ("PERFORMANCE_SCHEMA", "STORAGE ENGINE"),
                ] {
                    rows.push([
                        name.into(),
                        "ACTIVE".into(),
                        kind.into(),
                        None::<String>.into(),
                        "MIT".into(),
                    ]);
                }
                rows
            }
            What::Nothing(names) => Rows::new(names),
            What::Explain(sql) => {
                self.ready(sql)?;
                let mut rows = Rows::new(&["id", "parent", "detail"]);
                let connection = self.connection()?;
                let mut statement = connection.db().prepare(&sql.text)?;
                // Parameters of the explained statement stay NULL.
                let found =
                    statement.query_map(rusqlite::params_from_iter((0..0).map(|_: i32| 0)), |r| {
                        Ok([r.get(0)?, r.get(1)?])
                            .and_then(|[a, b]: [i64; 2]| Ok((a, b, r.get::<_, String>(3)?)))
                    });
                for row in found? {
                    let (id, parent, detail) = row?;
                    rows.push([id.into(), parent.into(), detail.into()]);
                }
                rows
            }
        })
    }

    fn one(
        &mut self,
        database: &Option<String>,
        table: &str,
    ) -> Result<(String, std::sync::Arc<TableDef>)> {
        let database = self.default_database(database)?;
        let def = self
            .connection()?
            .table(&database, table)?
            .ok_or_else(|| SqlError::no_such_table(&database, table))?;
        Ok((database, def))
    }

    /// A catalog's table, if it is one.
    fn system_table(
        &self,
        database: &Option<String>,
        table: &str,
    ) -> Result<Option<&'static dyn catalog::Table>> {
        let database = self.default_database(database)?;
        if !is_system_schema(&database) {
            return Ok(None);
        }
        catalog::table(&database, table)
            .map(Some)
            .ok_or_else(|| SqlError::no_such_table(&database, table))
    }

    fn columns(&mut self, database: &Option<String>, table: &str, full: bool) -> Result<Rows> {
        let names: &[&str] = if full {
            &[
                "Field",
                "Type",
                "Collation",
                "Null",
                "Key",
                "Default",
                "Extra",
                "Privileges",
                "Comment",
            ]
        } else {
            &["Field", "Type", "Null", "Key", "Default", "Extra"]
        };
        let mut rows = Rows::new(names);
        let mut add = |field: &str,
                       kind: &str,
                       nullable: bool,
                       key: &str,
                       default: Option<String>,
                       extra: &str,
                       comment: &str| {
            let text = kind.contains("char")
                || kind.contains("text")
                || kind.starts_with("enum")
                || kind.starts_with("set");
            let collation = text.then_some("utf8mb4_general_ci");
            let mut row: Vec<Text> = vec![field.into(), kind.into()];
            if full {
                row.push(collation.into());
            }
            row.extend([yes(nullable), key.into(), default.into(), extra.into()]);
            if full {
                row.extend(["select,insert,update,references".into(), comment.into()]);
            }
            rows.rows.push(row.into_iter().map(|t| t.0).collect());
        };
        if let Some(system) = self.system_table(database, table)? {
            for c in system.columns() {
                add(c.name, c.column_type, c.nullable, "", None, "", "");
            }
            return Ok(rows);
        }
        let (_, def) = self.one(database, table)?;
        for c in &def.columns {
            let first_of = |i: &&crate::storage::tables::IndexDef| {
                i.columns
                    .first()
                    .is_some_and(|f| f.eq_ignore_ascii_case(&c.name))
            };
            let in_primary = def
                .primary()
                .is_some_and(|p| p.columns.iter().any(|n| n.eq_ignore_ascii_case(&c.name)));
            let key = match def.indexes.iter().find(first_of) {
                _ if in_primary => "PRI",
                Some(i) if i.unique && i.columns.len() == 1 => "UNI",
                Some(_) => "MUL",
                None => "",
            };
            let extra = match (c.auto_increment, c.on_update_now) {
                (true, _) => "auto_increment",
                (_, true) => "on update CURRENT_TIMESTAMP",
                _ => "",
            };
            add(
                &c.name,
                &c.column_type,
                c.nullable,
                key,
                c.default.as_deref().map(plain_default),
                extra,
                &c.comment,
            );
        }
        Ok(rows)
    }

    fn indexes(&mut self, database: &Option<String>, table: &str) -> Result<Rows> {
        let mut rows = Rows::new(&[
            "Table",
            "Non_unique",
            "Key_name",
            "Seq_in_index",
            "Column_name",
            "Collation",
            "Cardinality",
            "Sub_part",
            "Packed",
            "Null",
            "Index_type",
            "Comment",
            "Index_comment",
            "Visible",
        ]);
        if self.system_table(database, table)?.is_some() {
            return Ok(rows);
        }
        let (_, def) = self.one(database, table)?;
        for index in &def.indexes {
            for (i, column) in index.columns.iter().enumerate() {
                let nullable = def.column(column).is_some_and(|c| c.nullable);
                rows.push([
                    def.name.as_str().into(),
                    i64::from(!index.unique).into(),
                    index.name.as_str().into(),
                    (i as i64 + 1).into(),
                    column.as_str().into(),
                    "A".into(),
                    None::<i64>.into(),
                    None::<i64>.into(),
                    None::<i64>.into(),
                    if nullable { "YES" } else { "" }.into(),
                    "BTREE".into(),
                    "".into(),
                    "".into(),
                    "YES".into(),
                ]);
            }
        }
        Ok(rows)
    }

    fn create_text(&mut self, database: &Option<String>, table: &str) -> Result<Rows> {
        if let Some(system) = self.system_table(database, table)? {
            let mut rows = Rows::new(&["Table", "Create Table"]);
            rows.push([
                system.name().into(),
                catalog::show::create_table(system).into(),
            ]);
            return Ok(rows);
        }
        let (_, def) = self.one(database, table)?;
        if def.view.is_some() {
            let mut rows = Rows::new(&[
                "View",
                "Create View",
                "character_set_client",
                "collation_connection",
            ]);
            rows.push([
                def.name.as_str().into(),
                def.to_mysql().into(),
                "utf8mb4".into(),
                "utf8mb4_general_ci".into(),
            ]);
            return Ok(rows);
        }
        let mut rows = Rows::new(&["Table", "Create Table"]);
        rows.push([def.name.as_str().into(), def.to_mysql().into()]);
        Ok(rows)
    }

    fn table_status(&mut self, database: &Option<String>) -> Result<Rows> {
        let database = self.default_database(database)?;
        let mut rows = Rows::new(&[
            "Name",
            "Engine",
            "Version",
            "Row_format",
            "Rows",
            "Avg_row_length",
            "Data_length",
            "Max_data_length",
            "Index_length",
            "Data_free",
            "Auto_increment",
            "Create_time",
            "Update_time",
            "Check_time",
            "Collation",
            "Checksum",
            "Create_options",
            "Comment",
        ]);
        if is_system_schema(&database) {
            for t in catalog::tables()
                .iter()
                .filter(|t| t.schema().eq_ignore_ascii_case(&database))
            {
                rows.push([
                    t.name().into(),
                    catalog::show::engine(*t).into(),
                    10i64.into(),
                    "Dynamic".into(),
                    0i64.into(),
                    0i64.into(),
                    0i64.into(),
                    0i64.into(),
                    0i64.into(),
                    0i64.into(),
                    None::<i64>.into(),
                    None::<String>.into(),
                    None::<String>.into(),
                    None::<String>.into(),
                    "utf8mb4_0900_ai_ci".into(),
                    None::<i64>.into(),
                    "".into(),
                    "".into(),
                ]);
            }
            return Ok(rows);
        }
        for def in self.defs(&database)? {
            let view = def.view.is_some();
            let count = if view {
                None
            } else {
                let sql = format!(
                    "SELECT count(*) FROM {}.{}",
                    quote(&database),
                    quote(&def.name)
                );
                self.connection()?
                    .db()
                    .query_row(&sql, [], |r| r.get::<_, i64>(0))
                    .ok()
            };
            let (engine, comment) = if view {
                (None, "VIEW")
            } else {
                (Some("SQLite"), def.comment.as_str())
            };
            rows.push([
                def.name.as_str().into(),
                engine.into(),
                (!view).then_some(10i64).into(),
                (!view).then_some("Dynamic").into(),
                count.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                None::<i64>.into(),
                None::<String>.into(),
                None::<String>.into(),
                None::<String>.into(),
                (!view).then_some("utf8mb4_general_ci").into(),
                None::<i64>.into(),
                "".into(),
                comment.into(),
            ]);
        }
        Ok(rows)
    }

    /// Keeps the rows that LIKE or WHERE lets through: SQLite evaluates both, over the rows as JSON.
    fn filtered(&mut self, rows: Rows, filter: &Filter) -> Result<Rows> {
        let condition = match filter {
            Filter::None => return Ok(rows),
            Filter::Like(pattern) => {
                let first = rows.names.first().map(|n| quote(n)).unwrap_or_default();
                format!("{first} LIKE '{}' ESCAPE '\\'", pattern.replace('\'', "''"))
            }
            Filter::Where(expr) => {
                let sql = crate::dialect::translate::expression(strip(expr))?;
                sql.text
                    .strip_prefix("SELECT ")
                    .map(|t| t.rsplit_once(" AS ").map_or(t, |(e, _)| e))
                    .unwrap_or_default()
                    .to_owned()
            }
        };
        let json: Vec<Vec<serde_json::Value>> = rows
            .rows
            .iter()
            .map(|row| {
                row.iter()
                    .map(|v| match v {
                        Value::Null => serde_json::Value::Null,
                        Value::Integer(n) => (*n).into(),
                        Value::Real(x) => (*x).into(),
                        Value::Text(t) => t.as_str().into(),
                        Value::Blob(b) => String::from_utf8_lossy(b).into_owned().into(),
                    })
                    .collect()
            })
            .collect();
        let json = serde_json::to_string(&json).map_err(|e| SqlError::new(1105, e.to_string()))?;
        let columns: Vec<String> = rows
            .names
            .iter()
            .enumerate()
            .map(|(i, n)| format!("value ->> {i} AS {}", quote(n)))
            .collect();
        let sql = format!(
            "SELECT key FROM (SELECT key, {} FROM json_each(?1)) WHERE {condition} ORDER BY key",
            columns.join(", ")
        );
        let connection = self.connection()?;
        let mut statement = connection.db().prepare(&sql)?;
        let kept: Vec<i64> = statement
            .query_map([&json], |r| r.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let all = rows.rows;
        let rows_kept = kept
            .into_iter()
            .filter_map(|i| all.get(i as usize).cloned())
            .collect();
        Ok(Rows {
            names: rows.names,
            rows: rows_kept,
        })
    }

    /// Sends a made result.
    pub fn send(&mut self, rows: Rows, more: bool, binary: bool) -> Result<()> {
        let wire: Vec<WireType> = (0..rows.names.len())
            .map(|i| {
                match rows
                    .rows
                    .iter()
                    .map(|r| &r[i])
                    .find(|v| !matches!(v, Value::Null))
                {
                    Some(Value::Integer(_)) => WireType::bigint(),
                    Some(Value::Real(_)) => WireType::double(),
                    _ => WireType::text(255),
                }
            })
            .collect();
        let mut status = self.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        let deprecates_eof = self.deprecates_eof();
        put_lenenc(self.writer.begin(), rows.names.len() as u64);
        self.writer.end();
        let mut packets = Vec::new();
        for (name, wire) in rows.names.iter().zip(&wire) {
            let column = Column {
                schema: "",
                table: "",
                org_table: "",
                name,
                org_name: name,
                wire: *wire,
            };
            put_packet(&mut packets, |out| column.put(out));
        }
        self.writer.replay(&packets);
        if !deprecates_eof {
            reply::eof(&mut self.writer, status, 0);
        }
        for row in &rows.rows {
            let out = self.writer.begin();
            if binary {
                out.push(0);
                let nulls = out.len();
                out.resize(nulls + (row.len() + 9) / 8, 0);
                for (i, (value, wire)) in row.iter().zip(&wire).enumerate() {
                    match value {
                        Value::Null => out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8),
                        value => put_binary(out, borrowed(value), wire),
                    }
                }
            } else {
                for (value, wire) in row.iter().zip(&wire) {
                    put_text(out, borrowed(value), wire);
                }
            }
            self.writer.end();
            self.writer
                .flush_if_full()
                .map_err(|_| SqlError::interrupted())?;
        }
        let warnings = self.state.warning_count();
        if deprecates_eof {
            reply::result_end(&mut self.writer, status, warnings);
        } else {
            reply::eof(&mut self.writer, status, warnings);
        }
        self.state.set_found_rows(rows.rows.len() as i64);
        Ok(())
    }

    /// COM_FIELD_LIST.
    pub fn field_list(&mut self, table: &str) -> Result<()> {
        let mut packets = Vec::new();
        let database = self.default_database(&None)?;
        if let Some(system) = self.system_table(&None, table)? {
            for c in system.columns() {
                let wire = super::query::wire_type(&c.column_type.to_lowercase(), c.nullable);
                let column = Column {
                    schema: &database,
                    table,
                    org_table: table,
                    name: c.name,
                    org_name: c.name,
                    wire,
                };
                put_packet(&mut packets, |out| {
                    column.put(out);
                    out.push(0xfb);
                });
            }
        } else {
            let (_, def) = self.one(&None, table)?;
            for c in &def.columns {
                let column = Column {
                    schema: &database,
                    table,
                    org_table: table,
                    name: &c.name,
                    org_name: &c.name,
                    wire: wire_of(c),
                };
                put_packet(&mut packets, |out| {
                    column.put(out);
                    out.push(0xfb);
                });
            }
        }
        self.writer.replay(&packets);
        let status = self.status();
        reply::eof(&mut self.writer, status, 0);
        Ok(())
    }
}

/// Column names of a SHOW's WHERE may be keywords in backticks; they stay as they are.
fn strip(expr: &Expr) -> Expr {
    Expr::Nested(Box::new(expr.clone()))
}
