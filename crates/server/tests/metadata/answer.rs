//! A server's answer to a statement: the definitions of its columns and parameters, as text.

use mysql::consts::{ColumnFlags, ColumnType};
use mysql::prelude::Queryable;
use mysql::{Column, Conn};

/// The flags, in the order of their bits.
const FLAGS: [&str; 16] = [
    "NN", "PRI", "UNI", "MUL", "BLOB", "UNS", "ZF", "BIN", "ENUM", "AI", "TS", "SET", "NODEF",
    "ONUPD", "KEY", "NUM",
];

/// The definitions of a statement's results, and of its parameters if it begins with `?`. `named`: with the
/// columns' names.
pub fn answer(conn: &mut Conn, statement: &str, named: bool) -> String {
    let all = match statement.strip_prefix('?') {
        Some(sql) => prepared(conn, sql, named),
        None => queried(conn, statement, named),
    };
    match all {
        Ok(all) => all.join(" ; "),
        Err(mysql::Error::MySqlError(error)) => format!("error {}", error.code),
        Err(other) => panic!("{statement}: {other}"),
    }
}

fn queried(conn: &mut Conn, sql: &str, named: bool) -> mysql::Result<Vec<String>> {
    let mut result = conn.query_iter(sql)?;
    let columns = result.columns();
    let all = columns.as_ref().iter().map(|c| definition(c, named));
    let all = all.collect();
    // The rows may fail: their definitions have come.
    while let Some(set) = result.iter() {
        set.for_each(drop);
    }
    Ok(all)
}

fn prepared(conn: &mut Conn, sql: &str, named: bool) -> mysql::Result<Vec<String>> {
    let statement = conn.prep(sql)?;
    let (parameters, columns) = (statement.params(), statement.columns());
    let parameters = parameters
        .iter()
        .map(|c| format!("?{}", definition(c, false)));
    let columns = columns.iter().map(|c| definition(c, named));
    let all = parameters.chain(columns).collect();
    conn.close(statement)?;
    Ok(all)
}

fn definition(column: &Column, named: bool) -> String {
    let name = match named {
        true => format!("{}=", column.name_str()),
        false => String::new(),
    };
    let origin = [
        column.schema_str(),
        column.table_str(),
        column.org_table_str(),
        column.org_name_str(),
    ];
    let origin = match origin.iter().all(|part| part.is_empty()) {
        true => String::new(),
        false => format!(" {}", origin.join(".")),
    };
    format!(
        "{name}{} {} {} {}{}{origin}",
        code(column.column_type()),
        column.character_set(),
        column.column_length(),
        column.decimals(),
        flags(column.flags()),
    )
}

fn code(code: ColumnType) -> String {
    let name = format!("{code:?}");
    name.trim_start_matches("MYSQL_TYPE_").to_owned()
}

fn flags(flags: ColumnFlags) -> String {
    let bits = flags.bits();
    let set = FLAGS.iter().enumerate();
    let set = set.filter(|(i, _)| bits & (1 << i) != 0);
    set.map(|(_, name)| format!(" {name}")).collect()
}
