//! Removes `tare top`'s own connection and statements from pages. A digest has no connection, so its
//! own statements are recognised by their text.

use std::sync::OnceLock;

use tare_client::{SessionKind, opening_statements};

use super::pages::PAGES;
use super::sheet::{Drill, Sheet};
use super::snapshot::{Figure, Row};

/// Shorter texts are not recognised, because others might send them.
const MIN_TEXT_LENGTH: usize = 40;

/// Removes the rows of these connections from a page.
pub fn remove(sheet: &Sheet, rows: &mut Vec<Row>, connections: &[u64]) {
    if let Some(at) = sheet.column("CONN") {
        let is_own = |figure: &Figure| {
            let mut own = connections.iter().map(|id| Figure::Number(*id as f64));
            own.any(|id| id == *figure)
        };
        rows.retain(|row| !is_own(&row.figures[at]));
    }
    if matches!(sheet.drill, Drill::Executions) || sheet.merges {
        let at = sheet.columns.len() - 1;
        rows.retain(|row| !matches!(&row.figures[at], Figure::Text(text) if is_own(text)));
        // More connections are those of a recorder.
        if connections.len() > 1 {
            rows.retain(
                |row| !matches!(&row.figures[at], Figure::Text(text) if is_recorder_query(text)),
            );
        }
    }
}

/// Whether a digest's text is a recorder's query.
fn is_recorder_query(digest: &str) -> bool {
    static QUERIES: OnceLock<Vec<String>> = OnceLock::new();
    matches_any(
        digest,
        QUERIES.get_or_init(|| {
            let status = crate::observe::server_status::queries();
            tare_history::questions()
                .chain(status)
                .map(normalise)
                .collect()
        }),
    )
}

/// Whether a digest's text, or its beginning, is a query of this program.
fn is_own(digest: &str) -> bool {
    static QUERIES: OnceLock<Vec<String>> = OnceLock::new();
    let queries = QUERIES.get_or_init(|| {
        let mut sheets: Vec<&Sheet> = PAGES.iter().collect();
        sheets.extend(PAGES.iter().filter_map(|page| page.with_states));
        sheets.extend(PAGES.iter().filter_map(|page| match page.drill {
            Drill::To(sheet) => Some(sheet),
            _ => None,
        }));
        // Any keys, because a digest contains no literals.
        let keys = [Some("1".to_owned()), Some("1".to_owned())];
        let mut queries: Vec<String> = sheets
            .iter()
            .filter(|sheet| !sheet.from.is_empty())
            .map(|sheet| normalise(&sheet.query(&keys, Some(1))))
            .collect();
        queries.push(normalise(&super::prepared::with_prepared(
            PAGES[0].query(&keys, Some(1)),
        )));
        queries.extend(
            super::executions::queries()
                .iter()
                .map(|sql| normalise(sql)),
        );
        queries.extend(super::idle::queries().iter().map(|sql| normalise(sql)));
        queries.extend(super::source::queries().map(normalise));
        queries.extend(super::load::queries().map(normalise));
        queries.extend(super::blockers::queries().map(normalise));
        queries.extend(super::transactions::queries().map(normalise));
        queries.extend(super::states::queries().map(normalise));
        queries.extend(super::last_statements::queries().map(|sql| normalise(&sql)));
        queries.extend(crate::observe::queries().map(normalise));
        queries.extend(crate::observe::innodb::queries().map(normalise));
        queries.extend(crate::plans::queries().map(|sql| normalise(&sql)));
        // The digest ends with variables of the server's product.
        let opening = opening_statements(SessionKind::Tool).into_iter();
        queries.extend(opening.map(|sql| normalise(sql.split("/*").next().unwrap_or_default())));
        queries
    });
    matches_any(digest, queries)
}

/// Whether a digest's text, or its beginning, is one of these queries.
fn matches_any(digest: &str, queries: &[String]) -> bool {
    let digest = normalise(digest);
    // A truncated digest ends with dots, or with the comma of a list.
    let digest = digest.trim_end_matches(['.', ',']);
    digest.len() >= MIN_TEXT_LENGTH
        && queries
            .iter()
            .any(|own| own.starts_with(digest) || digest.starts_with(own.as_str()))
}

/// Normalises a statement: removes literals, quotes around names, blanks and case, which differ between
/// servers.
fn normalise(sql: &str) -> String {
    let mut normalise = String::with_capacity(sql.len());
    let mut rest = sql.chars().peekable();
    // A digit or an x within a name does not begin a literal.
    let mut in_name = false;
    while let Some(c) = rest.next() {
        let hexadecimal = matches!(c, 'x' | 'X') && !in_name && rest.peek() == Some(&'\'');
        match c {
            _ if hexadecimal => continue,
            '\'' => {
                while rest.next_if(|c| *c != '\'').is_some() {}
                rest.next();
                normalise.push('?');
            }
            '0'..='9' if !in_name => {
                while rest.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
                normalise.push('?');
            }
            '<' if rest.next_if(|c| *c == '>').is_some() => normalise.push_str("!="),
            '`' => {}
            c if c.is_whitespace() => {}
            c => normalise.push(c.to_ascii_uppercase()),
        }
        in_name = c.is_alphanumeric() || c == '_';
    }
    // Synonyms in digests, and shortened lists of literals.
    let mut normalise = normalise
        .replace("SQL_TSI_", "")
        .replace("SYSTEM_USER", "USER")
        .replace("DISTINCTROW", "DISTINCT")
        .replace("NULL", "?")
        .replace(",...", "")
        .replace("(...)", "(?)");
    while normalise.contains("?,?") {
        normalise = normalise.replace("?,?", "?");
    }
    normalise
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_own_queries_are_recognised() {
        // As MySQL and MariaDB write it.
        let digest = "SELECT `SUM_TIMER_WAIT` , `COUNT_STAR` , `MAX_TIMER_WAIT` , `EVENT_NAME` FROM `performance_schema` . \
             `events_waits_summary_global_by_event_name` WHERE `COUNT_STAR` > ? AND `EVENT_NAME` != ? ";
        assert!(is_own(digest));
        assert!(is_own(&digest[..120]));
        // The query from the second interval on, as MySQL and Tare write units and names that are keywords.
        let recent = "SELECT `SUM_TIMER_WAIT` , `COUNT_STAR` , `SUM_ROWS_SENT` , `SUM_ROWS_EXAMINED` , `SUM_ERRORS` , SCHEMA_NAME , `DIGEST` , \
             LEFT ( `DIGEST_TEXT` , ? ) FROM `performance_schema` . `events_statements_summary_by_digest` WHERE `COUNT_STAR` > ? AND \
             `LAST_SEEN` >= NOW ( ) - INTERVAL ? SQL_TSI_SECOND";
        assert!(is_own(recent));
        assert!(!is_own("SELECT `c` FROM `sbtest1` WHERE `id` = ?"));
        assert!(!is_own("SELECT"));
        let other = digest.replace("MAX_TIMER_WAIT", "MIN_TIMER_WAIT");
        assert!(!is_own(&other));
    }

    #[test]
    fn literals_quotes_and_blanks_are_normalised() {
        assert_eq!(
            normalise("SELECT a1 FROM t WHERE b <> 'x' AND c = CONVERT(x'74' USING utf8) LIMIT 50"),
            normalise(
                "select `a1` FROM `t` WHERE `b` != ? AND `c` = CONVERT ( ? USING `utf8` ) LIMIT ?"
            )
        );
    }

    #[test]
    fn a_recorders_queries_are_recognised() {
        let users = "SELECT ? , SYSTEM_USER , SUM ( `COUNT_STAR` ) , SUM ( `SUM_TIMER_WAIT` ) , SUM ( `SUM_LOCK_TIME` ) , SUM ( `SUM_ERRORS` ) , \
             SUM ( `SUM_WARNINGS` ) , SUM ( `SUM_ROWS_AFFECTED` ) , SUM ( `SUM_ROWS_SENT` ) , SUM ( `SUM_ROWS_EXAMINED` ) , ?, ... FROM \
             `performance_schema` . `events_statements_summary_by_user_by_event_name` GROUP BY SYSTEM_USER";
        assert!(is_recorder_query(users) && !is_own(users));
    }
}
