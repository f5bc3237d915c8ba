//! The user variable `@traceparent` of a server's sessions.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use tare_mysql::traceparent::TraceContext;

use crate::query::{Query, QueryError};

/// The variable of each session that has it. MySQL 5.7, MariaDB 10.5 and later.
pub const QUESTION: &str = "SELECT THREAD_ID, CONVERT(VARIABLE_VALUE USING utf8mb4) \
    FROM performance_schema.user_variables_by_thread WHERE LOWER(VARIABLE_NAME) = 'traceparent'";

/// The interval of queries while no session has the variable: the server reads the variables of all sessions.
const IDLE_INTERVAL: Duration = Duration::from_secs(5);

/// Reads the variable, while there are sessions that have it.
#[derive(Default)]
pub struct Traceparents {
    /// When it was last read.
    read: Option<Instant>,
    of_threads: HashMap<u64, TraceContext>,
    /// The server has no such table, or the account may not read it.
    is_refused: bool,
}

impl Traceparents {
    /// Reads the variable of all sessions, if that is due. Call it before the statements are read.
    pub fn read(&mut self, server: &mut impl Query) -> Result<(), QueryError> {
        let is_idle = self.of_threads.is_empty();
        let is_recent = self.read.is_some_and(|at| at.elapsed() < IDLE_INTERVAL);
        if self.is_refused || is_idle && is_recent {
            return Ok(());
        }
        self.of_threads.clear();
        self.read = Some(Instant::now());
        let rows = match server.query(QUESTION) {
            Err(QueryError::Refused(_)) => {
                self.is_refused = true;
                return Ok(());
            }
            answer => answer?,
        };
        let of_row = |row: &Vec<Option<String>>| {
            let thread = row.first()?.as_ref()?.parse().ok()?;
            Some((thread, TraceContext::parse(row.get(1)?.as_ref()?)?))
        };
        self.of_threads = rows.iter().filter_map(of_row).collect();
        Ok(())
    }

    /// The trace of a thread's statement that has run for so long. The variable is that of the statement if the
    /// statement ran already when the variable was read.
    pub fn of(&self, thread: u64, statement_ns: Option<u64>) -> Option<TraceContext> {
        let context = self.of_threads.get(&thread)?;
        let since = self.read?.elapsed();
        let has_run = Duration::from_nanos(statement_ns?);
        (has_run >= since).then_some(*context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::Answer;

    const VALID: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

    /// Answers in turn, and counts queries.
    struct Server(Vec<Result<Answer, QueryError>>, usize);

    impl Query for Server {
        fn query(&mut self, _: &str) -> Result<Answer, QueryError> {
            self.1 += 1;
            self.0.remove(0)
        }
    }

    fn row(thread: &str, value: Option<&str>) -> Vec<Option<String>> {
        vec![Some(thread.to_owned()), value.map(str::to_owned)]
    }

    #[test]
    fn the_variable_is_that_of_statements_that_ran_before_it_was_read() {
        let rows = vec![row("7", Some(VALID)), row("8", Some("x")), row("9", None)];
        let mut server = Server(vec![Ok(rows), Ok(Vec::new())], 0);
        let mut all = Traceparents::default();
        all.read(&mut server).expect("answered");
        let hour = Some(3_600_000_000_000);
        assert_eq!(all.of(7, hour), TraceContext::parse(VALID));
        assert_eq!(all.of(7, Some(0)), None, "it may have begun since");
        assert_eq!(all.of(7, None), None);
        assert_eq!(
            (all.of(8, hour), all.of(9, hour), all.of(1, hour)),
            (None, None, None)
        );
        // It is read again as long as a session has it, and then seldom.
        all.read(&mut server).expect("answered");
        assert_eq!(all.of(7, hour), None);
        all.read(&mut server).expect("not queried");
        assert_eq!(server.1, 2);
    }

    #[test]
    fn a_server_without_the_table_is_queried_once() {
        let refused = QueryError::Refused("no such table".to_owned());
        let mut server = Server(vec![Err(refused)], 0);
        let mut all = Traceparents::default();
        for _ in 0..2 {
            all.read(&mut server).expect("not lost");
        }
        assert_eq!(server.1, 1);
    }
}
