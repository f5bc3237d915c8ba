//! Functions that choose, and those that do nothing.

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    template("any_value", 1, 1, Same(0), "(?)"),
    code("benchmark", 2, 2, Int, benchmark).volatile(),
    code("coalesce", 1, ANY, Merged(0), coalesce),
    code("default", 1, 1, Same(0), kept),
    renamed("greatest", 2, ANY, Merged(0), "max"),
    renamed("if", 3, 3, Merged(1), "iif"),
    sqlites("ifnull", 2, 2, Merged(0)),
    hidden("interval", 2, ANY, Int, "tare_interval_of", |ctx| {
        if matches!(ctx.get_raw(0), ValueRef::Null) {
            return Ok(Value::Integer(-1));
        }
        let x = real(ctx, 0).unwrap_or(0.0);
        let below = (1..ctx.len())
            .take_while(|&i| real(ctx, i).is_none_or(|bound| bound <= x))
            .count();
        Ok(Value::Integer(below as i64))
    }),
    template("isnull", 1, 1, Int, "((?) IS NULL)"),
    renamed("least", 2, ANY, Merged(0), "min"),
    template("load_file", 1, 1, Bytes, "NULL"),
    template("master_pos_wait", 2, 4, Int, "NULL"),
    code("name_const", 2, 2, Same(1), last),
    sqlites("nullif", 2, 2, Same(0)),
    code("values", 1, 1, Same(0), kept),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[helper("isnull", 1, 1, |ctx| {
    Ok(Value::Integer(
        matches!(ctx.get_raw(0), ValueRef::Null).into(),
    ))
})];

/// DEFAULT and VALUES: the rewriter of INSERT knows them.
fn kept(_: &SqlCall<'_>) -> Written {
    Ok(None)
}

/// COALESCE: SQLite's takes two arguments at least.
fn coalesce(call: &SqlCall<'_>) -> Written {
    match call.texts.as_slice() {
        [only] => sql(format!("({only})")),
        _ => Ok(None),
    }
}

/// The last argument.
fn last(call: &SqlCall<'_>) -> Written {
    sql(format!("({})", call.text(call.texts.len() - 1)))
}

/// BENCHMARK: always 0, once the expression has been evaluated.
fn benchmark(call: &SqlCall<'_>) -> Written {
    sql(format!("iif(({}) IS NULL, 0, 0)", call.text(1)))
}
