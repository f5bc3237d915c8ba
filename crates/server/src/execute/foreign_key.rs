//! Errors 1451 and 1452 with the name of the foreign key.
//!
//! SQLite reports none. The statement has changed nothing, so it runs again with the check of foreign keys put off,
//! and is rolled back.

use tare_dialect::plan::{Change, Sql};
use tare_mysql::error::SqlError;
use tare_mysql::table::{ForeignKeyDef, TableDef};
use tare_mysql::wire::value::Value;
use tare_store::Cursor;
use tare_store::authorizer::as_server;
use tare_store::connection::quote;

use super::duplicate::{repeatable, run_again};
use super::prepare::Bind;
use crate::session::Session;

/// The number of SQLite's error.
pub const VIOLATED: u16 = 1452;

/// A foreign key, and the table that has it.
pub(super) struct Key {
    table: String,
    key: ForeignKeyDef,
}

impl Key {
    /// The key as errors name it.
    pub(super) fn text(&self, database: &str) -> String {
        format!(" (`{database}`.`{}`, {})", self.table, self.key.to_mysql())
    }
}

/// The keys that a statement may violate: of the changed table, and of those that refer to it.
pub(super) fn keys(
    session: &mut Session,
    sql: &Sql,
    change: Change,
) -> Option<(Vec<Key>, Vec<Key>)> {
    let (database, target) = (sql.writes.as_deref()?, sql.target.as_deref()?);
    let definitions = session.connections.own().ok()?.definitions(database).ok()?;
    let all = definitions
        .tables
        .values()
        .flat_map(|table: &std::sync::Arc<TableDef>| {
            let of = |key: &ForeignKeyDef| Key {
                table: table.name.clone(),
                key: key.clone(),
            };
            table.foreign_keys.iter().map(of).collect::<Vec<_>>()
        });
    let mut all: Vec<Key> = all.collect();
    all.sort_by(|a, b| (&a.table, &a.key.name).cmp(&(&b.table, &b.key.name)));
    let refuses = |action: &str| matches!(action, "NO ACTION" | "RESTRICT");
    let (mut own, mut referring) = (Vec::new(), Vec::new());
    for key in all {
        let refers = key.key.table.eq_ignore_ascii_case(target);
        let action = match change {
            Change::Update => &key.key.on_update,
            _ => &key.key.on_delete,
        };
        let is_checked = change != Change::Insert || sql.updates_duplicates;
        if refers && is_checked && refuses(action) {
            referring.push(Key {
                table: key.table.clone(),
                key: key.key.clone(),
            });
        }
        if change != Change::Delete && key.table.eq_ignore_ascii_case(target) {
            own.push(key);
        }
    }
    Some((own, referring))
}

/// The error with the key that is violated; the error as it is where that is not known.
pub fn describe(
    session: &mut Session,
    sql: &Sql,
    change: Change,
    bind: Bind<'_>,
    error: SqlError,
) -> SqlError {
    let Some((own, referring)) = keys(session, sql, change) else {
        return error;
    };
    let (violated, is_parent) = match (own.as_slice(), referring.as_slice()) {
        ([key], []) => (Some(key), false),
        ([], [key]) => (Some(key), true),
        _ => match find(session, sql, bind, &own, &referring) {
            Some(Violated::Own(at)) => (own.get(at), false),
            Some(Violated::Referring(at)) => (referring.get(at), true),
            None => (
                None,
                change == Change::Delete || own.is_empty() && !referring.is_empty(),
            ),
        },
    };
    let database = sql.writes.as_deref().unwrap_or_default();
    let key = violated.map_or_else(String::new, |violated| violated.text(database));
    match is_parent {
        true => SqlError::new(
            1451,
            format!("Cannot delete or update a parent row: a foreign key constraint fails{key}"),
        ),
        false => missing_parent(&key),
    }
}

/// 1452 with a key.
pub(super) fn missing_parent(key: &str) -> SqlError {
    let message = format!("Cannot add or update a child row: a foreign key constraint fails{key}");
    SqlError::new(VIOLATED, message)
}

enum Violated {
    Own(usize),
    Referring(usize),
}

/// Runs the statement with its checks put off, and finds the first key that is violated then.
fn find(
    session: &mut Session,
    sql: &Sql,
    bind: Bind<'_>,
    own: &[Key],
    referring: &[Key],
) -> Option<Violated> {
    let database = sql.writes.as_deref()?;
    let mut reporting = repeatable(sql)?;
    reporting.text.push_str(&returning(own));
    put_off(session)?;
    // The values of the first rows.
    let mut rows: Vec<Vec<Option<String>>> = Vec::new();
    let ran = run_again(session, &reporting, bind, |cursor| {
        if rows.len() < MAX_ROWS {
            rows.push(values(cursor));
        }
    });
    let result = ran.is_ok().then(|| {
        let mut rows = rows.iter();
        rows.find_map(|row| violated_by(session, database, own, row))
            .map(Violated::Own)
            .or_else(|| of_parents(session, database, referring))
    });
    // Without the savepoint the second run would change rows.
    roll_back(session)?;
    result.flatten()
}

/// The rows of a statement that are looked at for the one that violates a key.
pub(super) const MAX_ROWS: usize = 10_000;

/// The clause with which a change returns the number of each row, and the values of its foreign keys.
pub(super) fn returning(own: &[Key]) -> String {
    let columns = own.iter().flat_map(|key| &key.key.columns);
    let columns: String = columns.map(|c| format!(", {}", quote(c))).collect();
    format!(" RETURNING rowid{columns}")
}

/// The values of a row, each as a literal; `None` is NULL.
pub(super) fn values(cursor: &Cursor<'_>) -> Vec<Option<String>> {
    let all = 0..cursor.columns();
    all.map(|at| literal(&cursor.value(at))).collect()
}

/// Puts off the checks of foreign keys, inside a savepoint.
pub(super) fn put_off(session: &mut Session) -> Option<()> {
    batch(
        session,
        "SAVEPOINT tare_foreign; PRAGMA defer_foreign_keys = ON",
    )
}

/// Undoes what has happened since [`put_off`].
pub(super) fn roll_back(session: &mut Session) -> Option<()> {
    batch(
        session,
        "ROLLBACK TO tare_foreign; PRAGMA defer_foreign_keys = OFF; RELEASE tare_foreign",
    )
}

pub(super) fn batch(session: &mut Session, sql: &str) -> Option<()> {
    let connection = session.connections.own().ok()?;
    as_server(|| connection.batch(sql)).ok()
}

/// The first key of the changed table that a row of [`returning`] violates.
pub(super) fn violated_by(
    session: &mut Session,
    database: &str,
    own: &[Key],
    row: &[Option<String>],
) -> Option<usize> {
    let mut rest = row.get(1..)?;
    for (number, Key { key, .. }) in own.iter().enumerate() {
        let (values, after) = rest.split_at_checked(key.columns.len())?;
        rest = after;
        let Some(values) = values.iter().cloned().collect::<Option<Vec<String>>>() else {
            continue;
        };
        let equal = key.referred.iter().zip(values);
        let equal: Vec<String> = equal.map(|(c, v)| format!("{} = {v}", quote(c))).collect();
        let parent = format!(
            "SELECT count(*) FROM {}.{} WHERE {}",
            quote(database),
            quote(&key.table),
            equal.join(" AND ")
        );
        let connection = session.connections.own().ok()?;
        if as_server(|| connection.number(&parent)).ok()? == 0 {
            return Some(number);
        }
    }
    None
}

/// The first of the keys of other tables that refers to a row that is gone.
fn of_parents(session: &mut Session, database: &str, referring: &[Key]) -> Option<Violated> {
    let db = quote(database);
    for (number, Key { table, key }) in referring.iter().enumerate() {
        let equal = key.columns.iter().zip(&key.referred);
        let equal: Vec<String> = equal
            .map(|(c, r)| format!("tare_p.{} = tare_c.{}", quote(r), quote(c)))
            .collect();
        let filled: Vec<String> = key
            .columns
            .iter()
            .map(|c| format!("tare_c.{} IS NOT NULL", quote(c)))
            .collect();
        let orphans = format!(
            "SELECT count(*) FROM (SELECT 1 FROM {db}.{} AS tare_c WHERE {} AND NOT EXISTS (SELECT 1 FROM {db}.{} \
             AS tare_p WHERE {}) LIMIT 1)",
            quote(table),
            filled.join(" AND "),
            quote(&key.table),
            equal.join(" AND ")
        );
        let connection = session.connections.own().ok()?;
        if as_server(|| connection.number(&orphans)).ok()? > 0 {
            return Some(Violated::Referring(number));
        }
    }
    None
}

/// A value as SQLite's literal; `None` for NULL.
fn literal(value: &Value<'_>) -> Option<String> {
    Some(match value {
        Value::Null => return None,
        Value::Int(n) => n.to_string(),
        Value::Real(x) => format!("{x:?}"),
        Value::Text(text) => format!("'{}'", String::from_utf8_lossy(text).replace('\'', "''")),
        Value::Blob(bytes) => {
            let digits: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            format!("X'{digits}'")
        }
    })
}
