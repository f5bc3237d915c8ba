//! The state of a session's transaction, and of the next one.

use mysql_common::constants::StatusFlags;

use crate::state::SessionState;

/// The transaction, open or not.
#[derive(Debug)]
pub struct Transaction {
    /// A transaction is open, by BEGIN or autocommit=0.
    pub open: bool,
    /// It began with a savepoint, and has used no table so far: clients do not see it.
    pub is_hidden: bool,
    /// READ ONLY.
    pub read_only: bool,
    /// The transaction has written.
    pub wrote: bool,
    /// Its event.
    pub point: Option<tare::transaction::Transaction>,
    /// @@autocommit.
    pub autocommit: bool,
    /// @@transaction_read_only.
    pub always_read_only: bool,
    /// SET TRANSACTION READ ONLY, for the next one.
    pub next_read_only: bool,
    /// The names of its savepoints, by their depth in SQLite. A name that a later savepoint has taken is empty.
    pub savepoints: Vec<String>,
    /// The last transaction read before it wrote: the next one queues as a writer when it begins to read.
    pub expects_write: bool,
}

impl Transaction {
    /// No open transaction, with the settings of the session's variables.
    pub fn of(state: &SessionState) -> Self {
        let is = |name: &str| state.text(name).as_deref() == Some("ON");
        Self {
            open: false,
            is_hidden: false,
            read_only: false,
            wrote: false,
            point: None,
            autocommit: is("autocommit"),
            always_read_only: is("transaction_read_only"),
            next_read_only: false,
            savepoints: Vec::new(),
            expects_write: false,
        }
    }

    /// The status flags of answers.
    pub fn status(&self) -> StatusFlags {
        let mut status = StatusFlags::empty();
        let is_visible = self.open && !self.is_hidden;
        status.set(StatusFlags::SERVER_STATUS_IN_TRANS, is_visible);
        status.set(
            StatusFlags::SERVER_STATUS_IN_TRANS_READONLY,
            is_visible && self.read_only,
        );
        status.set(StatusFlags::SERVER_STATUS_AUTOCOMMIT, self.autocommit);
        status
    }

    /// Whether the current statement may not write. Ends the effect of SET TRANSACTION READ ONLY on the
    /// next transaction, if the statement is one.
    pub fn take_read_only(&mut self) -> bool {
        if self.open {
            self.read_only
        } else {
            self.always_read_only || std::mem::take(&mut self.next_read_only)
        }
    }

    /// Ends it, after a commit or a rollback.
    pub fn end(&mut self) {
        self.open = false;
        self.is_hidden = false;
        self.read_only = false;
        self.wrote = false;
        self.point = None;
        self.savepoints.clear();
    }
}
