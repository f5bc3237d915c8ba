//! Prepared statements and stored programs.

use std::sync::Arc;

use super::event::{HasStat, Stat};
use super::object::Named;
use super::statement::{HasSums, Sums};

/// A prepared statement.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// OBJECT_INSTANCE_BEGIN.
    pub address: u64,
    /// STATEMENT_ID.
    pub id: u64,
    /// STATEMENT_NAME.
    pub name: Option<Arc<str>>,
    /// SQL_TEXT.
    pub text: Arc<str>,
    /// OWNER_THREAD_ID.
    pub owner: u64,
    /// OWNER_EVENT_ID.
    pub event: u64,
    /// The program that prepared it.
    pub program: Option<Named>,
    /// TIMER_PREPARE.
    pub prepare: u64,
    /// COUNT_REPREPARE.
    pub reprepares: u64,
    /// Its executions.
    pub sums: Sums,
}

impl HasStat for Prepared {
    fn stat(&self) -> &Stat {
        &self.sums.stat
    }
}

impl HasSums for Prepared {
    fn sums(&self) -> &Sums {
        &self.sums
    }
}

/// A stored program.
#[derive(Debug, Clone)]
pub struct Program {
    /// It.
    pub named: Named,
    /// Its calls.
    pub calls: Stat,
    /// The statements in it.
    pub sums: Sums,
}

impl HasStat for Program {
    fn stat(&self) -> &Stat {
        &self.calls
    }
}

impl HasSums for Program {
    fn sums(&self) -> &Sums {
        &self.sums
    }
}
