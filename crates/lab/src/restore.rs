//! Settings of the user's server: saved in a file before the first change, and restored at the end, or
//! by the next `tare weigh` if this one was killed.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tare_client::Dsn;
use tare_reader::process::is_running;

use crate::connection::Connection;

/// The most names in one statement, which stays below any server's packet size.
const MAX_NAMES: usize = 200;

/// The saved settings. They have no password.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Settings {
    /// The process that changes them.
    pid: u32,
    /// The server's address.
    dsn: String,
    /// ENABLED and TIMED of each instrument; some have no TIMED.
    instruments: BTreeMap<String, (String, Option<String>)>,
    /// ENABLED of each consumer.
    consumers: BTreeMap<String, String>,
}

/// Settings to restore, and the file that has them until then.
pub struct SavedSettings {
    settings: Settings,
    dsn: Dsn,
    path: PathBuf,
}

impl SavedSettings {
    /// Reads the settings from the server and saves them in a file.
    ///
    /// # Errors
    /// The server refuses, or the file cannot be written; nothing may be changed then.
    pub fn read(dsn: &Dsn, connection: &mut Connection) -> Result<Self, String> {
        let mut settings = Settings {
            pid: std::process::id(),
            dsn: dsn.to_string(),
            instruments: BTreeMap::new(),
            consumers: BTreeMap::new(),
        };
        let question = "SELECT NAME, ENABLED, TIMED FROM performance_schema.setup_instruments";
        for row in connection
            .query(question)
            .map_err(|error| format!("its settings cannot be read: {error}"))?
        {
            if let [Some(name), Some(enabled), timed] = row.as_slice() {
                settings
                    .instruments
                    .insert(name.clone(), (enabled.clone(), timed.clone()));
            }
        }
        let question = "SELECT NAME, ENABLED FROM performance_schema.setup_consumers";
        for row in connection
            .query(question)
            .map_err(|error| format!("its settings cannot be read: {error}"))?
        {
            if let [Some(name), Some(enabled)] = row.as_slice() {
                settings.consumers.insert(name.clone(), enabled.clone());
            }
        }
        let mut names = settings.instruments.keys();
        if !names.any(|name| name.starts_with("statement/")) {
            return Err("it has no instruments of statements: performance_schema is OFF there, and can be switched on at its \
                        start alone; or it runs behind tare run, where they are Tare's, and recipe door weighs them"
                .into());
        }
        let path = folder().join(format!("weigh-{}.json", std::process::id()));
        write_settings(&path, &settings).map_err(|error| {
            format!(
                "{}: {error}; nothing was changed on the server",
                path.display()
            )
        })?;
        Ok(Self {
            settings,
            dsn: dsn.clone(),
            path,
        })
    }

    /// Restores the settings over this connection.
    ///
    /// # Errors
    /// The server refuses; the file stays.
    pub fn apply(&self, connection: &mut Connection) -> Result<(), String> {
        self.settings.apply(connection)
    }

    /// Restores the settings over a new connection and removes the file. A failure is reported on stderr.
    pub fn restore_or_report(self) {
        let result = restore(&self.settings, &self.dsn, &self.path);
        report(&self.path, &self.settings, &result);
    }
}

impl Settings {
    fn apply(&self, connection: &mut Connection) -> Result<(), String> {
        let mut alike: BTreeMap<&(String, Option<String>), Vec<&str>> = BTreeMap::new();
        for (name, values) in &self.instruments {
            alike.entry(values).or_default().push(name);
        }
        for ((enabled, timed), names) in alike {
            let timed = timed
                .as_ref()
                .map(|timed| format!(", TIMED = '{timed}'"))
                .unwrap_or_default();
            for names in names.chunks(MAX_NAMES) {
                let names = quoted(names);
                connection.query(&format!(
                    "UPDATE performance_schema.setup_instruments SET ENABLED = '{enabled}'{timed} WHERE NAME IN ({names})"
                ))?;
            }
        }
        for value in ["YES", "NO"] {
            let names: Vec<&str> = (self.consumers.iter())
                .filter(|(_, enabled)| *enabled == value)
                .map(|(name, _)| name.as_str())
                .collect();
            if !names.is_empty() {
                let names = quoted(&names);
                connection.query(&format!(
                    "UPDATE performance_schema.setup_consumers SET ENABLED = '{value}' WHERE NAME IN ({names})"
                ))?;
            }
        }
        Ok(())
    }
}

fn quoted(names: &[&str]) -> String {
    names
        .iter()
        .map(|name| format!("'{}'", name.replace('\'', "''")))
        .collect::<Vec<_>>()
        .join(", ")
}

fn restore(settings: &Settings, dsn: &Dsn, path: &Path) -> Result<(), String> {
    let mut connection = Connection::connect_with_tls(&dsn.address)?;
    settings.apply(&mut connection)?;
    fs::remove_file(path).map_err(|error| error.to_string())
}

fn report(path: &Path, settings: &Settings, result: &Result<(), String>) {
    if let Err(error) = result {
        let dsn = &settings.dsn;
        eprintln!(
            "tare: the instruments of {dsn} are not as they were: {error}\n\
             tare: {} has the settings; put them back with: tare weigh --restore --dsn '{dsn}'",
            path.display()
        );
    }
}

/// Restores the settings that killed runs left, and reports it. `dsn` is tried where the stored
/// address, which has no password, does not suffice. False if some settings are still not restored.
pub fn restore_pending(dsn: Option<&Dsn>, password: Option<&str>) -> bool {
    let entries = fs::read_dir(folder()).into_iter().flatten().flatten();
    let mut all = true;
    for entry in entries {
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if !(name.starts_with("weigh-") && name.ends_with(".json")) {
            continue;
        }
        let read = fs::read(&path).map_err(|error| error.to_string());
        let settings: Settings = match read
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()))
        {
            Ok(settings) => settings,
            Err(error) => {
                eprintln!(
                    "tare: {}: {error}; it was to put settings back",
                    path.display()
                );
                all = false;
                continue;
            }
        };
        // The running owner restores them itself.
        if settings.pid != std::process::id() && is_running(settings.pid) {
            continue;
        }
        let own = Dsn::parse(&settings.dsn, password.map(str::to_owned)).ok();
        let given = dsn.filter(|dsn| dsn.to_string() == settings.dsn).cloned();
        let result = match given.or(own) {
            Some(dsn) => restore(&settings, &dsn, &path),
            None => Err("its address cannot be read".into()),
        };
        match &result {
            Ok(()) => eprintln!(
                "tare: put the instruments of {} back as they were",
                settings.dsn
            ),
            Err(_) => all = false,
        }
        report(&path, &settings, &result);
    }
    all
}

/// The directory of the files, which outlive this process.
fn folder() -> PathBuf {
    let variable = |name: &str| {
        std::env::var_os(name)
            .filter(|value| !value.is_empty())
            .map(PathBuf::from)
    };
    let state = variable("XDG_STATE_HOME").or_else(|| Some(variable("HOME")?.join(".local/state")));
    state.unwrap_or_else(std::env::temp_dir).join("tare")
}

fn write_settings(path: &Path, settings: &Settings) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(folder)?;
    }
    let mut file = fs::OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(&serde_json::to_vec_pretty(settings)?)?;
    file.sync_all()
}
