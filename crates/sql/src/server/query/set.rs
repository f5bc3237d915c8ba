//! SET, and what follows from it.

use crate::dialect::admin::SetItem;
use crate::server::error::{Result, SqlError};
use crate::server::session::{Role, Session};

impl Session {
    pub(super) fn set(&mut self, items: &[SetItem]) -> Result<()> {
        use rusqlite::types::Value as V;
        for item in items {
            match item {
                SetItem::User(name, expr) => {
                    let value = self.evaluate(expr.clone())?;
                    self.state.set_user_variable(name, value);
                }
                SetItem::Names(charset) => {
                    let charset = charset.to_ascii_lowercase();
                    if !crate::server::show::CHARSETS.iter().any(|c| c.0 == charset)
                        && charset != "default"
                    {
                        return Err(SqlError::new(
                            1115,
                            format!("Unknown character set: '{charset}'"),
                        ));
                    }
                    for name in [
                        "character_set_client",
                        "character_set_connection",
                        "character_set_results",
                    ] {
                        self.state.set(
                            crate::dialect::admin::Scope::Session,
                            name,
                            Some(V::Text(charset.clone())),
                            true,
                        )?;
                    }
                }
                SetItem::Transaction(read_only) => {
                    if let Some(read_only) = read_only {
                        self.next_read_only = *read_only;
                    }
                }
                SetItem::System(scope, name, expr) => {
                    let value = match expr {
                        Some(expr) => Some(self.evaluate(expr.clone())?),
                        None => None,
                    };
                    self.state
                        .set(*scope, name, value, self.role == Role::Root)?;
                    self.variable_changed(name)?;
                }
            }
        }
        Ok(())
    }

    /// What follows from a variable's new value.
    fn variable_changed(&mut self, name: &str) -> Result<()> {
        match name {
            "autocommit" => {
                let on = self.state.text(name).as_deref() != Some("OFF");
                if on && !self.autocommit {
                    self.commit()?;
                }
                self.autocommit = on;
            }
            "foreign_key_checks" => {
                let on = self.state.text(name).as_deref() != Some("OFF");
                self.connection()?.batch(if on {
                    "PRAGMA foreign_keys=ON"
                } else {
                    "PRAGMA foreign_keys=OFF"
                })?;
            }
            "max_execution_time" | "innodb_lock_wait_timeout" => self.read_limits(),
            _ => {}
        }
        Ok(())
    }

    /// Takes over the session's limits from its variables.
    pub fn read_limits(&mut self) {
        use std::time::Duration;
        let number = |name: &str| self.state.text(name).and_then(|t| t.parse::<u64>().ok());
        self.max_execution_time = Duration::from_millis(number("max_execution_time").unwrap_or(0));
        self.lock_wait_timeout =
            Duration::from_secs(number("innodb_lock_wait_timeout").unwrap_or(50).max(1));
    }
}
