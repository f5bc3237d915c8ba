//! How clients get the columns of the system tables.

use std::collections::HashMap;
use std::sync::OnceLock;

use tare_mysql::series::Series;
use tare_mysql::wire::ColumnFlags;
use tare_mysql::wire::column::Definition;
use tare_mysql::wire::definitions::parse;
use tare_mysql::wire::types::wire_type;

use crate::describe::{Key, Meta, Table};

/// The columns of views in MySQL 9.7, which the tables below determine: information_schema's and sys's.
/// crates/server/tests/metadata writes the file.
const VIEWS: &str = include_str!("definitions-9.7.tsv");

/// The definitions of a table's columns.
pub fn definitions(table: &dyn Table, series: Series) -> Vec<Definition> {
    let columns = table.columns();
    if series == Series::V9_7
        && let Some(recorded) = recorded(table, "")
        && recorded.len() == columns.len()
    {
        return recorded.to_vec();
    }
    let column = |meta: &Meta| definition(table, meta);
    columns.iter().map(column).collect()
}

/// The definitions of a view's columns in a sorted result, for which MySQL fills a temporary table; `None` if they
/// are the same.
pub fn sorted_definitions(table: &dyn Table, series: Series) -> Option<&'static [Definition]> {
    let recorded = recorded(table, " sorted").filter(|_| series == Series::V9_7)?;
    (recorded.len() == table.columns().len()).then_some(recorded)
}

fn recorded(table: &dyn Table, form: &str) -> Option<&'static [Definition]> {
    static ALL: OnceLock<HashMap<String, Vec<Definition>>> = OnceLock::new();
    let all = ALL.get_or_init(|| parse(VIEWS));
    let name = format!("{}.{}{form}", table.schema(), table.name()).to_lowercase();
    all.get(&name).map(Vec::as_slice)
}

/// The definition of a table's column, from its type and the table's keys.
fn definition(table: &dyn Table, meta: &Meta) -> Definition {
    let mut wire = wire_type(&meta.column_type.to_lowercase(), meta.nullable);
    if meta.is_binary() {
        wire.flags |= ColumnFlags::BINARY_FLAG;
    }
    let keys = table.keys();
    if !meta.nullable && meta.default.is_none() {
        wire.flags |= ColumnFlags::NO_DEFAULT_VALUE_FLAG;
    }
    for key in keys {
        let Some(at) = key.columns().iter().position(|c| *c == meta.name) else {
            continue;
        };
        wire.flags |= ColumnFlags::PART_KEY_FLAG;
        match key {
            Key::Primary(_) => wire.flags |= ColumnFlags::PRI_KEY_FLAG,
            Key::Unique(_, [_]) => wire.flags |= ColumnFlags::UNIQUE_KEY_FLAG,
            _ if at == 0 => wire.flags |= ColumnFlags::MULTIPLE_KEY_FLAG,
            _ => {}
        }
    }
    Definition {
        wire,
        schema: table.schema(),
        table: table.name(),
        org_table: table.name(),
        org_name: None,
    }
}
