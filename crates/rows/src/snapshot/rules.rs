//! setup_objects, read and written.

use tare_layout::object::ObjectType;
use tare_mysql::error::SqlError;
use tare_reader::{Rule, Switch, WriteError};

use super::truncate::write_result;
use super::{RowsResult, Snapshot, WriteResult, none};
use crate::describe::Change;

/// The longest schema and object name, in characters.
const MAX_NAME_CHARACTERS: usize = 64;

fn insert_error(error: WriteError) -> SqlError {
    match error {
        WriteError::Duplicate => SqlError::duplicate_key("setup_objects"),
        WriteError::Full { .. } => SqlError::new(1114, "The table 'setup_objects' is full"),
        error => SqlError::internal(error),
    }
}

impl Snapshot {
    /// setup_objects.
    pub fn object_rules(&self) -> RowsResult<Rule> {
        match &self.host {
            Some(host) => Ok(Box::new(Rule::all(host.view()).into_iter())),
            None => none(),
        }
    }

    /// INSERT INTO setup_objects. Omitted columns have MySQL's defaults.
    pub fn add_object_rule(&self, row: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        let given = |column: &str| row.iter().find(|c| c.column == column);
        let text = |column: &str| given(column).and_then(|c| c.value.as_deref());
        let name = |column: &'static str| match text(column).unwrap_or("%") {
            text if text.chars().count() > MAX_NAME_CHARACTERS => {
                Err(SqlError::data_too_long(column))
            }
            text => Ok(text.to_owned()),
        };
        let switch = |column: &str| match given(column) {
            Some(change) if change.value.is_some() => change.yes_no(),
            _ => Ok(true),
        };
        let kind = text("OBJECT_TYPE").unwrap_or("TABLE").trim();
        // An enum is given by its name, or by its number.
        let kind = ObjectType::ALL.iter().copied().find(|object_type| {
            object_type.ruled_as() == *object_type
                && (object_type.text().eq_ignore_ascii_case(kind)
                    || kind.parse() == Ok(*object_type as u8))
        });
        let kind = kind.ok_or_else(|| SqlError::data_truncated("OBJECT_TYPE"))?;
        let (schema, object) = (name("OBJECT_SCHEMA")?, name("OBJECT_NAME")?);
        let (enabled, timed) = (switch("ENABLED")?, switch("TIMED")?);
        host.segment
            .add_rule(kind, &schema, &object, enabled, timed)
            .map_err(insert_error)
    }

    /// UPDATE setup_objects.
    pub fn set_object_rule(&self, place: usize, changes: &[Change]) -> WriteResult {
        let host = self.require_host()?;
        let mut to = Switch::default();
        for change in changes {
            match change.column {
                "ENABLED" => to.enabled = Some(change.yes_no()?),
                _ => to.timed = Some(change.yes_no()?),
            }
        }
        let rule = Rule::all(host.view())
            .into_iter()
            .find(|r| r.place == place);
        // The row may have been deleted since the snapshot.
        rule.map_or(Ok(()), |rule| {
            write_result(host.segment.set_rule(&rule, to))
        })
    }

    /// DELETE FROM setup_objects.
    pub fn remove_object_rule(&self, place: usize) -> WriteResult {
        write_result(self.require_host()?.segment.remove_rules(&[place]))
    }

    /// TRUNCATE setup_objects.
    pub fn clear_object_rules(&self) -> WriteResult {
        let host = self.require_host()?;
        let rules = Rule::all(host.view()).into_iter().map(|rule| rule.place);
        write_result(host.segment.remove_rules(&rules.collect::<Vec<_>>()))
    }
}
