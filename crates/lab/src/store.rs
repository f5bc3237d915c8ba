//! The files of a run: plan.json, a file for each cell, and logs. Each is written atomically.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cell;
use crate::machine::Machine;
use crate::matrix::Cell;
use crate::recipe::Recipe;
use crate::stats::interval::FEWEST;
use crate::stats::starts::Coverage;
use crate::stopping_rule::StoppingRule;

/// The plan of a run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Plan {
    /// The recipe's name.
    pub name: String,
    /// Whether it was run in its quick form.
    pub quick: bool,
    /// The seed of the random order.
    pub seed: u64,
    /// The machine.
    pub machine: Machine,
    /// The recipe as it is run.
    pub recipe: Recipe,
    /// Options of the windows in which a running server is weighed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub live: Option<crate::live::Live>,
    /// Calibrated rates, by server and workload.
    #[serde(default)]
    pub rates: BTreeMap<String, f64>,
    /// The rule of a run that stops by itself.
    #[serde(rename = "sequel", default, skip_serializing_if = "Option::is_none")]
    pub stopping_rule: Option<StoppingRule>,
    /// Every cell of every repetition, in order.
    pub cells: Vec<Cell>,
}

impl Plan {
    /// The plan of a run of a fixed size, without a machine.
    pub fn new(name: &str, recipe: Recipe, seed: u64) -> Self {
        Self {
            name: name.to_owned(),
            quick: false,
            seed,
            machine: Machine::default(),
            cells: recipe.plan(seed),
            live: None,
            rates: BTreeMap::new(),
            stopping_rule: None,
            recipe,
        }
    }

    /// A warning for a run whose fixed number of repetitions is too small for intervals.
    pub fn too_few(&self) -> Option<String> {
        let n = self.recipe.run.repetitions as usize;
        let has_comparisons = self.recipe.baseline.is_some() && self.stopping_rule.is_none();
        (has_comparisons && n < FEWEST).then(|| {
            format!(
                "differences will have no intervals: these take {FEWEST} repetitions, and the plan has {n} \
                 (--repetitions {FEWEST}; a plan that has begun keeps its number)"
            )
        })
    }

    /// The coverage of the intervals.
    pub fn coverage(&self) -> Coverage {
        match &self.stopping_rule {
            None => Coverage::FixedSize,
            Some(stopping_rule) if stopping_rule.ended.is_some() => Coverage::Stopped,
            Some(_) => Coverage::Anytime,
        }
    }
}

/// Why a run's directory cannot be created or read.
#[derive(Debug, Error)]
pub enum StoreError {
    /// A file or directory cannot be accessed.
    #[error("{path}: {error}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
    /// A file has the wrong content.
    #[error("{path}: {error}; remove it, and its cell is measured again")]
    Content {
        /// Which.
        path: PathBuf,
        /// Where.
        error: serde_json::Error,
    },
    /// The directory has results already.
    #[error("{0} already has results; continue with --resume {0}, or give another --output")]
    There(PathBuf),
}

/// The directory of a run.
#[derive(Debug)]
pub struct Store {
    directory: PathBuf,
    /// Files that could not be written yet, with the last error.
    unwritten: BTreeMap<PathBuf, (Vec<u8>, String)>,
}

const PLAN: &str = "plan.json";

impl Store {
    /// Creates the directory with its plan.
    ///
    /// # Errors
    /// The directory cannot be created, or has results already.
    pub fn create(directory: &Path, plan: &Plan) -> Result<Self, StoreError> {
        if directory.join(PLAN).exists() {
            return Err(StoreError::There(directory.to_owned()));
        }
        let failed = |path: PathBuf| move |error| StoreError::File { path, error };
        for part in ["cells", "logs"] {
            let path = directory.join(part);
            fs::create_dir_all(&path).map_err(failed(path.clone()))?;
        }
        let store = Self {
            directory: directory.to_owned(),
            unwritten: BTreeMap::new(),
        };
        store.write_plan(plan)?;
        Ok(store)
    }

    /// Opens a directory; returns it with its plan and results.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn open(directory: &Path) -> Result<(Self, Plan, Vec<cell::Result>), StoreError> {
        let plan = read(&directory.join(PLAN))?;
        let cells = directory.join("cells");
        let entries =
            fs::read_dir(&cells).map_err(|error| StoreError::File { path: cells, error })?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        });
        paths.sort();
        let results = paths
            .iter()
            .map(|path| read(path))
            .collect::<Result<_, _>>()?;
        let store = Self {
            directory: directory.to_owned(),
            unwritten: BTreeMap::new(),
        };
        Ok((store, plan, results))
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.directory
    }

    /// Replaces plan.json.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write_plan(&self, plan: &Plan) -> Result<(), StoreError> {
        let path = self.directory.join(PLAN);
        write(&path, &json(plan)).map_err(|error| StoreError::File { path, error })
    }

    /// Saves a cell on disk, or in memory until it can be written.
    pub fn save(&mut self, result: &cell::Result, log: Option<&str>) {
        let number = result.cell.number;
        let cell = self.directory.join(format!("cells/{number:04}.json"));
        self.unwritten.insert(cell, (json(result), String::new()));
        let path = self.directory.join(format!("logs/{number:04}.log"));
        match log.filter(|log| !log.is_empty()) {
            Some(log) => drop(
                self.unwritten
                    .insert(path, (log.as_bytes().to_vec(), String::new())),
            ),
            // The log of an earlier attempt.
            None => drop(fs::remove_file(path)),
        }
        self.try_again();
    }

    /// Writes the files that could not be written before.
    pub fn try_again(&mut self) {
        self.unwritten
            .retain(|path, (bytes, why)| match write(path, bytes) {
                Ok(()) => false,
                Err(error) => {
                    *why = error.to_string();
                    true
                }
            });
    }

    /// The files that still cannot be written, and why.
    pub fn unwritten(&self) -> impl Iterator<Item = (&Path, &str)> {
        self.unwritten
            .iter()
            .map(|(path, (_, why))| (path.as_path(), why.as_str()))
    }

    /// Writes a file of the report.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let path = self.directory.join(name);
        write(&path, bytes).map_err(|error| StoreError::File { path, error })
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    let mut bytes = serde_json::to_vec_pretty(value).expect("our own types have texts for keys");
    bytes.push(b'\n');
    bytes
}

fn read<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, StoreError> {
    let path = path.to_owned();
    match fs::read(&path) {
        Err(error) => Err(StoreError::File { path, error }),
        Ok(bytes) => {
            serde_json::from_slice(&bytes).map_err(|error| StoreError::Content { path, error })
        }
    }
}

/// Writes a temporary file and renames it, so that no reader sees a part of it.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension("tmp");
    let written = fs::File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_data()
    });
    let result = written.and_then(|()| fs::rename(&temporary, path));
    if result.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Outcome;
    use crate::matrix::Key;

    fn failed(number: u32) -> cell::Result {
        let key = Key {
            server: "s".into(),
            workload: "w".into(),
            connections: 1,
            configuration: "c".into(),
            again: false,
        };
        let reason = "the disk is full".into();
        cell::Result {
            cell: Cell {
                number,
                repetition: 1,
                key,
            },
            outcome: Outcome::Failed { reason },
        }
    }

    #[test]
    fn results_that_cannot_be_written_are_retried() {
        let directory = std::env::temp_dir().join(format!("tare-store-{}", std::process::id()));
        let _ = fs::remove_dir_all(&directory);
        let recipe = Recipe::find("locks").expect("shipped");
        let plan = Plan::new("locks", recipe, 1);
        let mut store = Store::create(&directory, &plan).expect("a directory");
        assert!(matches!(
            Store::create(&directory, &plan),
            Err(StoreError::There(_))
        ));
        store.save(&failed(1), Some("the log's end"));
        assert_eq!(store.unwritten().count(), 0);
        // Root may write anywhere; a directory that is replaced by a file refuses everybody, as a full
        // disk does.
        let cells = directory.join("cells");
        fs::rename(&cells, directory.join("aside")).expect("renamed");
        fs::write(&cells, "").expect("written");
        store.save(&failed(2), None);
        store.save(&failed(3), None);
        let unwritten: Vec<&str> = store.unwritten().map(|(_, why)| why).collect();
        assert!(
            unwritten.len() == 2 && unwritten.iter().all(|why| !why.is_empty()),
            "{unwritten:?}"
        );
        fs::remove_file(&cells).expect("removed");
        fs::rename(directory.join("aside"), &cells).expect("renamed");
        store.save(&failed(4), None);
        assert_eq!(store.unwritten().count(), 0);
        let (_, read, results) = Store::open(&directory).expect("whole");
        assert_eq!(read.cells, plan.cells);
        assert_eq!(
            results
                .iter()
                .map(|result| result.cell.number)
                .collect::<Vec<_>>(),
            [1, 2, 3, 4]
        );
        assert!(directory.join("logs/0001.log").exists());
        fs::remove_dir_all(&directory).expect("removed");
    }
}
