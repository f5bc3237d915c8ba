//! The global values of system variables.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::info::Changes;
use crate::certificate::Certificate;
use crate::config::Config;
use crate::observed::Observed;
use crate::points::LOCK_GLOBALS;
use crate::state::UserLocks;
use tare::sync::RwLock;
use tare_mysql::series::Series;
use tare_mysql::variable::{self, Settable};
use tare_rows::snapshot::Snapshot;
use tare_rows::telemetry::{self, Telemetry};

/// The global values of system variables.
#[derive(Debug)]
pub struct Globals {
    /// The options of schema sys.
    pub sys_config: tare_sys::config::SysConfig,
    values: RwLock<HashMap<&'static str, String>>,
    /// The locks of GET_LOCK.
    pub user_locks: UserLocks,
    /// The MySQL whose tables are served.
    pub series: Series,
    /// Who has set which variable.
    pub changes: Changes,
    /// The segment, which has the values of performance_schema's variables.
    observed: Arc<Observed>,
}

impl Globals {
    /// The defaults, and the values of the config.
    pub fn new(config: &Config, socket: &str, port: u16, observed: Arc<Observed>) -> Self {
        let mut values: HashMap<_, _> = variable::of(config.series)
            .iter()
            .filter(|variable| variable.settable != Settable::Session)
            .map(|variable| (variable.name, variable.default.to_owned()))
            .collect();
        values.insert("version", config.series.version().to_owned());
        let update = config.series.version().replacen("-tare", ".0-tare", 1);
        values.insert("version_with_update", update);
        values.insert("datadir", format!("{}/", config.data.display()));
        values.insert("socket", socket.to_owned());
        values.insert("port", port.to_string());
        values.insert("bind_address", config.bind_address.to_string());
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
        for (name, limit) in [
            ("connection_memory_limit", config.connection_memory_limit),
            (
                "global_connection_memory_limit",
                config.global_connection_memory_limit,
            ),
        ] {
            values.insert(name, limit.to_string());
        }
        let show_processlist = if config.show_processlist { "ON" } else { "OFF" };
        values.insert(
            "performance_schema_show_processlist",
            show_processlist.to_owned(),
        );
        if let Some(bytes) = config.max_digest_length {
            values.insert("max_digest_length", bytes.to_string());
        }
        let limits = Telemetry::with_sizes(&config.sizes).limits;
        for ((name, _), limit) in telemetry::SIZES.into_iter().zip(limits) {
            values.insert(name, limit.to_string());
        }
        values.insert("thread_handling", config.thread_handling.to_string());
        values.insert("thread_pool_size", config.thread_pool_size.to_string());
        if config.require_secure_transport {
            values.insert("require_secure_transport", "ON".to_owned());
        }
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
        let name = rustix::system::uname()
            .nodename()
            .to_string_lossy()
            .into_owned();
        values.insert("hostname", name);
        values.retain(|name, _| variable::find_in(config.series, name).is_some());
        Self {
            observed,
            sys_config: tare_sys::config::SysConfig::load(Some(config.data.join("sys_config"))),
            changes: Changes::new(&values, config.series),
            values: RwLock::new(&LOCK_GLOBALS, values),
            user_locks: UserLocks::default(),
            series: config.series,
        }
    }

    /// Sets the variables about TLS, which is offered.
    pub fn set_tls(&self, certificate: &Certificate) {
        let mut values = self.values.write();
        let path = |path: &std::path::Path| path.display().to_string();
        for name in ["have_ssl", "have_openssl"] {
            if variable::find_in(self.series, name).is_some() {
                values.insert(name, "YES".to_owned());
            }
        }
        if let Some(ca) = &certificate.ca {
            values.insert("auto_generate_certs", "ON".to_owned());
            values.insert("ssl_ca", path(ca));
        }
        values.insert("ssl_cert", path(&certificate.cert));
        values.insert("ssl_key", path(&certificate.key));
        values.insert("tls_version", "TLSv1.2,TLSv1.3".to_owned());
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<String> {
        let own = name
            .starts_with("performance_schema_")
            .then(|| self.segment_value(name));
        own.flatten()
            .or_else(|| self.values.read().get(name).cloned())
    }

    /// The value of the last SET GLOBAL, or the default.
    pub fn stored_value(&self, name: &str) -> String {
        self.values.read().get(name).cloned().unwrap_or_default()
    }

    /// The value of a variable of performance_schema, from the segment.
    fn segment_value(&self, name: &str) -> Option<String> {
        let all = Snapshot::new(self.observed.segment()).variables(self.series);
        all.into_iter().find(|v| v.name == name).map(|v| v.value)
    }

    /// SET GLOBAL.
    pub fn set(&self, name: &'static str, value: String) {
        self.values.write().insert(name, value);
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

/// The server's UUID, which the first start generates and stores.
fn server_uuid(data: &std::path::Path) -> String {
    let path = data.join("server-uuid");
    if let Ok(stored) = std::fs::read_to_string(&path)
        && stored.trim().len() == 36
    {
        return stored.trim().to_owned();
    }
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("the system has random bytes");
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
    // An error is not reported: other files need a writable directory, too.
    let _ = std::fs::write(&path, format!("{text}\n"));
    text
}

fn open_files_limit() -> u64 {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current.unwrap_or(u64::MAX)
}
