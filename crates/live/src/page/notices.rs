//! What is switched off in the server although the page needs it.

use tare_history::{Query, QueryError, consumers_off_sql, consumers_on_sql};

/// Something that the page lacks, and the statement that switches it on.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// A sentence.
    pub sentence: String,
    /// The statement.
    pub statement: String,
}

/// The instrument without which nobody knows who waits for a metadata lock. It is off by default in MariaDB and
/// MySQL 5.7.
const METADATA_LOCKS: &str = "wait/lock/metadata/sql/mdl";

/// Reads what is switched off. Whether Tare's engine instruments the server.
///
/// # Errors
/// [`QueryError::Lost`]. An account that may not read the tables gets no notices.
pub fn read(server: &mut dyn Query, is_tare: bool) -> Result<Vec<Notice>, QueryError> {
    let mut names = |sql: &str| match server.query(sql) {
        Ok(rows) => Ok(rows
            .into_iter()
            .filter_map(|row| row.into_iter().next()?)
            .collect()),
        Err(QueryError::Refused(_)) => Ok(Vec::<String>::new()),
        Err(lost) => Err(lost),
    };
    let active = "SELECT event_type FROM tare.setup_sampling WHERE sampling = 'active'";
    let is_active = is_tare && !names(active)?.is_empty();
    let mut notices = Vec::new();
    let consumers = names(&consumers_off_sql(is_active))?;
    if !consumers.is_empty() {
        let lack = match consumers
            .iter()
            .any(|name| name.contains("statements") || name.contains("instrumentation"))
        {
            true => "Statements, users and most waits are missing",
            false => "Waits or stages are missing",
        };
        notices.push(Notice {
            sentence: format!(
                "{lack}: consumers of the Performance Schema are off. To switch them on:"
            ),
            statement: consumers_on_sql(&consumers),
        });
    }
    let instrument = format!(
        "SELECT NAME FROM performance_schema.setup_instruments WHERE NAME = '{METADATA_LOCKS}' AND ENABLED = 'NO'"
    );
    if !is_active && !names(&instrument)?.is_empty() {
        notices.push(Notice {
            sentence: "Metadata locks are missing: their instrument is off. To switch it on:".to_owned(),
            statement: format!(
                "UPDATE performance_schema.setup_instruments SET ENABLED = 'YES', TIMED = 'YES' WHERE NAME = '{METADATA_LOCKS}'"
            ),
        });
    }
    Ok(notices)
}

#[cfg(test)]
mod tests {
    use tare_history::Answer;

    use super::*;

    /// A server at a level, whose metadata locks are off, and these consumers.
    struct Server {
        is_active: bool,
        off: Vec<&'static str>,
    }

    impl Query for Server {
        fn query(&mut self, sql: &str) -> Result<Answer, QueryError> {
            let of = |names: &[&str]| {
                names
                    .iter()
                    .map(|name| vec![Some((*name).to_owned())])
                    .collect()
            };
            if sql.contains("setup_sampling") {
                return Ok(of(if self.is_active { &["wait"] } else { &[] }));
            }
            if sql.contains("setup_consumers") {
                let mut off = self.off.clone();
                off.retain(|name| sql.contains(name));
                return Ok(of(&off));
            }
            Ok(of(&[METADATA_LOCKS]))
        }
    }

    #[test]
    fn a_notice_has_the_statement_that_ends_it() {
        let off = vec!["events_waits_current", "events_stages_current"];
        let mut server = Server {
            is_active: false,
            off,
        };
        let notices = read(&mut server, false).expect("answers");
        assert_eq!(notices.len(), 2);
        assert!(
            notices[0].sentence.starts_with("Waits or stages"),
            "{notices:?}"
        );
        assert!(
            notices[0].statement.contains("'events_waits_current'"),
            "{notices:?}"
        );
        assert!(notices[1].statement.contains(METADATA_LOCKS), "{notices:?}");
        server.off.push("events_statements_current");
        let notices = read(&mut server, true).expect("answers");
        assert!(notices[0].sentence.starts_with("Statements"), "{notices:?}");
        server.is_active = true;
        assert_eq!(read(&mut server, true), Ok(Vec::new()));
    }
}
