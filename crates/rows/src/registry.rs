//! Which tables there are.

use std::sync::{Arc, OnceLock};

use tare_mysql::series::Series;

use crate::describe::Table;
use crate::extension::Extension;
use crate::series::SeriesTable;
use crate::snapshot::Snapshot;
use crate::source::Source;
use crate::view::View;
use crate::{empty, information_schema, mysql, performance_schema, sys_config, tare};

/// Every table that some series has, with the columns of all.
pub fn described() -> &'static [&'static dyn Table] {
    static ALL: OnceLock<Vec<&'static dyn Table>> = OnceLock::new();
    ALL.get_or_init(|| {
        let files = [
            performance_schema::TABLES,
            information_schema::TABLES,
            mysql::TABLES,
            &[sys_config::TABLES],
            tare::TABLES,
        ];
        let mut all: Vec<_> = files
            .into_iter()
            .flatten()
            .flat_map(|t| t.iter().copied())
            .chain(empty::tables())
            .collect();
        all.sort_by_key(|t| (t.schema(), t.name()));
        all
    })
}

/// Every table that a series has, by schema and name.
pub fn all(series: Series) -> &'static [&'static dyn Table] {
    static ALL: [OnceLock<Vec<&'static dyn Table>>; Series::ALL.len()] =
        [const { OnceLock::new() }; Series::ALL.len()];
    ALL[series as usize].get_or_init(|| {
        let of = |table: &&'static dyn Table| -> Option<&'static dyn Table> {
            let table = SeriesTable::new(*table, series)?;
            Some(Box::leak(Box::new(table)))
        };
        described().iter().filter_map(of).collect()
    })
}

/// A table by names without case.
pub fn find(series: Series, schema: &str, name: &str) -> Option<&'static dyn Table> {
    let same = |a: &str, b: &str| a.eq_ignore_ascii_case(b);
    all(series)
        .iter()
        .copied()
        .find(|t| same(t.schema(), schema) && same(t.name(), name))
}

/// The same, where an extension may have other tables in place of ours.
pub fn find_with(
    extension: Option<&dyn Extension>,
    series: Series,
    schema: &str,
    name: &str,
) -> Option<&'static dyn Table> {
    match extension.and_then(|extension| extension.instead(schema)) {
        Some(tables) => {
            let mut tables = tables.iter().copied();
            tables.find(|t| t.name().eq_ignore_ascii_case(name))
        }
        None => find(series, schema, name),
    }
}

/// A view of this instant.
pub fn view(source: Arc<dyn Source>) -> View {
    View {
        snapshot: Arc::new(Snapshot::new(source.segment())),
        tables: all(source.series()),
        source,
    }
}

/// The tables of one schema, sorted; without what a source's extension adds.
pub fn tables_in(series: Series, schema: &str) -> impl Iterator<Item = &'static dyn Table> {
    let of = move |t: &&'static dyn Table| t.schema().eq_ignore_ascii_case(schema);
    all(series).iter().copied().filter(of)
}
