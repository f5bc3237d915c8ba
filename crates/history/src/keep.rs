//! How much is kept: the oldest hours of a host go first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::hour::Hour;
use crate::past::parts;
use crate::schema::TABLES;

/// What is kept of a host's history.
#[derive(Clone, Copy, Debug, Default)]
pub struct Keep {
    /// Hours that ended longer ago are removed.
    pub age: Option<Duration>,
    /// The oldest hours are removed until the rest takes at most so many bytes. The hour that is
    /// being written stays.
    pub bytes: Option<u64>,
}

/// What a host recorded in an hour, in one table.
struct Kept {
    hour: Hour,
    path: PathBuf,
    bytes: u64,
}

impl Keep {
    /// Removes what is not kept. Gives how many bytes.
    ///
    /// # Errors
    /// [`Error`]: a directory cannot be read or removed.
    pub fn apply(&self, root: &Path, host: &str, now: SystemTime) -> Result<u64, Error> {
        if self.age.is_none() && self.bytes.is_none() {
            return Ok(0);
        }
        let mut kept = all(root, host)?;
        kept.sort_by_key(|kept| kept.hour);
        let mut bytes: u64 = kept.iter().map(|kept| kept.bytes).sum();
        let mut removed = 0;
        let oldest = self.age.and_then(|age| now.checked_sub(age));
        for kept in kept {
            let is_old = oldest.is_some_and(|oldest| kept.hour.end() < oldest);
            let is_much = self.bytes.is_some_and(|most| bytes > most) && kept.hour.end() < now;
            if !is_old && !is_much {
                break;
            }
            fs::remove_dir_all(&kept.path).map_err(Error::at(&kept.path))?;
            // What other hosts have there stays.
            for empty in kept.path.ancestors().skip(1).take(2) {
                let _ = fs::remove_dir(empty);
            }
            bytes -= kept.bytes;
            removed += kept.bytes;
        }
        Ok(removed)
    }
}

fn all(root: &Path, host: &str) -> Result<Vec<Kept>, Error> {
    let mut found = Vec::new();
    for table in TABLES.iter().filter(|table| table.by_hour) {
        for (date, dates) in parts(&root.join(table.name), "date=")? {
            for (hour, hours) in parts(&dates, "hour=")? {
                let path = hours.join(format!("host={host}"));
                if let (Some(hour), true) = (Hour::parse(&date, &hour), path.is_dir()) {
                    let bytes = bytes_in(&path)?;
                    found.push(Kept { hour, path, bytes });
                }
            }
        }
    }
    Ok(found)
}

fn bytes_in(directory: &Path) -> Result<u64, Error> {
    let entries = fs::read_dir(directory).map_err(Error::at(directory))?;
    let bytes = entries.map(|entry| entry.and_then(|entry| Ok(entry.metadata()?.len())));
    bytes
        .sum::<std::io::Result<u64>>()
        .map_err(Error::at(directory))
}
