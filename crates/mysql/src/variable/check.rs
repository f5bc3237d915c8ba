//! Who may set a variable, and to which values.

use super::Scope;
use super::modes::modes;
use super::record::{Settable, Type, Variable};
use crate::charset;
use crate::date::Zone;
use crate::error::{Result, SqlError};
use crate::wire::value::Value;

/// Limits of a session that its user must not lift.
const RESTRICTED: [&str; 3] = [
    "connection_memory_chunk_size",
    "connection_memory_limit",
    "global_connection_memory_tracking",
];

impl Variable {
    /// Whether it can be set in this scope, and by this account: 1227, 1228, 1229, 1238 or 1621.
    pub fn may_set(&self, scope: Scope, is_root: bool) -> Result<()> {
        let name = self.name;
        match (self.settable, scope) {
            // Elsewhere it can be changed, and then for the server.
            (Settable::Fixed, Scope::Session) if name == "max_connections" => Err(SqlError::new(
                1229,
                format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"),
            )),
            (Settable::Fixed, _) => Err(SqlError::new(
                1238,
                format!("Variable '{name}' is a read only variable"),
            )),
            (Settable::Session, Scope::Global) => Err(SqlError::new(
                1228,
                format!(
                    "Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL"
                ),
            )),
            (Settable::Shared, Scope::Session) => Err(SqlError::new(
                1621,
                format!(
                    "SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value"
                ),
            )),
            (Settable::Global, Scope::Session) => Err(SqlError::new(
                1229,
                format!("Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"),
            )),
            (_, Scope::Session) if RESTRICTED.contains(&name) && !is_root => Err(SqlError::new(
                1227,
                "Access denied; you need (at least one of) the SUPER, SYSTEM_VARIABLES_ADMIN or \
                 SESSION_VARIABLES_ADMIN privilege(s) for this operation",
            )),
            (_, Scope::Global) if !is_root => Err(SqlError::new(
                1227,
                "Access denied; you need (at least one of) the SUPER privilege(s) for this operation",
            )),
            _ => Ok(()),
        }
    }

    /// The text of a new value, if the variable may have it; otherwise 1231, 1232 or 1298.
    pub fn checked(&self, value: Value<'_>) -> Result<String> {
        let name = self.name;
        let text = match value {
            Value::Null if name == "character_set_results" => return Ok(String::new()),
            Value::Null => return Err(self.wrong("NULL")),
            Value::Int(n) => n.to_string(),
            Value::Real(x) => x.to_string(),
            Value::Text(t) | Value::Blob(t) => String::from_utf8_lossy(t).into_owned(),
        };
        match self.value_type {
            Type::Switch | Type::Word => {
                let word = text.to_ascii_uppercase();
                return match word.as_str() {
                    "1" | "ON" | "TRUE" => Ok("ON".into()),
                    "0" | "OFF" | "FALSE" => Ok("OFF".into()),
                    _ if self.value_type == Type::Word => Ok(word),
                    _ => Err(self.wrong(&text)),
                };
            }
            Type::Number | Type::Real if text.parse::<f64>().is_err() => {
                return Err(SqlError::new(
                    1232,
                    format!("Incorrect argument type to variable '{name}'"),
                ));
            }
            _ => {}
        }
        if name == "sql_mode" {
            return modes(&text).ok_or_else(|| self.wrong(&text));
        }
        if name.starts_with("character_set_") {
            let charset = text.to_ascii_lowercase();
            // NULL is stored as an empty text: results are not converted.
            if name != "character_set_results" || !charset.is_empty() {
                charset::check(&charset)?;
            }
            return Ok(charset);
        }
        if name == "time_zone" && Zone::find(&text).is_none() {
            return Err(SqlError::new(
                1298,
                format!("Unknown or incorrect time zone: '{text}'"),
            ));
        }
        if name.ends_with("isolation")
            && !matches!(
                text.to_ascii_uppercase().as_str(),
                "READ-UNCOMMITTED" | "READ-COMMITTED" | "REPEATABLE-READ" | "SERIALIZABLE"
            )
        {
            return Err(self.wrong(&text));
        }
        Ok(text)
    }

    /// The nearest number that the variable may have, where a text of [`Variable::checked`] is another.
    pub fn nearest(&self, text: &str) -> Option<&'static str> {
        if self.min == self.max {
            return None;
        }
        // The limits of 64 bits are no doubles.
        let (below, above) = match (self.value_type, text.parse::<i128>()) {
            (Type::Number | Type::Real, Ok(n)) => {
                let limit = |text: &str| text.parse::<i128>().ok();
                (
                    limit(self.min).is_some_and(|min| n < min),
                    limit(self.max).is_some_and(|max| n > max),
                )
            }
            (Type::Number | Type::Real, Err(_)) => {
                let number = |text: &str| text.parse::<f64>().unwrap_or(0.0);
                let x = number(text);
                (x < number(self.min), x > number(self.max))
            }
            _ => return None,
        };
        match (below, above) {
            (true, _) => Some(self.min),
            (_, true) => Some(self.max),
            _ => None,
        }
    }

    /// 1231.
    pub fn wrong(&self, value: &str) -> SqlError {
        SqlError::new(
            1231,
            format!(
                "Variable '{}' can't be set to the value of '{value}'",
                self.name
            ),
        )
    }
}
