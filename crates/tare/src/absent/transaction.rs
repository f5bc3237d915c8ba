//! Transactions.

pub use crate::modes::{Isolation, Mode};

/// A transaction.
#[must_use = "the transaction is rolled back when this is dropped"]
#[derive(Debug)]
pub struct Transaction(());

/// Begins a transaction.
#[inline(always)]
pub fn start(_: &crate::class::Class, _: Mode) -> Transaction {
    Transaction(())
}

/// Begins a transaction of a single statement.
#[inline(always)]
pub fn of_statement(class: &crate::class::Class, mode: Mode) -> Transaction {
    start(class, mode)
}

impl Transaction {
    /// Ends it as committed.
    #[inline(always)]
    pub fn commit(self) {}

    /// Ends it as rolled back.
    #[inline(always)]
    pub fn rollback(self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn trx_id(&self, _: u64) {}

    /// Does nothing.
    #[inline(always)]
    pub fn savepoint(&self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn rollback_to_savepoint(&self) {}

    /// Does nothing.
    #[inline(always)]
    pub fn release_savepoint(&self) {}
}
