//! Retention: the oldest hours of a host are removed first.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::error::Error;
use crate::hour::Hour;
use crate::past::entries_with_prefix;
use crate::schema::TABLES;

/// How much of a host's history is retained.
#[derive(Clone, Copy, Debug, Default)]
pub struct Retention {
    /// Hours that ended longer ago are removed.
    pub age: Option<Duration>,
    /// The oldest hours are removed until the rest takes at most so many bytes. The hour that is
    /// being written stays.
    pub bytes: Option<u64>,
}

/// The files of a host, a table and an hour.
struct HourDirectory {
    hour: Hour,
    path: PathBuf,
    bytes: u64,
}

impl Retention {
    /// Removes what is not retained. Returns the number of bytes.
    ///
    /// # Errors
    /// [`Error`]: a directory cannot be read or removed.
    pub fn apply(&self, root: &Path, host: &str, now: SystemTime) -> Result<u64, Error> {
        if self.age.is_none() && self.bytes.is_none() {
            return Ok(0);
        }
        let mut hours = list_hours(root, host)?;
        hours.sort_by_key(|each| each.hour);
        let mut bytes: u64 = hours.iter().map(|each| each.bytes).sum();
        let mut removed = 0;
        let oldest = self.age.and_then(|age| now.checked_sub(age));
        for directory in hours {
            let is_old = oldest.is_some_and(|oldest| directory.hour.end() < oldest);
            let is_much = self.bytes.is_some_and(|most| bytes > most) && directory.hour.end() < now;
            if !is_old && !is_much {
                break;
            }
            fs::remove_dir_all(&directory.path).map_err(Error::at(&directory.path))?;
            // Directories with files of other hosts are not empty and stay.
            for empty in directory.path.ancestors().skip(1).take(2) {
                let _ = fs::remove_dir(empty);
            }
            bytes -= directory.bytes;
            removed += directory.bytes;
        }
        Ok(removed)
    }
}

fn list_hours(root: &Path, host: &str) -> Result<Vec<HourDirectory>, Error> {
    let mut all = Vec::new();
    for table in TABLES.iter().filter(|table| table.by_hour) {
        for (date, dates) in entries_with_prefix(&root.join(table.name), "date=")? {
            for (hour, hours) in entries_with_prefix(&dates, "hour=")? {
                let path = hours.join(format!("host={host}"));
                if let (Some(hour), true) = (Hour::parse(&date, &hour), path.is_dir()) {
                    let bytes = bytes_in(&path)?;
                    all.push(HourDirectory { hour, path, bytes });
                }
            }
        }
    }
    Ok(all)
}

fn bytes_in(directory: &Path) -> Result<u64, Error> {
    let entries = fs::read_dir(directory).map_err(Error::at(directory))?;
    let bytes = entries.map(|entry| entry.and_then(|entry| Ok(entry.metadata()?.len())));
    bytes
        .sum::<std::io::Result<u64>>()
        .map_err(Error::at(directory))
}
