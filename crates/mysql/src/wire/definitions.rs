//! A file of columns' definitions, as MySQL sends them: one line for each table or statement, with its columns
//! behind tabs. A column is its type code, length, decimals, flags, `b` for bytes and numbers, `t` for a text or the
//! number of its collation if that is not of utf8mb4, database, table, original table, and original name if it is not the name, separated by commas.

use std::collections::HashMap;

use mysql_common::constants::{ColumnFlags, ColumnType};

use super::column::{CHARSET_BINARY, CHARSET_UTF8MB4, Definition, WireType};

/// The definitions of a file's tables or statements, by their names in lower case.
pub fn parse(text: &'static str) -> HashMap<String, Vec<Definition>> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let table = |line: &'static str| {
        let mut fields = line.split('\t');
        let name = fields.next()?.to_lowercase();
        Some((name, fields.filter_map(definition).collect()))
    };
    lines.filter_map(table).collect()
}

fn definition(field: &'static str) -> Option<Definition> {
    let mut parts = field.split(',');
    let mut number = || parts.next()?.parse::<u32>().ok();
    let (code, length, decimals, flags) = (number()?, number()?, number()?, number()?);
    let charset = match parts.next()? {
        "t" => CHARSET_UTF8MB4,
        "b" => CHARSET_BINARY,
        collation => collation.parse().ok()?,
    };
    Some(Definition {
        wire: WireType {
            code: ColumnType::try_from(u8::try_from(code).ok()?).ok()?,
            flags: ColumnFlags::from_bits_truncate(u16::try_from(flags).ok()?),
            charset,
            length,
            decimals: u8::try_from(decimals).ok()?,
        },
        schema: parts.next()?,
        table: parts.next()?,
        org_table: parts.next()?,
        org_name: parts.next().filter(|name| !name.is_empty()),
    })
}
