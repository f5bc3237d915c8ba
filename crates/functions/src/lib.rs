//! MySQL's functions: a record for each, with its name, how many arguments it takes, what it
//! returns, and what it is in SQLite: the same, another name, an expression, or a body of ours.
//!
//! A family of functions is a file. [`find`] is what the dialect asks; [`register`] gives a
//! connection the bodies.

mod address;
mod aggregate;
mod arguments;
mod assign;
pub mod call;
mod charset;
mod compare;
mod context;
mod control;
mod date;
mod encode;
mod evaluation;
mod exact;
mod format;
mod interval;
mod json;
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
mod text;
mod text_builder;
mod uuid;
mod window;

pub use self::evaluation::EvaluationContext;
pub use self::record::{Function, Helper, Scalar, scalar};

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use rusqlite::Connection;
use tare_dialect::function::Signature;

/// The functions that clients call. What is in none of them is error 1305, though SQLite may know it.
pub static FAMILIES: &[&[Function]] = &[
    address::FUNCTIONS,
    aggregate::FUNCTIONS,
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
    text::FUNCTIONS,
    uuid::FUNCTIONS,
    window::FUNCTIONS,
];

/// The functions that only the dialect calls: operators, casts, variables.
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
    math::HELPERS,
    number::HELPERS,
    part::HELPERS,
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

/// Gives a connection the functions and collations that SQLite lacks or has otherwise, for a
/// session.
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
