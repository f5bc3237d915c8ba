//! Values that are assigned to columns: a function of ours converts each to its column's type, or refuses
//! it, unless the value's own type shows that it fits.

pub(super) mod assigned_values;

use mysql_common::constants::ColumnType;
use sqlparser::ast::{DataType, Expr, Value};
use tare_mysql::real::Real;
use tare_mysql::table::{ColumnDef, TableDef};
use tare_mysql::types::{base_type, parts};
use tare_mysql::wire::column::{CHARSET_BINARY, WireType};
use tare_mysql::wire::types::wire_of;

use super::exact::Class;
use super::rewriter::Rewriter;
use crate::{node, types};

/// The kind of a value, determined before it is rewritten.
#[derive(Debug, Clone, Copy)]
pub(super) struct ValueKind {
    wire: Option<WireType>,
    /// NULL, or an integer that SQLite checks by itself.
    plain: bool,
    /// An unsigned integer that a double represents exactly.
    exact: bool,
    /// The number of a hexadecimal literal.
    bits: Option<u64>,
}

/// The call that converts a value to a column's type; the value itself if SQLite's affinity and constraints
/// are enough.
pub fn conversion_call(column: &ColumnDef, value: Expr, strict: bool) -> Expr {
    let kind = parts(&column.column_type);
    let unsigned = i64::from(column.column_type.contains("unsigned"));
    let digits = kind.fraction().unwrap_or(0) as i64;
    let length = || vec![kind.characters().unwrap_or(1) as i64];
    let (name, rest) = match base_type(&column.column_type) {
        "tinyint" => ("tare_to_int", vec![8, unsigned]),
        "smallint" => ("tare_to_int", vec![16, unsigned]),
        "mediumint" => ("tare_to_int", vec![24, unsigned]),
        "int" => ("tare_to_int", vec![32, unsigned]),
        // SQLite's rowid has 64 bits with a sign.
        "bigint" if unsigned == 1 && column.auto_increment => ("tare_to_int", vec![63, 1]),
        "bigint" => ("tare_to_int", vec![64, unsigned]),
        "decimal" => {
            let (digits, scale) = kind.numeric().unwrap_or((10, Some(0)));
            let scale = scale.unwrap_or(0);
            (
                "tare_to_decimal",
                vec![digits as i64, scale as i64, unsigned],
            )
        }
        "float" | "double" => {
            let real = Real::of(&column.column_type);
            let (digits, scale) = real.and_then(|r| r.digits).unwrap_or_default();
            let single = real.is_some_and(|r| r.single);
            let rest = vec![unsigned, single.into(), digits.into(), scale.into()];
            ("tare_to_double", rest)
        }
        "varbinary" | "tinyblob" | "blob" | "mediumblob" => ("tare_to_varbinary", length()),
        "longblob" => return node::cast(value, DataType::Blob(None)),
        "varchar" => ("tare_to_varchar", length()),
        "tinytext" | "text" | "mediumtext" => ("tare_to_text_bytes", length()),
        "binary" => ("tare_to_binary", length()),
        "char" => ("tare_to_char", length()),
        "date" => ("tare_to_date", Vec::new()),
        "datetime" => ("tare_to_datetime", vec![digits, 0]),
        "timestamp" => ("tare_to_datetime", vec![digits, 1]),
        "time" => ("tare_to_time", vec![digits]),
        "year" => ("tare_to_year", Vec::new()),
        "bit" => (
            "tare_to_bit",
            vec![kind.numeric().map_or(1, |n| n.0) as i64],
        ),
        "json" => ("tare_to_json", Vec::new()),
        "enum" => ("tare_to_enum", Vec::new()),
        "set" => ("tare_to_set", Vec::new()),
        _ => return value,
    };
    let mut all = vec![value, node::text(&column.name), node::number(strict.into())];
    all.extend(rest.into_iter().map(node::number));
    if matches!(kind.base.as_str(), "enum" | "set") {
        all.extend(members(column).iter().map(|m| node::text(m)));
    }
    node::call(name, all)
}

/// The members of an ENUM or a SET.
pub(super) fn members(column: &ColumnDef) -> Vec<String> {
    tare_mysql::types::members(&column.column_type)
}

impl Rewriter<'_> {
    /// The kind of a value that has not been rewritten yet.
    pub(super) fn value_kind(&mut self, value: &Expr) -> ValueKind {
        let number = match value {
            Expr::Value(v) => match &v.value {
                Value::Number(n, _) => n.parse::<i64>().ok(),
                _ => None,
            },
            _ => None,
        };
        let is_null = matches!(value, Expr::Value(v) if v.value == Value::Null);
        ValueKind {
            wire: types::of(value, &mut self.names),
            plain: is_null || number.is_some(),
            exact: number.is_some_and(|n| n < 1 << 53),
            bits: literal_bits(value),
        }
    }

    /// Converts a rewritten value to a column's type. With IGNORE it becomes the nearest value.
    pub(super) fn convert_value(
        &self,
        def: Option<&TableDef>,
        column: &str,
        value_kind: ValueKind,
        value: Expr,
        ignore: bool,
    ) -> Expr {
        let strict = self.mode.strict && !ignore;
        let definition = def.and_then(|d| d.column(column));
        let value = match definition {
            Some(c) => as_kind_of(c, value_kind, value, strict),
            None => value,
        };
        let value = match definition {
            // A DECIMAL is a text in SQLite, and a text's 0 is another year.
            Some(c)
                if base_type(&c.column_type) == "year"
                    && Class::of(value_kind.wire) == Class::Decimal =>
            {
                node::call("tare_whole", vec![value, node::number(0)])
            }
            _ => value,
        };
        match definition {
            Some(column) if !fits(column, value_kind, strict, self.mode.zoned) => {
                conversion_call(column, value, strict)
            }
            _ => value,
        }
    }

    /// Converts the rows of a query to the types of columns, and appends the values of other columns; returns
    /// the query itself if nothing is to be done.
    pub(super) fn convert_rows(
        &self,
        def: Option<&TableDef>,
        columns: &[&str],
        wires: &[Option<WireType>],
        others: Vec<Expr>,
        query: String,
        ignore: bool,
    ) -> String {
        let names: Vec<String> = (0..columns.len()).map(|i| format!("tare_c{i}")).collect();
        let own: Vec<Expr> = names.iter().map(|n| node::column(n)).collect();
        let values: Vec<Expr> = columns
            .iter()
            .zip(&own)
            .enumerate()
            .map(|(i, (column, value))| {
                let wire = wires.get(i).copied().flatten();
                let value_kind = ValueKind {
                    wire,
                    plain: false,
                    exact: false,
                    bits: None,
                };
                let value = self.convert_value(def, column, value_kind, value.clone(), ignore);
                let auto = def.and_then(TableDef::auto_increment);
                match auto.is_some_and(|auto| auto.name.eq_ignore_ascii_case(column)) {
                    true => {
                        let given = node::call("nullif", vec![value, node::number(0)]);
                        node::call("tare_auto_increment", vec![given])
                    }
                    false => value,
                }
            })
            .collect();
        if values == own && others.is_empty() {
            return query;
        }
        let values = values.iter().chain(&others);
        let values: Vec<String> = values.map(ToString::to_string).collect();
        format!(
            "WITH tare_q({}) AS ({query}) SELECT {} FROM tare_q",
            names.join(", "),
            values.join(", ")
        )
    }
}

/// A value as the kind of a column, where the value's own type does not tell it: the number of a literal of bytes, the
/// digits of a date, the text of a double, and bytes that must be a text.
fn as_kind_of(column: &ColumnDef, value_kind: ValueKind, value: Expr, strict: bool) -> Expr {
    let class = Class::of(value_kind.wire);
    let base = base_type(&column.column_type);
    match base {
        "tinyint" | "smallint" | "mediumint" | "int" | "bigint" | "decimal" | "float"
        | "double" | "year" | "bit" => match (value_kind.bits, class) {
            (Some(bits), _) if bits > i64::MAX as u64 && base != "bit" => {
                node::text(&bits.to_string())
            }
            (Some(bits), _) => node::bits(bits),
            (None, Class::Moment) if base == "year" => node::call("year", vec![value]),
            (None, Class::Moment) => node::call("tare_moment", vec![value]),
            _ => value,
        },
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext" | "varbinary"
        | "tinyblob" | "blob" | "mediumblob" | "longblob" | "binary"
            if class == Class::Real =>
        {
            let wire = value_kind.wire.unwrap_or(WireType::double());
            let single = wire.code == ColumnType::MYSQL_TYPE_FLOAT;
            let rest = [i64::from(single), i64::from(wire.decimals), 0].map(node::number);
            node::call("tare_shown", std::iter::once(value).chain(rest).collect())
        }
        "char" | "varchar" | "tinytext" | "text" | "mediumtext" | "longtext"
            if value_kind
                .wire
                .is_none_or(|t| t.charset == CHARSET_BINARY && types::is_text(&t)) =>
        {
            let rest = [node::text(&column.name), node::number(strict.into())];
            node::call("tare_to_text", std::iter::once(value).chain(rest).collect())
        }
        "varbinary" | "tinyblob" | "blob" | "mediumblob" => node::cast(value, DataType::Blob(None)),
        // The time of a date is midnight.
        "time"
            if value_kind
                .wire
                .is_some_and(|t| t.code == ColumnType::MYSQL_TYPE_DATE) =>
        {
            node::call("tare_datetime", vec![value, node::number(0)])
        }
        // A number is no JSON text.
        "json" if class == Class::Decimal => node::call("tare_real", vec![value]),
        _ => value,
    }
}

/// The number of a hexadecimal literal of 64 bits at most.
fn literal_bits(value: &Expr) -> Option<u64> {
    match value {
        Expr::Nested(inner) => literal_bits(inner),
        Expr::Value(v) => match &v.value {
            Value::HexStringLiteral(hex) if hex.is_empty() => Some(0),
            Value::HexStringLiteral(hex) => u64::from_str_radix(hex, 16).ok(),
            _ => None,
        },
        _ => None,
    }
}

fn is_characters(t: &WireType) -> bool {
    types::is_text(t) && t.charset != CHARSET_BINARY
}

/// The characters of a text's longest value. Each byte of a TEXT may be one.
fn most_characters(t: &WireType) -> u32 {
    match t.is_long_text() {
        true => t.length,
        false => types::characters(t),
    }
}

/// Whether a value needs no conversion: its type is the column's, or SQLite's affinity and the column's
/// constraints are enough.
fn fits(column: &ColumnDef, value_kind: ValueKind, strict: bool, zoned: bool) -> bool {
    let class = Class::of(value_kind.wire);
    if class == Class::Null {
        return true;
    }
    let wire = wire_of(column);
    match base_type(&column.column_type) {
        "tinyint" | "smallint" | "mediumint" | "int" => {
            strict && (value_kind.plain || class == Class::Int)
        }
        "bigint" => strict && (value_kind.plain || class == Class::Int),
        // Other values become doubles by a function only: SQLite compares integers with doubles exactly, and
        // parses long decimals differently.
        "double" => {
            parts(&column.column_type).fixed().is_none()
                && (value_kind.exact || class == Class::Real && !wire.is_unsigned())
        }
        "json" => value_kind.wire.is_some_and(|w| w.code == wire.code),
        "varchar" => {
            let most = types::characters(&wire);
            value_kind
                .wire
                .is_some_and(|w| is_characters(&w) && most_characters(&w) <= most)
        }
        "tinytext" | "text" | "mediumtext" => value_kind
            .wire
            .is_some_and(|w| is_characters(&w) && w.length <= wire.length),
        "varbinary" | "tinyblob" | "blob" | "mediumblob" => value_kind.wire.is_some_and(|w| {
            types::is_text(&w) && w.charset == CHARSET_BINARY && w.length <= wire.length
        }),
        "timestamp" if zoned => false,
        "date" | "datetime" | "timestamp" | "time" => value_kind
            .wire
            .is_some_and(|w| w.code == wire.code && w.decimals == wire.decimals),
        _ => false,
    }
}
