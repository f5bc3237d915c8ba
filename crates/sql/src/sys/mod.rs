//! Schema sys: views over performance_schema and information_schema that people read.
//!
//! A view is a SELECT in MySQL's dialect in a file of its own. The dialect's rewriter puts it where
//! a statement names the view, as a derived table: SQLite's own views cannot reach across attached
//! databases. The text is read and rewritten once for the process.

pub mod config;
pub mod functions;
pub mod instruments;
pub mod procedures;
pub mod view;

pub use functions::Function;
pub use view::View;

use std::sync::OnceLock;

use crate::catalog::Table;

/// The version of the sys schema that these views follow.
pub const VERSION: &str = "2.0.0";

/// Every view, by name.
pub fn views() -> &'static [View] {
    static VIEWS: OnceLock<Vec<View>> = OnceLock::new();
    VIEWS.get_or_init(|| {
        let mut views: Vec<View> = view::FILES
            .iter()
            .flat_map(|(name, text)| View::of_file(name, text))
            .collect();
        views.sort_by(|a, b| a.name().cmp(b.name()));
        views
    })
}

/// A view by its name, without case.
pub fn view(name: &str) -> Option<&'static View> {
    let lower = name.to_ascii_lowercase();
    let views = views();
    let at = views.binary_search_by(|v| v.name().cmp(&lower)).ok()?;
    views.get(at)
}

/// The views as tables of the catalog.
pub fn tables() -> impl Iterator<Item = &'static dyn Table> {
    views().iter().map(|v| v as &dyn Table)
}
