//! The column definition that CREATE TABLE ... AS SELECT or CREATE VIEW derives from a type.

use mysql_common::constants::{ColumnFlags, ColumnType};
use sqlparser::ast::Expr;
use tare_mysql::table::{ColumnDef, literal};
use tare_mysql::types::{base_type, parts};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};

use super::kind::{digits, is_integer, is_nullable, units_of};
use super::stored::stored;
use crate::function::{arguments, name_of};
use crate::scope::Names;

use ColumnType::*;

/// The definition of a column that is created from an expression. If that is a column, it is the column's.
pub fn definition_of(expr: &Expr, name: &str, names: &mut Names<'_>) -> ColumnDef {
    if let Some(def) = column(expr, names) {
        return ColumnDef {
            name: name.to_owned(),
            ..def.as_value()
        };
    }
    if let Some(column_type) = extreme(expr, names) {
        return ColumnDef {
            name: name.to_owned(),
            nullable: true,
            column_type,
            ..ColumnDef::default()
        };
    }
    let wire = super::of_operand(expr, names).map(|t| {
        let is_int = is_integer(&t) && t.length <= MAX_INT_CHARACTERS && is_computed(expr);
        match is_int && t.code == MYSQL_TYPE_LONGLONG {
            true => WireType {
                code: MYSQL_TYPE_LONG,
                ..t
            },
            false => stored(t),
        }
    });
    definition_from_wire(wire, name)
}

/// The characters of an INT: a computed integer that is not longer is one.
const MAX_INT_CHARACTERS: u32 = 11;

/// Whether an expression is neither a literal nor a function of a window.
fn is_computed(expr: &Expr) -> bool {
    match expr {
        Expr::Nested(inner) => is_computed(inner),
        Expr::Value(_) => false,
        Expr::Function(f) => f.over.is_none(),
        _ => true,
    }
}

/// The type of MIN and MAX of a column: the column's.
fn extreme(expr: &Expr, names: &mut Names<'_>) -> Option<String> {
    let Expr::Function(f) = expr else { return None };
    let is_extreme = matches!(name_of(f).as_str(), "min" | "max") && f.over.is_none();
    let argument = arguments(f).first().copied().filter(|_| is_extreme)?;
    Some(column(argument, names)?.column_type)
}

/// The definition of a column of a type.
pub fn definition_from_wire(wire: Option<WireType>, name: &str) -> ColumnDef {
    let column_type = wire.map_or_else(|| "longblob".into(), |t| written(&t));
    let nullable = wire.is_none_or(|t| is_nullable(&t));
    let is_exact =
        wire.is_some_and(|t| super::is_text(&t) && t.flags.contains(ColumnFlags::BINARY_FLAG));
    ColumnDef {
        name: name.to_owned(),
        default: (!nullable).then(|| zero(&column_type)).flatten(),
        nullable,
        binary: is_exact || parts(&column_type).is_bytes(),
        column_type,
        ..ColumnDef::default()
    }
}

/// The definition of the column that an expression is, or that a subquery in its place has.
fn column(expr: &Expr, names: &mut Names<'_>) -> Option<ColumnDef> {
    if let Expr::Subquery(query) = expr {
        let column = names.columns(query)?.into_iter().next()?;
        return column.def.map(|def| ColumnDef {
            nullable: true,
            default: None,
            on_update_now: false,
            comment: String::new(),
            ..def.as_value()
        });
    }
    let column = names.column_of(expr)?;
    column.def.as_deref().cloned()
}

/// A type as MySQL writes it.
fn written(wire: &WireType) -> String {
    let unsigned = if wire.is_unsigned() { " unsigned" } else { "" };
    let with_fraction = |name: &str| match wire.decimals {
        n @ 1..=6 => format!("{name}({n})"),
        _ => name.to_owned(),
    };
    let units = units_of(wire);
    match wire.code {
        MYSQL_TYPE_NULL => "binary(0)".into(),
        MYSQL_TYPE_YEAR => "year".into(),
        MYSQL_TYPE_BIT => format!("bit({})", wire.length.clamp(1, 64)),
        MYSQL_TYPE_TINY => format!("tinyint{unsigned}"),
        MYSQL_TYPE_SHORT => format!("smallint{unsigned}"),
        MYSQL_TYPE_INT24 => format!("mediumint{unsigned}"),
        MYSQL_TYPE_LONG => format!("int{unsigned}"),
        _ if is_integer(wire) => format!("bigint{unsigned}"),
        MYSQL_TYPE_NEWDECIMAL => {
            let (all, scale) = digits(wire);
            format!("decimal({},{scale}){unsigned}", all.clamp(scale.max(1), 65))
        }
        MYSQL_TYPE_FLOAT | MYSQL_TYPE_DOUBLE => {
            let name = if wire.code == MYSQL_TYPE_FLOAT {
                "float"
            } else {
                "double"
            };
            match wire.decimals {
                scale @ 0..=30 => format!("{name}({},{scale})", wire.length),
                _ => name.into(),
            }
        }
        MYSQL_TYPE_DATE => "date".into(),
        MYSQL_TYPE_TIME => with_fraction("time"),
        MYSQL_TYPE_DATETIME => with_fraction("datetime"),
        MYSQL_TYPE_TIMESTAMP => with_fraction("timestamp"),
        MYSQL_TYPE_JSON => "json".into(),
        _ if wire.is_long_text() => {
            let kind = if wire.charset == CHARSET_BINARY {
                "blob"
            } else {
                "text"
            };
            match wire.length {
                0..=65_535 => kind.into(),
                65_536..=16_777_215 => format!("medium{kind}"),
                _ => format!("long{kind}"),
            }
        }
        MYSQL_TYPE_STRING if wire.charset == CHARSET_BINARY => format!("binary({units})"),
        MYSQL_TYPE_STRING => format!("char({units})"),
        _ if wire.charset == CHARSET_BINARY && units == 0 => "binary(0)".into(),
        _ if wire.charset == CHARSET_BINARY => format!("varbinary({units})"),
        _ if units == 0 => "char(0)".into(),
        _ => format!("varchar({units})"),
    }
}

/// The default that MySQL gives to a column that cannot be NULL and is created from an expression.
fn zero(column_type: &str) -> Option<String> {
    let kind = parts(column_type);
    match base_type(column_type) {
        "date" | "datetime" | "timestamp" | "time" | "json" => None,
        base if base.ends_with("blob") || base.ends_with("text") => None,
        _ if kind.is_text() || kind.is_bytes() => Some(literal("")),
        "decimal" => {
            let scale = kind.numeric().and_then(|n| n.1).unwrap_or(0) as usize;
            Some(literal(&format!("{:.scale$}", 0.0)))
        }
        _ => Some(literal("0")),
    }
}
