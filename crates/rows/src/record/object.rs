//! Tables and other objects, and what was done to them.

use std::sync::Arc;

use tare_layout::object::TABLE_LOCKS;

use super::event::{HasStat, Stat};

/// What an object is.
#[derive(Debug, Clone)]
pub struct Named {
    /// OBJECT_TYPE.
    pub kind: &'static str,
    /// OBJECT_SCHEMA.
    pub schema: Arc<str>,
    /// OBJECT_NAME.
    pub name: Arc<str>,
}

/// A row about an object.
pub trait HasName: 'static {
    /// It.
    fn named(&self) -> &Named;
}

/// The I/O of a table, in total or through one index.
#[derive(Debug, Clone)]
pub struct TableIo {
    /// The table.
    pub named: Named,
    /// The index, in the summary by index.
    pub index: Option<Arc<str>>,
    /// All.
    pub all: Stat,
    /// Fetches.
    pub read: Stat,
    /// Inserts, updates, deletes.
    pub write: Stat,
    /// Fetches, inserts, updates, deletes.
    pub each: [Stat; 4],
}

impl HasName for TableIo {
    fn named(&self) -> &Named {
        &self.named
    }
}

impl HasStat for TableIo {
    fn stat(&self) -> &Stat {
        &self.all
    }
}

/// A table's locks.
#[derive(Debug, Clone)]
pub struct TableLocks {
    /// The table.
    pub named: Named,
    /// All.
    pub all: Stat,
    /// Locks that let others read.
    pub read: Stat,
    /// The rest.
    pub write: Stat,
    /// By [`TableLock`].
    pub each: [Stat; TABLE_LOCKS],
}

impl HasName for TableLocks {
    fn named(&self) -> &Named {
        &self.named
    }
}

impl HasStat for TableLocks {
    fn stat(&self) -> &Stat {
        &self.all
    }
}

/// All waits for an object.
#[derive(Debug, Clone)]
pub struct ObjectWaits {
    /// It.
    pub named: Named,
    /// They.
    pub all: Stat,
}

impl HasName for ObjectWaits {
    fn named(&self) -> &Named {
        &self.named
    }
}

impl HasStat for ObjectWaits {
    fn stat(&self) -> &Stat {
        &self.all
    }
}
