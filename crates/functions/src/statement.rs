//! Functions of statements' texts.

use sqlparser::ast::{Expr, Value as Literal};
use tare_dialect::check_syntax;

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    code("statement_digest", 1, 1, Text, |call| {
        with_origin(call, "tare_statement_digest")
    }),
    code("statement_digest_text", 1, 1, Text, |call| {
        with_origin(call, "tare_statement_digest_text")
    }),
];

/// What the dialect writes.
pub(crate) static HELPERS: &[Helper] = &[
    helper("tare_statement_digest", 2, 2, |ctx| {
        digest(ctx, "statement_digest", |hash, _| hash)
    }),
    helper("tare_statement_digest_text", 2, 2, |ctx| {
        digest(ctx, "statement_digest_text", |_, text| text)
    }),
];

/// Adds whether the argument is a literal text or integer: only then a message has the statement's error.
fn with_origin(call: SqlCall, helper: &str) -> ExprResult {
    let [statement] = plain(call)?;
    let is_literal = match &statement {
        Expr::Value(v) => match &v.value {
            Literal::SingleQuotedString(_) | Literal::Boolean(_) => true,
            Literal::Number(n, _) => n.bytes().all(|b| b.is_ascii_digit()),
            _ => false,
        },
        _ => false,
    };
    let arguments = vec![statement, node::number(is_literal.into())];
    Ok(node::call(helper, arguments))
}

/// A part of the digest of a statement; 3676 or 3677 if the text is none, and 3987 for bytes.
fn digest(ctx: &Call<'_>, function: &str, part: fn(String, String) -> String) -> Answer {
    let Some(statement) = text(ctx, 0) else {
        return Ok(Value::Null);
    };
    if matches!(ctx.get_raw(0), ValueRef::Blob(_)) {
        let message =
            format!("The function {function} does not support the character set 'binary'.");
        return Err(raise(SqlError::new(3987, message)));
    }
    if let Err(error) = check_syntax(&statement, &ctx.session.sql_mode(), ctx.session.series()) {
        if int(ctx, 1) != Some(1) {
            let message = "Could not parse argument to digest function.";
            return Err(raise(SqlError::new(3677, message)));
        }
        let message = SqlError::from(error).message;
        return Err(raise(SqlError::new(
            3676,
            format!("Could not parse argument to digest function: \"{message}\"."),
        )));
    }
    match ctx.session.digest(&statement) {
        Some((hash, text)) => Ok(part(hash, text).into()),
        None => Err(raise(SqlError::new(
            1235,
            format!("This version of Tare doesn't yet support '{function}' here"),
        ))),
    }
}
