//! A server's address as the user gives it, and as others may see it.

use std::fs;
use std::path::{Path, PathBuf};

use mysql::Opts;
use thiserror::Error;

use crate::ask::Ask;
use crate::server::Address;
use crate::tls::Tls;

pub use crate::child::{HIDDEN_PASSWORD, HIDDEN_PASSWORDS, PASSWORD_VARIABLE};

/// Why an address is refused.
#[derive(Debug, Error)]
#[error(
    "--dsn: {0}; give mysql://USER@HOST:PORT/DATABASE?ssl-mode=REQUIRED, mysql://USER@localhost/DATABASE?socket=PATH or the path of a socket"
)]
pub struct DsnError(String);

/// An address with its password.
#[derive(Debug, Clone)]
pub struct Dsn {
    /// How to reach it.
    pub address: Address,
    /// The database that it names, if it names one.
    pub database: Option<String>,
}

/// Where servers have their sockets, when nobody says it: Debian's and MySQL's defaults.
const SOCKETS: [&str; 4] = [
    "/run/mysqld/mysqld.sock",
    "/var/run/mysqld/mysqld.sock",
    "/var/lib/mysql/mysql.sock",
    "/tmp/mysql.sock",
];

/// The socket of this machine's server, where there is one.
pub fn default_socket() -> Option<PathBuf> {
    let there = |path: &str| fs::symlink_metadata(path).is_ok();
    SOCKETS.iter().find(|path| there(path)).map(PathBuf::from)
}

impl Dsn {
    /// Reads one; `password` is used when the URL has none. A text without `://` is the path of a socket.
    ///
    /// # Errors
    /// It is neither a URL nor the path of a socket.
    pub fn parse(text: &str, password: Option<String>) -> Result<Self, DsnError> {
        if !text.contains("://") {
            // A path whose server is not there now is a path, and `localhost:3306` is none.
            if !text.contains('/') && fs::symlink_metadata(text).is_err() {
                return Err(DsnError(format!("there is no socket '{text}'")));
            }
            return Ok(Self {
                address: Address {
                    socket: Some(PathBuf::from(text)),
                    user: "root".into(),
                    password,
                    database: "sbtest".into(),
                    ..Address::default()
                },
                database: None,
            });
        }
        let (url, tls) = without_tls(text)?;
        let options = Opts::from_url(&url).map_err(|error| DsnError(error.to_string()))?;
        let own = options
            .get_pass()
            .map(str::to_owned)
            .filter(|password| !password.is_empty());
        let host = options.get_ip_or_hostname().into_owned();
        // As MySQL's clients: localhost is the socket, unless a port is named.
        let local = host == "localhost" && !has_port(&url);
        let socket = options.get_socket().map(PathBuf::from);
        let database = options.get_db_name().filter(|name| !name.is_empty());
        let database = database.map(str::to_owned);
        Ok(Self {
            address: Address {
                socket: socket.or_else(|| default_socket().filter(|_| local)),
                host: Some(host),
                port: Some(options.get_tcp_port()),
                user: options.get_user().unwrap_or("root").to_owned(),
                password: own.or(password),
                database: database.clone().unwrap_or_else(|| "sbtest".into()),
                tls,
            },
            database,
        })
    }

    /// Without the password.
    pub fn shown(&self) -> String {
        let Address {
            socket,
            host,
            port,
            user,
            tls,
            ..
        } = &self.address;
        let database = self.database.as_deref().unwrap_or_default();
        let mut asked = Vec::new();
        if let Some(mode) = tls.mode {
            asked.push(format!("ssl-mode={}", mode.name()));
        }
        if let Some(ca) = &tls.ca {
            asked.push(format!("ssl-ca={}", ca.display()));
        }
        let asked = match asked.is_empty() {
            true => String::new(),
            false => format!("?{}", asked.join("&")),
        };
        match (socket, host) {
            (Some(socket), _) => socket.display().to_string(),
            (None, host) => {
                let host = host.as_deref().unwrap_or("127.0.0.1");
                let host = match host.contains(':') && !host.starts_with('[') {
                    true => format!("[{host}]"),
                    false => host.to_owned(),
                };
                let port = port.unwrap_or(3306);
                format!("mysql://{user}@{host}:{port}/{database}{asked}")
            }
        }
    }
}

/// A URL split into itself without what it says of TLS, and that.
fn without_tls(url: &str) -> Result<(String, Tls), DsnError> {
    let mut tls = Tls::default();
    let Some((bare, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), tls));
    };
    let mut rest = Vec::new();
    for part in query.split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "ssl-mode" | "sslmode" => {
                let mode = decoded(value).parse::<crate::tls::Mode>();
                tls.mode = Some(mode.map_err(|error| DsnError(error.to_string()))?);
            }
            "ssl-ca" => tls.ca = Some(decoded(value).into()),
            _ => rest.push(part),
        }
    }
    let url = match rest.is_empty() {
        true => bare.to_owned(),
        false => format!("{bare}?{}", rest.join("&")),
    };
    Ok((url, tls))
}

/// Whether a URL names a port.
fn has_port(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    host.rsplit_once(':')
        .is_some_and(|(_, port)| !port.contains(']'))
}

/// A URL split into itself without the password, and that password.
pub fn without_password(url: &str) -> (String, Option<String>) {
    let split = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (user, _) = rest[..end].rsplit_once('@')?;
        let (name, password) = user.split_once(':')?;
        let bare = format!("{scheme}://{name}@{}", &rest[user.len() + 1..]);
        Some((bare, Some(decoded(password))))
    };
    split().unwrap_or_else(|| (url.to_owned(), None))
}

/// Percent-encoded bytes as they are.
fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let code = (*first == b'%')
            .then(|| u8::from_str_radix(std::str::from_utf8(tail.get(..2)?).ok()?, 16).ok())
            .flatten();
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &tail[2..] } else { tail };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// The process of a server that runs on this machine; `None` when it does not, or cannot be told.
pub fn process(address: &Address, ask: &mut Ask) -> Option<u32> {
    let local = address.socket.is_some()
        || matches!(
            address.host.as_deref(),
            Some("127.0.0.1" | "localhost" | "::1") | None
        );
    if !local {
        return None;
    }
    if let Some(socket) = &address.socket {
        return listener(socket);
    }
    let file = ask.value("SELECT @@pid_file")?;
    let pid = fs::read_to_string(file).ok()?.trim().parse().ok()?;
    crate::proc::runs(pid).then_some(pid)
}

/// Who listens on a Unix socket: the kernel tells whoever connects.
fn listener(socket: &Path) -> Option<u32> {
    let stream = std::os::unix::net::UnixStream::connect(socket).ok()?;
    let credentials = rustix::net::sockopt::socket_peercred(&stream).ok()?;
    u32::try_from(credentials.pid.as_raw_nonzero().get()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_taken_out_of_urls() {
        let split = |url: &str| without_password(url);
        assert_eq!(
            split("mysql://u:p%40ss%3a@h:1/d?x=1"),
            ("mysql://u@h:1/d?x=1".into(), Some("p@ss:".into()))
        );
        assert_eq!(
            split("mysql://u:a@b@h/d"),
            ("mysql://u@h/d".into(), Some("a@b".into()))
        );
        for none in ["mysql://u@h:3306/d", "/tmp/a:b@c", "mysql://h/d"] {
            assert_eq!(split(none), (none.into(), None));
        }
    }

    #[test]
    fn what_is_shown_has_no_password() {
        let dsn = Dsn::parse("mysql://u:secret@127.0.0.1:3307/d", None).expect("right");
        assert_eq!(dsn.address.password.as_deref(), Some("secret"));
        assert_eq!(dsn.shown(), "mysql://u@127.0.0.1:3307/d");
        let dsn = Dsn::parse("mysql://u@h/d", Some("given".into())).expect("right");
        assert_eq!(dsn.address.password.as_deref(), Some("given"));
        assert!(Dsn::parse("http://x", None).is_err());
        let dsn = Dsn::parse("no/such/socket", None).expect("a path");
        assert_eq!(dsn.address.socket, Some(PathBuf::from("no/such/socket")));
        assert!(Dsn::parse("localhost:3306", None).is_err());
    }

    #[test]
    fn what_a_url_says_of_tls_is_read_and_shown() {
        let url = "mysql://u@127.0.0.1:3307/d?ssl-mode=VERIFY_CA&ssl-ca=/x%20y/ca.pem";
        let dsn = Dsn::parse(url, None).expect("right");
        assert_eq!(dsn.address.tls.mode, Some(crate::tls::Mode::VerifyCa));
        assert_eq!(dsn.address.tls.ca, Some(PathBuf::from("/x y/ca.pem")));
        assert_eq!(dsn.database.as_deref(), Some("d"));
        let again = Dsn::parse(&dsn.shown(), None).expect("what is shown is one");
        assert_eq!(again.address.tls, dsn.address.tls);
        assert!(Dsn::parse("mysql://u@h/?ssl-mode=perhaps", None).is_err());
        assert!(has_port("mysql://u:p@localhost:1/") && has_port("mysql://[::1]:3306"));
        assert!(!has_port("mysql://u:p@localhost/x:1") && !has_port("mysql://u@[::1]/"));
    }
}
