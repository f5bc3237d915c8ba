//! Ending a statement or a connection, after the user has said yes.

use std::path::{Path, PathBuf};

use super::snapshot::Figure;
use super::view::View;
use crate::observe::{self, ObservedServer, format};
use crate::ps::process;
use crate::sql::{SqlSession, Target};

/// What is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The statement that runs; its connection stays.
    Statement,
    /// The connection, with what it runs.
    Connection,
}

/// What the user is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    what: What,
    /// The connection, as the server numbers it.
    connection: u64,
    /// What its row says of it.
    who: String,
}

impl Kill {
    /// Of the row that is chosen; a sentence where it has no connection.
    pub fn chosen(view: &View, what: What) -> Result<Self, String> {
        let none = || {
            "no connection is chosen: choose a row of page 7, threads, or of a wait's threads or a table's locks".to_owned()
        };
        let columns = view.place().sheet.columns;
        let at = columns.iter().position(|column| column.head == "CONN");
        let rows = view.rows();
        let row = rows.get(view.chosen(&rows)).ok_or_else(none)?;
        let Some(Figure::Number(connection)) = at.map(|at| &row.figures[at]) else {
            return Err(none());
        };
        let texts = row
            .figures
            .iter()
            .zip(columns)
            .filter_map(|(figure, column)| {
                let is_its = [
                    "USER",
                    "HOST",
                    "DB",
                    "STATE, STATEMENT",
                    "STATEMENT",
                    "NAME",
                ];
                let text = figure.shown(column.kind);
                (is_its.contains(&column.head) && !text.is_empty()).then_some(text)
            });
        Ok(Self {
            what,
            connection: *connection as u64,
            who: format::line(&texts.collect::<Vec<_>>().join(" ")),
        })
    }

    /// The statement that does it.
    pub fn statement(&self) -> String {
        let query = match self.what {
            What::Statement => "QUERY ",
            What::Connection => "",
        };
        format!("KILL {query}{}", self.connection)
    }

    /// What the user is asked.
    pub fn question(&self) -> String {
        format!(
            "{}? y: yes, any other key: no  ({})",
            self.statement(),
            self.who
        )
    }

    /// Does it, and says how it went.
    pub fn run(&self, observed: &mut ObservedServer) -> String {
        let statement = self.statement();
        let done = match observed.about.is_segment {
            false => observed
                .rows(&statement)
                .map(drop)
                .map_err(|error| error.to_string()),
            true => observed
                .about
                .pid
                .ok_or_else(|| "its process is not known".to_owned())
                .and_then(listener)
                .and_then(|mut session| {
                    let asked = observe::rows(&mut session, &statement);
                    asked.map(drop).map_err(|error| error.to_string())
                }),
        };
        match done {
            Ok(()) => format!("{statement}: done"),
            Err(why) => format!("{statement}: {why}"),
        }
    }
}

/// Connects to the server that a segment is of, where it listens: nothing can be asked through shared memory.
fn listener(pid: u32) -> Result<SqlSession, String> {
    let (ports, sockets) = process::listeners(pid);
    // That of the X protocol speaks another language.
    let sockets = sockets.iter().filter(|path| !path.contains("mysqlx"));
    let targets = sockets.map(|path| Target::local(Some(reached(pid, path)), None));
    let targets = targets.chain(ports.iter().map(|port| Target::local(None, Some(*port))));
    let mut why = format!("process {pid} listens nowhere: it takes no statements");
    for target in targets {
        match SqlSession::open(&target) {
            Ok(session) => return Ok(session),
            Err(failure) => {
                why = format!(
                    "{}; user and password are taken from ~/.my.cnf, or watch it with --dsn",
                    failure.message
                );
            }
        }
    }
    Err(why)
}

/// A socket of a process that may have another root, or work in another directory.
fn reached(pid: u32, path: &str) -> PathBuf {
    let of = |place: &str| PathBuf::from(format!("/proc/{pid}/{place}"));
    let path = Path::new(path);
    match path.strip_prefix("/") {
        Ok(_) if path.exists() => path.to_owned(),
        Ok(below) => of("root").join(below),
        Err(_) => of("cwd").join(path),
    }
}
