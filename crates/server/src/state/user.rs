//! User variables: `@x`.

use std::collections::HashMap;

use rusqlite::types::Value;
use tare_rows::server::UserVariable;

use crate::points::LOCK_SESSION;
use tare::sync::Mutex;

/// The user variables of a session.
#[derive(Debug)]
pub struct UserVariables(Mutex<HashMap<String, Value>>);

impl Default for UserVariables {
    fn default() -> Self {
        Self(Mutex::new(&LOCK_SESSION, HashMap::new()))
    }
}

impl UserVariables {
    /// The value of a variable; NULL if it was never set.
    pub fn get(&self, name: &str) -> Value {
        self.0.lock().get(name).cloned().unwrap_or(Value::Null)
    }

    /// Sets a variable.
    pub fn set(&self, name: &str, value: Value) {
        self.0.lock().insert(name.to_owned(), value);
    }

    /// Removes all.
    pub fn clear(&self) {
        self.0.lock().clear();
    }

    /// All of them, by name.
    pub fn list(&self) -> Vec<UserVariable> {
        let variables = self.0.lock();
        let mut all: Vec<_> = variables
            .iter()
            .map(|(name, value)| UserVariable {
                name: name.clone(),
                value: match value {
                    Value::Null => None,
                    Value::Integer(n) => Some(n.to_string().into_bytes()),
                    Value::Real(x) => Some(x.to_string().into_bytes()),
                    Value::Text(t) => Some(t.clone().into_bytes()),
                    Value::Blob(b) => Some(b.clone()),
                },
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}
