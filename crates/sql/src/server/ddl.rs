//! Changes of the schema. Each commits what is open, as in MySQL, and is itself one transaction.

use std::sync::Arc;

use sqlparser::ast::{
    AlterColumnOperation, AlterTableOperation, MySQLColumnPosition, RenameTableNameKind,
};

use super::error::{Result, SqlError};
use super::session::Session;
use super::show::Rows;
use crate::dialect::ddl::{Ddl, TableName};
use crate::dialect::plan::Sql;
use crate::storage::connection::quote;
use crate::storage::databases::is_system_schema;
use crate::storage::tables::{META, TableDef, last_name, string};

fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

impl Session {
    /// Runs a change. `Some`: OK with so many affected rows; `None`: it has answered with rows.
    pub fn ddl(&mut self, ddl: &Ddl, more: bool, binary: bool) -> Result<Option<u64>> {
        if let Ddl::Maintain(tables, operation) = ddl {
            self.maintain(tables, operation, more, binary)?;
            return Ok(None);
        }
        if let Ddl::Truncate(name) = ddl
            && is_system_schema(&name.database)
        {
            self.root_only("DROP")?;
            let done = self.system()?.1.truncate(&name.database, &name.table);
            done.ok_or_else(|| SqlError::no_such_table(&name.database, &name.table))??;
            return Ok(Some(0));
        }
        self.root_only("CREATE, ALTER, DROP")?;
        self.commit()?;
        match ddl {
            Ddl::CreateDatabase {
                name,
                if_not_exists,
            } => self.create_database(name, *if_not_exists).map(Some),
            Ddl::DropDatabase { name, if_exists } => self.drop_database(name, *if_exists).map(Some),
            Ddl::CreateTable {
                name,
                def,
                if_not_exists,
            } => {
                if self.is_there(name, *if_not_exists)? {
                    return Ok(Some(0));
                }
                self.in_one(&name.database, |s| s.create(name, def))?;
                Ok(Some(0))
            }
            Ddl::CreateLike {
                name,
                like,
                if_not_exists,
            } => {
                if self.is_there(name, *if_not_exists)? {
                    return Ok(Some(0));
                }
                let mut def = self.existing(like)?.as_ref().clone();
                def.name.clone_from(&name.table);
                self.in_one(&name.database, |s| s.create(name, &def))?;
                Ok(Some(0))
            }
            Ddl::CreateAs {
                name,
                query,
                if_not_exists,
            } => {
                if self.is_there(name, *if_not_exists)? {
                    return Ok(Some(0));
                }
                self.ready(query)?;
                let sql = format!(
                    "CREATE TABLE {}.{} AS {}",
                    quote(&name.database),
                    quote(&name.table),
                    query.text
                );
                let rows = self.in_one(&name.database, |s| {
                    s.connection()?.batch(&sql)?;
                    Ok(s.connection()?.changes())
                })?;
                Ok(Some(rows))
            }
            Ddl::CreateView {
                name,
                query,
                text,
                or_replace,
            } => self
                .create_view(name, query, text, *or_replace)
                .map(|()| Some(0)),
            Ddl::Drop {
                names,
                if_exists,
                view,
            } => self.drop_tables(names, *if_exists, *view).map(|()| Some(0)),
            Ddl::Alter { name, operations } => self.alter(name, operations).map(Some),
            Ddl::CreateIndex { name, constraint } => {
                let mut def = self.existing(name)?.as_ref().clone();
                def.add_constraint(constraint)?;
                self.add_last_index(name, &def)?;
                Ok(Some(0))
            }
            Ddl::DropIndex { name, index } => {
                let mut def = self.existing(name)?.as_ref().clone();
                drop_index(&mut def, index)?;
                self.in_one(&name.database, |s| {
                    s.connection()?.batch(&format!(
                        "DROP INDEX {}.{}",
                        quote(&name.database),
                        quote(&format!("{}.{index}", name.table))
                    ))?;
                    s.remember(&name.database, &def)
                })?;
                Ok(Some(0))
            }
            Ddl::Rename(pairs) => {
                for (from, to) in pairs {
                    self.rename(from, to)?;
                }
                Ok(Some(0))
            }
            Ddl::Truncate(name) => {
                self.existing(name)?;
                let sql = format!(
                    "DELETE FROM {}.{}",
                    quote(&name.database),
                    quote(&name.table)
                );
                let has_auto = self.existing(name)?.auto_increment().is_some();
                self.in_one(&name.database, |s| {
                    s.connection()?.batch(&sql)?;
                    if has_auto {
                        s.connection()?.batch(&format!(
                            "DELETE FROM {}.sqlite_sequence WHERE name = {}",
                            quote(&name.database),
                            literal(&name.table)
                        ))?;
                    }
                    Ok(())
                })?;
                Ok(Some(0))
            }
            Ddl::Maintain(..) => Ok(Some(0)),
        }
    }

    /// Runs changes of one database as one transaction, alone.
    fn in_one<R>(&mut self, database: &str, run: impl FnOnce(&mut Self) -> Result<R>) -> Result<R> {
        if is_system_schema(database) {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1044,
                format!("Access denied for user '{user}'@'{host}' to database '{database}'"),
            ));
        }
        let locked = self.table_locks.iter().any(|(d, _)| d == database);
        let pass = if locked {
            None
        } else {
            Some(self.wait_for(database)?)
        };
        self.connection()?.attach(database)?;
        self.connection()?.begin()?;
        let result = run(self).and_then(|r| self.connection()?.execute("COMMIT").map(|()| r));
        if result.is_err() && !self.connection()?.is_autocommit() {
            self.connection()?.execute("ROLLBACK")?;
        }
        drop(pass);
        self.shared.databases.changed();
        result
    }

    fn create_database(&mut self, name: &str, if_not_exists: bool) -> Result<u64> {
        let path = self.shared.databases.path(name)?;
        let taken = self
            .shared
            .databases
            .names()
            .iter()
            .any(|n| n.eq_ignore_ascii_case(name));
        if is_system_schema(name) || taken {
            let message = format!("Can't create database '{name}'; database exists");
            if if_not_exists {
                self.state.warn("Note", 1007, message);
                return Ok(1);
            }
            return Err(SqlError::new(1007, message));
        }
        let db = rusqlite::Connection::open(&path)?;
        db.execute_batch(&format!("PRAGMA journal_mode=WAL; CREATE TABLE {META} (name TEXT PRIMARY KEY, definition TEXT NOT NULL)"))?;
        self.shared.databases.changed();
        Ok(1)
    }

    fn drop_database(&mut self, name: &str, if_exists: bool) -> Result<u64> {
        if is_system_schema(name) {
            return Err(SqlError::new(
                3802,
                format!("Dropping system schema '{name}' is not allowed."),
            ));
        }
        if !self.shared.databases.exists(name) {
            let message = format!("Can't drop database '{name}'; database doesn't exist");
            if if_exists {
                self.state.warn("Note", 1008, message);
                return Ok(0);
            }
            return Err(SqlError::new(1008, message));
        }
        let count = self.connection()?.definitions(name)?.tables.len() as u64;
        let pass = self.wait_for(name)?;
        self.empty_cache();
        let ids: Vec<u32> = self.prepared.keys().copied().collect();
        for id in ids {
            if let Some(statement) = self.prepared.get_mut(&id).and_then(|p| p.statement.take()) {
                self.close_statement(statement);
            }
        }
        self.connection()?.forget(name)?;
        self.shared.databases.remove(name)?;
        drop(pass);
        self.shared.databases.changed();
        if self.state.database().as_deref() == Some(name) {
            self.state.set_database(None);
            self.registration.set_database(None);
        }
        Ok(count)
    }

    fn find(&mut self, name: &TableName) -> Result<Option<Arc<TableDef>>> {
        if is_system_schema(&name.database) {
            let (user, host) = self.state.user_host();
            return Err(SqlError::new(
                1142,
                format!(
                    "command denied to user '{user}'@'{host}' for table '{}'",
                    name.table
                ),
            ));
        }
        self.connection()?.table(&name.database, &name.table)
    }

    fn existing(&mut self, name: &TableName) -> Result<Arc<TableDef>> {
        self.find(name)?
            .ok_or_else(|| SqlError::no_such_table(&name.database, &name.table))
    }

    fn is_there(&mut self, name: &TableName, if_not_exists: bool) -> Result<bool> {
        if self.find(name)?.is_none() {
            return Ok(false);
        }
        let message = format!("Table '{}' already exists", name.table);
        if if_not_exists {
            self.state.warn("Note", 1050, message);
            return Ok(true);
        }
        Err(SqlError::new(1050, message))
    }

    fn create(&mut self, name: &TableName, def: &TableDef) -> Result<()> {
        for sql in def.to_sqlite(&name.database, &name.table) {
            self.connection()?.batch(&sql)?;
        }
        self.remember(&name.database, def)
    }

    /// Writes a table's definition down.
    fn remember(&mut self, database: &str, def: &TableDef) -> Result<()> {
        let quoted = quote(database);
        let connection = self.connection()?;
        connection.batch(&format!("CREATE TABLE IF NOT EXISTS {quoted}.{META} (name TEXT PRIMARY KEY, definition TEXT NOT NULL)"))?;
        connection.db().execute(
            &format!("INSERT OR REPLACE INTO {quoted}.{META} VALUES (?1, ?2)"),
            [&def.name, &def.to_mysql()],
        )?;
        Ok(())
    }

    fn forget(&mut self, name: &TableName) -> Result<()> {
        let sql = format!(
            "DELETE FROM {}.{META} WHERE name = ?1",
            quote(&name.database)
        );
        match self.connection()?.db().execute(&sql, [&name.table]) {
            // A database that another program made has no such table.
            Err(rusqlite::Error::SqliteFailure(_, Some(m))) if m.starts_with("no such table") => {
                Ok(())
            }
            other => Ok(other.map(drop)?),
        }
    }

    fn create_view(
        &mut self,
        name: &TableName,
        query: &Sql,
        text: &str,
        or_replace: bool,
    ) -> Result<()> {
        if !query.catalog.is_empty() || query.databases.iter().any(|d| *d != name.database) {
            return Err(SqlError::unsupported("a view of another database's tables"));
        }
        let old = self.find(name)?;
        if old
            .as_ref()
            .is_some_and(|o| o.view.is_none() || !or_replace)
        {
            return Err(SqlError::new(
                1050,
                format!("Table '{}' already exists", name.table),
            ));
        }
        // SQLite: a view names no database but its own.
        let own = format!("{}.", quote(&name.database));
        let select = query.text.replace(&own, "");
        let def = TableDef {
            name: name.table.clone(),
            view: Some(text.to_owned()),
            ..TableDef::default()
        };
        self.in_one(&name.database, |s| {
            let (db, view) = (quote(&name.database), quote(&name.table));
            if old.is_some() {
                s.connection()?.batch(&format!("DROP VIEW {db}.{view}"))?;
            }
            s.connection()?
                .batch(&format!("CREATE VIEW {db}.{view} AS {select}"))?;
            s.remember(&name.database, &def)
        })
    }

    fn drop_tables(&mut self, names: &[TableName], if_exists: bool, view: bool) -> Result<()> {
        let mut missing = Vec::new();
        for name in names {
            let known = match self.find(name) {
                Ok(def) => def.filter(|d| d.view.is_some() == view),
                Err(e) if e.code == 1049 => None,
                Err(e) => return Err(e),
            };
            if known.is_none() {
                missing.push(format!("{}.{}", name.database, name.table));
                continue;
            }
            let word = if view { "VIEW" } else { "TABLE" };
            self.in_one(&name.database, |s| {
                s.connection()?.batch(&format!(
                    "DROP {word} {}.{}",
                    quote(&name.database),
                    quote(&name.table)
                ))?;
                s.forget(name)
            })?;
        }
        if missing.is_empty() {
            return Ok(());
        }
        if if_exists {
            for name in missing {
                self.state
                    .warn("Note", 1051, format!("Unknown table '{name}'"));
            }
            return Ok(());
        }
        Err(SqlError::new(
            1051,
            format!("Unknown table '{}'", missing.join(",")),
        ))
    }

    fn rename(&mut self, from: &TableName, to: &TableName) -> Result<()> {
        if from.database != to.database {
            return Err(SqlError::unsupported("moving a table to another database"));
        }
        let mut def = self.existing(from)?.as_ref().clone();
        self.is_there(to, false)?;
        def.name.clone_from(&to.table);
        self.in_one(&from.database, |s| s.rebuild(from, &def, None))
    }

    fn add_last_index(&mut self, name: &TableName, def: &TableDef) -> Result<()> {
        let Some(index) = def.indexes.last() else {
            return Ok(());
        };
        def.check_indexes()?;
        let sql = index.to_sqlite(&name.database, &name.table, &name.table);
        self.in_one(&name.database, |s| {
            s.connection()?.batch(&sql)?;
            s.remember(&name.database, def)
        })
    }

    fn alter(&mut self, name: &TableName, operations: &[AlterTableOperation]) -> Result<u64> {
        let old = self.existing(name)?;
        if old.view.is_some() {
            return Err(SqlError::new(
                1347,
                format!("'{}.{}' is not BASE TABLE", name.database, name.table),
            ));
        }
        let mut def = old.as_ref().clone();
        // Where each of the new columns comes from.
        let mut sources: Vec<Option<String>> =
            def.columns.iter().map(|c| Some(c.name.clone())).collect();
        for operation in operations {
            change(&mut def, &mut sources, operation)?;
        }
        def.check_indexes()?;
        self.in_one(&name.database, |s| s.rebuild(name, &def, Some(&sources)))?;
        Ok(0)
    }

    /// Makes the table anew as `def` says, and copies its rows: SQLite can alter little in place.
    fn rebuild(
        &mut self,
        name: &TableName,
        def: &TableDef,
        sources: Option<&[Option<String>]>,
    ) -> Result<()> {
        let db = quote(&name.database);
        let scratch = format!("__tare_new_{}", def.name);
        let own: Vec<Option<String>> = def.columns.iter().map(|c| Some(c.name.clone())).collect();
        let sources = sources.unwrap_or(&own);
        let (mut into, mut from) = (Vec::new(), Vec::new());
        for (column, source) in def.columns.iter().zip(sources) {
            if let Some(source) = source {
                into.push(quote(&column.name));
                from.push(quote(source));
            } else if !column.nullable && column.default.is_none() && !column.auto_increment {
                // MySQL fills a new NOT NULL column with its type's zero.
                into.push(quote(&column.name));
                let text =
                    column.column_type.contains("char") || column.column_type.contains("text");
                from.push(if text { "''".into() } else { "0".into() });
            }
        }
        let mut all = def.to_sqlite(&name.database, &scratch).into_iter();
        if let Some(create) = all.next() {
            self.connection()?.batch(&create)?;
        }
        self.connection()?.batch(&format!(
            "INSERT INTO {db}.{} ({}) SELECT {} FROM {db}.{}",
            quote(&scratch),
            into.join(", "),
            from.join(", "),
            quote(&name.table)
        ))?;
        self.connection()?
            .batch(&format!("DROP TABLE {db}.{}", quote(&name.table)))?;
        self.connection()?.batch(&format!(
            "ALTER TABLE {db}.{} RENAME TO {}",
            quote(&scratch),
            quote(&def.name)
        ))?;
        for index in def.indexes.iter().filter(|i| i.name != "PRIMARY") {
            self.connection()?
                .batch(&index.to_sqlite(&name.database, &def.name, &def.name))?;
        }
        self.forget(name)?;
        self.remember(&name.database, def)
    }

    fn maintain(
        &mut self,
        tables: &[TableName],
        operation: &str,
        more: bool,
        binary: bool,
    ) -> Result<()> {
        let mut rows = Rows::new(&["Table", "Op", "Msg_type", "Msg_text"]);
        for name in tables {
            let full = format!("{}.{}", name.database, name.table);
            let (kind, text) = match self.maintain_one(name, operation) {
                Ok(text) => ("status", text),
                Err(error) => ("Error", error.message),
            };
            rows.push([full.into(), operation.into(), kind.into(), text.into()]);
        }
        self.send(rows, more, binary)
    }

    fn maintain_one(&mut self, name: &TableName, operation: &str) -> Result<String> {
        self.existing(name)?;
        let (db, table) = (quote(&name.database), quote(&name.table));
        if operation == "check" {
            let found: String = self.connection()?.db().query_row(
                &format!("PRAGMA {db}.integrity_check({})", literal(&name.table)),
                [],
                |r| r.get(0),
            )?;
            return Ok(if found == "ok" { "OK".into() } else { found });
        }
        self.root_only("INSERT")?;
        self.commit()?;
        let pass = self.wait_for(&name.database)?;
        self.connection()?.batch(&format!("ANALYZE {db}.{table}"))?;
        drop(pass);
        Ok("OK".into())
    }
}

fn drop_index(def: &mut TableDef, index: &str) -> Result<()> {
    let before = def.indexes.len();
    def.indexes.retain(|i| !i.name.eq_ignore_ascii_case(index));
    if def.indexes.len() == before {
        return Err(SqlError::new(
            1091,
            format!("Can't DROP '{index}'; check that column/key exists"),
        ));
    }
    Ok(())
}

fn position(def: &TableDef, at: Option<&MySQLColumnPosition>) -> Result<usize> {
    match at {
        None => Ok(def.columns.len()),
        Some(MySQLColumnPosition::First) => Ok(0),
        Some(MySQLColumnPosition::After(name)) => at_column(def, &name.value).map(|i| i + 1),
    }
}

fn at_column(def: &TableDef, name: &str) -> Result<usize> {
    def.columns
        .iter()
        .position(|c| c.name.eq_ignore_ascii_case(name))
        .ok_or_else(|| SqlError::new(1054, format!("Unknown column '{name}' in '{}'", def.name)))
}

/// One operation of ALTER TABLE, on the definition.
fn change(
    def: &mut TableDef,
    sources: &mut Vec<Option<String>>,
    operation: &AlterTableOperation,
) -> Result<()> {
    use AlterTableOperation as Op;
    match operation {
        Op::AddColumn {
            column_def,
            if_not_exists,
            column_position,
            ..
        } => {
            if def.column(&column_def.name.value).is_some() {
                if *if_not_exists {
                    return Ok(());
                }
                return Err(SqlError::new(
                    1060,
                    format!("Duplicate column name '{}'", column_def.name.value),
                ));
            }
            let to = position(def, column_position.as_ref())?;
            def.add_column(column_def)?;
            if let Some(column) = def.columns.pop() {
                def.columns.insert(to, column);
                sources.insert(to, None);
            }
        }
        Op::DropColumn { column_names, .. } => {
            for name in column_names {
                let at = at_column(def, &name.value)?;
                def.columns.remove(at);
                sources.remove(at);
                for index in &mut def.indexes {
                    index
                        .columns
                        .retain(|c| !c.eq_ignore_ascii_case(&name.value));
                }
                def.indexes.retain(|i| !i.columns.is_empty());
            }
        }
        Op::ModifyColumn {
            col_name,
            data_type,
            options,
            column_position,
        } => {
            redefine(
                def,
                sources,
                &col_name.value,
                &col_name.value,
                data_type,
                options,
                column_position.as_ref(),
            )?;
        }
        Op::ChangeColumn {
            old_name,
            new_name,
            data_type,
            options,
            column_position,
        } => {
            redefine(
                def,
                sources,
                &old_name.value,
                &new_name.value,
                data_type,
                options,
                column_position.as_ref(),
            )?;
        }
        Op::RenameColumn {
            old_column_name,
            new_column_name,
        } => {
            rename_column(def, &old_column_name.value, &new_column_name.value)?;
        }
        Op::AlterColumn { column_name, op } => {
            let at = at_column(def, &column_name.value)?;
            match op {
                AlterColumnOperation::SetDefault { value } => {
                    def.columns[at].default = Some(match value {
                        sqlparser::ast::Expr::Value(v) => {
                            string(v.value.to_string().trim_matches('\''))
                        }
                        other => format!("({other})"),
                    })
                }
                AlterColumnOperation::DropDefault => def.columns[at].default = None,
                other => return Err(SqlError::unsupported(other)),
            }
        }
        Op::AddConstraint { constraint, .. } => {
            def.add_constraint(constraint)?;
            def.settle();
        }
        Op::DropPrimaryKey { .. } => drop_index(def, "PRIMARY")?,
        Op::DropIndex { name } => drop_index(def, &name.value)?,
        Op::DropForeignKey { name, .. } => {
            let before = def.foreign_keys.len();
            def.foreign_keys.retain(|f| f.name != name.value);
            if before == def.foreign_keys.len() {
                return Err(SqlError::new(
                    1091,
                    format!("Can't DROP '{}'; check that column/key exists", name.value),
                ));
            }
        }
        Op::RenameTable { table_name } => {
            let (RenameTableNameKind::As(name) | RenameTableNameKind::To(name)) = table_name;
            def.name = last_name(name);
        }
        Op::Algorithm { .. }
        | Op::Lock { .. }
        | Op::AutoIncrement { .. }
        | Op::SetOptionsParens { .. } => {}
        other => {
            let text = other.to_string();
            let word = text.split_whitespace().next().unwrap_or("").to_uppercase();
            if !matches!(
                word.as_str(),
                "ENGINE" | "COMMENT" | "ROW_FORMAT" | "DEFAULT" | "CHARSET" | "COLLATE"
            ) {
                return Err(SqlError::unsupported(format!("ALTER TABLE ... {text}")));
            }
        }
    }
    Ok(())
}

fn rename_column(def: &mut TableDef, old: &str, new: &str) -> Result<()> {
    let at = at_column(def, old)?;
    if !old.eq_ignore_ascii_case(new) && def.column(new).is_some() {
        return Err(SqlError::new(
            1060,
            format!("Duplicate column name '{new}'"),
        ));
    }
    def.columns[at].name = new.to_owned();
    for column in def.indexes.iter_mut().flat_map(|i| &mut i.columns) {
        if column.eq_ignore_ascii_case(old) {
            *column = new.to_owned();
        }
    }
    Ok(())
}

#[allow(clippy::too_many_arguments)]
fn redefine(
    def: &mut TableDef,
    sources: &mut Vec<Option<String>>,
    old: &str,
    new: &str,
    data_type: &sqlparser::ast::DataType,
    options: &[sqlparser::ast::ColumnOption],
    to: Option<&MySQLColumnPosition>,
) -> Result<()> {
    rename_column(def, old, new)?;
    let at = at_column(def, new)?;
    let column = sqlparser::ast::ColumnDef {
        name: sqlparser::ast::Ident::new(new),
        data_type: data_type.clone(),
        options: options
            .iter()
            .map(|o| sqlparser::ast::ColumnOptionDef {
                name: None,
                option: o.clone(),
            })
            .collect(),
    };
    def.add_column(&column)?;
    if let Some(column) = def.columns.pop() {
        def.columns[at] = column;
    }
    if to.is_some() {
        let column = def.columns.remove(at);
        let source = sources.remove(at);
        let at = position(def, to)?;
        def.columns.insert(at, column);
        sources.insert(at, source);
    }
    def.settle();
    Ok(())
}
