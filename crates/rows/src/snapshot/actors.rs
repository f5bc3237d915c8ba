//! setup_actors and setup_threads, read and written.

use std::sync::atomic::Ordering;

use tare_layout::Kind;
use tare_layout::class::property;
use tare_layout::control::setup;
use tare_mysql::error::SqlError;
use tare_reader::{Actor, ActorError};

use super::setup::properties;
use super::truncate::write_result;
use super::{RowsResult, Snapshot, WriteResult, none};
use crate::describe::Change;
use crate::filter::Filter;
use crate::performance_schema::actors::{Rule, ThreadClass};

/// ENABLED and HISTORY of an assignment.
fn switches(changes: &[Change]) -> Result<(Option<bool>, Option<bool>), SqlError> {
    let (mut enabled, mut history) = (None, None);
    for change in changes {
        match change.column {
            "ENABLED" => enabled = Some(change.yes_no()?),
            _ => history = Some(change.yes_no()?),
        }
    }
    Ok((enabled, history))
}

fn refused(error: ActorError) -> SqlError {
    match error {
        ActorError::Duplicate(_) => SqlError::duplicate_key("setup_actors"),
        ActorError::Full(_) => SqlError::new(1114, "The table 'setup_actors' is full"),
        ActorError::Write(error) => SqlError::internal(error),
    }
}

impl Snapshot {
    /// setup_actors.
    pub fn actors(&self) -> RowsResult<Rule> {
        let Some(host) = &self.host else {
            return none();
        };
        let rules = tare_reader::actors(host.view()).into_iter();
        Ok(Box::new(rules.map(|(place, actor)| Rule { place, actor })))
    }

    /// INSERT INTO setup_actors. Omitted columns have MySQL's defaults.
    pub fn add_actor(&self, row: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        let given = |column: &str| row.iter().find(|c| c.column == column);
        let name = |column: &'static str, longest: usize| {
            let text = given(column)
                .and_then(|c| c.value.as_deref())
                .unwrap_or("%");
            match text.chars().count() > longest {
                true => Err(SqlError::data_too_long(column)),
                false => Ok(text.into()),
            }
        };
        let switch = |column: &str| match given(column) {
            Some(change) if change.value.is_some() => change.yes_no(),
            _ => Ok(true),
        };
        let actor = Actor {
            host: name("HOST", 60)?,
            user: name("USER", 32)?,
            role: name("ROLE", 32)?,
            enabled: switch("ENABLED")?,
            history: switch("HISTORY")?,
        };
        host.segment.add_actor(&actor).map_err(refused)
    }

    /// UPDATE setup_actors.
    pub fn set_actor(&self, place: usize, changes: &[Change]) -> WriteResult {
        let (enabled, history) = switches(changes)?;
        write_result(
            self.require_host()?
                .segment
                .set_actor(place, enabled, history),
        )
    }

    /// DELETE FROM setup_actors.
    pub fn remove_actor(&self, place: usize) -> WriteResult {
        write_result(self.require_host()?.segment.remove_actor(place))
    }

    /// TRUNCATE setup_actors.
    pub fn clear_actors(&self) -> WriteResult {
        write_result(self.require_host()?.segment.clear_actors())
    }

    /// setup_threads.
    pub fn thread_classes(&self, filter: &Filter) -> RowsResult<ThreadClass> {
        let Some(host) = &self.host else {
            return none();
        };
        let name = filter.text("NAME");
        let controls = host.view().controls();
        let threads = self
            .classes(host)
            .iter()
            .filter(|class| class.kind == Kind::Thread && name.admits_name(&class.name));
        let mut rows: Vec<ThreadClass> = threads
            .map(|class| {
                let bits = controls.setup[class.id].load(Ordering::Relaxed);
                ThreadClass {
                    id: class.id,
                    name: class.name.clone(),
                    enabled: bits & setup::ENABLED != 0,
                    history: bits & setup::HISTORY != 0,
                    properties: properties(
                        class.properties & (property::SINGLETON | property::USER),
                    ),
                    volatility: i64::from(class.volatility),
                    documentation: class.documentation.clone(),
                }
            })
            .collect();
        rows.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(Box::new(rows.into_iter()))
    }

    /// UPDATE setup_threads.
    pub fn set_thread_class(&self, class: usize, changes: &[Change]) -> WriteResult {
        let (enabled, history) = switches(changes)?;
        let segment = &self.require_host()?.segment;
        write_result(segment.set_thread_class(class, enabled, history))
    }
}
