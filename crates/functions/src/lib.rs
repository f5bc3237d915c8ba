//! MySQL's functions. Each has a record with its name, its number of arguments, its return type, and its form
//! in SQLite: the same name, another name, an expression, or a body of ours.
//!
//! A family of functions is a file. The dialect calls [`find`]; [`register`] adds the bodies to a connection.

mod address;
mod aggregate;
mod arguments;
mod assign;
pub mod call;
mod charset;
mod compare;
mod compress;
mod context;
mod control;
mod date;
mod encode;
mod evaluation;
mod exact;
mod format;
mod interval;
mod json;
mod locale;
mod lock;
mod math;
mod now;
mod number;
mod order;
mod part;
mod prelude;
mod record;
mod regexp;
mod rounding;
mod search;
mod statement;
mod text;
mod text_builder;
mod uuid;
mod window;

pub use self::evaluation::{Counted, EvaluationContext};
pub use self::record::{Function, Helper, Scalar, scalar};

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use tare_dialect::function::Signature;

/// The functions that clients call. Any other function is error 1305, even if SQLite has it.
pub static FAMILIES: &[&[Function]] = &[
    address::FUNCTIONS,
    aggregate::FUNCTIONS,
    compress::FUNCTIONS,
    context::FUNCTIONS,
    control::FUNCTIONS,
    date::FUNCTIONS,
    encode::FUNCTIONS,
    format::FUNCTIONS,
    interval::FUNCTIONS,
    json::FUNCTIONS,
    json::path::FUNCTIONS,
    lock::FUNCTIONS,
    math::FUNCTIONS,
    now::FUNCTIONS,
    number::FUNCTIONS,
    part::FUNCTIONS,
    regexp::FUNCTIONS,
    statement::FUNCTIONS,
    text::FUNCTIONS,
    uuid::FUNCTIONS,
    window::FUNCTIONS,
];

/// Functions that only the dialect calls: operators, casts, variables.
static HELPERS: &[&[Helper]] = &[
    aggregate::HELPERS,
    assign::HELPERS,
    charset::HELPERS,
    context::HELPERS,
    control::HELPERS,
    date::HELPERS,
    encode::HELPERS,
    exact::HELPERS,
    interval::HELPERS,
    json::HELPERS,
    json::path::HELPERS,
    json::value::HELPERS,
    math::HELPERS,
    now::HELPERS,
    number::HELPERS,
    part::HELPERS,
    statement::HELPERS,
    text::HELPERS,
];

/// A function by its name in lower case.
pub fn find(name: &str) -> Option<&'static Signature> {
    static INDEX: OnceLock<HashMap<&'static str, &'static Signature>> = OnceLock::new();
    let index = INDEX.get_or_init(|| {
        let all = FAMILIES.iter().copied().flatten();
        all.map(|f| (f.signature.name, &f.signature)).collect()
    });
    index.get(name).copied()
}

/// Adds our functions and collations to a connection of a session.
pub fn register(db: &Connection, session: &Arc<dyn EvaluationContext>) -> rusqlite::Result<()> {
    order::register(db)?;
    for function in FAMILIES.iter().copied().flatten() {
        function.register(db, session)?;
    }
    for helper in HELPERS.iter().copied().flatten() {
        helper.register(db, session)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
