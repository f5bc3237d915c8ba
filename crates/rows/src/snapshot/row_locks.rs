//! data_locks and data_lock_waits, of servers whose row locks can be read.

use std::sync::Arc;

use tare_mysql::error::SqlError;
use tare_reader::row_locks::{RowLock, RowLockWait, RowLocks};

use super::{RowsResult, Snapshot};

impl Snapshot {
    /// Read once, so that a statement that joins both tables sees one moment.
    fn row_locks(&self) -> Result<Arc<RowLocks>, SqlError> {
        if let Some(locks) = self.row_locks.get() {
            return Ok(locks.clone());
        }
        let locks = match &self.host {
            Some(host) => (host.segment.row_locks())
                .map_err(|error| SqlError::new(1105, format!("Cannot read row locks: {error}")))?,
            None => RowLocks::default(),
        };
        Ok(self.row_locks.get_or_init(|| Arc::new(locks)).clone())
    }

    /// data_locks.
    pub fn data_locks(&self) -> RowsResult<RowLock> {
        let all = self.row_locks()?;
        let rows = (0..all.locks.len()).map(move |i| all.locks[i].clone());
        Ok(Box::new(rows))
    }

    /// data_lock_waits.
    pub fn data_lock_waits(&self) -> RowsResult<RowLockWait> {
        let all = self.row_locks()?;
        let rows = (0..all.waits.len()).map(move |i| all.waits[i].clone());
        Ok(Box::new(rows))
    }
}
