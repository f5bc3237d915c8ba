//! host_cache: who came by TCP, and how it failed.

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, col, null};
use crate::server::HostSeen;
use crate::time::datetime;

/// A count that is always zero here, and why.
const fn never(name: &'static str, doc: &'static str) -> Column<HostSeen> {
    col(name, I64, doc, |_| Cell::Signed(0))
}

static HOST_CACHE: Spec<HostSeen> = Spec::new(
    "performance_schema",
    "host_cache",
    "The addresses that clients came from by TCP, and how their connections failed.",
    &[&[
        col("IP", "varchar(64)", "The address.", |r: &HostSeen| {
            Cell::owned(r.ip.to_string())
        }),
        null(
            "HOST",
            "varchar(255)",
            "Its name: localhost, or NULL; names are not resolved.",
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
            "Whether the name is known.",
            |r: &HostSeen| Cell::yes_no(r.ip.is_loopback()),
        ),
        col(
            "SUM_CONNECT_ERRORS",
            I64,
            "Failed handshakes since the last connection that succeeded.",
            |r: &HostSeen| (r.sum_connect_errors as i64).into(),
        ),
        never("COUNT_HOST_BLOCKED_ERRORS", "Always 0: nobody is blocked."),
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
            "Always 0: every host that can connect may.",
        ),
        col(
            "COUNT_NO_AUTH_PLUGIN_ERRORS",
            I64,
            "Clients that cannot authenticate in a way that the server has.",
            |r: &HostSeen| (r.no_auth_plugin_errors as i64).into(),
        ),
        never("COUNT_AUTH_PLUGIN_ERRORS", "Always 0: no plugin can fail."),
        col(
            "COUNT_HANDSHAKE_ERRORS",
            I64,
            "Connections that broke off or made no sense before the client was known.",
            |r: &HostSeen| (r.handshake_errors as i64).into(),
        ),
        never(
            "COUNT_PROXY_USER_ERRORS",
            "Always 0: there are no proxy users.",
        ),
        never(
            "COUNT_PROXY_USER_ACL_ERRORS",
            "Always 0: there are no proxy users.",
        ),
        col(
            "COUNT_AUTHENTICATION_ERRORS",
            I64,
            "Wrong users or passwords.",
            |r: &HostSeen| (r.authentication_errors as i64).into(),
        ),
        never(
            "COUNT_SSL_ERRORS",
            "Always 0: connections by TCP are not encrypted.",
        ),
        never(
            "COUNT_MAX_USER_CONNECTIONS_ERRORS",
            "Always 0: there is no such limit.",
        ),
        never(
            "COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS",
            "Always 0: there is no such limit.",
        ),
        col(
            "COUNT_DEFAULT_DATABASE_ERRORS",
            I64,
            "Default databases that do not exist, or are not for the user.",
            |r: &HostSeen| (r.default_database_errors as i64).into(),
        ),
        never(
            "COUNT_INIT_CONNECT_ERRORS",
            "Always 0: init_connect is not run.",
        ),
        col(
            "COUNT_LOCAL_ERRORS",
            I64,
            "The server's own failures.",
            |r: &HostSeen| (r.local_errors as i64).into(),
        ),
        never(
            "COUNT_UNKNOWN_ERRORS",
            "Always 0: every failure is of a kind above.",
        ),
        col(
            "FIRST_SEEN",
            "timestamp",
            "The first connection.",
            |r: &HostSeen| Cell::owned(datetime(r.first_seen)),
        ),
        col(
            "LAST_SEEN",
            "timestamp",
            "The last connection.",
            |r: &HostSeen| Cell::owned(datetime(r.last_seen)),
        ),
        null(
            "FIRST_ERROR_SEEN",
            "timestamp",
            "The first failure.",
            |r: &HostSeen| {
                r.first_error_seen
                    .map_or(Cell::Null, |t| Cell::owned(datetime(t)))
            },
        ),
        null(
            "LAST_ERROR_SEEN",
            "timestamp",
            "The last failure.",
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
