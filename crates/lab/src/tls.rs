//! TLS to a server, as MySQL's clients ask for it, and what is said when a connection fails.

use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use mysql::{Conn, DriverError, SslOpts};
use thiserror::Error;

use crate::server::Address;

/// How long a host may take to answer a connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// After how long without a word the kernel asks whether the server is still there.
const KEEPALIVE_MS: u32 = 10_000;

/// MySQL's `ssl-mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Not encrypted.
    Disabled,
    /// Encrypted where the server can.
    Preferred,
    /// Encrypted, with whomever.
    Required,
    /// And the certificate is signed by an authority that is known.
    VerifyCa,
    /// And it is for the host that was asked for.
    VerifyIdentity,
}

const MODES: [(&str, Mode); 5] = [
    ("DISABLED", Mode::Disabled),
    ("PREFERRED", Mode::Preferred),
    ("REQUIRED", Mode::Required),
    ("VERIFY_CA", Mode::VerifyCa),
    ("VERIFY_IDENTITY", Mode::VerifyIdentity),
];

/// It is none of MySQL's words.
#[derive(Debug, Error)]
#[error("'{0}' is no ssl-mode: give DISABLED, PREFERRED, REQUIRED, VERIFY_CA or VERIFY_IDENTITY")]
pub struct NoMode(String);

impl FromStr for Mode {
    type Err = NoMode;

    fn from_str(text: &str) -> Result<Self, NoMode> {
        let asked = text.to_ascii_uppercase().replace('-', "_");
        let found = MODES.iter().find(|(name, _)| *name == asked);
        found
            .map(|(_, mode)| *mode)
            .ok_or_else(|| NoMode(text.to_owned()))
    }
}

impl Mode {
    /// MySQL's word.
    pub fn name(self) -> &'static str {
        let found = MODES.iter().find(|(_, mode)| *mode == self);
        found.map_or("", |(name, _)| name)
    }
}

/// How a connection is to be encrypted.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Tls {
    /// What was asked for.
    pub mode: Option<Mode>,
    /// File with the certificates of authorities, in PEM.
    pub ca: Option<PathBuf>,
}

impl Tls {
    /// What is done: as MySQL's clients, an authority's file alone says that the certificate is checked.
    pub fn mode(&self) -> Mode {
        match (self.mode, &self.ca) {
            (Some(mode), _) => mode,
            (None, Some(_)) => Mode::VerifyCa,
            (None, None) => Mode::Preferred,
        }
    }
}

/// Why there is no connection, in words.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct Refused(String);

/// Connects.
///
/// # Errors
/// Why not, and what to do about it.
pub fn connect(address: &Address, database: Option<&str>) -> Result<Conn, Refused> {
    let options = address
        .options()
        .db_name(database)
        .tcp_connect_timeout(Some(PATIENCE))
        .tcp_keepalive_time_ms(Some(KEEPALIVE_MS));
    let mode = address.tls.mode();
    let checked = SslOpts::default().with_root_cert_path(address.tls.ca.clone());
    let ssl = match mode {
        // Nobody reads what goes through a socket of this machine.
        _ if address.socket.is_some() => None,
        Mode::Disabled => None,
        Mode::Preferred | Mode::Required => Some(
            SslOpts::default()
                .with_danger_accept_invalid_certs(true)
                .with_danger_skip_domain_validation(true),
        ),
        Mode::VerifyCa => Some(checked.with_danger_skip_domain_validation(true)),
        Mode::VerifyIdentity => Some(checked),
    };
    let encrypted = ssl.is_some();
    let made = match Conn::new(options.clone().ssl_opts(ssl)) {
        // It cannot encrypt, or not as we can: MySQL 5 has TLS 1.1.
        Err(error) if encrypted && mode == Mode::Preferred && !has_answered(&error) => {
            Conn::new(options)
        }
        made => made,
    };
    made.map_err(|error| {
        let hint = hint(&error, mode, address.socket.is_some());
        Refused(format!("{}{hint}", words(&error)))
    })
}

/// Whether a server has said no, or is not there: trying again without TLS helps nobody.
fn has_answered(error: &mysql::Error) -> bool {
    matches!(
        error,
        mysql::Error::MySqlError(_)
            | mysql::Error::DriverError(
                DriverError::ConnectTimeout
                    | DriverError::CouldNotConnect(_)
                    | DriverError::Timeout
            )
    )
}

/// What to do about it.
fn hint(error: &mysql::Error, mode: Mode, socket: bool) -> &'static str {
    match error {
        // What MySQL and MariaDB say when they want TLS, and what they say instead of it.
        mysql::Error::MySqlError(error)
            if !socket
                && mode == Mode::Disabled
                && matches!(error.code, 1045 | 3159 | 4031 | 8004) =>
        {
            "; the connection is not encrypted, which the server or the account may demand: \
             --ssl-mode=REQUIRED, or ?ssl-mode=REQUIRED in the --dsn"
        }
        mysql::Error::MySqlError(_) => "",
        mysql::Error::DriverError(DriverError::TlsNotSupported) => {
            "; the server does not offer TLS: --ssl-mode=DISABLED does without"
        }
        other => {
            let text = other.to_string();
            let unknown = ["UnknownIssuer", "CaUsedAsEndEntity", "BadSignature"];
            if unknown.iter().any(|what| text.contains(what)) {
                "; the server's certificate is of no authority that is known: give its file with --ssl-ca, or \
                 ?ssl-ca=PATH in the --dsn"
            } else if text.contains("NotValidForName") || text.contains("not valid for name") {
                "; the server's certificate is for another host: --ssl-mode=VERIFY_CA does not look at the name"
            } else {
                ""
            }
        }
    }
}

/// An error of the client's library, in words.
pub fn words(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => error.to_string(),
        mysql::Error::DriverError(error) => error.to_string(),
        mysql::Error::IoError(error) => error.to_string(),
        mysql::Error::CodecError(error) => error.to_string(),
        mysql::Error::TlsError(error) => format!("TLS: {error}"),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modes_are_mysqls_words() {
        for (name, mode) in MODES {
            assert_eq!(name.parse::<Mode>().ok(), Some(mode));
            assert_eq!(mode.name(), name);
        }
        assert_eq!("verify-ca".parse::<Mode>().ok(), Some(Mode::VerifyCa));
        assert!("on".parse::<Mode>().is_err());
        let mut tls = Tls::default();
        assert_eq!(tls.mode(), Mode::Preferred);
        tls.ca = Some("ca.pem".into());
        assert_eq!(tls.mode(), Mode::VerifyCa);
        tls.mode = Some(Mode::Required);
        assert_eq!(tls.mode(), Mode::Required);
    }
}
