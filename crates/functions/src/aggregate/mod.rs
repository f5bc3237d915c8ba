//! Aggregate functions.

mod body;
mod exact;

use sqlparser::ast::{Expr, FunctionArgumentClause, Value as Literal};
use tare_dialect::{Error, near};

use self::body::{Array, Bits, JsonCollector, Object, OnlyValue, Spread, add};
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
        |db, name, n| {
            add(
                db,
                name,
                n,
                Array(JsonCollector {
                    name: "json_arrayagg",
                }),
            )
        },
    ),
    aggregated(
        "json_objectagg",
        2,
        2,
        Json,
        "tare_json_objectagg",
        |db, name, n| {
            add(
                db,
                name,
                n,
                Object(JsonCollector {
                    name: "json_objectagg",
                }),
            )
        },
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
    aggregated_helper("tare_only", 1, |db, name, n| add(db, name, n, OnlyValue)),
    aggregated_helper("tare_avg", 1, |db, name, n| {
        exact::add(db, name, n, exact::Exact { average: true })
    }),
    aggregated_helper("tare_sum", 1, |db, name, n| {
        exact::add(db, name, n, exact::Exact { average: false })
    }),
];

/// COUNT. With DISTINCT, texts that differ in case only count once.
fn count(call: SqlCall) -> ExprResult {
    if !call.distinct() {
        return match call.arguments().as_slice() {
            [_, second, ..] => Err(near(format!(", {second}"))),
            [] if call.is_empty() => Err(near(")")),
            _ => Ok(call.unchanged()),
        };
    }
    if call.len() == 1 && call.is_column() {
        return Ok(call.unchanged());
    }
    let mut values = call.into_arguments();
    let value = match values.len() {
        0 => return Err(near("*")),
        1 => values.remove(0),
        _ => node::call("tare_tuple", values),
    };
    Ok(distinct("count", without_case(value), Vec::new()))
}

/// SUM, which is exact beyond the range of SQLite's.
fn sum(call: SqlCall) -> ExprResult {
    if !call.exact {
        return Ok(call.unchanged());
    }
    let distinct = call.distinct();
    let arguments = call.into_arguments();
    Ok(node::aggregate("tare_sum", distinct, arguments, Vec::new()))
}

/// GROUP_CONCAT(DISTINCT a, b ORDER BY c SEPARATOR 'x').
fn group_concat(call: SqlCall) -> ExprResult {
    let mut separator = node::text(",");
    let mut order = Vec::new();
    for clause in call.clauses() {
        match clause {
            FunctionArgumentClause::Separator(value) => {
                separator = match &value.value {
                    Literal::SingleQuotedString(s) | Literal::DoubleQuotedString(s) => {
                        node::text(s)
                    }
                    _ => Expr::Value(value.clone()),
                };
            }
            FunctionArgumentClause::OrderBy(_) => order = vec![clause.clone()],
            _ => {}
        }
    }
    let is_distinct = call.distinct();
    let is_column = call.is_column() && call.len() == 1;
    let mut values = call.into_arguments();
    let value = match values.len() {
        1 => values.remove(0),
        _ => node::call("concat_", values),
    };
    if !is_distinct {
        let arguments = vec![value, separator];
        return Ok(node::aggregate("group_concat", false, arguments, order));
    }
    // DISTINCT aggregates of SQLite take one argument, so the separator is a comma.
    let value = if is_column {
        value
    } else {
        node::nested(without_case(value))
    };
    if order.is_empty() {
        // MySQL finds distinct values in a tree, which has them in their order.
        order.push(FunctionArgumentClause::OrderBy(vec![node::order_by(
            value.clone(),
        )]));
    }
    let comma = || node::text(",");
    if separator == comma() {
        return Ok(distinct("group_concat", value, order));
    }
    // Commas within values are replaced, so that they are not taken for separators.
    let stand_in = node::call("char", vec![node::number(31)]);
    let value = node::call("replace", vec![value, comma(), stand_in]);
    let all = distinct("group_concat", without_case(value), order);
    Ok(node::call("replace", vec![all, comma(), separator]))
}

fn distinct(name: &str, value: Expr, clauses: Vec<FunctionArgumentClause>) -> Expr {
    node::aggregate(name, true, vec![value], clauses)
}

fn without_case(value: Expr) -> Expr {
    node::collate(value, "NOCASE")
}

/// GROUPING is valid with WITH ROLLUP only, whose rewriter replaces it.
fn grouping(_: SqlCall) -> ExprResult {
    Err(Error::NoGroups)
}
