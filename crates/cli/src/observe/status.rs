//! SHOW GLOBAL STATUS of the server in a process, for `tare serve --attach-pid`.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use super::{QueryError, connect_to_listener, rows, text};
use crate::sql::SqlSession;

/// How long the server may take to answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

/// How long an answer is used.
const MAX_AGE: Duration = Duration::from_secs(1);

/// How long a server is left alone that refused, or did not answer.
const PAUSE: Duration = Duration::from_secs(60);

type Variables = Vec<(String, String)>;

/// A connection to the attached server, and its last answer.
#[derive(Default)]
pub struct AttachedStatus(Mutex<Option<Reading>>);

struct Reading {
    pid: u32,
    session: Option<SqlSession>,
    variables: Option<Variables>,
    until: Instant,
}

impl AttachedStatus {
    /// The status variables of the server in a process. `None` if it refuses the user of ~/.my.cnf, or is no
    /// server.
    pub fn read(&self, pid: u32) -> Option<Variables> {
        let mut reading = self.0.lock().ok()?;
        let last = reading.take().filter(|last| last.pid == pid);
        let next = match last {
            Some(last) if Instant::now() < last.until => last,
            last => query(pid, last.and_then(|last| last.session)),
        };
        reading.insert(next).variables.clone()
    }
}

fn query(pid: u32, session: Option<SqlSession>) -> Reading {
    let session = session.map_or_else(|| connect_to_listener(pid, ANSWER_TIMEOUT), Ok);
    let answer = session
        .map_err(QueryError::Refused)
        .and_then(|mut session| {
            let variables = rows(&mut session, "SHOW GLOBAL STATUS")?;
            Ok((session, variables))
        });
    let (session, variables) = match answer {
        Ok((session, rows)) => {
            let variable = |row: &Vec<_>| Some((text(row.first()?)?, text(row.get(1)?)?));
            let variables = rows.iter().filter_map(variable).collect();
            (Some(session), Some(variables))
        }
        Err(_) => (None, None),
    };
    let age = if variables.is_some() { MAX_AGE } else { PAUSE };
    Reading {
        pid,
        session,
        variables,
        until: Instant::now() + age,
    }
}
