//! System variables in a session.

use std::collections::BTreeMap;

use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};

use super::SessionState;
use crate::variables::{deprecation, may_change};
use tare_mysql::series::Series;
use tare_mysql::variable::{self, Scope, Settable, Variable, find_in};
use tare_query::result::{borrowed, owned};

/// Variables of sessions only, which SET cannot change.
const SESSION_ONLY: [&str; 4] = [
    "error_count",
    "external_user",
    "proxy_user",
    "warning_count",
];

/// Variables that SET ... = DEFAULT refuses.
const NO_DEFAULT: [&str; 5] = [
    "identity",
    "insert_id",
    "last_insert_id",
    "rand_seed1",
    "rand_seed2",
];

impl SessionState {
    /// The text of a system variable in this session.
    pub fn text(&self, name: &str) -> Option<String> {
        let own = self.system.lock().get(name).cloned();
        own.or_else(|| self.globals.get(name))
    }

    /// All variables in a scope.
    pub fn all(&self, scope: Scope) -> BTreeMap<&'static str, String> {
        let mut all = self.globals.all();
        if scope == Scope::Global {
            all.retain(|name, _| !SESSION_ONLY.contains(name));
        }
        if scope == Scope::Session {
            let variables = variable::of(self.globals.series).iter();
            let own = variables.filter(|v| v.settable == Settable::Session);
            all.extend(own.map(|v| (v.name, v.default.to_owned())));
            for name in [
                "error_count",
                "identity",
                "last_insert_id",
                "pseudo_thread_id",
                "timestamp",
                "warning_count",
            ] {
                let value = match self.variable("session", name) {
                    Value::Integer(n) => n.to_string(),
                    Value::Real(x) => format!("{x:.6}"),
                    _ => continue,
                };
                all.insert(name, value);
            }
            for (name, value) in self.system.lock().iter() {
                all.insert(name, value.clone());
            }
        }
        all
    }

    /// `@@scope.name` as a value.
    pub fn variable(&self, scope: &str, name: &str) -> Value {
        let text = match name {
            "last_insert_id" | "identity" => return Value::Integer(self.last_insert_id()),
            "pseudo_thread_id" => return Value::Integer(self.id as i64),
            "warning_count" | "error_count" => {
                return Value::Integer(i64::from(self.warnings.count()));
            }
            "timestamp" => return Value::Real(tare_mysql::date::now_utc().0 as f64),
            _ if scope == "global" => self.globals.get(name),
            _ => self.text(name),
        };
        match (find_in(self.globals.series, name), text) {
            (Some(variable), Some(text)) => owned(variable.value(&text)),
            _ => Value::Null,
        }
    }

    /// The text, or the nearest value that the variable may have: that is warning 1292, or error 1231 if
    /// @@sql_mode has STRICT_ALL_TABLES.
    fn nearest_in_range(&self, variable: &Variable, text: String) -> Result<String> {
        let Some(nearest) = variable.nearest(&text) else {
            return Ok(text);
        };
        let mode = self.text("sql_mode").unwrap_or_default();
        if mode.contains("STRICT_ALL_TABLES") {
            return Err(variable.wrong(&text));
        }
        let message = format!("Truncated incorrect {} value: '{text}'", variable.name);
        self.warnings.add("Warning", 1292, message);
        Ok(nearest)
    }

    /// Adds MySQL's warnings about a variable that is set: it is deprecated, or its list has unknown names.
    fn warn_of_variable(&self, variable: &Variable, value: Option<&str>) {
        if self.globals.series == Series::V9_7
            && let Some((code, message)) = deprecation(variable.name)
        {
            self.warnings.add("Warning", code, message);
        }
        if variable.name == "session_track_system_variables" {
            let names = value.unwrap_or_default().split(',');
            for name in names.filter(|name| !matches!(*name, "" | "*")) {
                let variable = name.trim_ascii().to_ascii_lowercase();
                if find_in(self.globals.series, &variable).is_none() {
                    let text =
                        format!("{name} is not a valid system variable and will be ignored.");
                    self.warnings.add("Warning", 1231, text);
                }
            }
        }
    }

    /// Stores variables that a login gives values other than the present ones. Nobody is recorded as having
    /// set them.
    pub fn inherit(&self, values: Vec<(&'static str, Option<String>)>) {
        for (name, value) in values {
            if let Some(text) = value.filter(|text| self.text(name).as_ref() != Some(text)) {
                self.system.lock().insert(name, text);
            }
        }
    }

    /// SET of a system variable; `None` is DEFAULT.
    pub fn set(&self, scope: Scope, name: &str, value: Option<Value>, is_root: bool) -> Result<()> {
        let Some(variable) = find_in(self.globals.series, name) else {
            return Err(SqlError::unknown_variable(name));
        };
        let name = variable.name;
        variable.may_set(scope, is_root)?;
        if value.is_none() && NO_DEFAULT.contains(&name) {
            return Err(SqlError::new(
                1230,
                format!("Variable '{name}' doesn't have a default value"),
            ));
        }
        let value = value.map(|value| variable.checked(borrowed(&value)));
        let value = value.transpose()?;
        self.warn_of_variable(variable, value.as_deref());
        let text = match value {
            None if scope == Scope::Session => {
                self.system.lock().remove(name);
                if name == "time_zone" {
                    self.copy_global_zone();
                }
                return Ok(());
            }
            None => variable.default.to_owned(),
            Some(value) => variable.stored(self.nearest_in_range(variable, value)?),
        };
        if matches!(name, "last_insert_id" | "identity") {
            self.set_last_insert_id(text.parse().unwrap_or(0));
            return Ok(());
        }
        let now = match scope {
            Scope::Global => self.globals.get(name),
            Scope::Session => self.text(name),
        };
        let text = match variable.has_flags() {
            true => variable.merge_flags(now.as_deref().unwrap_or_default(), &text)?,
            false => text,
        };
        if !may_change(scope, name) && now.as_ref() != Some(&text) {
            return Err(SqlError::new(
                1231,
                format!(
                    "Variable '{name}' can't be set to the value of '{text}': it has no effect on this server"
                ),
            ));
        }
        if name == "transaction_isolation" {
            // Every transaction is SERIALIZABLE, the strictest level.
            return Ok(());
        }
        let (user, host) = self.account();
        self.globals.changes.set(name, user, host);
        match scope {
            Scope::Global => self.globals.set(name, text),
            Scope::Session => {
                self.system.lock().insert(name, text);
            }
        }
        Ok(())
    }
}
