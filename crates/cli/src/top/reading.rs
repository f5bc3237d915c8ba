//! One interval of a page, or of the load, for `tare mcp`.

use std::time::Duration;

use serde_json::Value as Json;

use super::batch::Batch;
use super::pages::PAGES;
use super::replay::ReplayOptions;
use super::schema;
use super::sheet::{Measure, Sheet};
pub use super::source::Source;
use super::source::{Others, Sampler};
use super::view::Order;
use crate::exit::{FAILED, Failure};
use crate::observe::{ObservedServer, QueryError};
use crate::sql::Target;

/// Connects or attaches to what is read now.
pub fn open_live(target: &Target) -> Result<Source, Failure> {
    let observed = ObservedServer::open(target.clone())?;
    let sampler = Sampler::new(observed, Others::default());
    Ok(Source::Live(Box::new(sampler)))
}

/// Opens a history at the time of the options.
pub fn open_history(options: &ReplayOptions, host: Option<&str>) -> Result<Source, Failure> {
    let replay = options.open(host, Duration::ZERO)?;
    Ok(Source::Past(Box::new(replay)))
}

/// Which rows of a page are read.
pub struct Query {
    /// The page's name.
    pub page: &'static str,
    /// The length of the interval.
    pub length: Duration,
    /// Whether the rows with the largest counts come first, not those with the most time.
    pub is_by_count: bool,
    /// Only rows that contain this text.
    pub filter: String,
    /// The most rows.
    pub rows: usize,
    /// Only sessions that block another one or are blocked.
    pub has_only_blocked: bool,
}

/// A reading as JSON and as text.
pub type Reading = (Json, String);

fn page(name: &str) -> &'static Sheet {
    PAGES
        .iter()
        .find(|page| page.name == name)
        .unwrap_or(&PAGES[0])
}

/// The schema of a page's readings.
pub fn page_schema(name: &str) -> Json {
    schema::interval(&[page(name)])
}

/// Reads an interval of a page.
pub fn read_page(source: &mut Source, query: &Query) -> Result<Reading, Failure> {
    let page = page(query.page);
    let column = match query.is_by_count {
        true => page.by_count(),
        false => page.by_time(),
    };
    let batch = Batch {
        page,
        count: Some(1),
        every: query.length,
        order: Order {
            column,
            descending: true,
        },
        filter: query.filter.clone(),
        rows: query.rows,
        is_json: true,
    };
    let mut interval = batch.read_one(source).map_err(failure)?;
    if query.has_only_blocked {
        let columns = [Measure::BlockedBy, Measure::Blocks].map(|of| page.find(|kind| kind == of));
        let is_waiting = |figures: &[super::snapshot::Figure]| {
            columns.iter().flatten().any(|at| figures[*at].is_waiting())
        };
        interval.answer.rows.retain(|row| is_waiting(&row.figures));
        if interval.answer.rows.is_empty() {
            let note = "no session waited for another".to_owned();
            interval.answer.notes.push(note);
        }
    }
    Ok((batch.json(&interval), batch.text(&interval)))
}

/// Reads the load of an interval.
pub fn read_load(source: &mut Source, length: Duration) -> Result<Reading, Failure> {
    let load = source.average_load(length).map_err(failure)?;
    let server = source.headline();
    Ok((load.json(&server), load.text(&server)))
}

fn failure(error: QueryError) -> Failure {
    match error {
        QueryError::Lost(why) => Failure::new(FAILED, format!("the server does not answer: {why}")),
        QueryError::Refused(why) => Failure::new(FAILED, why),
    }
}
