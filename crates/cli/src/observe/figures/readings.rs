//! What figures are computed from.

use std::collections::HashMap;

use tare_history::ServerStatus;

/// Values by the names of variables.
pub type Counters = HashMap<String, String>;

/// What figures are computed from.
pub struct Readings<'a> {
    /// Status variables, and counters of InnoDB.
    pub counters: &'a Counters,
    /// Settings.
    pub settings: &'a Counters,
    /// The seconds since the previous reading, and its counters.
    pub before: Option<(f64, &'a Counters)>,
    /// The files of the binary log, and their bytes.
    pub binary_log: Option<(usize, f64)>,
    /// What was read of replication, transactions and connections.
    pub status: &'a ServerStatus,
}

impl Readings<'_> {
    pub fn value(&self, name: &str) -> Option<f64> {
        self.counters.get(name)?.parse().ok()
    }

    pub fn setting(&self, name: &str) -> Option<f64> {
        self.settings.get(name)?.parse().ok()
    }

    /// The growth of a counter per second; `None` at the first reading, and after a restart.
    pub fn growth(&self, name: &str) -> Option<f64> {
        let (seconds, before) = self.before?;
        let before: f64 = before.get(name)?.parse().ok()?;
        let grown = self.value(name)? - before;
        (grown >= 0.0).then_some(grown / seconds)
    }

    /// The share of one counter in the sum of both, since the previous reading if they grew, in percent.
    pub fn share(&self, of: &str, others: &str) -> Option<f64> {
        let grown = self.growth(of).zip(self.growth(others));
        let grown = grown.filter(|(of, others)| of + others > 0.0);
        let (of, others) = grown.or_else(|| self.value(of).zip(self.value(others)))?;
        (of + others > 0.0).then(|| 100.0 * of / (of + others))
    }

    /// The age of the checkpoint, and how old it may become before InnoDB stops statements, in bytes. The setting has
    /// the capacity.
    pub fn checkpoint(&self) -> Option<(f64, f64, &'static str)> {
        // MariaDB.
        if let Some(age) = self.value("Innodb_checkpoint_age") {
            return Some((
                age,
                self.value("Innodb_checkpoint_max_age")?,
                "innodb_log_file_size",
            ));
        }
        // MySQL 8.0.30 and later.
        if let Some(current) = self.value("Innodb_redo_log_current_lsn") {
            let age = current - self.value("Innodb_redo_log_checkpoint_lsn")?;
            let setting = "innodb_redo_log_capacity";
            return Some((age, self.setting(setting)?, setting));
        }
        let age = self.value("log_lsn_checkpoint_age")?;
        let files = self.setting("innodb_log_files_in_group")?;
        let setting = "innodb_log_file_size";
        Some((age, files * self.setting(setting)?, setting))
    }
}
