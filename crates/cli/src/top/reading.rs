//! One interval of a page, or of the load, for `tare mcp`.

use std::time::Duration;

use serde_json::Value as Json;

use super::average::AverageLoad;
use super::batch::Batch;
use super::pages::PAGES;
use super::replay::Replay;
use super::schema;
use super::sheet::{Measure, Sheet};
use super::source::{Others, Sampler, Source};
use super::view::Order;
use crate::exit::{FAILED, Failure};
use crate::observe::{ObservedServer, QueryError};
use crate::sql::Target;

/// A server or segment, or a history at a time.
pub enum Observed<'a> {
    /// Now.
    Live(&'a Target),
    /// Then.
    Past(Box<Replay>),
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
pub fn read_page(observed: Observed<'_>, query: &Query) -> Result<Reading, Failure> {
    let page = page(query.page);
    let source = match observed {
        Observed::Live(target) => {
            let observed = ObservedServer::open(target.clone())?;
            Source::Live(Box::new(Sampler::new(observed, Others::default())))
        }
        Observed::Past(replay) => Source::Past(replay),
    };
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
pub fn read_load(observed: Observed<'_>, length: Duration) -> Result<Reading, Failure> {
    let (load, server) = match observed {
        Observed::Live(target) => {
            let mut observed = ObservedServer::open(target.clone())?;
            if let Some(reason) = observed.about.explain_empty_page() {
                return Err(Failure::new(FAILED, reason));
            }
            if !observed.about.was_live {
                let message = "the program has ended and has no load; top_statements and waits have its totals";
                return Err(Failure::new(FAILED, message));
            }
            let load = AverageLoad::measure(&mut observed, length).map_err(failure)?;
            (
                load,
                format!("{} ({})", observed.about.name, observed.about.server()),
            )
        }
        Observed::Past(mut replay) => {
            replay.set_length(length);
            (replay.average_load().map_err(failure)?, replay.headline())
        }
    };
    Ok((load.json(&server), load.text(&server)))
}

fn failure(error: QueryError) -> Failure {
    match error {
        QueryError::Lost(why) => Failure::new(FAILED, format!("the server does not answer: {why}")),
        QueryError::Refused(why) => Failure::new(FAILED, why),
    }
}
