//! setup_objects, read and written.

use tare_layout::object::ObjectType;
use tare_mysql::error::SqlError;
use tare_reader::{Rule, Switch, WriteError};

use super::truncate::done;
use super::{Done, Listed, Snapshot, none};
use crate::describe::Change;

/// The longest schema and object name, in characters.
const LONGEST: usize = 64;

fn refused(error: WriteError) -> SqlError {
    match error {
        WriteError::Duplicate => SqlError::duplicate_key("setup_objects"),
        WriteError::Full { .. } => SqlError::new(1114, "The table 'setup_objects' is full"),
        error => SqlError::internal(error),
    }
}

impl Snapshot {
    /// setup_objects.
    pub fn object_rules(&self) -> Listed<Rule> {
        match &self.host {
            Some(host) => Ok(Box::new(Rule::all(host.view()).into_iter())),
            None => none(),
        }
    }

    /// INSERT INTO setup_objects. What is not given has MySQL's default.
    pub fn add_object_rule(&self, row: &[Change]) -> Done {
        let host = self.present()?;
        let given = |column: &str| row.iter().find(|c| c.column == column);
        let text = |column: &str| given(column).and_then(|c| c.value.as_deref());
        let name = |column: &'static str| match text(column).unwrap_or("%") {
            text if text.chars().count() > LONGEST => Err(SqlError::data_too_long(column)),
            text => Ok(text.to_owned()),
        };
        let switch = |column: &str| match given(column) {
            Some(change) if change.value.is_some() => change.yes_no(),
            _ => Ok(true),
        };
        let kind = text("OBJECT_TYPE").unwrap_or("TABLE").trim();
        // An enum is given by its name, or by its number.
        let kind = ObjectType::ALL.iter().copied().find(|known| {
            known.ruled_as() == *known
                && (known.text().eq_ignore_ascii_case(kind) || kind.parse() == Ok(*known as u8))
        });
        let kind = kind.ok_or_else(|| SqlError::data_truncated("OBJECT_TYPE"))?;
        let (schema, object) = (name("OBJECT_SCHEMA")?, name("OBJECT_NAME")?);
        let (enabled, timed) = (switch("ENABLED")?, switch("TIMED")?);
        host.segment
            .add_rule(kind, &schema, &object, enabled, timed)
            .map_err(refused)
    }

    /// UPDATE setup_objects.
    pub fn set_object_rule(&self, place: usize, changes: &[Change]) -> Done {
        let host = self.present()?;
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
        // A row that was deleted meanwhile is none to change.
        rule.map_or(Ok(()), |rule| done(host.segment.set_rule(&rule, to)))
    }

    /// DELETE FROM setup_objects.
    pub fn remove_object_rule(&self, place: usize) -> Done {
        done(self.present()?.segment.remove_rules(&[place]))
    }

    /// TRUNCATE setup_objects.
    pub fn clear_object_rules(&self) -> Done {
        let host = self.present()?;
        let places = Rule::all(host.view()).into_iter().map(|rule| rule.place);
        done(host.segment.remove_rules(&places.collect::<Vec<_>>()))
    }
}
