//! host_cache: who came by TCP, and how it failed.

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, col, null};
use crate::server::HostSeen;
use crate::time::datetime;
use tare_mysql::series::Series;

/// A count that is always zero here, and why.
const fn never(name: &'static str, doc: &'static str) -> Column<HostSeen> {
    col(name, I64, doc, |_| Cell::Signed(0))
}

static HOST_CACHE: Spec<HostSeen> = Spec::new(
    "performance_schema",
    "host_cache",
    "Client addresses of TCP connections, with counts of connection errors.",
    &[&[
        col("IP", "varchar(64)", "The client's IP address.", |r: &HostSeen| {
            Cell::owned(r.ip.to_string())
        }),
        null(
            "HOST",
            "varchar(255)",
            "The host name: localhost or NULL, because names are not resolved.",
            |r: &HostSeen| {
                if r.ip.is_loopback() {
                    "localhost".into()
                } else {
                    Cell::Null
                }
            },
        )
        .binary(),
        col(
            "HOST_VALIDATED",
            "enum('YES','NO')",
            "Whether the host name is known.",
            |r: &HostSeen| Cell::yes_no(r.ip.is_loopback()),
        ),
        col(
            "SUM_CONNECT_ERRORS",
            I64,
            "Failed handshakes since the last successful connection.",
            |r: &HostSeen| (r.sum_connect_errors as i64).into(),
        ),
        never("COUNT_HOST_BLOCKED_ERRORS", "Always 0: no host is ever blocked."),
        never(
            "COUNT_NAMEINFO_TRANSIENT_ERRORS",
            "Always 0: names are not resolved.",
        ),
        never(
            "COUNT_NAMEINFO_PERMANENT_ERRORS",
            "Always 0: names are not resolved.",
        ),
        never("COUNT_FORMAT_ERRORS", "Always 0: names are not resolved."),
        never(
            "COUNT_ADDRINFO_TRANSIENT_ERRORS",
            "Always 0: names are not resolved.",
        ),
        never(
            "COUNT_ADDRINFO_PERMANENT_ERRORS",
            "Always 0: names are not resolved.",
        ),
        never("COUNT_FCRDNS_ERRORS", "Always 0: names are not resolved."),
        never(
            "COUNT_HOST_ACL_ERRORS",
            "Always 0: no host is refused.",
        ),
        col(
            "COUNT_NO_AUTH_PLUGIN_ERRORS",
            I64,
            "Clients that support no authentication plugin of the server.",
            |r: &HostSeen| (r.no_auth_plugin_errors as i64).into(),
        ),
        never("COUNT_AUTH_PLUGIN_ERRORS", "Always 0: authentication plugins are built in and report no errors."),
        col(
            "COUNT_HANDSHAKE_ERRORS",
            I64,
            "Connections that ended, or sent malformed packets, during the handshake.",
            |r: &HostSeen| (r.handshake_errors as i64).into(),
        ),
        never(
            "COUNT_PROXY_USER_ERRORS",
            "Always 0: proxy users are not supported.",
        ),
        never(
            "COUNT_PROXY_USER_ACL_ERRORS",
            "Always 0: proxy users are not supported.",
        ),
        col(
            "COUNT_AUTHENTICATION_ERRORS",
            I64,
            "Failed authentications: unknown user or wrong password.",
            |r: &HostSeen| (r.authentication_errors as i64).into(),
        ),
        never(
            "COUNT_SSL_ERRORS",
            "Always 0: not counted.",
        ),
        never(
            "COUNT_MAX_USER_CONNECTIONS_ERRORS",
            "Always 0: there is no limit per user.",
        ),
        never(
            "COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS",
            "Always 0: there is no limit per user.",
        ),
        col(
            "COUNT_DEFAULT_DATABASE_ERRORS",
            I64,
            "Connections refused because their default database does not exist or is not accessible.",
            |r: &HostSeen| (r.default_database_errors as i64).into(),
        ),
        never(
            "COUNT_INIT_CONNECT_ERRORS",
            "Always 0: init_connect is not supported.",
        ),
        col(
            "COUNT_LOCAL_ERRORS",
            I64,
            "Errors of the server itself, such as lack of resources.",
            |r: &HostSeen| (r.local_errors as i64).into(),
        ),
        never("COUNT_ACCOUNT_LOCKED_ERRORS", "Always 0: counted as authentication errors.").since(Series::V9_7),
        never("COUNT_TEMPORARY_ACCOUNT_LOCKED_ERRORS", "Always 0: accounts are not locked for a time.")
            .since(Series::V9_7),
        never(
            "COUNT_UNKNOWN_ERRORS",
            "Always 0: every error is counted in a column above.",
        ),
        col(
            "FIRST_SEEN",
            "timestamp",
            "When a client first connected from this address.",
            |r: &HostSeen| Cell::owned(datetime(r.first_seen)),
        ),
        col(
            "LAST_SEEN",
            "timestamp",
            "When a client last connected from this address.",
            |r: &HostSeen| Cell::owned(datetime(r.last_seen)),
        ),
        null(
            "FIRST_ERROR_SEEN",
            "timestamp",
            "When an error of this address was first counted.",
            |r: &HostSeen| {
                r.first_error_seen
                    .map_or(Cell::Null, |t| Cell::owned(datetime(t)))
            },
        ),
        null(
            "LAST_ERROR_SEEN",
            "timestamp",
            "When an error of this address was last counted.",
            |r: &HostSeen| {
                r.last_error_seen
                    .map_or(Cell::Null, |t| Cell::owned(datetime(t)))
            },
        ),
    ]],
    |view, _| Ok(Box::new(view.source.host_cache().into_iter())),
)
.keys(&[Key::Primary(&["IP"]), Key::Plain("HOST", &["HOST"])])
.expect(10)
.truncate(|view| {
    view.source.flush_hosts();
    Ok(())
});

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&HOST_CACHE];
