//! The definitions that a database stores, and those of other programs' tables by SQLite's schema.

use std::collections::HashMap;
use std::sync::Arc;

use rusqlite::OptionalExtension;
use tare_mysql::error::SqlError;
use tare_mysql::table::{ColumnDef, IndexDef, TableDef};

use super::DEFINITIONS_TABLE;
use super::types::mysql_type;
use crate::connection::quote;
use crate::error::Result;

/// The tables of a database that have been read so far, by name.
pub type Tables = HashMap<String, Arc<TableDef>>;

/// How definitions are read.
#[derive(Debug, Clone, Copy)]
pub struct ReadDefinition {
    /// Parses a definition's MySQL text.
    pub table: fn(&str) -> Result<TableDef, SqlError>,
    /// The columns of a view of a database, by its SELECT; `None` where they cannot be resolved, or not yet.
    pub view: fn(&str, &str, &Tables) -> Option<Vec<ColumnDef>>,
}

/// Reads all definitions of a database, which is attached under a name of its own.
pub fn load(
    db: &rusqlite::Connection,
    attached: &str,
    database: &str,
    read: ReadDefinition,
) -> Result<Tables> {
    let quoted = quote(attached);
    let definitions: HashMap<String, String> = match db
        .query_row(
            &format!("SELECT 1 FROM {quoted}.sqlite_schema WHERE name = ?1"),
            [DEFINITIONS_TABLE],
            |_| Ok(()),
        )
        .optional()?
    {
        Some(()) => {
            let mut all = db.prepare(&format!(
                "SELECT name, definition FROM {quoted}.{DEFINITIONS_TABLE}"
            ))?;
            all.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<rusqlite::Result<_>>()?
        }
        None => HashMap::new(),
    };
    let mut names = db.prepare(&format!(
        "SELECT name, type FROM {quoted}.sqlite_schema WHERE type IN ('table', 'view') \
         AND (type = 'view' OR rootpage > 0) AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' AND name <> ?1"
    ))?;
    let names: Vec<(String, String)> = names
        .query_map([DEFINITIONS_TABLE], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let (mut tables, mut views) = (Tables::new(), Vec::new());
    for (name, kind) in names {
        let def = match definitions.get(&name).map(|text| (read.table)(text)) {
            Some(Ok(mut def)) => {
                def.name.clone_from(&name);
                if kind == "view" {
                    views.push(def);
                    continue;
                }
                def
            }
            _ => match reflect_table(db, attached, &name) {
                // Another program's view may read what it may not, or what is no longer there.
                Err(error) if kind == "view" && !error.is_interruption() => TableDef {
                    name: name.clone(),
                    ..TableDef::default()
                },
                other => other?,
            },
        };
        tables.insert(name, Arc::new(def));
    }
    // A view may read a view that was created after it.
    let mut done = Ok(());
    while !views.is_empty() {
        let before = views.len();
        views.retain_mut(|def| {
            let columns = |text| (read.view)(text, database, &tables);
            let Some(columns) = def.view.as_deref().and_then(columns) else {
                return true;
            };
            let filled = fill_view_columns(db, attached, def, Some(columns));
            if filled.is_err() {
                done = filled;
            }
            tables.insert(def.name.clone(), Arc::new(std::mem::take(def)));
            false
        });
        if views.len() == before {
            for mut def in std::mem::take(&mut views) {
                fill_view_columns(db, attached, &mut def, None)?;
                tables.insert(def.name.clone(), Arc::new(def));
            }
        }
    }
    done?;
    Ok(tables)
}

/// Fills in a view's columns: names from SQLite, types from their expressions. A view of a table that no longer
/// exists has no columns, as in MySQL. If a statement is killed here, that is an error, because the columns would
/// otherwise be stored for other sessions, too.
fn fill_view_columns(
    db: &rusqlite::Connection,
    attached: &str,
    view: &mut TableDef,
    columns: Option<Vec<ColumnDef>>,
) -> Result<()> {
    let reflected = match reflect_table(db, attached, &view.name) {
        Err(error) if error.is_interruption() => return Err(error),
        Err(_) => return Ok(()),
        Ok(reflected) => reflected,
    };
    view.columns = reflected.columns;
    let Some(columns) = columns.filter(|columns| columns.len() == view.columns.len()) else {
        return Ok(());
    };
    for (column, typed) in view.columns.iter_mut().zip(columns) {
        let name = std::mem::take(&mut column.name);
        *column = ColumnDef { name, ..typed };
    }
    Ok(())
}

/// The definition of a table that another program created, from SQLite's schema.
fn reflect_table(db: &rusqlite::Connection, database: &str, name: &str) -> Result<TableDef> {
    let mut def = TableDef {
        name: name.to_owned(),
        ..TableDef::default()
    };
    let mut info = db.prepare("SELECT name, type, \"notnull\", dflt_value, pk FROM pragma_table_info(?1, ?2) ORDER BY cid")?;
    let mut rows = info.query([name, database])?;
    let mut primary: Vec<(i64, String)> = Vec::new();
    while let Some(row) = rows.next()? {
        let column: String = row.get(0)?;
        let declared: String = row
            .get::<_, Option<String>>(1)?
            .unwrap_or_default()
            .to_lowercase();
        let pk: i64 = row.get(4)?;
        if pk > 0 {
            primary.push((pk, column.clone()));
        }
        let column_type = match declared.as_str() {
            "" => "longblob".into(),
            "integer" => "bigint".into(),
            "real" => "double".into(),
            "text" => "longtext".into(),
            "blob" => "longblob".into(),
            _ => mysql_type(&declared),
        };
        def.columns.push(ColumnDef {
            name: column,
            column_type,
            nullable: row.get::<_, i64>(2)? == 0 && pk == 0,
            default: row.get(3)?,
            ..ColumnDef::default()
        });
    }
    primary.sort();
    if let [(_, one)] = primary.as_slice() {
        // SQLite numbers the rows by it where it is left out.
        for column in &mut def.columns {
            column.auto_increment |= column.name == *one && column.column_type == "bigint";
        }
    }
    if !primary.is_empty() {
        def.indexes.push(IndexDef {
            name: "PRIMARY".into(),
            unique: true,
            columns: primary.into_iter().map(|p| p.1).collect(),
            implied: false,
        });
    }
    // A partial index is unique among some rows only.
    let mut list = db.prepare(
        "SELECT name, \"unique\" AND NOT partial FROM pragma_index_list(?1, ?2) WHERE origin <> 'pk'",
    )?;
    let indexes: Vec<(String, bool)> = list
        .query_map([name, database], |r| Ok((r.get(0)?, r.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (index, unique) in indexes {
        let mut columns = db.prepare("SELECT name FROM pragma_index_info(?1, ?2)")?;
        let columns = columns
            .query_map([&index, database], |r| r.get::<_, Option<String>>(0))?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        let short = index
            .strip_prefix(&format!("{name}."))
            .unwrap_or(&index)
            .to_owned();
        // The index of an expression has no name for it.
        let unique = unique && columns.iter().all(Option::is_some);
        let columns: Vec<String> = columns.into_iter().flatten().collect();
        if !columns.is_empty() {
            def.indexes.push(IndexDef {
                name: short,
                unique,
                columns,
                implied: false,
            });
        }
    }
    Ok(def)
}

/// The TIMESTAMP columns of the tables whose definitions a database stores: table and column.
pub(crate) fn timestamps(
    db: &rusqlite::Connection,
    attached: &str,
) -> Result<Vec<(String, String)>> {
    let quoted = quote(attached);
    let definitions = format!("SELECT count(*) FROM {quoted}.sqlite_schema WHERE name = ?1");
    if db.query_row(&definitions, [DEFINITIONS_TABLE], |row| {
        row.get::<_, i64>(0)
    })? == 0
    {
        return Ok(Vec::new());
    }
    let mut all = db.prepare(&format!(
        "SELECT k.name, c.name FROM {quoted}.{DEFINITIONS_TABLE} AS k JOIN {quoted}.sqlite_schema AS s \
         ON s.name = k.name AND s.type = 'table', pragma_table_info(k.name, ?1) AS c \
         WHERE lower(c.type) GLOB 'timestamp*'"
    ))?;
    let rows = all.query_map([attached], |row| Ok((row.get(0)?, row.get(1)?)))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}
