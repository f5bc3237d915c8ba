//! User variables: `@x`.

use std::collections::HashMap;
use std::mem::discriminant;
use std::sync::atomic::{AtomicU64, Ordering};

use mysql_common::constants::ColumnType;
use rusqlite::types::Value;
use tare_dialect::schema::VariableTypes;
use tare_mysql::wire::column::WireType;
use tare_rows::server::UserVariable;

use crate::points::LOCK_SESSION;
use tare::sync::Mutex;

/// The variable with the trace to which a session's statements belong, and the query attribute with that of one.
pub const TRACEPARENT: &str = "traceparent";

/// The user variables of a session.
#[derive(Debug)]
pub struct UserVariables {
    all: Mutex<HashMap<String, Variable>>,
    /// Grows when a variable gets a value of another type.
    types_version: AtomicU64,
    /// Grows when `@traceparent` is set.
    traceparent_version: AtomicU64,
}

#[derive(Debug)]
struct Variable {
    value: Value,
    /// The value is a number, even if SQLite has a text of its digits.
    is_number: bool,
}

impl Variable {
    /// NULL has no type: the next value may have any.
    fn wire(&self) -> Option<WireType> {
        Some(match &self.value {
            Value::Null => return None,
            Value::Integer(_) => WireType::bigint(),
            Value::Real(_) => WireType::double(),
            Value::Text(digits) if self.is_number => match digits.split_once('.') {
                None if digits.parse::<u64>().is_ok() => WireType::bigint_unsigned(),
                None => WireType::decimal(digits.len() as u32, 0),
                Some((_, fraction)) => {
                    WireType::decimal(digits.len() as u32, fraction.len().min(30) as u8)
                }
            },
            Value::Text(_) => WireType::text(255),
            Value::Blob(_) => WireType::number(ColumnType::MYSQL_TYPE_VAR_STRING, 255),
        })
    }
}

impl Default for UserVariables {
    fn default() -> Self {
        Self {
            all: Mutex::new(&LOCK_SESSION, HashMap::new()),
            types_version: AtomicU64::new(0),
            traceparent_version: AtomicU64::new(0),
        }
    }
}

impl VariableTypes for UserVariables {
    fn variable_type(&self, name: &str) -> Option<WireType> {
        self.all.lock().get(name).and_then(Variable::wire)
    }
}

impl UserVariables {
    /// The value of a variable; NULL if it was never set.
    pub fn get(&self, name: &str) -> Value {
        let all = self.all.lock();
        all.get(name).map_or(Value::Null, |v| v.value.clone())
    }

    /// Sets a variable. The value may be a number of which SQLite has a text.
    pub fn set(&self, name: &str, value: Value, is_number: bool) {
        let new = Variable { value, is_number };
        let mut all = self.all.lock();
        let same_type = all.get(name).is_some_and(|old| {
            discriminant(&old.value) == discriminant(&new.value) && old.wire() == new.wire()
        });
        if !same_type {
            self.types_version.fetch_add(1, Ordering::Relaxed);
        }
        all.insert(name.to_owned(), new);
        if name == TRACEPARENT {
            self.traceparent_version.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Another number after `@traceparent` was set.
    pub fn traceparent_version(&self) -> u64 {
        self.traceparent_version.load(Ordering::Relaxed)
    }

    /// The version of the variables' types: a plan is valid as long as it stays.
    pub fn types_version(&self) -> u64 {
        self.types_version.load(Ordering::Relaxed)
    }

    /// Removes all.
    pub fn clear(&self) {
        self.all.lock().clear();
        self.traceparent_version.fetch_add(1, Ordering::Relaxed);
        self.types_version.fetch_add(1, Ordering::Relaxed);
    }

    /// All of them, by name.
    pub fn list(&self) -> Vec<UserVariable> {
        let variables = self.all.lock();
        let mut all: Vec<_> = variables
            .iter()
            .map(|(name, variable)| UserVariable {
                name: name.clone(),
                value: match &variable.value {
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
