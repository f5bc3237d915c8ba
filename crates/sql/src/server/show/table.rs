//! What SHOW says of a table: columns, indexes, text, status.

use tare_mysql::error::Result;
use tare_mysql::schema::is_system_schema;
use tare_mysql::wire::column::Column;
use tare_mysql::wire::reply;

use super::rows::{Rows, Text};
use crate::catalog;
use crate::server::query::{put_packet, wire_of};
use crate::server::session::Session;
use crate::storage::connection::quote;

fn yes(b: bool) -> Text {
    if b { "YES" } else { "NO" }.into()
}

impl Session {
    pub(super) fn columns(
        &mut self,
        database: &Option<String>,
        table: &str,
        full: bool,
    ) -> Result<Rows> {
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
            let collation = text.then_some("utf8mb4_0900_ai_ci");
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
            let first_of = |i: &&tare_mysql::table::IndexDef| {
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
                c.plain_default(),
                extra,
                &c.comment,
            );
        }
        Ok(rows)
    }

    pub(super) fn indexes(&mut self, database: &Option<String>, table: &str) -> Result<Rows> {
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
            "Expression",
        ])
        .typed(&[
            "varchar(64)",
            "int",
            "varchar(64)",
            "int unsigned",
            "varchar(64)",
            "varchar(1)",
            "bigint",
            "bigint",
            "binary(0)",
            "varchar(3)",
            "varchar(11)",
            "varchar(8)",
            "varchar(2048)",
            "varchar(3)",
            "longtext",
        ]);
        if self.system_table(database, table)?.is_some() {
            return Ok(rows);
        }
        let (database, def) = self.one(database, table)?;
        for index in &def.indexes {
            for (i, column) in index.columns.iter().enumerate() {
                let nullable = def.column(column).is_some_and(|c| c.nullable);
                let parts: Vec<String> = index.columns[..=i].iter().map(|c| quote(c)).collect();
                let cardinality = self.connection()?.db().query_row(
                    &format!(
                        "SELECT count(*) FROM (SELECT DISTINCT {} FROM {}.{})",
                        parts.join(", "),
                        quote(&database),
                        quote(&def.name)
                    ),
                    [],
                    |r| r.get::<_, i64>(0),
                );
                rows.push([
                    def.name.as_str().into(),
                    i64::from(!index.unique).into(),
                    index.name.as_str().into(),
                    (i as i64 + 1).into(),
                    column.as_str().into(),
                    "A".into(),
                    cardinality.ok().into(),
                    None::<i64>.into(),
                    None::<i64>.into(),
                    if nullable { "YES" } else { "" }.into(),
                    "BTREE".into(),
                    "".into(),
                    "".into(),
                    "YES".into(),
                    None::<String>.into(),
                ]);
            }
        }
        Ok(rows)
    }

    pub(super) fn create_text(&mut self, database: &Option<String>, table: &str) -> Result<Rows> {
        if let Some(system) = self.system_table(database, table)? {
            if let Some(view) = crate::sys::view(system.name())
                && system.view_definition().is_some()
            {
                let mut rows = Rows::new(&[
                    "View",
                    "Create View",
                    "character_set_client",
                    "collation_connection",
                ]);
                rows.push([
                    view.name().into(),
                    view.create_view().into(),
                    "utf8mb4".into(),
                    "utf8mb4_0900_ai_ci".into(),
                ]);
                return Ok(rows);
            }
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

    pub(super) fn table_status(&mut self, database: &Option<String>) -> Result<Rows> {
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
        ])
        .typed(&[
            "varchar(64)",
            "varchar(64)",
            "int",
            "varchar(10)",
            "bigint unsigned",
            "bigint unsigned",
            "bigint unsigned",
            "bigint unsigned",
            "bigint unsigned",
            "bigint unsigned",
            "bigint unsigned",
            "datetime",
            "datetime",
            "datetime",
            "varchar(64)",
            "bigint",
            "varchar(256)",
            "varchar(2048)",
        ]);
        if is_system_schema(&database) {
            for t in catalog::tables_in(&database) {
                let view = t.view_definition().is_some();
                // Of a view nothing is known but its name.
                let number = |n: i64| (!view).then_some(n);
                rows.push([
                    t.name().into(),
                    catalog::show::engine(t).into(),
                    number(10).into(),
                    (!view).then_some("Dynamic").into(),
                    number(0).into(),
                    number(0).into(),
                    number(0).into(),
                    number(0).into(),
                    number(0).into(),
                    number(0).into(),
                    None::<i64>.into(),
                    None::<String>.into(),
                    None::<String>.into(),
                    None::<String>.into(),
                    (!view).then_some("utf8mb4_0900_ai_ci").into(),
                    None::<i64>.into(),
                    (!view).then_some("").into(),
                    if view { "VIEW" } else { "" }.into(),
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

    /// COM_FIELD_LIST.
    pub fn field_list(&mut self, table: &str) -> Result<()> {
        let mut packets = Vec::new();
        let database = self.default_database(&None)?;
        if let Some(system) = self.system_table(&None, table)? {
            for c in system.columns() {
                let wire =
                    crate::server::query::wire_type(&c.column_type.to_lowercase(), c.nullable);
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
