//! Schema sys: views of performance_schema and information_schema for people.
//!
//! A view is a SELECT in MySQL's dialect in a file of its own. The dialect's rewriter inserts it as a derived
//! table where a statement names the view: SQLite's own views cannot read other attached databases. The text
//! is rewritten once per process.

mod arguments;
pub mod config;
mod format;
pub mod functions;
mod names;
mod native;
pub mod option;
pub mod procedures;
pub mod segment;
pub mod view;

pub use functions::Function;
pub use view::View;

use std::sync::{Arc, OnceLock};

use tare_functions::EvaluationContext;
use tare_mysql::series::Series;
use tare_query::programs::Programs;
use tare_rows::describe::Table;
use tare_rows::extension::{Extension, Parameter, Routine, RoutineKind};

use tare_dialect::schema::{Direction, Procedure};

/// The version of the sys schema that a series has.
pub const fn version(series: Series) -> &'static str {
    match series {
        Series::V8_0 | Series::Mariadb => "2.0.0",
        Series::V9_7 => "2.1.3",
    }
}

/// Every view of a series, by name.
pub fn views(series: Series) -> &'static [View] {
    static VIEWS: [OnceLock<Vec<View>>; Series::ALL.len()] =
        [const { OnceLock::new() }; Series::ALL.len()];
    VIEWS[series as usize].get_or_init(|| {
        let mut views: Vec<View> = view::FILES
            .iter()
            .flat_map(|(name, text)| View::of_file(series, name, text))
            .collect();
        views.sort_by(|a, b| a.name().cmp(b.name()));
        views
    })
}

/// A view by its name, without case.
pub fn view(series: Series, name: &str) -> Option<&'static View> {
    let lower = name.to_ascii_lowercase();
    let views = views(series);
    let at = views.binary_search_by(|v| v.name().cmp(&lower)).ok()?;
    views.get(at)
}

/// Schema sys of a series, as the tables list it.
#[derive(Debug, Clone, Copy)]
pub struct Sys(Series);

impl Sys {
    /// The schema sys of a series.
    pub const fn of(series: Series) -> &'static Self {
        match series {
            Series::V8_0 => &Self(Series::V8_0),
            Series::V9_7 => &Self(Series::V9_7),
            Series::Mariadb => &Self(Series::Mariadb),
        }
    }
}

impl Extension for Sys {
    fn series(&self) -> Series {
        self.0
    }

    fn tables(&self) -> Vec<&'static dyn Table> {
        views(self.0).iter().map(|v| v as &dyn Table).collect()
    }

    fn routines(&self) -> Vec<Routine> {
        let functions = functions::public().map(|f| Routine {
            name: f.name,
            kind: RoutineKind::Function,
            returns: Some(f.returns),
            doc: f.doc,
            text: match f.body {
                functions::Body::Select(text) => Some(text),
                functions::Body::Native(..) => None,
            },
            parameters: f
                .parameters
                .iter()
                .map(|p| parameter(false, p.0, p.1))
                .collect(),
        });
        let procedures = procedures::PROCEDURES.iter().map(|p| Routine {
            name: p.name,
            kind: RoutineKind::Procedure,
            returns: None,
            doc: p.doc,
            text: None,
            parameters: p
                .parameters
                .iter()
                .map(|(direction, name, kind)| parameter(*direction == Direction::Out, name, kind))
                .collect(),
        });
        functions.chain(procedures).collect()
    }
}

fn parameter(out: bool, name: &'static str, column_type: &'static str) -> Parameter {
    Parameter {
        out,
        name,
        column_type,
    }
}

impl Programs for Sys {
    fn view(&self, name: &str) -> Option<&'static dyn tare_dialect::schema::View> {
        view(self.0, name).map(|v| v as &dyn tare_dialect::schema::View)
    }

    fn routine(&self, name: &str) -> Option<&'static dyn tare_dialect::schema::Routine> {
        functions::find(name).map(|f| f as &dyn tare_dialect::schema::Routine)
    }

    fn procedure(&self, name: &str) -> Option<&'static Procedure> {
        procedures::find(name)
    }

    fn register(
        &self,
        db: &rusqlite::Connection,
        session: &Arc<dyn EvaluationContext>,
    ) -> rusqlite::Result<()> {
        functions::register(db, session)
    }
}
