//! Prepared statements on the page of statements. MariaDB has no digests of their executions, which it counts only
//! while a statement is open: those are rows of their own, with the statement's text.

use super::pages::PAGES;
use super::sheet::Sheet;
use super::snapshot::{Figure, Row, merge_rows};
use crate::observe::{About, Product};

const DIGESTS: &str = "FROM performance_schema.events_statements_summary_by_digest WHERE";

/// Statements of SQL's PREPARE are counted by the digests of their EXECUTE.
const WITH_PREPARED: &str = "FROM (SELECT SUM_TIMER_WAIT, COUNT_STAR, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_ERRORS, SCHEMA_NAME, DIGEST, DIGEST_TEXT, LAST_SEEN \
     FROM performance_schema.events_statements_summary_by_digest UNION ALL \
     SELECT SUM_TIMER_EXECUTE, COUNT_EXECUTE, SUM_ROWS_SENT, SUM_ROWS_EXAMINED, SUM_ERRORS, NULL, CONCAT('prepared ', OBJECT_INSTANCE_BEGIN), SQL_TEXT, NOW() \
     FROM performance_schema.prepared_statements_instances WHERE STATEMENT_NAME IS NULL) AS s WHERE";

/// The beginning of the identity of a prepared statement, in place of a digest.
const PREPARED: &str = "prepared ";

/// The page's query on this server.
pub fn query(about: &About, sheet: &Sheet, query: String) -> String {
    match has_prepared(about, sheet) {
        true => with_prepared(query),
        false => query,
    }
}

/// The query of the page's rows and of prepared statements.
pub fn with_prepared(query: String) -> String {
    query.replace(DIGESTS, WITH_PREPARED)
}

/// Whether the page's rows include prepared statements that have no digest.
pub fn has_prepared(about: &About, sheet: &Sheet) -> bool {
    let is_able = about.product == Product::MariaDb && about.series >= (10, 5);
    is_able && sheet.name == PAGES[0].name && !sheet.from.is_empty()
}

/// Where the executions of prepared statements are.
pub fn place_note(is_on_page: bool) -> &'static str {
    match is_on_page {
        true => {
            "this server has no digests of prepared statements: they are here while they are open"
        }
        false => {
            "executions of prepared statements are not here: this server has no digest of them; they are on page 9, prepared"
        }
    }
}

/// Whether a key is that of a prepared statement.
pub fn is_prepared(key: &[Option<String>]) -> bool {
    matches!(key, [_, Some(digest)] if digest.starts_with(PREPARED))
}

/// Adds up the rows of a statement that several connections have prepared.
pub fn merge(sheet: &Sheet, rows: Vec<Row>) -> Vec<Row> {
    let (prepared, mut others): (Vec<_>, Vec<_>) =
        rows.into_iter().partition(|row| is_prepared(&row.key));
    if prepared.is_empty() {
        return others;
    }
    let is_digest =
        |figure: &Figure| matches!(figure, Figure::Text(text) if text.starts_with(PREPARED));
    let anonymous = prepared.into_iter().map(|mut row| {
        for figure in row.figures.iter_mut().filter(|figure| is_digest(figure)) {
            *figure = Figure::Empty;
        }
        row
    });
    let merged = merge_rows(sheet, anonymous.collect()).into_iter();
    others.extend(merged.map(|row| {
        let text = row
            .key
            .into_iter()
            .flatten()
            .next_back()
            .unwrap_or_default();
        Row {
            key: vec![None, Some(format!("{PREPARED}{text}"))],
            ..row
        }
    }));
    others
}
