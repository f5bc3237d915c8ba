//! `~/.config/tare/config.toml`: servers by name, and the thresholds at which `tare top` marks a figure.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use tare_client::SslMode;

use crate::exit::{FAILED, Failure};

/// The contents of the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Servers by name.
    pub servers: BTreeMap<String, Server>,
    /// Thresholds of `tare top`.
    pub top: Thresholds,
}

/// How to connect to a server. The fields are options of the command line.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Server {
    pub dsn: Option<String>,
    pub host: Option<String>,
    pub port: Option<u16>,
    pub user: Option<String>,
    pub password: Option<String>,
    pub socket: Option<PathBuf>,
    pub defaults_file: Option<PathBuf>,
    pub ssl_mode: Option<String>,
    pub ssl_ca: Option<PathBuf>,
}

/// The values from which figures are yellow (first) and red (second).
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Thresholds {
    /// The average time of a statement, in seconds.
    pub average_s: [f64; 2],
    /// The time that a session has run its statement, in seconds.
    pub running_s: [f64; 2],
    /// Errors a second.
    pub errors_per_s: [f64; 2],
    /// Active sessions. Default for a server on this machine: the number of processors, and twice as many.
    pub active: Option<[f64; 2]>,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            average_s: [1.0, 10.0],
            running_s: [10.0, 60.0],
            errors_per_s: [1.0, 100.0],
            active: None,
        }
    }
}

impl Server {
    /// Its TLS mode.
    pub fn mode(&self) -> Result<Option<SslMode>, String> {
        let mode = self.ssl_mode.as_deref().map(str::parse::<SslMode>);
        mode.transpose().map_err(|error| error.to_string())
    }

    fn check(&self) -> Result<(), String> {
        let is_named = self.host.is_some() || self.port.is_some() || self.socket.is_some();
        match (&self.dsn, is_named || self.defaults_file.is_some()) {
            (Some(_), true) => {
                return Err("give dsn, or host, port, socket and defaults-file, not both".into());
            }
            (None, false) => {
                return Err(
                    "it has no address: give dsn, host, port, socket or defaults-file".into(),
                );
            }
            _ => {}
        }
        self.mode().map(drop)
    }
}

/// The path of the file, which need not exist: below XDG_CONFIG_HOME, or else ~/.config.
pub fn path() -> PathBuf {
    let set = |name: &str| {
        let path = std::env::var_os(name).map(PathBuf::from);
        path.filter(|path| path.is_absolute())
    };
    let base = set("XDG_CONFIG_HOME");
    let base = base.unwrap_or_else(|| set("HOME").unwrap_or_default().join(".config"));
    base.join("tare/config.toml")
}

/// Reads the file. Without one, everything is default.
///
/// # Errors
/// The file cannot be read, or has an error; the message names the place.
pub fn read() -> Result<Config, Failure> {
    let path = path();
    let meta = match fs::metadata(&path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(error) => return Err(Failure::new(FAILED, format!("{}: {error}", path.display()))),
    };
    if meta.permissions().mode() & 0o002 != 0 {
        static WARNED: std::sync::Once = std::sync::Once::new();
        WARNED.call_once(|| {
            eprintln!(
                "tare: {} is ignored: everybody may write it",
                path.display()
            );
        });
        return Ok(Config::default());
    }
    let text = fs::read_to_string(&path)
        .map_err(|error| Failure::new(FAILED, format!("{}: {error}", path.display())))?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    parse(&text, home.as_deref())
        .map_err(|why| Failure::new(FAILED, format!("{}: {why}", path.display())))
}

fn parse(text: &str, home: Option<&Path>) -> Result<Config, String> {
    let mut config: Config = toml::from_str(text).map_err(|error| error.to_string())?;
    for (name, server) in &mut config.servers {
        if name.is_empty() || name.contains(['/', ':', '@']) || name.starts_with('-') {
            let what = "a name has no '/', ':' or '@', and begins with no '-'";
            return Err(format!("[servers.{name:?}]: {what}"));
        }
        server
            .check()
            .map_err(|why| format!("[servers.{name}]: {why}"))?;
        for file in [
            &mut server.socket,
            &mut server.defaults_file,
            &mut server.ssl_ca,
        ] {
            // Expand ~ as a shell does.
            let below = file.as_ref().and_then(|file| file.strip_prefix("~").ok());
            if let (Some(below), Some(home)) = (below, home) {
                *file = Some(home.join(below));
            }
        }
    }
    let marks = &config.top;
    let pairs = [marks.average_s, marks.running_s, marks.errors_per_s];
    let pairs = pairs.into_iter().chain(marks.active);
    for [yellow, red] in pairs {
        // NaN is refused, too.
        if !(yellow >= 0.0 && red >= yellow) {
            let what = "the first is where yellow begins, the second, not below it, where red does";
            return Err(format!("[top]: [{yellow}, {red}]: {what}"));
        }
    }
    Ok(config)
}

/// Whether this may be the name of a server, and is no address or path.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && !text.contains('/')
}

/// Looks up a server by name.
///
/// # Errors
/// As [`read`], or there is neither such a name nor such a socket.
pub fn find_server(name: &str) -> Result<Option<Server>, Failure> {
    if !is_name(name) {
        return Ok(None);
    }
    let mut config = read()?;
    if let Some(server) = config.servers.remove(name) {
        return Ok(Some(server));
    }
    if fs::symlink_metadata(name).is_ok() {
        return Ok(None);
    }
    let path = path();
    let path = path.display();
    let names: Vec<_> = config.servers.keys().map(String::as_str).collect();
    let names = match names.is_empty() {
        true => format!("{path} names none"),
        false => format!("{path} names {}", names.join(", ")),
    };
    Err(Failure::new(
        2,
        format!(
            "'{name}' is no server: {names}; or give mysql://USER@HOST:PORT/DATABASE, or the path of a socket"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_and_marks_are_read() {
        let text = "[servers.prod1]\ndsn = 'mysql://monitor@db1:3306'\n\
                    [servers.stage]\nhost = 'db2'\nport = 3307\nuser = 'u'\npassword = 'p'\nssl-mode = 'VERIFY_CA'\nssl-ca = '~/ca.pem'\n\
                    [top]\nrunning-s = [1, 5]\nactive = [8, 16]\n";
        let config = parse(text, Some(Path::new("/home/u"))).expect("it is right");
        let prod = &config.servers["prod1"];
        assert_eq!(prod.dsn.as_deref(), Some("mysql://monitor@db1:3306"));
        let stage = &config.servers["stage"];
        assert_eq!(
            (stage.host.as_deref(), stage.port),
            (Some("db2"), Some(3307))
        );
        assert_eq!(stage.mode(), Ok(Some(SslMode::VerifyCa)));
        assert_eq!(stage.ssl_ca.as_deref(), Some(Path::new("/home/u/ca.pem")));
        assert_eq!(config.top.running_s, [1.0, 5.0]);
        assert_eq!(config.top.active, Some([8.0, 16.0]));
        assert_eq!(config.top.average_s, Thresholds::default().average_s);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, words) in [
            ("[servers.a]\nprot = 1\n", "unknown field `prot`"),
            (
                "[servers.a]\nuser = 'u'\n",
                "[servers.a]: it has no address",
            ),
            ("[servers.a]\ndsn = 's'\nhost = 'h'\n", "not both"),
            (
                "[servers.a]\nhost = 'h'\nssl-mode = 'maybe'\n",
                "[servers.a]: ",
            ),
            ("[servers.'a/b']\nhost = 'h'\n", "a name has no '/'"),
            ("[top]\naverage-s = [2, 1]\n", "where yellow begins"),
            ("[servers.a\n", "line 1"),
        ] {
            let error = parse(text, None).expect_err("it is wrong");
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
