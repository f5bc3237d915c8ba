//! A server's address as the user gives it, and as others may see it.

use std::fs;
use std::path::{Path, PathBuf};

use mysql::Opts;
use thiserror::Error;

use crate::ask::Ask;
use crate::server::Address;

/// Where a password may come from, when it is not in the URL.
pub const PASSWORD_VARIABLE: &str = "TARE_WEIGH_PASSWORD";

/// Why an address is refused.
#[derive(Debug, Error)]
#[error(
    "--dsn: {0}; give mysql://USER@HOST:PORT/DATABASE, mysql://USER@localhost/DATABASE?socket=PATH or the path of a socket"
)]
pub struct DsnError(String);

/// An address with its password.
#[derive(Debug, Clone)]
pub struct Dsn {
    /// How to reach it.
    pub address: Address,
}

impl Dsn {
    /// Reads one; `password` is used when the URL has none.
    ///
    /// # Errors
    /// It is neither a URL nor a path.
    pub fn parse(text: &str, password: Option<String>) -> Result<Self, DsnError> {
        if text.starts_with(['/', '.']) {
            return Ok(Self {
                address: Address {
                    socket: Some(PathBuf::from(text)),
                    user: "root".into(),
                    password,
                    database: "sbtest".into(),
                    ..Address::default()
                },
            });
        }
        let options = Opts::from_url(text).map_err(|error| DsnError(error.to_string()))?;
        let own = options
            .get_pass()
            .map(str::to_owned)
            .filter(|password| !password.is_empty());
        Ok(Self {
            address: Address {
                socket: options.get_socket().map(PathBuf::from),
                host: Some(options.get_ip_or_hostname().into_owned()),
                port: Some(options.get_tcp_port()),
                user: options.get_user().unwrap_or("root").to_owned(),
                password: own.or(password),
                database: options.get_db_name().unwrap_or("sbtest").to_owned(),
            },
        })
    }

    /// Without the password.
    pub fn shown(&self) -> String {
        let Address {
            socket,
            host,
            port,
            user,
            database,
            ..
        } = &self.address;
        match (socket, host) {
            (Some(socket), _) => socket.display().to_string(),
            (None, host) => {
                let host = host.as_deref().unwrap_or("127.0.0.1");
                format!("mysql://{user}@{host}:{}/{database}", port.unwrap_or(3306))
            }
        }
    }
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
    }
}
