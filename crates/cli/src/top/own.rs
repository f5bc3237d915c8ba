//! What `tare top` causes itself, left out of what it shows: its connection, and the statements that it
//! sends. A digest tells neither who sent it nor from where, so statements are known by their text.

use std::sync::OnceLock;

use super::pages::PAGES;
use super::sheet::{Drill, Sheet};
use super::snapshot::{Figure, Row};

/// A shorter text could be anybody's.
const LEAST: usize = 40;

/// Takes out of a page's rows what these connections have caused.
pub fn leave_out(sheet: &Sheet, rows: &mut Vec<Row>, connections: &[u64]) {
    if let Some(at) = sheet
        .columns
        .iter()
        .position(|column| column.head == "CONN")
    {
        let is_own = |figure: &Figure| {
            let mut own = connections.iter().map(|id| Figure::Number(*id as f64));
            own.any(|id| id == *figure)
        };
        rows.retain(|row| !is_own(&row.figures[at]));
    }
    if matches!(sheet.drill, Drill::Executions) || sheet.merges {
        let at = sheet.columns.len() - 1;
        rows.retain(|row| !matches!(&row.figures[at], Figure::Text(text) if is_own(text)));
        // A recorder of ours has connections, too.
        #[cfg(feature = "history")]
        if connections.len() > 1 {
            rows.retain(
                |row| !matches!(&row.figures[at], Figure::Text(text) if is_recorders(text)),
            );
        }
    }
}

/// Whether a digest's text is of a question that a recorder asks.
#[cfg(feature = "history")]
fn is_recorders(digest: &str) -> bool {
    static QUESTIONS: OnceLock<Vec<String>> = OnceLock::new();
    is_of(
        digest,
        QUESTIONS.get_or_init(|| tare_history::questions().map(plain).collect()),
    )
}

/// Whether a digest's text, or its beginning, is of a question that this program asks.
fn is_own(digest: &str) -> bool {
    static QUESTIONS: OnceLock<Vec<String>> = OnceLock::new();
    let questions = QUESTIONS.get_or_init(|| {
        let mut sheets: Vec<&Sheet> = PAGES.iter().collect();
        sheets.extend(PAGES.iter().filter_map(|page| match page.drill {
            Drill::To(sheet) => Some(sheet),
            _ => None,
        }));
        // Keys are literals, which a digest has not: any will do.
        let keys = [Some("1".to_owned()), Some("1".to_owned())];
        let mut questions: Vec<String> = sheets
            .iter()
            .filter(|sheet| !sheet.from.is_empty())
            .map(|sheet| plain(&sheet.question(&keys, Some(1))))
            .collect();
        questions.extend(super::executions::questions().iter().map(|sql| plain(sql)));
        questions.extend(super::idle::questions().iter().map(|sql| plain(sql)));
        questions.extend(super::source::questions().map(plain));
        questions.extend(super::pulse::questions().map(plain));
        questions.extend(super::blockers::questions().map(plain));
        questions.extend(crate::observe::queries().map(plain));
        questions
    });
    is_of(digest, questions)
}

/// Whether a digest's text, or its beginning, is of one of these questions.
fn is_of(digest: &str, questions: &[String]) -> bool {
    let digest = plain(digest);
    // Where it was cut off: the dots, and the comma of a list that would have been shortened.
    let digest = digest.trim_end_matches(['.', ',']);
    digest.len() >= LEAST
        && questions
            .iter()
            .any(|own| own.starts_with(digest) || digest.starts_with(own.as_str()))
}

/// A statement without what servers write differently: literals, quotes around names, blanks, case.
fn plain(sql: &str) -> String {
    let mut plain = String::with_capacity(sql.len());
    let mut rest = sql.chars().peekable();
    // A digit or an x within a name begins no literal.
    let mut in_name = false;
    while let Some(c) = rest.next() {
        let hexadecimal = matches!(c, 'x' | 'X') && !in_name && rest.peek() == Some(&'\'');
        match c {
            _ if hexadecimal => continue,
            '\'' => {
                while rest.next_if(|c| *c != '\'').is_some() {}
                rest.next();
                plain.push('?');
            }
            '0'..='9' if !in_name => {
                while rest.next_if(|c| c.is_ascii_digit() || *c == '.').is_some() {}
                plain.push('?');
            }
            '<' if rest.next_if(|c| *c == '>').is_some() => plain.push_str("!="),
            '`' => {}
            c if c.is_whitespace() => {}
            c => plain.push(c.to_ascii_uppercase()),
        }
        in_name = c.is_alphanumeric() || c == '_';
    }
    // What digests call otherwise; and lists of literals, which they shorten.
    let mut plain = plain
        .replace("SQL_TSI_", "")
        .replace("SYSTEM_USER", "USER")
        .replace("NULL", "?")
        .replace(",...", "")
        .replace("(...)", "(?)");
    while plain.contains("?,?") {
        plain = plain.replace("?,?", "?");
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_of_a_question_is_known_and_nobody_elses_is() {
        // As MySQL and MariaDB write it.
        let digest = "SELECT `SUM_TIMER_WAIT` , `COUNT_STAR` , `MAX_TIMER_WAIT` , `EVENT_NAME` FROM `performance_schema` . \
             `events_waits_summary_global_by_event_name` WHERE `COUNT_STAR` > ? AND `EVENT_NAME` != ? ";
        assert!(is_own(digest));
        assert!(is_own(&digest[..120]));
        // What is asked from the second interval on; as MySQL and Tare write units and names that are keywords.
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
    fn literals_names_and_blanks_are_made_alike() {
        assert_eq!(
            plain("SELECT a1 FROM t WHERE b <> 'x' AND c = CONVERT(x'74' USING utf8) LIMIT 50"),
            plain(
                "select `a1` FROM `t` WHERE `b` != ? AND `c` = CONVERT ( ? USING `utf8` ) LIMIT ?"
            )
        );
    }

    #[cfg(feature = "history")]
    #[test]
    fn what_a_recorder_asks_is_its_own() {
        let users = "SELECT ? , SYSTEM_USER , SUM ( `COUNT_STAR` ) , SUM ( `SUM_TIMER_WAIT` ) , SUM ( `SUM_LOCK_TIME` ) , SUM ( `SUM_ERRORS` ) , \
             SUM ( `SUM_WARNINGS` ) , SUM ( `SUM_ROWS_AFFECTED` ) , SUM ( `SUM_ROWS_SENT` ) , SUM ( `SUM_ROWS_EXAMINED` ) , ?, ... FROM \
             `performance_schema` . `events_statements_summary_by_user_by_event_name` GROUP BY SYSTEM_USER";
        assert!(is_recorders(users) && !is_own(users));
    }
}
