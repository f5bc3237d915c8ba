//! events_errors_summary_*_by_error.

use tare_layout::line::error;
use tare_reader::Class;
use tare_reader::line::Cells;

use super::host::Host;
use super::summaries::Family;
use super::{By, RowsResult, Snapshot, none};
use crate::filter::{Admit, Filter};
use crate::performance_schema::errors::Error;
use crate::record::event::Owner;

/// The class of an error: its name has the error's number, its documentation the rest.
#[derive(Clone)]
struct ErrorClass {
    class: Class,
    number: Option<u64>,
}

impl ErrorClass {
    fn of(class: &Class) -> Self {
        ErrorClass {
            number: class
                .name
                .strip_prefix("error/")
                .and_then(|code| code.parse().ok()),
            class: class.clone(),
        }
    }

    /// ERROR_NAME and SQL_STATE: `NAME STATE`, where the host registered them.
    fn name_and_state(&self) -> (Option<&str>, Option<&str>) {
        let documentation = self.class.documentation.as_deref();
        let Some(text) = documentation.filter(|_| self.number.is_some()) else {
            return (None, None);
        };
        match text.split_once(' ') {
            Some((name, state)) => (Some(name), Some(state)),
            None => (Some(text), None),
        }
    }

    fn row(&self, host: &Host, owner: &Owner, cells: Option<&Cells>) -> Error {
        let at = |i: usize| cells.map_or(0, |cells| cells[i]);
        let moment = |i: usize| (at(i) != 0).then(|| host.unix_us(at(i)));
        let (name, state) = self.name_and_state();
        Error {
            owner: owner.clone(),
            number: self.number.map(|number| number as i64),
            name: name.map(Into::into),
            state: state.map(Into::into),
            // MySQL takes an error that a handler took care of off those raised.
            raised: at(error::RAISED).saturating_sub(at(error::HANDLED)),
            handled: at(error::HANDLED),
            first_seen_us: moment(error::FIRST_SEEN),
            last_seen_us: moment(error::LAST_SEEN),
        }
    }
}

impl Snapshot {
    /// events_errors_summary_*_by_error: a row for every registered error, and one for all others.
    pub fn errors(&self, by: By, filter: &Filter) -> RowsResult<Error> {
        let Some(host) = &self.host else {
            return none();
        };
        let owners = self.owners(host, by, Family::Error, filter);
        let number = filter.number("ERROR_NUMBER");
        let admitted = |error: &ErrorClass| match (error.number, number) {
            (_, Admit::All) => true,
            (Some(n), _) => number.admits(&n),
            (None, _) => false,
        };
        let classes = self.classes(host).iter();
        let mut all: Vec<ErrorClass> = classes
            .filter(|class| Family::Error.has(class.kind))
            .map(ErrorClass::of)
            .filter(admitted)
            .collect();
        // The row without a number comes first, as in MySQL.
        all.sort_by_key(|error| error.number);
        let mut rows = Vec::with_capacity(owners.listed.len() * all.len());
        for (group, owner) in &owners.listed {
            let group = owners.groups[*group].get();
            for error in &all {
                let cells = group
                    .and_then(|group| group.row(&error.class))
                    .map(|row| &row[0]);
                rows.push(error.row(host, owner, cells));
            }
        }
        Ok(Box::new(rows.into_iter()))
    }
}
