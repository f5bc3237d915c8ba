//! Which values a variable may have.

use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};

use super::modes::modes;
use super::variable::{Type, Variable};

/// The text of a variable's new value, if it may have it.
pub fn checked(variable: &Variable, value: Value) -> Result<String> {
    let name = variable.name;
    let wrong = |text: &str| {
        Err(SqlError::new(
            1231,
            format!("Variable '{name}' can't be set to the value of '{text}'"),
        ))
    };
    let text = match value {
        Value::Null if name == "character_set_results" => return Ok(String::new()),
        Value::Null => return wrong("NULL"),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Text(t) => t,
        Value::Blob(b) => String::from_utf8_lossy(&b).into_owned(),
    };
    match variable.value_type {
        Type::Switch | Type::Word => {
            let word = text.to_ascii_uppercase();
            return match word.as_str() {
                "1" | "ON" | "TRUE" => Ok("ON".into()),
                "0" | "OFF" | "FALSE" => Ok("OFF".into()),
                _ if variable.value_type == Type::Word => Ok(word),
                _ => wrong(&text),
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
        return modes(&text).map_or_else(|| wrong(&text), Ok);
    }
    if name == "time_zone" && !is_time_zone(&text) {
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
        return wrong(&text);
    }
    Ok(text)
}

/// SYSTEM, UTC, or an offset like +02:00: no named zones are loaded.
fn is_time_zone(text: &str) -> bool {
    if matches!(text.to_ascii_uppercase().as_str(), "SYSTEM" | "UTC") {
        return true;
    }
    let Some(rest) = text.strip_prefix(['+', '-']) else {
        return false;
    };
    rest.split_once(':').is_some_and(|(h, m)| {
        let (h, m) = (h.parse::<u32>(), m.parse::<u32>());
        matches!((h, m), (Ok(0..=14), Ok(0..=59)))
    })
}
