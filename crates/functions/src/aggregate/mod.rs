//! Functions of groups of rows.

mod body;

use sqlparser::ast::{FunctionArgumentClause, Value as Literal};
use tare_dialect::near;
use tare_dialect::rewrite::{literal, raw};

use self::body::{Array, Bits, Object, Only, Spread, add};
use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    sqlites("avg", 1, 1, Average).aggregate(),
    aggregated("bit_and", 1, 1, Unsigned, "tare_bit_and", |db, name, n| {
        let bits = Bits {
            start: u64::MAX,
            join: |a, b| a & b,
        };
        add(db, name, n, bits)
    }),
    aggregated("bit_or", 1, 1, Unsigned, "tare_bit_or", |db, name, n| {
        let bits = Bits {
            start: 0,
            join: |a, b| a | b,
        };
        add(db, name, n, bits)
    }),
    aggregated("bit_xor", 1, 1, Unsigned, "tare_bit_xor", |db, name, n| {
        let bits = Bits {
            start: 0,
            join: |a, b| a ^ b,
        };
        add(db, name, n, bits)
    }),
    code("count", 1, ANY, Int, count).aggregate(),
    code("group_concat", 1, ANY, TextOf, group_concat).aggregate(),
    code("grouping", 1, ANY, Int, grouping),
    aggregated(
        "json_arrayagg",
        1,
        1,
        Json,
        "tare_json_arrayagg",
        |db, name, n| add(db, name, n, Array),
    ),
    aggregated(
        "json_objectagg",
        2,
        2,
        Json,
        "tare_json_objectagg",
        |db, name, n| add(db, name, n, Object),
    ),
    sqlites("max", 1, 1, Same(0)).aggregate(),
    sqlites("min", 1, 1, Same(0)).aggregate(),
    renamed("std", 1, 1, Double, "tare_stddev").aggregate(),
    renamed("stddev", 1, 1, Double, "tare_stddev").aggregate(),
    aggregated("stddev_pop", 1, 1, Double, "tare_stddev", |db, name, n| {
        add(
            db,
            name,
            n,
            Spread {
                sample: false,
                root: true,
            },
        )
    }),
    aggregated(
        "stddev_samp",
        1,
        1,
        Double,
        "tare_stddev_samp",
        |db, name, n| {
            add(
                db,
                name,
                n,
                Spread {
                    sample: true,
                    root: true,
                },
            )
        },
    ),
    code("sum", 1, 1, Sum, sum).aggregate(),
    aggregated("var_pop", 1, 1, Double, "tare_variance", |db, name, n| {
        add(
            db,
            name,
            n,
            Spread {
                sample: false,
                root: false,
            },
        )
    }),
    aggregated("var_samp", 1, 1, Double, "tare_var_samp", |db, name, n| {
        add(
            db,
            name,
            n,
            Spread {
                sample: true,
                root: false,
            },
        )
    }),
    renamed("variance", 1, 1, Double, "tare_variance").aggregate(),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    aggregated_helper("tare_only", 1, |db, name, n| add(db, name, n, Only)),
    aggregated_helper("tare_sum", 1, |db, name, n| add(db, name, n, body::Sum)),
];

/// COUNT: a text counts once whatever its case.
fn count(call: &SqlCall<'_>) -> Written {
    match call.texts.as_slice() {
        [] => Err(near(")")),
        [value] if call.distinct() && !call.is_column() => {
            sql(format!("count(DISTINCT {value} COLLATE NOCASE)"))
        }
        [_] => Ok(None),
        _ if call.distinct() => sql(format!(
            "count(DISTINCT tare_tuple({}) COLLATE NOCASE)",
            call.all()
        )),
        [_, second, ..] => Err(near(format!(", {second}"))),
    }
}

/// SUM, exact where SQLite's would stop.
fn sum(call: &SqlCall<'_>) -> Written {
    if !call.exact {
        return Ok(None);
    }
    let distinct = if call.distinct() { "DISTINCT " } else { "" };
    sql(format!("tare_sum({distinct}{})", call.all()))
}

/// GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR 'x').
fn group_concat(call: &SqlCall<'_>) -> Written {
    let (args, texts) = (call.args, call.texts.as_slice());
    let mut separator = "','".to_owned();
    let mut order = String::new();
    for clause in &args.clauses {
        match clause {
            FunctionArgumentClause::Separator(value) => {
                separator = match &value.value {
                    Literal::SingleQuotedString(s) | Literal::DoubleQuotedString(s) => literal(s),
                    other => other.to_string(),
                };
            }
            FunctionArgumentClause::OrderBy(by) => {
                let by: Vec<String> = by.iter().map(ToString::to_string).collect();
                order = format!(" ORDER BY {}", by.join(", "));
            }
            _ => {}
        }
    }
    let value = if texts.len() == 1 {
        texts[0].clone()
    } else {
        format!("concat_({})", texts.join(", "))
    };
    Ok(Some(if call.distinct() {
        // SQLite: DISTINCT aggregates take one argument; its separator is a comma then.
        let value = if call.is_column() && texts.len() == 1 {
            value
        } else {
            format!("({value} COLLATE NOCASE)")
        };
        if separator == "','" {
            raw(format!("group_concat(DISTINCT {value}{order})"))
        } else {
            raw(format!(
                "replace(group_concat(DISTINCT replace({value}, ',', char(31)) COLLATE NOCASE{order}), ',', {separator})"
            ))
        }
    } else {
        raw(format!("group_concat({value}, {separator}{order})"))
    }))
}

/// GROUPING has a meaning under WITH ROLLUP only, whose rewriter knows it.
fn grouping(_: &SqlCall<'_>) -> Written {
    Err(SqlError::new(1111, "Invalid use of group function"))
}
