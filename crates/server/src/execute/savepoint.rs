//! Savepoints of the open transaction.

use crate::metrics;
use crate::session::Session;
use crate::status::Counter;
use crate::transaction;
use tare_mysql::error::{Result, SqlError};

/// SAVEPOINT. It has no effect under autocommit outside a transaction.
pub fn set(session: &mut Session, name: &str) -> Result<()> {
    if !session.transaction.open {
        if session.transaction.autocommit {
            return Ok(());
        }
        transaction::begin(session, false)?;
        session.transaction.is_hidden = true;
    }
    let depth = session.transaction.savepoints.len();
    let sql = format!("SAVEPOINT {}", sqlite_name(depth));
    session.connections.own()?.batch(&sql)?;
    if let Some(older) = find(session, name) {
        session.transaction.savepoints[older].clear();
    }
    session.transaction.savepoints.push(name.to_owned());
    let status = session.registration.status();
    status.add(Counter::HandlerSavepoint, 1);
    if let Some(point) = &session.transaction.point {
        point.savepoint();
    }
    Ok(())
}

/// ROLLBACK TO SAVEPOINT.
pub fn roll_back_to(session: &mut Session, name: &str) -> Result<()> {
    let depth = run(session, name, "ROLLBACK TO")?;
    session.transaction.savepoints.truncate(depth + 1);
    let status = session.registration.status();
    status.add(Counter::HandlerSavepointRollback, 1);
    if let Some(point) = &session.transaction.point {
        point.rollback_to_savepoint();
        metrics::TRX_ROLLBACKS_SAVEPOINT.add(1);
    }
    Ok(())
}

/// RELEASE SAVEPOINT, which also releases later ones.
pub fn release(session: &mut Session, name: &str) -> Result<()> {
    let depth = run(session, name, "RELEASE")?;
    session.transaction.savepoints.truncate(depth);
    if let Some(point) = &session.transaction.point {
        point.release_savepoint();
    }
    Ok(())
}

/// SQLite's name of the savepoint at a depth: a name that is set again must not hide an earlier one.
fn sqlite_name(depth: usize) -> String {
    format!("savepoint_{depth}")
}

fn find(session: &Session, name: &str) -> Option<usize> {
    let mut names = session.transaction.savepoints.iter();
    names.position(|set| set.eq_ignore_ascii_case(name))
}

/// Runs a command on a savepoint. Returns its depth.
fn run(session: &mut Session, name: &str, command: &str) -> Result<usize> {
    let Some(depth) = find(session, name) else {
        return Err(SqlError::new(
            1305,
            format!("SAVEPOINT {name} does not exist"),
        ));
    };
    let sql = format!("{command} {}", sqlite_name(depth));
    session.connections.own()?.batch(&sql)?;
    Ok(depth)
}
