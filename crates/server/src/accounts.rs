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
        Ok(text) => {
            // Others must not read it, whoever wrote it.
            fs::set_permissions(file, fs::Permissions::from_mode(0o600))?;
            Ok(text.trim_end_matches(['\r', '\n']).to_owned())
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0u8; 16];
            random(&mut bytes);
            let password: String = bytes.iter().map(|b| format!("{b:02x}")).collect();
            let mut out = fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .mode(0o600)
                .open(file)?;
            writeln!(out, "{password}")?;
            Ok(password)
        }
        Err(e) => Err(e),
    }
}
