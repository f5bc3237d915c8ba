//! performance_schema.variables_info: the sources of the variables' values.

use std::collections::HashMap;
use std::time::SystemTime;

use tare::sync::PlainMutex;
use tare_rows::server::VariableInfo;

use super::Globals;
use tare_mysql::series::Series;
use tare_mysql::variable::{self, Settable};

/// Who has set which variable.
#[derive(Debug)]
pub struct Changes {
    /// Variables that did not have their default at the start.
    started: Vec<&'static str>,
    set: PlainMutex<HashMap<&'static str, (SystemTime, String, String)>>,
}

impl Changes {
    /// The state at the start, with the values of the command line.
    pub fn new(values: &HashMap<&'static str, String>, series: Series) -> Self {
        let others = variable::of(series)
            .iter()
            .filter(|v| values.get(v.name).is_some_and(|value| value != v.default));
        Self {
            started: others.map(|v| v.name).collect(),
            set: PlainMutex::new(HashMap::new()),
        }
    }

    /// Records a SET.
    pub fn set(&self, name: &'static str, user: String, host: String) {
        self.set
            .lock()
            .insert(name, (SystemTime::now(), user, host));
    }
}

impl Globals {
    /// The rows of variables_info.
    pub fn info(&self) -> Vec<VariableInfo> {
        let set = self.changes.set.lock();
        variable::of(self.series)
            .iter()
            .filter(|variable| variable.settable != Settable::Session)
            .map(|variable| {
                let set = set.get(variable.name).cloned();
                VariableInfo {
                    name: variable.name.to_owned(),
                    source: match (&set, self.changes.started.contains(&variable.name)) {
                        (Some(_), _) => "DYNAMIC",
                        (None, true) => "COMMAND_LINE",
                        (None, false) => "COMPILED",
                    },
                    path: String::new(),
                    min: variable.min,
                    max: variable.max,
                    set,
                }
            })
            .collect()
    }
}
