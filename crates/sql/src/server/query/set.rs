//! SET, and what follows from it.

use tare_mysql::error::{Result, SqlError};
use tare_reader::metrics::Action;

use crate::dialect::admin::{Characteristics, Scope, SetItem};
use crate::server::session::{Role, Session};

/// What a variable does to metrics when it is set.
fn monitor(variable: &str) -> Option<Action> {
    Some(match variable {
        "innodb_monitor_enable" => Action::Enable,
        "innodb_monitor_disable" => Action::Disable,
        "innodb_monitor_reset" => Action::Reset,
        "innodb_monitor_reset_all" => Action::ResetAll,
        _ => return None,
    })
}

impl Session {
    pub(super) fn set(&mut self, items: &[SetItem]) -> Result<()> {
        use rusqlite::types::Value as V;
        for item in items {
            match item {
                SetItem::User(name, expr) => {
                    let value = self.evaluate(expr.clone())?;
                    self.state.user_variables.set(name, value);
                }
                SetItem::Names(charset, collation) => {
                    let charset = charset.to_ascii_lowercase();
                    if !crate::server::show::CHARSETS.iter().any(|c| c.0 == charset)
                        && charset != "default"
                    {
                        return Err(SqlError::new(
                            1115,
                            format!("Unknown character set: '{charset}'"),
                        ));
                    }
                    if let Some(collation) = collation {
                        self.check_collation(collation, &charset)?;
                        self.state.set(
                            Scope::Session,
                            "collation_connection",
                            Some(V::Text(collation.to_ascii_lowercase())),
                            true,
                        )?;
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
                SetItem::Transaction(said) => self.set_transaction(said)?,
                SetItem::System(scope, name, expr) => {
                    let value = match expr {
                        Some(expr) => Some(self.evaluate(expr.clone())?),
                        None => None,
                    };
                    let value = match monitor(name) {
                        Some(action) => {
                            Some(V::Text(self.set_monitor(*scope, name, action, value)?))
                        }
                        None => value,
                    };
                    self.state
                        .set(*scope, name, value, self.role == Role::Root)?;
                    self.variable_changed(name)?;
                }
            }
        }
        Ok(())
    }

    /// SET GLOBAL innodb_monitor_enable and its kin; the text that the variable then has.
    fn set_monitor(
        &self,
        scope: Scope,
        name: &str,
        action: Action,
        value: Option<rusqlite::types::Value>,
    ) -> Result<String> {
        use rusqlite::types::Value as V;
        let asked = match value {
            Some(V::Text(text)) => text,
            Some(V::Integer(n)) => n.to_string(),
            _ => "NULL".into(),
        };
        // Not for a session and not for everybody: `set` says so, as of any other variable.
        if scope != Scope::Global || self.role != Role::Root {
            return Ok(asked);
        }
        let (meant, done) = match &self.shared.segment {
            Some(segment) => segment
                .act_on_metrics(&asked, action)
                .map_err(|e| SqlError::new(1105, e.to_string()))?,
            None => (0, 0),
        };
        if meant == 0 {
            return Err(SqlError::new(
                1231,
                format!("Variable '{name}' can't be set to the value of '{asked}'"),
            ));
        }
        if done < meant {
            self.state.warnings.add(
                "Warning",
                1105,
                "Metrics that are enabled keep their figures: disable them first",
            );
        }
        Ok(asked)
    }

    /// SET TRANSACTION. All levels are serializable here: SQLite has no other.
    fn set_transaction(&mut self, said: &Characteristics) -> Result<()> {
        use rusqlite::types::Value as V;
        let Some(scope) = said.scope else {
            if self.transaction.open {
                return Err(SqlError::new(
                    1568,
                    "Transaction characteristics can't be changed while a transaction is in progress",
                ));
            }
            if let Some(read_only) = said.read_only {
                self.next_read_only = read_only;
            }
            return Ok(());
        };
        let is_root = self.role == Role::Root;
        if let Some(level) = said.isolation {
            let level = Some(V::Text(level.to_owned()));
            self.state
                .set(scope, "transaction_isolation", level, is_root)?;
        }
        if let Some(read_only) = said.read_only {
            let value = Some(V::Integer(read_only.into()));
            self.state
                .set(scope, "transaction_read_only", value, is_root)?;
            self.variable_changed("transaction_read_only")?;
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
            "transaction_read_only" => {
                self.reads_only = self.state.text(name).as_deref() == Some("ON");
            }
            "foreign_key_checks" => {
                let on = self.state.text(name).as_deref() != Some("OFF");
                self.connection()?.batch(if on {
                    "PRAGMA foreign_keys=ON"
                } else {
                    "PRAGMA foreign_keys=OFF"
                })?;
            }
            "sql_mode" => {
                // Statements are read in another way now.
                self.empty_cache();
                self.check_values()?;
            }
            "long_query_time" | "max_execution_time" | "innodb_lock_wait_timeout" => {
                self.read_limits()
            }
            _ => {}
        }
        Ok(())
    }

    /// A collation has to be known, and to be its character set's.
    fn check_collation(&self, collation: &str, charset: &str) -> Result<()> {
        let of = crate::tables::information_schema::constants::charset_of(collation)
            .ok_or_else(|| SqlError::new(1273, format!("Unknown collation: '{collation}'")))?;
        let same = of == charset || charset == "default" || (of == "utf8" && charset == "utf8mb3");
        if same {
            return Ok(());
        }
        Err(SqlError::new(
            1253,
            format!("COLLATION '{collation}' is not valid for CHARACTER SET '{charset}'"),
        ))
    }

    /// Strict mode: values that do not fit their columns are refused.
    pub fn check_values(&mut self) -> Result<()> {
        let strict = self.mode().strict;
        match self.connection.as_mut() {
            Some(connection) => connection.batch(if strict {
                "PRAGMA ignore_check_constraints=OFF"
            } else {
                "PRAGMA ignore_check_constraints=ON"
            }),
            None => Ok(()),
        }
    }

    /// Takes over the session's limits from its variables.
    pub fn read_limits(&mut self) {
        use std::time::Duration;
        let seconds = self.state.text("long_query_time");
        let seconds = seconds.and_then(|t| t.parse().ok());
        self.long_query_time =
            Duration::try_from_secs_f64(seconds.unwrap_or(10.0)).unwrap_or(Duration::MAX);
        let number = |name: &str| self.state.text(name).and_then(|t| t.parse::<u64>().ok());
        self.max_execution_time = Duration::from_millis(number("max_execution_time").unwrap_or(0));
        self.lock_wait_timeout =
            Duration::from_secs(number("innodb_lock_wait_timeout").unwrap_or(50).max(1));
    }
}
