//! sys_config: the options of sys's own views and procedures. Users change it; it is stored in the data
//! directory.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use serde_json::{Value, json};
use tare_mysql::error::SqlError;
use tare_rows::options::{Options, Setting};
use tare_rows::time::datetime;

/// The options that a fresh schema has, in MySQL 8.0.
const DEFAULTS: [(&str, Option<&str>); 6] = [
    ("diagnostics.allow_i_s_tables", Some("OFF")),
    ("diagnostics.include_raw", Some("OFF")),
    ("ps_thread_trx_info.max_length", Some("65535")),
    ("statement_performance_analyzer.limit", Some("100")),
    ("statement_performance_analyzer.view", None),
    ("statement_truncate_len", Some("64")),
];

/// The table's rows.
#[derive(Debug)]
pub struct SysConfig {
    rows: Mutex<Vec<Setting>>,
    path: Option<PathBuf>,
}

impl SysConfig {
    /// The rows of a file; the defaults where there is no readable file.
    pub fn load(path: Option<PathBuf>) -> Self {
        let stored = path
            .as_ref()
            .and_then(|path| std::fs::read_to_string(path).ok())
            .and_then(|text| parse(&text));
        SysConfig {
            rows: Mutex::new(stored.unwrap_or_else(defaults)),
            path,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Setting>> {
        self.rows.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An option's value; `None` where it is NULL or does not exist.
    pub fn get(&self, variable: &str) -> Option<String> {
        let rows = self.lock();
        let row = rows
            .iter()
            .find(|r| r.variable.eq_ignore_ascii_case(variable))?;
        row.value.clone()
    }

    fn save(&self, rows: &[Setting]) -> Result<(), SqlError> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let rows: Vec<Value> = rows
            .iter()
            .map(|r| json!([r.variable, r.value, r.set_time, r.set_by]))
            .collect();
        let written = path.with_extension("new");
        std::fs::write(&written, Value::from(rows).to_string())
            .and_then(|()| std::fs::rename(&written, path))
            .map_err(|error| {
                SqlError::internal(format!(
                    "{}: {error}; the change holds until the server stops",
                    path.display()
                ))
            })
    }
}

impl Options for SysConfig {
    fn rows(&self) -> Vec<Setting> {
        let mut rows = self.lock().clone();
        rows.sort_by(|a, b| a.variable.cmp(&b.variable));
        rows
    }

    fn insert(&self, variable: &str, value: Option<String>, who: &str) -> Result<(), SqlError> {
        let mut rows = self.lock();
        if rows
            .iter()
            .any(|r| r.variable.eq_ignore_ascii_case(variable))
        {
            let text = format!("Duplicate entry '{variable}' for key 'PRIMARY'");
            return Err(SqlError::new(1062, text));
        }
        let id = rows.iter().map(|r| r.id).max().unwrap_or(0) + 1;
        rows.push(Setting {
            id,
            variable: variable.to_owned(),
            value,
            set_time: Some(datetime(SystemTime::now())),
            set_by: Some(who.to_owned()),
        });
        self.save(&rows)
    }

    fn update(&self, id: i64, value: Option<String>, who: &str) -> Result<(), SqlError> {
        let mut rows = self.lock();
        if let Some(row) = rows.iter_mut().find(|r| r.id == id) {
            row.value = value;
            row.set_time = Some(datetime(SystemTime::now()));
            row.set_by = Some(who.to_owned());
        }
        self.save(&rows)
    }

    fn delete(&self, id: i64) -> Result<(), SqlError> {
        let mut rows = self.lock();
        rows.retain(|r| r.id != id);
        self.save(&rows)
    }
}

fn defaults() -> Vec<Setting> {
    let now = datetime(SystemTime::now());
    let row = |(id, (variable, value)): (i64, &(&str, Option<&str>))| Setting {
        id,
        variable: (*variable).to_owned(),
        value: value.map(str::to_owned),
        set_time: Some(now.clone()),
        set_by: None,
    };
    (1..).zip(&DEFAULTS).map(row).collect()
}

fn parse(text: &str) -> Option<Vec<Setting>> {
    let Ok(Value::Array(rows)) = serde_json::from_str(text) else {
        return None;
    };
    let row = |(id, row): (i64, Value)| {
        let field = |i: usize| row.get(i).and_then(Value::as_str).map(str::to_owned);
        Some(Setting {
            id,
            variable: field(0)?,
            value: field(1),
            set_time: field(2),
            set_by: field(3),
        })
    };
    (1..).zip(rows).map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_outlive_the_server() {
        let path = std::env::temp_dir().join(format!("tare-sys-config-{}", std::process::id()));
        let config = SysConfig::load(Some(path.clone()));
        assert_eq!(config.get("STATEMENT_truncate_len").as_deref(), Some("64"));
        config.insert("mine", None, "root@localhost").expect("new");
        assert_eq!(
            config.insert("Mine", None, "x").map_err(|e| e.code),
            Err(1062)
        );
        let id = |name: &str| {
            config
                .rows()
                .iter()
                .find(|r| r.variable == name)
                .map(|r| r.id)
        };
        config
            .update(
                id("statement_truncate_len").expect("there"),
                Some("32".into()),
                "x",
            )
            .expect("written");
        config
            .delete(id("diagnostics.include_raw").expect("there"))
            .expect("gone");
        let again = SysConfig::load(Some(path.clone()));
        let named = |c: &SysConfig| {
            let rows = c.rows().into_iter();
            rows.map(|r| (r.variable, r.value, r.set_by))
                .collect::<Vec<_>>()
        };
        assert_eq!(named(&again), named(&config));
        assert_eq!(again.get("statement_truncate_len").as_deref(), Some("32"));
        std::fs::write(&path, "[[1]]").expect("written");
        assert_eq!(SysConfig::load(Some(path.clone())).rows().len(), 6);
        let _ = std::fs::remove_file(path);
    }
}
