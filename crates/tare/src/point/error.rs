//! Errors, by code.

use std::sync::atomic::Ordering;

use tare_layout::control::effective;
use tare_layout::line::error as at;

pub use crate::engine::error_names::OTHER;
use crate::engine::hot::{self, local};
use crate::engine::{clock, error_names};
use crate::payload::IS_COMPILED_IN;

/// Names an error, so that the tables of errors list it whether or not it was ever raised. Takes effect
/// now if Tare records, and whenever it is started again.
///
/// ```
/// tare::error::define(1146, "ER_NO_SUCH_TABLE", "42S02");
/// ```
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn define(code: u32, name: &str, sqlstate: &str) {
    if !IS_COMPILED_IN {
        return;
    }
    error_names::define(code, name, sqlstate);
    hot::with(|engine| {
        engine.error_class(code, Some((name, sqlstate)));
    });
}

/// Counts an error that was raised, by its code (MySQL's numbers where it has one).
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn raised(code: u32) {
    count(code, at::RAISED);
}

/// Counts an error that a handler took care of, so that no client saw it.
#[cfg_attr(not(feature = "instrument"), inline)]
pub fn handled(code: u32) {
    count(code, at::HANDLED);
}

#[cold]
fn count(code: u32, cell: usize) {
    let Some(local) = local() else { return };
    let class = match local.begin_creation() {
        Some(_creation) => local.engine.error_class(code, None),
        None => return,
    };
    if local.bits(class) & effective::COUNT == 0 {
        return;
    }
    if let Some(line) = local.row(class, 0) {
        let now = clock::now();
        line.add(cell, 1);
        if line.get(at::FIRST_SEEN) == 0 {
            line.set(at::FIRST_SEEN, now);
        }
        line.cells[at::LAST_SEEN].store(now, Ordering::Relaxed);
    }
}
