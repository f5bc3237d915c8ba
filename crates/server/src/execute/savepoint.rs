//! Savepoints of the open transaction.

use crate::metrics;
use crate::session::Session;
use crate::status::Counter;
use tare_mysql::error::{Result, SqlError};
use tare_store::connection::quote;

/// SAVEPOINT. It has no effect outside a transaction.
pub fn set(session: &mut Session, name: &str) -> Result<()> {
    if !session.transaction.open {
        return Ok(());
    }
    let sql = format!("SAVEPOINT {}", quote(name));
    session.connections.own()?.batch(&sql)?;
    let status = session.registration.status();
    status.add(Counter::HandlerSavepoint, 1);
    if let Some(point) = &session.transaction.point {
        point.savepoint();
    }
    Ok(())
}

/// ROLLBACK TO SAVEPOINT.
pub fn roll_back_to(session: &mut Session, name: &str) -> Result<()> {
    run(session, name, "ROLLBACK TO")?;
    let status = session.registration.status();
    status.add(Counter::HandlerSavepointRollback, 1);
    if let Some(point) = &session.transaction.point {
        point.rollback_to_savepoint();
        metrics::TRX_ROLLBACKS_SAVEPOINT.add(1);
    }
    Ok(())
}

/// RELEASE SAVEPOINT.
pub fn release(session: &mut Session, name: &str) -> Result<()> {
    run(session, name, "RELEASE")?;
    if let Some(point) = &session.transaction.point {
        point.release_savepoint();
    }
    Ok(())
}

fn run(session: &mut Session, name: &str, command: &str) -> Result<()> {
    if !session.transaction.open {
        return Err(SqlError::new(
            1305,
            format!("SAVEPOINT {name} does not exist"),
        ));
    }
    let sql = format!("{command} {}", quote(name));
    Ok(session.connections.own()?.batch(&sql)?)
}
