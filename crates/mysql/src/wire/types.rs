//! The types of tables' columns on the wire.

use mysql_common::constants::{ColumnFlags, ColumnType};

use super::column::{CHARSET_BINARY, CHARSET_UTF8MB4, NOT_FIXED, WireType};
use crate::table::{ColumnDef, TableDef};
use crate::types::{base_type, members};

/// The wire type of a table's column.
pub fn wire_of(column: &ColumnDef) -> WireType {
    let mut wire = wire_type(&column.column_type, column.nullable);
    if column.auto_increment {
        wire.flags |= ColumnFlags::AUTO_INCREMENT_FLAG;
    }
    if column.binary {
        wire.flags |= ColumnFlags::BINARY_FLAG;
    }
    if wire.code == ColumnType::MYSQL_TYPE_TIMESTAMP {
        if column.on_update_now {
            wire.flags |= ColumnFlags::ON_UPDATE_NOW_FLAG;
        }
        if column.on_update_now || column.is_now() {
            wire.flags |= ColumnFlags::TIMESTAMP_FLAG;
        }
    }
    wire
}

/// The wire type of a table's column, with the keys that it is part of: clients change rows through
/// the primary key's columns.
pub fn wire_in(table: &TableDef, column: &ColumnDef) -> WireType {
    let mut wire = wire_of(column);
    let primary = table.visible_primary();
    for index in &table.indexes {
        let Some(at) = index
            .columns
            .iter()
            .position(|c| c.eq_ignore_ascii_case(&column.name))
        else {
            continue;
        };
        wire.flags |= ColumnFlags::PART_KEY_FLAG;
        if primary.is_some_and(|key| key.name == index.name) {
            wire.flags |= ColumnFlags::PRI_KEY_FLAG;
        } else if index.unique && index.columns.len() == 1 {
            wire.flags |= ColumnFlags::UNIQUE_KEY_FLAG;
        } else if at == 0 {
            wire.flags |= ColumnFlags::MULTIPLE_KEY_FLAG;
        }
    }
    if !column.nullable && column.default.is_none() && !column.auto_increment {
        wire.flags |= ColumnFlags::NO_DEFAULT_VALUE_FLAG;
    }
    wire
}

/// A number as a table has it; expressions' numbers are called binary, too.
fn stored(code: ColumnType, length: u32) -> WireType {
    WireType {
        flags: ColumnFlags::empty(),
        ..WireType::number(code, length)
    }
}

/// A time with digits behind the second.
fn fraction(code: ColumnType, length: u32, digits: Option<u32>) -> WireType {
    let digits = digits.unwrap_or(0).min(6);
    WireType {
        decimals: digits as u8,
        ..WireType::number(
            code,
            if digits > 0 {
                length + 1 + digits
            } else {
                length
            },
        )
    }
}

/// The numbers in the parentheses of a type.
fn arguments(column_type: &str) -> (Option<u32>, Option<u32>) {
    let inside = column_type
        .split_once('(')
        .and_then(|(_, rest)| rest.split_once(')'))
        .map_or("", |(inside, _)| inside);
    let mut numbers = inside
        .split(',')
        .filter_map(|n| n.trim().parse::<u32>().ok());
    (numbers.next(), numbers.next())
}

/// The wire type for a type as MySQL writes it.
pub fn wire_type(column_type: &str, nullable: bool) -> WireType {
    use ColumnType::*;
    let (first, second) = arguments(column_type);
    // Without a sign, a number is a character shorter.
    let minus = u32::from(column_type.contains("unsigned"));
    // Of a FLOAT or a DOUBLE.
    let digits_behind = second.map_or(NOT_FIXED, |n| n.min(30) as u8);
    let mut wire = match base_type(column_type) {
        "bool" | "boolean" => stored(MYSQL_TYPE_TINY, 1),
        "tinyint" => stored(MYSQL_TYPE_TINY, first.unwrap_or(4 - minus)),
        "smallint" => stored(MYSQL_TYPE_SHORT, 6 - minus),
        "mediumint" => stored(MYSQL_TYPE_INT24, 9 - minus),
        "int" => stored(MYSQL_TYPE_LONG, 11 - minus),
        "bigint" | "integer" => stored(MYSQL_TYPE_LONGLONG, 20),
        "bit" => WireType {
            flags: ColumnFlags::UNSIGNED_FLAG,
            ..stored(MYSQL_TYPE_BIT, first.unwrap_or(1))
        },
        "year" => WireType {
            flags: ColumnFlags::UNSIGNED_FLAG | ColumnFlags::ZEROFILL_FLAG,
            ..stored(MYSQL_TYPE_YEAR, 4)
        },
        "float" => WireType {
            decimals: digits_behind,
            ..stored(MYSQL_TYPE_FLOAT, first.unwrap_or(12))
        },
        "double" | "real" => WireType {
            flags: ColumnFlags::empty(),
            length: first.unwrap_or(22),
            decimals: digits_behind,
            ..WireType::double()
        },
        "decimal" | "numeric" => {
            let (digits, scale) = (first.unwrap_or(10), second.unwrap_or(0));
            // A sign and a point.
            let length = digits + 1 - minus + u32::from(scale > 0);
            WireType {
                flags: ColumnFlags::empty(),
                ..WireType::decimal(length, scale.min(30) as u8)
            }
        }
        "date" => WireType::number(MYSQL_TYPE_DATE, 10),
        "time" => fraction(MYSQL_TYPE_TIME, 10, first),
        "datetime" => fraction(MYSQL_TYPE_DATETIME, 19, first),
        "timestamp" => fraction(MYSQL_TYPE_TIMESTAMP, 19, first),
        "char" => WireType {
            code: MYSQL_TYPE_STRING,
            decimals: 0,
            ..WireType::text(first.unwrap_or(1))
        },
        "varchar" => WireType {
            decimals: 0,
            ..WireType::text(first.unwrap_or(255))
        },
        "enum" | "set" => of_members(column_type),
        // Only a column that is always NULL has no room for a byte.
        "binary" if first == Some(0) => WireType::null(),
        "binary" => WireType::number(MYSQL_TYPE_STRING, first.unwrap_or(1)),
        "varbinary" => WireType::number(MYSQL_TYPE_VAR_STRING, first.unwrap_or(255)),
        "json" => WireType {
            code: MYSQL_TYPE_JSON,
            flags: ColumnFlags::BLOB_FLAG | ColumnFlags::BINARY_FLAG,
            ..WireType::blob()
        },
        kind if kind.ends_with("text") || kind.ends_with("blob") => long_text(kind),
        _ => WireType::text(255),
    };
    if column_type.contains("unsigned") {
        wire.flags |= ColumnFlags::UNSIGNED_FLAG;
    }
    if column_type.contains("zerofill") {
        wire.flags |= ColumnFlags::UNSIGNED_FLAG | ColumnFlags::ZEROFILL_FLAG;
    }
    if !nullable {
        wire.flags |= ColumnFlags::NOT_NULL_FLAG;
    }
    wire
}

/// The type of an ENUM or a SET: as long as its longest value.
fn of_members(column_type: &str) -> WireType {
    let lengths = members(column_type);
    let lengths = lengths.iter().map(|member| member.chars().count());
    let (flags, length) = match base_type(column_type) {
        "enum" => (ColumnFlags::ENUM_FLAG, lengths.max().unwrap_or(0)),
        _ => {
            let commas = lengths.len().saturating_sub(1);
            (ColumnFlags::SET_FLAG, lengths.sum::<usize>() + commas)
        }
    };
    WireType {
        code: ColumnType::MYSQL_TYPE_STRING,
        flags,
        decimals: 0,
        ..WireType::text(length as u32)
    }
}

/// The type of a TEXT or a BLOB of any size.
fn long_text(kind: &str) -> WireType {
    let (charset, flags) = match kind.ends_with("text") {
        true => (CHARSET_UTF8MB4, ColumnFlags::BLOB_FLAG),
        false => (
            CHARSET_BINARY,
            ColumnFlags::BLOB_FLAG | ColumnFlags::BINARY_FLAG,
        ),
    };
    let length = match &kind[..kind.len() - 4] {
        "tiny" => 255,
        "" => 65_535,
        "medium" => 16_777_215,
        _ => u32::MAX,
    };
    WireType {
        charset,
        flags,
        length,
        ..WireType::blob()
    }
}
