//! Errors, by code.

use std::sync::Mutex;
use std::sync::atomic::Ordering;

use tare_layout::control::effective;
use tare_layout::line::error as at;

use crate::engine::clock;
use crate::engine::hot::{self, local};
use crate::engine::state::{Engine, lock};

/// What the host calls its errors: code, name, SQLSTATE.
static NAMES: Mutex<Vec<(u32, String, String)>> = Mutex::new(Vec::new());

/// Names an error, so that the tables of errors list it whether or not it was ever raised. Takes hold
/// now if Tare records, and whenever it is started again.
///
/// ```
/// tare::error::define(1146, "ER_NO_SUCH_TABLE", "42S02");
/// ```
pub fn define(code: u32, name: &str, sqlstate: &str) {
    let mut names = lock(&NAMES);
    let entry = (code, name.to_owned(), sqlstate.to_owned());
    match names.iter_mut().find(|(known, ..)| *known == code) {
        Some(known) => *known = entry,
        None => names.push(entry),
    }
    drop(names);
    hot::with(|engine| {
        engine.error_class(code, Some((name, sqlstate)));
    });
}

/// Names all that were defined before this engine began.
pub(crate) fn define_all(engine: &Engine) {
    for (code, name, sqlstate) in lock(&NAMES).iter() {
        engine.error_class(*code, Some((name, sqlstate)));
    }
}

/// Counts an error that was raised, by its code (MySQL's numbers where it has one).
pub fn raised(code: u32) {
    count(code, at::RAISED);
}

/// Counts an error that a handler took care of, so that no client saw it.
pub fn handled(code: u32) {
    count(code, at::HANDLED);
}

#[cold]
fn count(code: u32, cell: usize) {
    let Some(local) = local() else { return };
    let class = match local.making() {
        Some(_making) => local.engine.error_class(code, None),
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
