//! System variables, user variables, and what else a session knows about itself.

mod info;
mod list;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU16, Ordering};
use std::time::{Duration, Instant};

use rusqlite::types::Value;

use self::info::Changes;
use self::list::VARIABLES;
use super::config::Config;
use super::error::{Result, SqlError};
use super::points::{LOCK_GLOBALS, LOCK_SESSION};
use crate::dialect::admin::Scope;
use crate::storage::Control;
use crate::storage::functions::locks::UserLocks;
use crate::storage::sync::{Mutex, RwLock};

/// What the server calls itself. Clients look at the number before they ask for anything, so it
/// is the MySQL whose tables and protocol are served.
pub const VERSION: &str = concat!("8.0.15-tare-", env!("CARGO_PKG_VERSION"));

/// What kind of variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Cannot be set.
    Fixed,
    /// Can be set, by the session and for the server.
    Both,
    /// Can be set for the server only.
    Global,
    /// Is the session's alone.
    Session,
    /// Can be set for the server only; new sessions keep what they begin with.
    Shared,
}

fn find(name: &str) -> Option<&'static (&'static str, Kind, &'static str)> {
    VARIABLES
        .binary_search_by(|v| v.0.cmp(name))
        .ok()
        .map(|i| &VARIABLES[i])
        .or_else(|| VARIABLES.iter().find(|v| v.0 == name))
}

/// Whether there is such a system variable.
pub fn is_known(name: &str) -> bool {
    find(name).is_some()
}

/// The type of a variable's value on the wire, as its default tells.
pub fn type_of(name: &str) -> Option<crate::wire::column::WireType> {
    use crate::wire::column::WireType;
    let name = name.to_ascii_lowercase();
    let Some((_, _, default)) = find(&name) else {
        return is_known(&name).then(WireType::bigint_unsigned);
    };
    Some(if matches!(*default, "ON" | "OFF") {
        WireType::bigint()
    } else if default.parse::<u64>().is_ok() {
        WireType::bigint_unsigned()
    } else if default.parse::<f64>().is_ok() {
        WireType {
            decimals: 6,
            ..WireType::double()
        }
    } else {
        WireType::text(255)
    })
}

/// The server's values.
#[derive(Debug)]
pub struct Globals {
    /// The options of schema sys.
    sys_config: crate::sys::config::SysConfig,
    values: RwLock<HashMap<&'static str, String>>,
    user_locks: UserLocks,
    changes: Changes,
}

impl Globals {
    /// The defaults, and what the config says.
    pub fn new(config: &Config, socket: &str, port: u16) -> Self {
        let mut values = HashMap::new();
        for (name, kind, default) in VARIABLES {
            if *kind == Kind::Session {
                continue;
            }
            values.insert(*name, (*default).to_owned());
        }
        values.insert("datadir", format!("{}/", config.data.display()));
        values.insert("socket", socket.to_owned());
        values.insert("port", port.to_string());
        values.insert("max_connections", config.max_connections.to_string());
        values.insert("max_allowed_packet", config.max_allowed_packet.to_string());
        values.insert(
            "max_execution_time",
            config.max_execution_time.as_millis().to_string(),
        );
        values.insert(
            "innodb_lock_wait_timeout",
            config.lock_wait_timeout.as_secs().max(1).to_string(),
        );
        values.insert("thread_handling", config.thread_handling.to_string());
        values.insert("thread_pool_size", config.thread_pool_size.to_string());
        values.insert("report_port", port.to_string());
        values.insert("server_uuid", server_uuid(&config.data));
        values.insert("innodb_version", rusqlite::version().to_owned());
        values.insert("tmpdir", std::env::temp_dir().display().to_string());
        values.insert("open_files_limit", open_files_limit().to_string());
        values.insert(
            "performance_schema",
            if config.performance_schema {
                "ON"
            } else {
                "OFF"
            }
            .to_owned(),
        );
        if let Ok(name) = std::fs::read_to_string("/proc/sys/kernel/hostname") {
            values.insert("hostname", name.trim().to_owned());
        }
        Self {
            sys_config: crate::sys::config::SysConfig::load(Some(config.data.join("sys_config"))),
            changes: Changes::new(&values),
            values: RwLock::new(&LOCK_GLOBALS, values),
            user_locks: UserLocks::default(),
        }
    }

    /// One value.
    pub fn get(&self, name: &str) -> Option<String> {
        self.values.read().get(name).cloned()
    }

    /// All, sorted.
    pub fn all(&self) -> BTreeMap<&'static str, String> {
        self.values
            .read()
            .iter()
            .map(|(k, v)| (*k, v.clone()))
            .collect()
    }
}

/// What a session knows about itself; shared with the SQL functions that tell it.
#[derive(Debug)]
pub struct SessionState {
    /// The connection's number.
    pub id: u64,
    globals: Arc<Globals>,
    control: Arc<Control>,
    account: Mutex<(String, String)>,
    database: Mutex<Option<String>>,
    last_insert_id: AtomicI64,
    row_count: AtomicI64,
    found_rows: AtomicI64,
    updated: AtomicI64,
    system: Mutex<HashMap<&'static str, String>>,
    user: Mutex<HashMap<String, Value>>,
    warnings: Mutex<Vec<Warning>>,
    /// How many there are: most statements have none, and take no lock to know it.
    warning_count: AtomicU16,
}

/// A row of SHOW WARNINGS.
#[derive(Debug, Clone)]
pub struct Warning {
    /// Note, Warning or Error.
    pub level: &'static str,
    /// MySQL's number.
    pub code: u16,
    /// The text.
    pub message: String,
}

impl SessionState {
    /// For a new connection.
    pub fn new(id: u64, globals: Arc<Globals>, control: Arc<Control>) -> Self {
        Self {
            id,
            globals,
            control,
            account: Mutex::new(&LOCK_SESSION, Default::default()),
            database: Mutex::new(&LOCK_SESSION, Default::default()),
            last_insert_id: AtomicI64::new(0),
            row_count: AtomicI64::new(-1),
            found_rows: AtomicI64::new(0),
            updated: AtomicI64::new(0),
            system: Mutex::new(&LOCK_SESSION, Default::default()),
            user: Mutex::new(&LOCK_SESSION, Default::default()),
            warnings: Mutex::new(&LOCK_SESSION, Default::default()),
            warning_count: AtomicU16::new(0),
        }
    }

    /// The server's locks of GET_LOCK.
    pub fn user_locks(&self) -> &UserLocks {
        &self.globals.user_locks
    }

    /// `user@host`.
    pub fn account(&self) -> String {
        let account = self.account.lock();
        format!("{}@{}", account.0, account.1)
    }

    /// User and host.
    pub fn user_host(&self) -> (String, String) {
        self.account.lock().clone()
    }

    /// Sets the account.
    pub fn set_account(&self, user: &str, host: &str) {
        *self.account.lock() = (user.to_owned(), host.to_owned());
    }

    /// The default database.
    pub fn database(&self) -> Option<String> {
        self.database.lock().clone()
    }

    /// Sets the default database.
    pub fn set_database(&self, name: Option<String>) {
        *self.database.lock() = name;
    }

    /// LAST_INSERT_ID().
    pub fn last_insert_id(&self) -> i64 {
        self.last_insert_id.load(Ordering::Relaxed)
    }

    /// Sets LAST_INSERT_ID().
    pub fn set_last_insert_id(&self, id: i64) {
        self.last_insert_id.store(id, Ordering::Relaxed);
    }

    /// ROW_COUNT().
    pub fn row_count(&self) -> i64 {
        self.row_count.load(Ordering::Relaxed)
    }

    /// Sets ROW_COUNT().
    pub fn set_row_count(&self, n: i64) {
        self.row_count.store(n, Ordering::Relaxed);
    }

    /// FOUND_ROWS().
    pub fn found_rows(&self) -> i64 {
        self.found_rows.load(Ordering::Relaxed)
    }

    /// Sets FOUND_ROWS().
    pub fn set_found_rows(&self, n: i64) {
        self.found_rows.store(n, Ordering::Relaxed);
    }

    /// ON DUPLICATE KEY UPDATE has updated a row.
    pub fn count_updated(&self) {
        self.updated.fetch_add(1, Ordering::Relaxed);
    }

    /// How many rows it has updated since it was asked last.
    pub fn take_updated(&self) -> u64 {
        self.updated.swap(0, Ordering::Relaxed).max(0) as u64
    }

    /// The last statement's warnings.
    pub fn warnings(&self) -> Vec<Warning> {
        self.warnings.lock().clone()
    }

    /// Adds a warning.
    pub fn warn(&self, level: &'static str, code: u16, message: impl Into<String>) {
        let mut warnings = self.warnings.lock();
        if warnings.len() < 64 {
            warnings.push(Warning {
                level,
                code,
                message: message.into(),
            });
            self.warning_count
                .store(warnings.len() as u16, Ordering::Relaxed);
        }
    }

    /// How many warnings there are.
    #[inline]
    pub fn warning_count(&self) -> u16 {
        self.warning_count.load(Ordering::Relaxed)
    }

    /// Forgets the warnings.
    #[inline]
    pub fn clear_warnings(&self) {
        if self.warning_count() > 0 {
            self.warnings.lock().clear();
            self.warning_count.store(0, Ordering::Relaxed);
        }
    }

    /// Text of a system variable as this session sees it.
    pub fn text(&self, name: &str) -> Option<String> {
        let own = self.system.lock().get(name).cloned();
        own.or_else(|| self.globals.get(name))
    }

    /// All variables as this session sees them.
    pub fn all(&self, scope: Scope) -> BTreeMap<&'static str, String> {
        let mut all = self.globals.all();
        if scope == Scope::Session {
            for (name, kind, default) in VARIABLES {
                if *kind == Kind::Session {
                    all.insert(name, (*default).to_owned());
                }
            }
            for name in [
                "error_count",
                "identity",
                "last_insert_id",
                "pseudo_thread_id",
                "timestamp",
                "warning_count",
            ] {
                let value = match self.variable("session", name) {
                    Value::Integer(n) => n.to_string(),
                    Value::Real(x) => format!("{x:.6}"),
                    _ => continue,
                };
                all.insert(name, value);
            }
            for (name, value) in self.system.lock().iter() {
                all.insert(name, value.clone());
            }
        }
        all
    }

    /// `@@scope.name` as a value.
    pub fn variable(&self, scope: &str, name: &str) -> Value {
        let text = match name {
            "last_insert_id" | "identity" => return Value::Integer(self.last_insert_id()),
            "pseudo_thread_id" => return Value::Integer(self.id as i64),
            "warning_count" | "error_count" => {
                return Value::Integer(i64::from(self.warning_count()));
            }
            "timestamp" => return Value::Real(crate::storage::time::now_utc().0 as f64),
            _ if scope == "global" => self.globals.get(name),
            _ => self.text(name),
        };
        match text {
            None => Value::Null,
            Some(t) if t == "ON" => Value::Integer(1),
            Some(t) if t == "OFF" => Value::Integer(0),
            Some(t) => match t.parse::<u64>() {
                Ok(n) => Value::Integer(n as i64),
                Err(_) => Value::Text(t),
            },
        }
    }

    /// SET of a system variable; `None` is DEFAULT.
    pub fn set(&self, scope: Scope, name: &str, value: Option<Value>, is_root: bool) -> Result<()> {
        let Some((name, kind, default)) = find(name) else {
            return Err(SqlError::new(
                1193,
                format!("Unknown system variable '{name}'"),
            ));
        };
        match (kind, scope) {
            // Elsewhere it can be changed, and then for the server.
            (Kind::Fixed, Scope::Session) if *name == "max_connections" => {
                return Err(SqlError::new(
                    1229,
                    format!(
                        "Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"
                    ),
                ));
            }
            (Kind::Fixed, _) => {
                return Err(SqlError::new(
                    1238,
                    format!("Variable '{name}' is a read only variable"),
                ));
            }
            (Kind::Session, Scope::Global) => {
                return Err(SqlError::new(
                    1228,
                    format!(
                        "Variable '{name}' is a SESSION variable and can't be used with SET GLOBAL"
                    ),
                ));
            }
            (Kind::Shared, Scope::Session) => {
                return Err(SqlError::new(
                    1621,
                    format!(
                        "SESSION variable '{name}' is read-only. Use SET GLOBAL to assign the value"
                    ),
                ));
            }
            (Kind::Global, Scope::Session) => {
                return Err(SqlError::new(
                    1229,
                    format!(
                        "Variable '{name}' is a GLOBAL variable and should be set with SET GLOBAL"
                    ),
                ));
            }
            (_, Scope::Global) if !is_root => {
                return Err(SqlError::new(
                    1227,
                    "Access denied; you need (at least one of) the SUPER privilege(s) for this operation",
                ));
            }
            _ => {}
        }
        let text = match value {
            None if scope == Scope::Session => {
                self.system.lock().remove(name);
                return Ok(());
            }
            None => (*default).to_owned(),
            Some(value) => checked(name, default, value)?,
        };
        if matches!(*name, "last_insert_id" | "identity") {
            self.set_last_insert_id(text.parse().unwrap_or(0));
            return Ok(());
        }
        let (user, host) = self.user_host();
        self.globals.changes.set(name, user, host);
        match scope {
            Scope::Global => self.globals.values.write().insert(name, text),
            Scope::Session => self.system.lock().insert(name, text),
        };
        Ok(())
    }

    /// The options of schema sys.
    pub fn sys_config(&self) -> &crate::sys::config::SysConfig {
        &self.globals.sys_config
    }

    /// `@x`.
    pub fn user_variable(&self, name: &str) -> Value {
        self.user.lock().get(name).cloned().unwrap_or(Value::Null)
    }

    /// All of them.
    pub fn user_variables(&self) -> Vec<crate::catalog::UserVariable> {
        let user = self.user.lock();
        let mut all: Vec<_> = user
            .iter()
            .map(|(name, value)| crate::catalog::UserVariable {
                name: name.clone(),
                value: match value {
                    Value::Null => None,
                    Value::Integer(n) => Some(n.to_string()),
                    Value::Real(x) => Some(x.to_string()),
                    Value::Text(t) => Some(t.clone()),
                    Value::Blob(b) => Some(String::from_utf8_lossy(b).into_owned()),
                },
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Sets `@x`.
    pub fn set_user_variable(&self, name: &str, value: Value) {
        self.user.lock().insert(name.to_owned(), value);
    }

    /// Forgets everything but the account, as COM_RESET_CONNECTION does.
    pub fn reset(&self) {
        self.system.lock().clear();
        self.user.lock().clear();
        self.clear_warnings();
        self.user_locks().release_all(self.id);
        self.set_last_insert_id(0);
        self.set_found_rows(0);
        self.set_row_count(-1);
    }

    /// Waits; true when it was interrupted.
    pub fn sleep(&self, seconds: f64) -> bool {
        let end = Instant::now() + Duration::from_secs_f64(seconds.min(31_536_000.0));
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            if self.control.must_stop() {
                return true;
            }
            std::thread::sleep(left.min(Duration::from_millis(20)));
        }
    }
}

impl Drop for SessionState {
    fn drop(&mut self) {
        self.globals.user_locks.release_all(self.id);
    }
}

/// The server's name for itself: made up at its first start, and kept.
fn server_uuid(data: &std::path::Path) -> String {
    let path = data.join("server-uuid");
    if let Ok(kept) = std::fs::read_to_string(&path)
        && kept.trim().len() == 36
    {
        return kept.trim().to_owned();
    }
    let mut bytes = [0; 16];
    super::random(&mut bytes);
    // Version 4, variant 1 of RFC 9562.
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::new();
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    // Without a writable directory there is no server either; the next start would say so.
    let _ = std::fs::write(&path, format!("{text}\n"));
    text
}

fn open_files_limit() -> u64 {
    let mut limit = libc::rlimit {
        rlim_cur: 0,
        rlim_max: 0,
    };
    // SAFETY: `limit` is a valid place for the answer.
    unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) };
    limit.rlim_cur
}

/// The text of a variable's new value, if it may have it.
fn checked(name: &str, default: &str, value: Value) -> Result<String> {
    let wrong = |text: &str| {
        Err(SqlError::new(
            1231,
            format!("Variable '{name}' can't be set to the value of '{text}'"),
        ))
    };
    let text = match value {
        Value::Null if name == "character_set_results" => return Ok(String::new()),
        Value::Null => return wrong("NULL"),
        Value::Integer(n) => n.to_string(),
        Value::Real(x) => x.to_string(),
        Value::Text(t) => t,
        Value::Blob(b) => String::from_utf8_lossy(&b).into_owned(),
    };
    if default == "ON" || default == "OFF" {
        return match text.to_ascii_uppercase().as_str() {
            "1" | "ON" | "TRUE" => Ok("ON".into()),
            "0" | "OFF" | "FALSE" => Ok("OFF".into()),
            _ => wrong(&text),
        };
    }
    if default.parse::<u64>().is_ok() && text.parse::<f64>().is_err() {
        return Err(SqlError::new(
            1232,
            format!("Incorrect argument type to variable '{name}'"),
        ));
    }
    if name == "sql_mode" {
        return modes(&text).ok_or_else(|| {
            SqlError::new(
                1231,
                format!("Variable 'sql_mode' can't be set to the value of '{text}'"),
            )
        });
    }
    if name == "time_zone" && !is_time_zone(&text) {
        return Err(SqlError::new(
            1298,
            format!("Unknown or incorrect time zone: '{text}'"),
        ));
    }
    if name.ends_with("isolation")
        && !matches!(
            text.to_ascii_uppercase().as_str(),
            "READ-UNCOMMITTED" | "READ-COMMITTED" | "REPEATABLE-READ" | "SERIALIZABLE"
        )
    {
        return wrong(&text);
    }
    Ok(text)
}

/// MySQL's modes that may stand in @@sql_mode.
const MODES: &[&str] = &[
    "REAL_AS_FLOAT",
    "PIPES_AS_CONCAT",
    "ANSI_QUOTES",
    "IGNORE_SPACE",
    "ONLY_FULL_GROUP_BY",
    "NO_UNSIGNED_SUBTRACTION",
    "NO_DIR_IN_CREATE",
    "ANSI",
    "NO_AUTO_VALUE_ON_ZERO",
    "NO_BACKSLASH_ESCAPES",
    "STRICT_TRANS_TABLES",
    "STRICT_ALL_TABLES",
    "NO_ZERO_IN_DATE",
    "NO_ZERO_DATE",
    "ALLOW_INVALID_DATES",
    "ERROR_FOR_DIVISION_BY_ZERO",
    "TRADITIONAL",
    "HIGH_NOT_PRECEDENCE",
    "NO_ENGINE_SUBSTITUTION",
    "PAD_CHAR_TO_FULL_LENGTH",
    "TIME_TRUNCATE_FRACTIONAL",
    // Of 5.7 and MariaDB: clients set them, and nothing here depends on them.
    "NO_AUTO_CREATE_USER",
    "NO_FIELD_OPTIONS",
    "NO_KEY_OPTIONS",
    "NO_TABLE_OPTIONS",
];

/// A list of modes as MySQL shows it: in capitals, with what a mode implies.
fn modes(text: &str) -> Option<String> {
    if text.parse::<u64>().is_ok() {
        return (text == "0").then(String::new);
    }
    let mut all: Vec<&str> = Vec::new();
    let mut add = |mode: &'static str| {
        if !all.contains(&mode) {
            all.push(mode);
        }
    };
    for mode in text.split(',').map(str::trim).filter(|m| !m.is_empty()) {
        let known = MODES.iter().find(|m| m.eq_ignore_ascii_case(mode))?;
        match *known {
            "ANSI" => [
                "REAL_AS_FLOAT",
                "PIPES_AS_CONCAT",
                "ANSI_QUOTES",
                "IGNORE_SPACE",
                "ONLY_FULL_GROUP_BY",
            ]
            .into_iter()
            .for_each(&mut add),
            "TRADITIONAL" => [
                "STRICT_TRANS_TABLES",
                "STRICT_ALL_TABLES",
                "NO_ZERO_IN_DATE",
                "NO_ZERO_DATE",
                "ERROR_FOR_DIVISION_BY_ZERO",
                "NO_ENGINE_SUBSTITUTION",
            ]
            .into_iter()
            .for_each(&mut add),
            _ => {}
        }
        add(known);
    }
    Some(all.join(","))
}

/// SYSTEM, UTC, or an offset like +02:00: no named zones are loaded.
fn is_time_zone(text: &str) -> bool {
    if matches!(text.to_ascii_uppercase().as_str(), "SYSTEM" | "UTC") {
        return true;
    }
    let Some(rest) = text.strip_prefix(['+', '-']) else {
        return false;
    };
    rest.split_once(':').is_some_and(|(h, m)| {
        let (h, m) = (h.parse::<u32>(), m.parse::<u32>());
        matches!((h, m), (Ok(0..=14), Ok(0..=59)))
    })
}
