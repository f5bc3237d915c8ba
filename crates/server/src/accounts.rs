//! Who may connect, and with which password.

use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use tare_mysql::schema::{MONITOR, ROOT};

use super::config::Config;
use super::random::random;

/// What a user may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Everything.
    Root,
    /// Read system schemas.
    Monitor,
}

/// The accounts: root and monitor.
pub struct Accounts {
    root: String,
    monitor: String,
    /// Who runs the server.
    pub uid: u32,
    /// Where root's password is written, unless it was given.
    pub password_file: Option<PathBuf>,
}

impl std::fmt::Debug for Accounts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No passwords in logs.
        f.debug_struct("Accounts")
            .field("uid", &self.uid)
            .finish_non_exhaustive()
    }
}

impl Accounts {
    /// From the config, or from the files of the data directory, which are made at the first start.
    pub fn load(config: &Config) -> io::Result<Self> {
        let file = config.data.join("password");
        let (root, password_file) = match &config.password {
            Some(password) => (password.clone(), None),
            None => (password_of(&file)?, Some(file)),
        };
        let monitor = match &config.monitor_password {
            Some(password) => password.clone(),
            None => password_of(&config.data.join("monitor-password"))?,
        };
        let uid = rustix::process::geteuid().as_raw();
        Ok(Self {
            root,
            monitor,
            uid,
            password_file,
        })
    }

    /// An account's password, and what it may do.
    pub fn find(&self, user: &str) -> Option<(&str, Role)> {
        match user {
            ROOT => Some((&self.root, Role::Root)),
            MONITOR => Some((&self.monitor, Role::Monitor)),
            _ => None,
        }
    }
}

fn password_of(file: &Path) -> io::Result<String> {
    match fs::read_to_string(file) {
        Ok(text) if text.trim().is_empty() => Err(io::Error::new(
            io::ErrorKind::InvalidData,
            format!(
                "{} is empty: write the password there, or remove it and another one is made",
                file.display()
            ),
        )),
        Ok(text) => {
            // Others must not read it, whoever wrote it.
            fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0u8; 16];
            random(&mut bytes);
            let password: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            // Whole or not at all: a disk that is full must leave no empty file.
            let made = file.with_extension("new");
            let written = fs::OpenOptions::new()
                .write(true)
                .create(true)
                .truncate(true)
                .mode(0o600)
                .open(&made)
                .and_then(|mut out| {
                    writeln!(out, "{password}")?;
                    out.sync_all()
                })
                .and_then(|()| fs::rename(&made, file));
            match written {
                Ok(()) => Ok(password),
                Err(error) => {
                    let _ = fs::remove_file(&made);
                    Err(error)
                }
            }
        }
        Err(e) => Err(e),
    }
}
