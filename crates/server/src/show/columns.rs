//! The columns of a table.

use super::names;
use crate::execute::columns::put_packet;
use crate::session::Session;
use tare_mysql::error::Result;
use tare_mysql::wire::column::Column;
use tare_mysql::wire::reply;
use tare_mysql::wire::types::{wire_of, wire_type};
use tare_query::result::{Rows, Text};

fn yes(b: bool) -> Text {
    if b { "YES" } else { "NO" }.into()
}

/// SHOW COLUMNS.
pub fn columns(
    session: &mut Session,
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
    if let Some(system) = names::system_table(session, database, table)? {
        for c in system.columns() {
            add(c.name, c.column_type, c.nullable, "", None, "", "");
        }
        return Ok(rows);
    }
    let (_, def) = names::one(session, database, table)?;
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

/// COM_FIELD_LIST.
pub fn field_list(session: &mut Session, table: &str) -> Result<()> {
    let mut packets = Vec::new();
    let database = names::default_database(session, &None)?;
    if let Some(system) = names::system_table(session, &None, table)? {
        for c in system.columns() {
            let wire = wire_type(&c.column_type.to_lowercase(), c.nullable);
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
        let (_, def) = names::one(session, &None, table)?;
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
    session.client.writer.replay(&packets);
    let status = session.transaction.status();
    reply::eof(&mut session.client.writer, status, 0);
    Ok(())
}
