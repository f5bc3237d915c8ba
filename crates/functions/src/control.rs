//! Functions that choose, and those that do nothing.

use sqlparser::ast::{Expr, Value as Literal};

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("any_value", 1, 1, Same(0), any_value),
    code("benchmark", 2, 2, Int, benchmark).volatile(),
    code("coalesce", 1, ANY, Merged(0), coalesce),
    code("default", 1, 1, Same(0), unchanged),
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
    code("isnull", 1, 1, Int, isnull),
    renamed("least", 2, ANY, Merged(0), "min"),
    code("load_file", 1, 1, Bytes, nothing),
    code("master_pos_wait", 2, 4, Int, nothing),
    code("name_const", 2, 2, Same(1), value),
    sqlites("nullif", 2, 2, Same(0)),
    code("values", 1, 1, Same(0), unchanged),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("isnull", 1, 1, |ctx| {
        Ok(Value::Integer(
            matches!(ctx.get_raw(0), ValueRef::Null).into(),
        ))
    }),
    // Warns of a row that INSERT IGNORE leaves out: the key, and the values.
    helper("tare_ignored", 2, ANY, |ctx| {
        let key = text(ctx, 0).unwrap_or_default();
        let values: Vec<_> = (1..ctx.len()).filter_map(|i| text(ctx, i)).collect();
        let message = format!("Duplicate entry '{}' for key '{key}'", values.join("-"));
        ctx.session.give_number_back(None);
        ctx.session.warn(1062, &message);
        Ok(Value::Integer(0))
    })
    .volatile(),
    // Reports the values of a row that another one conflicts with.
    helper("tare_duplicate", 1, ANY, |ctx| {
        let values: Vec<_> = (0..ctx.len()).filter_map(|i| text(ctx, i)).collect();
        Err(raise(SqlError::new(1062, values.join("-"))))
    }),
];

/// DEFAULT and VALUES stay unchanged: the rewriter of INSERT replaces them.
fn unchanged(call: SqlCall) -> ExprResult {
    Ok(call.unchanged())
}

/// ANY_VALUE becomes its argument, because SQLite takes the value of any row anyway.
fn any_value(call: SqlCall) -> ExprResult {
    let [value] = plain(call)?;
    Ok(node::nested(value))
}

/// COALESCE: SQLite's takes two arguments at least.
fn coalesce(call: SqlCall) -> ExprResult {
    if call.len() > 1 {
        return Ok(call.unchanged());
    }
    let [value] = plain(call)?;
    Ok(node::nested(value))
}

/// ISNULL.
fn isnull(call: SqlCall) -> ExprResult {
    let [value] = plain(call)?;
    let value = Box::new(node::nested(value));
    Ok(node::nested(Expr::IsNull(value)))
}

/// What needs files of the server, or another server.
fn nothing(_: SqlCall) -> ExprResult {
    Ok(node::null())
}

/// NAME_CONST: the value.
fn value(call: SqlCall) -> ExprResult {
    let [_, value] = plain(call)?;
    let is_literal = match &value {
        Expr::Value(v) => !matches!(v.value, Literal::Boolean(_)),
        Expr::UnaryOp { expr, .. } => matches!(**expr, Expr::Value(_)),
        Expr::Nested(inner) => matches!(**inner, Expr::UnaryOp { .. } | Expr::Value(_)),
        _ => false,
    };
    match is_literal {
        true => Ok(node::nested(value)),
        false => Err(SqlError::new(1210, "Incorrect arguments to NAME_CONST").into()),
    }
}

/// BENCHMARK: 0, once the expression has been evaluated.
fn benchmark(call: SqlCall) -> ExprResult {
    let [count, value] = plain(call)?;
    let evaluated = Expr::IsNull(Box::new(node::nested(value)));
    let zero = || node::number(0);
    let once = node::call("iif", vec![evaluated, zero(), zero()]);
    // A number below 0 is as good as none.
    let none = node::binary(
        node::nested(count),
        sqlparser::ast::BinaryOperator::GtEq,
        zero(),
    );
    Ok(node::call("iif", vec![none, once, node::null()]))
}
