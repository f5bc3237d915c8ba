//! Connecting, and what to do when it fails.

use std::time::Duration;

use mysql::{Conn, DriverError, SslOpts};
use thiserror::Error;

use crate::address::Address;
use crate::session::{SessionKind, apply_settings};
use crate::tls::SslMode;

/// How long a host may take to accept a connection.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// The idle time after which the kernel probes whether the server still answers.
const KEEPALIVE_MS: u32 = 10_000;

/// The largest packet that is read. Without it the crate would take the server's limit of what it accepts, which
/// may be less than what it sends, and asks for it in a session without settings.
const MAX_PACKET_BYTES: usize = 1 << 30;

/// Why a connection failed, and what to do about it.
#[derive(Debug, Error)]
#[error("{0}")]
pub struct ConnectError(String);

/// Connects to a server, and sets what the session would inherit from the server's globals. A session that gets no
/// answer for `answer_timeout` is lost.
///
/// # Errors
/// The server does not answer, refuses the user, or TLS fails.
pub fn connect(
    address: &Address,
    database: Option<&str>,
    kind: SessionKind,
    answer_timeout: Option<Duration>,
) -> Result<Conn, ConnectError> {
    let options = address
        .options()
        .db_name(database)
        .max_allowed_packet(Some(MAX_PACKET_BYTES))
        .read_timeout(answer_timeout)
        .tcp_connect_timeout(Some(CONNECT_TIMEOUT))
        .tcp_keepalive_time_ms(Some(KEEPALIVE_MS));
    let mode = address.tls.mode();
    let checked = SslOpts::default().with_root_cert_path(address.tls.ca.clone());
    let ssl = match mode {
        // A local socket needs no encryption.
        _ if address.socket.is_some() => None,
        SslMode::Disabled => None,
        SslMode::Preferred | SslMode::Required => Some(
            SslOpts::default()
                .with_danger_accept_invalid_certs(true)
                .with_danger_skip_domain_validation(true),
        ),
        SslMode::VerifyCa => Some(checked.with_danger_skip_domain_validation(true)),
        SslMode::VerifyIdentity => Some(checked),
    };
    let encrypted = ssl.is_some();
    let conn = match Conn::new(options.clone().ssl_opts(ssl)) {
        // The server has no TLS, or an old version: MySQL 5 has TLS 1.1.
        Err(error) if encrypted && mode == SslMode::Preferred && !is_final(&error) => {
            Conn::new(options)
        }
        conn => conn,
    };
    let set = conn.and_then(|mut conn| {
        apply_settings(&mut conn, kind)?;
        Ok(conn)
    });
    set.map_err(|error| {
        let hint = hint(&error, mode, address.socket.is_some());
        ConnectError(format!("{}{hint}", error_text(&error)))
    })
}

/// Whether the server has refused, or does not exist: another try without TLS would fail, too.
fn is_final(error: &mysql::Error) -> bool {
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

/// What the user can do about an error.
fn hint(error: &mysql::Error, mode: SslMode, socket: bool) -> &'static str {
    match error {
        // The errors of MySQL and MariaDB that an unencrypted connection gets.
        mysql::Error::MySqlError(error)
            if !socket
                && mode == SslMode::Disabled
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
            let unknown_authority = ["UnknownIssuer", "CaUsedAsEndEntity", "BadSignature"];
            if unknown_authority.iter().any(|what| text.contains(what)) {
                "; the server's certificate is of no authority that is known: give its file with --ssl-ca, or \
                 ?ssl-ca=PATH in the --dsn"
            } else if text.contains("NotValidForName") || text.contains("not valid for name") {
                "; the server's certificate is for another host: --ssl-mode=VERIFY_CA does not check the name"
            } else {
                ""
            }
        }
    }
}

/// The message of an error of crate `mysql`.
pub fn error_text(error: &mysql::Error) -> String {
    match error {
        mysql::Error::MySqlError(error) => error.to_string(),
        mysql::Error::DriverError(error) => error.to_string(),
        mysql::Error::IoError(error) => error.to_string(),
        mysql::Error::CodecError(error) => error.to_string(),
        mysql::Error::TlsError(error) => format!("TLS: {error}"),
        other => other.to_string(),
    }
}
