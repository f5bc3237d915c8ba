//! FOR UPDATE and FOR SHARE.

use sqlparser::ast::{LockClause, LockType, Query};
use tare_mysql::error::SqlError;

use crate::error::Result;
use crate::plan::RowLocks;
use crate::rewrite::rewriter::Rewriter;

impl RowLocks {
    /// Adds the locks of a locking clause.
    pub(in crate::rewrite) fn add(&mut self, lock: &LockClause) {
        self.for_update |= lock.lock_type == LockType::Update;
        self.no_wait |= lock.nonblock.is_some();
    }
}

impl Rewriter<'_> {
    /// Removes a query's locking clauses, and adds their locks to the statement's. 3568: OF names a table that
    /// the query does not have.
    pub(in crate::rewrite) fn take_locks(&mut self, query: &mut Query) -> Result<()> {
        for lock in query.locks.drain(..) {
            if let Some(table) = lock.of.as_ref().and_then(|of| of.0.last()?.as_ident()) {
                let scope = self.names.scopes.last();
                let mut relations = scope.iter().flat_map(|scope| &scope.relations);
                if !relations.any(|relation| relation.alias.eq_ignore_ascii_case(&table.value)) {
                    let text =
                        format!("Unresolved table name `{}` in locking clause.", table.value);
                    return Err(SqlError::new(3568, text).into());
                }
            }
            self.sql.row_locks.add(&lock);
        }
        Ok(())
    }
}
