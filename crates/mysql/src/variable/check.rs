//! Who may set a variable, and to which values.

use super::Scope;
use super::modes::{modes, modes_of_bits};
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
            Value::Null
                if matches!(
                    name,
                    "character_set_results" | "session_track_system_variables"
                ) =>
            {
                return Ok(String::new());
            }
            Value::Null if matches!(self.value_type, Type::Number | Type::Real) => {
                return Err(self.wrong_type());
            }
            Value::Null => return Err(self.wrong("NULL")),
            Value::Int(_)
                if matches!(
                    name,
                    "gtid_next" | "session_track_system_variables" | "time_zone"
                ) =>
            {
                return Err(self.wrong_type());
            }
            Value::Int(n) => n.to_string(),
            Value::Real(x) => x.to_string(),
            Value::Text(t) | Value::Blob(t) => String::from_utf8_lossy(t).into_owned(),
        };
        if let Some(word) = self.word(&text) {
            return word;
        }
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
            Type::Number if !is_integer(value, &text) => return Err(self.wrong_type()),
            Type::Real if text.parse::<f64>().is_err() => return Err(self.wrong_type()),
            Type::Modes(more) => {
                let Value::Int(bits) = value else {
                    return modes(&text, more).map_err(|mode| self.wrong(mode));
                };
                return modes_of_bits(bits as u64).map_err(|removed| match removed {
                    0 => self.wrong(&text),
                    _ => removed_modes(removed),
                });
            }
            _ => {}
        }
        if name.starts_with("character_set_") {
            let charset = text.to_ascii_lowercase();
            // NULL is stored as an empty text: results are not converted.
            if name != "character_set_results" || !charset.is_empty() {
                charset::check(&charset)?;
            }
            return Ok(charset);
        }
        if name.starts_with("collation_") {
            charset::charset_of(&text).ok_or_else(|| charset::unknown_collation(&text))?;
            return Ok(text.to_ascii_lowercase());
        }
        if name == "gtid_next" {
            return match text.eq_ignore_ascii_case("AUTOMATIC") {
                true => Ok("AUTOMATIC".into()),
                false => Err(SqlError::new(
                    1774,
                    format!("Malformed GTID specification '{text}'."),
                )),
            };
        }
        if name == "time_zone" && Zone::find(&text).is_none() {
            return Err(SqlError::new(
                1298,
                format!("Unknown or incorrect time zone: '{text}'"),
            ));
        }
        Ok(text)
    }

    /// The nearest number that the variable may have, where a text of [`Variable::checked`] is another.
    pub fn nearest(&self, text: &str) -> Option<String> {
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
            (true, _) => Some(self.min.to_owned()),
            (_, true) => Some(self.max.to_owned()),
            _ => {
                let (block, n) = (self.block()?, text.parse::<u64>().ok()?);
                (n % block != 0).then(|| (n - n % block).to_string())
            }
        }
    }

    /// What a number of bytes is a multiple of. MySQL's largest value is then the last multiple below a power of
    /// two.
    fn block(&self) -> Option<u64> {
        if self.name.starts_with("transaction_") {
            return Some(1024);
        }
        let max = self.max.parse::<u128>().ok()?;
        let block = max.next_power_of_two() - max;
        let is_block = self.value_type == Type::Number && (128..=4096).contains(&block);
        (is_block && block.is_power_of_two()).then_some(block as u64)
    }

    /// 1232.
    fn wrong_type(&self) -> SqlError {
        SqlError::new(
            1232,
            format!("Incorrect argument type to variable '{}'", self.name),
        )
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

/// 3899.
fn removed_modes(bits: u64) -> SqlError {
    SqlError::new(3899, format!("sql_mode=0x{bits:08x} is not supported."))
}

/// Whether a value is an integer. One that does not fit into an `i64` comes as its text.
fn is_integer(value: Value<'_>, text: &str) -> bool {
    match value {
        Value::Int(_) => true,
        Value::Text(_) => text.parse().is_ok_and(|n: u64| i64::try_from(n).is_err()),
        _ => false,
    }
}
