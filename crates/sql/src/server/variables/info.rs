//! performance_schema.variables_info: where the variables' values come from.

use std::collections::HashMap;
use std::time::SystemTime;

use tare::sync::PlainMutex;

use super::list::{LIMITS, VARIABLES};
use super::{Globals, Kind};
use crate::catalog::VariableInfo;

/// Who has set what.
#[derive(Debug)]
pub struct Changes {
    /// Variables that were not the default at the start.
    started: Vec<&'static str>,
    set: PlainMutex<HashMap<&'static str, (SystemTime, String, String)>>,
}

impl Changes {
    /// At the start, with the values that the command line gave.
    pub fn new(values: &HashMap<&'static str, String>) -> Self {
        let others = VARIABLES
            .iter()
            .filter(|(name, _, default)| values.get(name).is_some_and(|value| value != default));
        Self {
            started: others.map(|(name, ..)| *name).collect(),
            set: PlainMutex::new(HashMap::new()),
        }
    }

    /// SET.
    pub fn set(&self, name: &'static str, user: String, host: String) {
        self.set
            .lock()
            .insert(name, (SystemTime::now(), user, host));
    }
}

impl Globals {
    /// Where the values come from.
    pub fn info(&self) -> Vec<VariableInfo> {
        let set = self.changes.set.lock();
        let known = VARIABLES
            .iter()
            .filter(|(_, kind, _)| *kind != Kind::Session);
        known
            .map(|(name, ..)| {
                let limits = LIMITS
                    .binary_search_by(|l| l.0.cmp(name))
                    .map(|i| LIMITS[i]);
                let (_, min, max) = limits.unwrap_or((name, "0", "0"));
                let set = set.get(name).cloned();
                VariableInfo {
                    name: (*name).to_owned(),
                    source: match (&set, self.changes.started.contains(name)) {
                        (Some(_), _) => "DYNAMIC",
                        (None, true) => "COMMAND_LINE",
                        (None, false) => "COMPILED",
                    },
                    path: String::new(),
                    min,
                    max,
                    set,
                }
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted() {
        assert!(VARIABLES.is_sorted_by(|a, b| a.0 < b.0));
        assert!(LIMITS.is_sorted_by(|a, b| a.0 < b.0));
    }
}
