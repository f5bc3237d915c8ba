//! Locks for which sessions waited, as table `blocks` has them.

use std::collections::BTreeMap;

/// Who held a lock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Holder {
    /// The server did not record it.
    Unknown,
    /// A session without a recorded statement.
    WithoutStatement,
    /// A session that ran, or had run last, a statement with this digest.
    Digest(String),
    /// The same with this text, which has no digest.
    Text(String),
}

/// A lock for which sessions waited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lock {
    /// Column `kind` of table `blocks`.
    pub kind: String,
    /// The schema of the locked object.
    pub object_schema: Option<String>,
    /// The locked object.
    pub object: Option<String>,
    /// Who held it.
    pub holder: Holder,
}

impl Lock {
    /// The lock without its holder.
    pub fn name(&self) -> String {
        let object: Vec<&str> = (self.object_schema.iter())
            .chain(&self.object)
            .map(String::as_str)
            .collect();
        match object.is_empty() {
            true => format!("a {} lock", self.kind),
            false => format!("a {} lock of {}", self.kind, object.join(".")),
        }
    }
}

/// The seconds that sessions waited for locks in each batch of a recording.
#[derive(Clone, Debug, Default)]
pub struct Blocking {
    /// For all locks together.
    total: Vec<f64>,
    /// For each lock.
    pub by_lock: BTreeMap<Lock, Vec<f64>>,
    /// The texts of the digests of holders.
    pub texts: BTreeMap<String, String>,
}

impl Blocking {
    /// No waits.
    pub fn new(batches: usize) -> Self {
        Self {
            total: vec![0.0; batches],
            ..Self::default()
        }
    }

    /// Adds seconds in which a session waited.
    pub fn add(&mut self, lock: Lock, batch: usize, seconds: f64) {
        let batches = self.total.len();
        let of_lock = self.by_lock.entry(lock);
        of_lock.or_insert_with(|| vec![0.0; batches])[batch] += seconds;
        self.total[batch] += seconds;
    }

    /// The seconds of each batch for a lock, or for all together.
    pub fn seconds(&self, lock: Option<&Lock>) -> Option<&Vec<f64>> {
        match lock {
            Some(lock) => self.by_lock.get(lock),
            None => Some(&self.total),
        }
    }
}
