//! SET, and what follows from it.

use rusqlite::types::Value;
use tare_mysql::charset;
use tare_mysql::error::{Result, SqlError};
use tare_reader::metrics::Action;

use crate::execute::prepare;
use crate::session::Session;
use crate::transaction;
use tare_dialect::admin::{Characteristics, SetItem};
use tare_mysql::variable::Scope;

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

/// SET of variables, of the character set, of transactions.
pub fn set(session: &mut Session, items: &[SetItem]) -> Result<()> {
    for item in items {
        match item {
            SetItem::User(name, expr) => {
                let value = prepare::evaluate(session, expr.clone())?;
                session.state.user_variables.set(name, value);
            }
            SetItem::Names(charset, collation) => {
                set_names(session, charset, collation.as_deref())?;
            }
            SetItem::Transaction(said) => set_transaction(session, said)?,
            SetItem::System(scope, name, expr) => {
                let value = match expr {
                    Some(expr) => Some(prepare::evaluate(session, expr.clone())?),
                    None => None,
                };
                let value = match monitor(name) {
                    Some(action) => Some(Value::Text(set_monitor(
                        session, *scope, name, action, value,
                    )?)),
                    None => value,
                };
                session.state.set(*scope, name, value, session.is_root())?;
                variable_changed(session, name)?;
            }
        }
    }
    Ok(())
}

/// SET NAMES.
fn set_names(session: &Session, charset: &str, collation: Option<&str>) -> Result<()> {
    let charset = charset.to_ascii_lowercase();
    if !charset::is_known(&charset) && charset != "default" {
        return Err(SqlError::new(
            1115,
            format!("Unknown character set: '{charset}'"),
        ));
    }
    let set = |name: &str, value: String| {
        let value = Some(Value::Text(value));
        session.state.set(Scope::Session, name, value, true)
    };
    if let Some(collation) = collation {
        check_collation(collation, &charset)?;
        set("collation_connection", collation.to_ascii_lowercase())?;
    }
    for name in [
        "character_set_client",
        "character_set_connection",
        "character_set_results",
    ] {
        set(name, charset.clone())?;
    }
    Ok(())
}

/// SET GLOBAL innodb_monitor_enable and its kin; the text that the variable then has.
fn set_monitor(
    session: &Session,
    scope: Scope,
    name: &str,
    action: Action,
    value: Option<Value>,
) -> Result<String> {
    let asked = match value {
        Some(Value::Text(text)) => text,
        Some(Value::Integer(n)) => n.to_string(),
        _ => "NULL".into(),
    };
    // Not for a session and not for everybody: `set` says so, as of any other variable.
    if scope != Scope::Global || !session.is_root() {
        return Ok(asked);
    }
    let (meant, done) = match &session.shared.segment {
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
        session.state.warnings.add(
            "Warning",
            1105,
            "Metrics that are enabled keep their figures: disable them first",
        );
    }
    Ok(asked)
}

/// SET TRANSACTION. All levels are serializable here: SQLite has no other.
fn set_transaction(session: &mut Session, said: &Characteristics) -> Result<()> {
    let Some(scope) = said.scope else {
        if session.transaction.open {
            return Err(SqlError::new(
                1568,
                "Transaction characteristics can't be changed while a transaction is in progress",
            ));
        }
        if let Some(read_only) = said.read_only {
            session.transaction.next_read_only = read_only;
        }
        return Ok(());
    };
    let is_root = session.is_root();
    if let Some(level) = said.isolation {
        let level = Some(Value::Text(level.to_owned()));
        session
            .state
            .set(scope, "transaction_isolation", level, is_root)?;
    }
    if let Some(read_only) = said.read_only {
        let value = Some(Value::Integer(read_only.into()));
        session
            .state
            .set(scope, "transaction_read_only", value, is_root)?;
        variable_changed(session, "transaction_read_only")?;
    }
    Ok(())
}

/// What follows from a variable's new value.
fn variable_changed(session: &mut Session, name: &str) -> Result<()> {
    match name {
        "autocommit" => {
            let on = session.state.text(name).as_deref() != Some("OFF");
            if on && !session.transaction.autocommit {
                transaction::commit(session)?;
            }
            session.transaction.autocommit = on;
        }
        "transaction_read_only" => {
            session.transaction.always_read_only =
                session.state.text(name).as_deref() == Some("ON");
        }
        "foreign_key_checks" => session.connections.check_foreign_keys()?,
        "sql_mode" => {
            // Statements are read in another way now.
            session.statements.empty_cache(&mut session.connections);
            session.connections.check_values()?;
        }
        "long_query_time" | "max_execution_time" | "innodb_lock_wait_timeout" => {
            session.settings.read(&session.state);
        }
        "wait_timeout" => session.client.wait_at_most(&session.state),
        _ => {}
    }
    Ok(())
}

/// A collation has to be known, and to be its character set's.
fn check_collation(collation: &str, charset: &str) -> Result<()> {
    let of = charset::charset_of(collation)
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
