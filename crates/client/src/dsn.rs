//! A server's address as text: a URL with or without its password, or the path of a socket.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use mysql::Opts;
use thiserror::Error;

use crate::address::{Address, default_socket};
use crate::tls::{SslMode, Tls};

/// A text that is no address.
#[derive(Debug, Error)]
#[error(
    "--dsn: {0}; give mysql://USER@HOST:PORT/DATABASE?ssl-mode=REQUIRED, mysql://USER@localhost/DATABASE?socket=PATH or the path of a socket"
)]
pub struct DsnError(String);

/// An address, and the database that it names. Its text (`Display`) has no password.
#[derive(Debug, Clone)]
pub struct Dsn {
    /// The server's address.
    pub address: Address,
    /// The database, where one is named.
    pub database: Option<String>,
}

impl Dsn {
    /// Parses a URL, or the path of a socket, which has no `://`. `password` is used when the URL has
    /// none.
    ///
    /// # Errors
    /// The text is neither.
    pub fn parse(text: &str, password: Option<String>) -> Result<Self, DsnError> {
        if !text.contains("://") {
            // A path without a server is a path, too; `localhost:3306` is none.
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
        let (url, tls) = split_tls(text)?;
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
}

impl fmt::Display for Dsn {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let address = &self.address;
        if let Some(socket) = &address.socket {
            return socket.display().fmt(formatter);
        }
        let host = address.host.as_deref().unwrap_or("127.0.0.1");
        let host = match host.contains(':') && !host.starts_with('[') {
            true => format!("[{host}]"),
            false => host.to_owned(),
        };
        let (user, port) = (&address.user, address.port.unwrap_or(3306));
        let database = self.database.as_deref().unwrap_or_default();
        write!(formatter, "mysql://{user}@{host}:{port}/{database}")?;
        let mode = (address.tls.mode).map(|mode| format!("ssl-mode={}", mode.name()));
        let ca = (address.tls.ca.as_ref()).map(|ca| format!("ssl-ca={}", ca.display()));
        let options: Vec<String> = mode.into_iter().chain(ca).collect();
        match options.is_empty() {
            true => Ok(()),
            false => write!(formatter, "?{}", options.join("&")),
        }
    }
}

/// Splits the options of TLS off a URL.
fn split_tls(url: &str) -> Result<(String, Tls), DsnError> {
    let mut tls = Tls::default();
    let Some((bare, query)) = url.split_once('?') else {
        return Ok((url.to_owned(), tls));
    };
    let mut rest = Vec::new();
    for part in query.split('&') {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        match name.to_ascii_lowercase().replace('_', "-").as_str() {
            "ssl-mode" | "sslmode" => {
                let mode = percent_decode(value).parse::<SslMode>();
                tls.mode = Some(mode.map_err(|error| DsnError(error.to_string()))?);
            }
            "ssl-ca" => tls.ca = Some(percent_decode(value).into()),
            _ => rest.push(part),
        }
    }
    let url = match rest.is_empty() {
        true => bare.to_owned(),
        false => format!("{bare}?{}", rest.join("&")),
    };
    Ok((url, tls))
}

/// Whether a URL has a port.
fn has_port(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?']).next().unwrap_or_default();
    let host = host.rsplit('@').next().unwrap_or_default();
    host.rsplit_once(':')
        .is_some_and(|(_, port)| !port.contains(']'))
}

/// Splits the password off a URL.
pub fn without_password(url: &str) -> (String, Option<String>) {
    let split = || {
        let (scheme, rest) = url.split_once("://")?;
        let end = rest.find('/').unwrap_or(rest.len());
        let (user, _) = rest[..end].rsplit_once('@')?;
        let (name, password) = user.split_once(':')?;
        let bare = format!("{scheme}://{name}@{}", &rest[user.len() + 1..]);
        Some((bare, Some(percent_decode(password))))
    };
    split().unwrap_or_else(|| (url.to_owned(), None))
}

/// Replaces percent-encoded bytes.
fn percent_decode(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_split_off_urls() {
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
    fn the_text_of_an_address_has_no_password() {
        let dsn = Dsn::parse("mysql://u:secret@127.0.0.1:3307/d", None).expect("right");
        assert_eq!(dsn.address.password.as_deref(), Some("secret"));
        assert_eq!(dsn.to_string(), "mysql://u@127.0.0.1:3307/d");
        let dsn = Dsn::parse("mysql://u@h/d", Some("given".into())).expect("right");
        assert_eq!(dsn.address.password.as_deref(), Some("given"));
        assert!(Dsn::parse("http://x", None).is_err());
        let dsn = Dsn::parse("no/such/socket", None).expect("a path");
        assert_eq!(dsn.address.socket, Some(PathBuf::from("no/such/socket")));
        assert!(Dsn::parse("localhost:3306", None).is_err());
    }

    #[test]
    fn options_of_tls_are_parsed_and_printed() {
        let url = "mysql://u@127.0.0.1:3307/d?ssl-mode=VERIFY_CA&ssl-ca=/x%20y/ca.pem";
        let dsn = Dsn::parse(url, None).expect("right");
        assert_eq!(dsn.address.tls.mode, Some(SslMode::VerifyCa));
        assert_eq!(dsn.address.tls.ca, Some(PathBuf::from("/x y/ca.pem")));
        assert_eq!(dsn.database.as_deref(), Some("d"));
        let again = Dsn::parse(&dsn.to_string(), None).expect("right");
        assert_eq!(again.address.tls, dsn.address.tls);
        assert!(Dsn::parse("mysql://u@h/?ssl-mode=perhaps", None).is_err());
        assert!(has_port("mysql://u:p@localhost:1/") && has_port("mysql://[::1]:3306"));
        assert!(!has_port("mysql://u:p@localhost/x:1") && !has_port("mysql://u@[::1]/"));
    }
}
