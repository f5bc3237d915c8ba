//! A session's transaction: what it is, and what the next one will be.

use mysql_common::constants::StatusFlags;

use crate::state::SessionState;

/// The transaction, open or not.
#[derive(Debug)]
pub struct Transaction {
    /// BEGIN was said (or implied by autocommit=0).
    pub open: bool,
    /// READ ONLY.
    pub read_only: bool,
    /// Something was written.
    pub wrote: bool,
    /// Its event.
    pub point: Option<tare::transaction::Transaction>,
    /// @@autocommit.
    pub autocommit: bool,
    /// @@transaction_read_only.
    pub always_read_only: bool,
    /// SET TRANSACTION READ ONLY, for the next one.
    pub next_read_only: bool,
    /// The last transaction read first and wrote then: the next one is let in as a writer.
    pub expects_write: bool,
}

impl Transaction {
    /// None is open; the next one is as the session's variables have it.
    pub fn of(state: &SessionState) -> Self {
        let is = |name: &str| state.text(name).as_deref() == Some("ON");
        Self {
            open: false,
            read_only: false,
            wrote: false,
            point: None,
            autocommit: is("autocommit"),
            always_read_only: is("transaction_read_only"),
            next_read_only: false,
            expects_write: false,
        }
    }

    /// What answers say of it.
    pub fn status(&self) -> StatusFlags {
        let mut status = StatusFlags::empty();
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, self.open);
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.autocommit);
        status
    }

    /// Whether the statement at hand may not write.
    pub fn refuses_writes(&mut self) -> bool {
        if self.open {
            self.read_only
        } else {
            self.always_read_only || std::mem::take(&mut self.next_read_only)
        }
    }

    /// It has ended, in whatever way.
    pub fn end(&mut self) {
        self.open = false;
        self.read_only = false;
        self.wrote = false;
        self.point = None;
    }
}
