//! The types of columns of temporary tables: of UNION, of derived tables, and of groups.

use mysql_common::constants::{ColumnFlags, ColumnType};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::kind::{
    self, is_integer, is_json, is_null, is_nullable, is_number, is_temporal, operand,
};
use super::merged::merged;

use ColumnType::*;

/// Texts of more characters are stored as TEXT.
const MAX_VARCHAR_CHARACTERS: u32 = 512;

/// A DECIMAL of the most digits, with sign and point.
const MAX_DECIMAL_CHARACTERS: u32 = 67;

/// A column's type without the keys of its table.
pub fn without_keys(mut t: WireType) -> WireType {
    if t.code == MYSQL_TYPE_BIT {
        t.flags &= !ColumnFlags::NO_DEFAULT_VALUE_FLAG;
    }
    t.flags &= !(ColumnFlags::PRI_KEY_FLAG
        | ColumnFlags::UNIQUE_KEY_FLAG
        | ColumnFlags::MULTIPLE_KEY_FLAG
        | ColumnFlags::PART_KEY_FLAG
        | ColumnFlags::AUTO_INCREMENT_FLAG
        | ColumnFlags::TIMESTAMP_FLAG
        | ColumnFlags::ON_UPDATE_NOW_FLAG);
    t
}

/// The type of a column that stores the values of an expression.
pub fn stored(t: WireType) -> WireType {
    let code = match t.code {
        MYSQL_TYPE_BIT => MYSQL_TYPE_BIT,
        _ if is_integer(&t) && t.length < 10 => MYSQL_TYPE_LONG,
        _ if is_integer(&t) => MYSQL_TYPE_LONGLONG,
        MYSQL_TYPE_STRING | MYSQL_TYPE_ENUM | MYSQL_TYPE_SET | MYSQL_TYPE_NULL => {
            MYSQL_TYPE_VAR_STRING
        }
        MYSQL_TYPE_BLOB if kind::units_of(&t) <= MAX_VARCHAR_CHARACTERS => MYSQL_TYPE_VAR_STRING,
        code => code,
    };
    field(WireType { code, ..t })
}

/// A column that has exactly this type.
fn field(t: WireType) -> WireType {
    let stored_flags = ColumnFlags::NOT_NULL_FLAG
        | match () {
            () if is_number(&t) && !kind::is_real(&t) => ColumnFlags::UNSIGNED_FLAG,
            () if is_number(&t) => ColumnFlags::empty(),
            () => ColumnFlags::BINARY_FLAG,
        };
    let mut stored = WireType {
        flags: t.flags & stored_flags,
        ..t
    };
    let is_long =
        t.is_long_text() || kind::is_text(&t) && kind::units_of(&t) > MAX_VARCHAR_CHARACTERS;
    if is_json(&t) {
        stored.charset = CHARSET_BINARY;
        stored.length = u32::MAX;
        stored.flags |= ColumnFlags::BLOB_FLAG | ColumnFlags::BINARY_FLAG;
        stored.decimals = 0;
    } else if is_long {
        stored.code = MYSQL_TYPE_BLOB;
        stored.flags |= ColumnFlags::BLOB_FLAG;
    }
    if kind::is_text(&t) || is_null(&t) {
        stored.decimals = 0;
    }
    if t.code == MYSQL_TYPE_NEWDECIMAL {
        stored.length = t.length.min(MAX_DECIMAL_CHARACTERS);
    }
    stored
}

/// The type of MIN and MAX of a column, in a temporary table: the column's, but it can be NULL.
pub fn of_aggregate(column: WireType) -> WireType {
    let mut t = without_keys(column);
    t.flags &= !ColumnFlags::NOT_NULL_FLAG;
    t
}

/// The type of a column of UNION.
pub fn of_union(a: WireType, b: WireType) -> WireType {
    let (a, b) = (operand(a), operand(b));
    let t = merged(&[a, b]);
    let mut column = match t.code {
        MYSQL_TYPE_YEAR => {
            let mut year = field(t);
            year.flags |= ColumnFlags::ZEROFILL_FLAG;
            year
        }
        MYSQL_TYPE_NULL => field(WireType {
            code: MYSQL_TYPE_VAR_STRING,
            ..t
        }),
        _ => field(t),
    };
    if is_temporal(&t) && !is_nullable(&t) && t.code != MYSQL_TYPE_DATE && t.code != MYSQL_TYPE_TIME
    {
        column.flags |= ColumnFlags::NO_DEFAULT_VALUE_FLAG;
    }
    column
}
