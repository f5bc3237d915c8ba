//! KILL of a statement or a connection, after confirmation.

use std::time::Duration;

use super::snapshot::Figure;
use super::view::View;
use crate::observe::{self, ObservedServer, connect_to_listener, format};

/// How long the answer to a KILL may take.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(60);

/// What KILL ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillScope {
    /// The running statement; its connection stays.
    Statement,
    /// The connection and its statement.
    Connection,
}

/// A KILL to be confirmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kill {
    scope: KillScope,
    /// The connection's id.
    connection: u64,
    /// A description from its row.
    description: String,
}

impl Kill {
    /// For the connection of the chosen row. The error is a sentence.
    pub fn of_chosen_row(view: &View, scope: KillScope) -> Result<Self, String> {
        let none = || {
            "no connection is chosen: choose a row of page 7, threads, or T, transactions, or of a wait's threads or a table's locks".to_owned()
        };
        let sheet = view.place().sheet;
        let at = sheet.column("CONN");
        let rows = view.rows();
        let row = rows.get(view.chosen(&rows)).ok_or_else(none)?;
        let Some(Figure::Number(connection)) = at.map(|at| &row.figures[at]) else {
            return Err(none());
        };
        let texts = row
            .figures
            .iter()
            .zip(sheet.columns)
            .filter_map(|(figure, column)| {
                let heads = [
                    "USER",
                    "HOST",
                    "DB",
                    "STATE, STATEMENT",
                    "STATEMENT",
                    "NAME",
                ];
                let text = figure.text(column.kind);
                (heads.contains(&column.head) && !text.is_empty()).then_some(text)
            });
        Ok(Self {
            scope,
            connection: *connection as u64,
            description: format::line(&texts.collect::<Vec<_>>().join(" ")),
        })
    }

    /// The SQL statement.
    pub fn statement(&self) -> String {
        let query = match self.scope {
            KillScope::Statement => "QUERY ",
            KillScope::Connection => "",
        };
        format!("KILL {query}{}", self.connection)
    }

    /// The text that asks for confirmation.
    pub fn question(&self) -> String {
        format!(
            "{}? y: yes, any other key: no  ({})",
            self.statement(),
            self.description
        )
    }

    /// Executes it and returns a message about the outcome.
    pub fn run(&self, observed: &mut ObservedServer) -> String {
        let statement = self.statement();
        let result = match observed.about.is_segment {
            false => observed
                .rows(&statement)
                .map(drop)
                .map_err(|error| error.to_string()),
            true => observed
                .about
                .pid
                .ok_or_else(|| "its process is not known".to_owned())
                .and_then(|pid| connect_to_listener(pid, ANSWER_TIMEOUT))
                .and_then(|mut session| {
                    let rows = observe::rows(&mut session, &statement);
                    rows.map(drop).map_err(|error| error.to_string())
                }),
        };
        match result {
            Ok(()) => format!("{statement}: done"),
            Err(why) => format!("{statement}: {why}"),
        }
    }
}
