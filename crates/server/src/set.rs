//! SET, and the effects of changed variables.

use rusqlite::types::Value;
use tare_mysql::error::{Result, SqlError};
use tare_reader::metrics::Action;

use crate::context::SessionContext;
use crate::ddl::engine;
use crate::execute::prepare;
use crate::session::Session;
use crate::transaction;
use tare_dialect::admin::{Characteristics, SetItem};
use tare_mysql::variable::{Scope, find_in, mode_warnings};
use tare_query::set::{
    SAMPLE_AGE, STILL_ENABLED, act_on_metrics, metric_action, set_names, set_sample_age,
};

const SHOW_PROCESSLIST: &str = "'@@performance_schema_show_processlist' is deprecated and will be removed in a \
    future release. When it is removed, SHOW PROCESSLIST will always use the performance schema implementation.";

/// SET of variables, of the character set, of transactions.
pub fn set(session: &mut Session, items: &[SetItem]) -> Result<()> {
    for item in items {
        match item {
            SetItem::User(name, expr) => {
                let (value, is_number) = prepare::evaluate_typed(session, expr.clone())?;
                session.state.user_variables.set(name, value, is_number);
            }
            SetItem::Names(charset, collation) => {
                for (name, value) in set_names(charset, collation.as_deref())? {
                    let value = value.map(Value::Text);
                    session.state.set(Scope::Session, name, value, true)?;
                }
                session.client.apply_charset(&session.state, None);
            }
            SetItem::Transaction(characteristics) => set_transaction(session, characteristics)?,
            SetItem::System(scope, name, expr) => {
                let value = match expr {
                    Some(expr) => Some(prepare::evaluate(session, expr.clone())?),
                    None => None,
                };
                if let (
                    "default_storage_engine" | "default_tmp_storage_engine",
                    Some(Value::Text(engine)),
                ) = (name.as_str(), &value)
                {
                    engine::check_name(session, engine)?;
                }
                let value = match metric_action(name) {
                    Some(action) => Some(Value::Text(set_monitor(
                        session, *scope, name, action, value,
                    )?)),
                    None => value,
                };
                session
                    .state
                    .set(*scope, name, value, session.rights.may_set())?;
                if name == "sql_mode" {
                    warn_of_modes(&session.connections.context, *scope);
                }
                if name == "character_set_results" {
                    session.client.apply_charset(&session.state, None);
                }
                apply_variable(session, name)?;
            }
        }
    }
    Ok(())
}

/// Adds MySQL's warnings about the modes that were set.
fn warn_of_modes(context: &SessionContext, scope: Scope) {
    if !context.shared.config.series.warns_of_modes() {
        return;
    }
    let set = match scope {
        Scope::Session => context.state.text("sql_mode"),
        _ => context.shared.globals.get("sql_mode"),
    };
    for (code, message) in mode_warnings(&set.unwrap_or_default()) {
        context.state.warnings.add("Warning", code, message);
    }
}

/// SET GLOBAL innodb_monitor_enable and the like. Returns the variable's new text.
fn set_monitor(
    session: &Session,
    scope: Scope,
    name: &str,
    action: Action,
    value: Option<Value>,
) -> Result<String> {
    let text = match value {
        Some(Value::Text(text)) => text,
        Some(Value::Integer(n)) => n.to_string(),
        _ => "NULL".into(),
    };
    // `SessionState::set` refuses a wrong scope or missing rights, as for any other variable.
    if scope != Scope::Global || !session.rights.may_set() {
        return Ok(text);
    }
    let Some(variable) = find_in(session.shared.config.series, name) else {
        return Err(SqlError::unknown_variable(name));
    };
    let segment = session.shared.observed.segment();
    if !act_on_metrics(segment.as_deref(), variable, &text, action)? {
        let warnings = &session.state.warnings;
        warnings.add("Warning", 1105, STILL_ENABLED);
    }
    Ok(text)
}

/// SET TRANSACTION. Every isolation level is SERIALIZABLE: SQLite has no other.
fn set_transaction(session: &mut Session, characteristics: &Characteristics) -> Result<()> {
    let Some(scope) = characteristics.scope else {
        if session.transaction.open {
            return Err(SqlError::new(
                1568,
                "Transaction characteristics can't be changed while a transaction is in progress",
            ));
        }
        if let Some(read_only) = characteristics.read_only {
            session.transaction.next_read_only = read_only;
        }
        return Ok(());
    };
    let is_root = session.rights.may_set();
    if let Some(level) = characteristics.isolation {
        let level = Some(Value::Text(level.to_owned()));
        session
            .state
            .set(scope, "transaction_isolation", level, is_root)?;
    }
    if let Some(read_only) = characteristics.read_only {
        let value = Some(Value::Integer(read_only.into()));
        session
            .state
            .set(scope, "transaction_read_only", value, is_root)?;
        apply_variable(session, "transaction_read_only")?;
    }
    Ok(())
}

/// Applies a variable's new value.
fn apply_variable(session: &mut Session, name: &str) -> Result<()> {
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
        "foreign_key_checks" => session.connections.apply_foreign_key_checks()?,
        "time_zone" => {
            // The translation of TIMESTAMPs depends on the zone.
            session.statements.expire_all(&mut session.connections);
        }
        "sql_mode" => {
            // The translation of statements depends on the mode.
            session.statements.empty_cache(&mut session.connections);
        }
        "connection_memory_limit"
        | "long_query_time"
        | "max_execution_time"
        | "innodb_lock_wait_timeout" => session.settings.read(&session.state),
        "global_connection_memory_limit" => {
            let limit = session.shared.globals.get(name);
            let limit = limit.and_then(|limit| limit.parse().ok());
            session.shared.memory.set_limit(limit.unwrap_or(u64::MAX));
        }
        "innodb_flush_log_at_trx_commit" => {
            let value = session.shared.globals.get(name);
            session
                .shared
                .databases
                .set_durable(value.as_deref() == Some("1"));
        }
        SAMPLE_AGE => {
            let seconds = session.shared.globals.stored_value(SAMPLE_AGE);
            set_sample_age(session.shared.observed.segment().as_deref(), &seconds)?;
        }
        "performance_schema_show_processlist" => {
            session
                .state
                .warnings
                .add("Warning", 4166, SHOW_PROCESSLIST);
        }
        "net_read_timeout" | "net_write_timeout" | "wait_timeout" => {
            session.client.apply_timeouts(&session.state);
        }
        _ => {}
    }
    Ok(())
}
