//! Row locks, of a server that tells them.

use std::sync::Arc;

use tare_mysql::error::SqlError;
use tare_reader::row_locks::{RowLock, RowLockWait, RowLocks};

use super::{Listed, Snapshot};

impl Snapshot {
    /// Asked once: a statement that joins both tables sees one moment.
    fn row_locks(&self) -> Result<Arc<RowLocks>, SqlError> {
        if let Some(known) = self.row_locks.get() {
            return Ok(known.clone());
        }
        let told = match &self.host {
            Some(host) => (host.segment.row_locks())
                .map_err(|error| SqlError::new(1105, format!("Cannot read row locks: {error}")))?,
            None => RowLocks::default(),
        };
        Ok(self.row_locks.get_or_init(|| Arc::new(told)).clone())
    }

    /// data_locks.
    pub fn data_locks(&self) -> Listed<RowLock> {
        let told = self.row_locks()?;
        let all = (0..told.locks.len()).map(move |i| told.locks[i].clone());
        Ok(Box::new(all))
    }

    /// data_lock_waits.
    pub fn data_lock_waits(&self) -> Listed<RowLockWait> {
        let told = self.row_locks()?;
        let all = (0..told.waits.len()).map(move |i| told.waits[i].clone());
        Ok(Box::new(all))
    }
}
