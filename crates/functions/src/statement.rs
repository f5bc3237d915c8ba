//! Functions of statements' texts.

use tare_dialect::check_syntax;

use crate::prelude::*;

/// By name.
pub(crate) static FUNCTIONS: &[Function] = &[
    own("statement_digest", 1, 1, Text, |ctx| {
        digest(ctx, "statement_digest", |hash, _| hash)
    }),
    own("statement_digest_text", 1, 1, Text, |ctx| {
        digest(ctx, "statement_digest_text", |_, text| text)
    }),
];

/// A part of the digest of a statement; 3676 if the text is none, and 3987 for bytes.
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
