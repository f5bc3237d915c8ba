//! The reports of a run: terminal, CSV, JSON and HTML.

mod comparisons;
mod csv;
pub mod page;
pub mod picture;
mod sentences;
mod setting;
mod tables;
mod terminal;

use serde::Serialize;

use crate::analysis::Analysis;
use crate::cell;
use crate::store::{Plan, Store, StoreError};

pub use comparisons::{render_comparisons, sentences as comparison_sentences};
pub use sentences::sentences;
pub use terminal::render_terminal;

/// results.json.
#[derive(Serialize)]
struct All<'a> {
    /// The sentences at the top of the page.
    sentences: Vec<String>,
    plan: &'a Plan,
    analysis: &'a Analysis,
    cells: &'a [cell::Result],
}

/// Writes results.csv, comparisons.csv, results.json and report.html.
///
/// # Errors
/// A file cannot be written.
pub fn write(
    store: &Store,
    plan: &Plan,
    results: &[cell::Result],
    analysis: &Analysis,
) -> Result<(), StoreError> {
    store.write("results.csv", csv::results(results).as_bytes())?;
    store.write("comparisons.csv", csv::comparisons(analysis).as_bytes())?;
    let all = All {
        sentences: sentences(plan, analysis),
        plan,
        analysis,
        cells: results,
    };
    let json = serde_json::to_vec_pretty(&all).expect("our own types have texts for keys");
    store.write("results.json", &json)?;
    store.write(
        "report.html",
        page::render_page(plan, results, analysis).as_bytes(),
    )
}
