//! host_cache: addresses of TCP clients, and errors of their connections.

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, col, null};
use crate::server::CachedHost;
use crate::time::datetime;
use tare_mysql::series::Series;

/// A count that is always zero here, and why.
const fn never(name: &'static str, doc: &'static str) -> Column<CachedHost> {
    col(name, I64, doc, |_| Cell::Signed(0))
}

fn host(row: &CachedHost) -> Cell<'_> {
    Cell::opt(row.ip.is_loopback().then_some("localhost"))
}

fn count(errors: u64) -> Cell<'static> {
    Cell::Signed(errors as i64)
}

#[rustfmt::skip] // One column, one line.
static HOST_CACHE: Spec<CachedHost> = Spec::new(
    "performance_schema",
    "host_cache",
    "Client addresses of TCP connections, with counts of connection errors.",
    &[&[
        col("IP", "varchar(64)", "The client's IP address.", |r: &CachedHost| Cell::owned(r.ip.to_string())),
        null("HOST", "varchar(255)", "localhost or NULL: names are not resolved.", host).binary(),
        col("HOST_VALIDATED", "enum('YES','NO')", "Whether the host name is known.", |r| Cell::yes_no(r.ip.is_loopback())),
        col("SUM_CONNECT_ERRORS", I64, "Failed handshakes since the last successful connection.", |r| count(r.sum_connect_errors)),
        never("COUNT_HOST_BLOCKED_ERRORS", "Always 0: no host is ever blocked."),
        never("COUNT_NAMEINFO_TRANSIENT_ERRORS", "Always 0: names are not resolved."),
        never("COUNT_NAMEINFO_PERMANENT_ERRORS", "Always 0: names are not resolved."),
        never("COUNT_FORMAT_ERRORS", "Always 0: names are not resolved."),
        never("COUNT_ADDRINFO_TRANSIENT_ERRORS", "Always 0: names are not resolved."),
        never("COUNT_ADDRINFO_PERMANENT_ERRORS", "Always 0: names are not resolved."),
        never("COUNT_FCRDNS_ERRORS", "Always 0: names are not resolved."),
        never("COUNT_HOST_ACL_ERRORS", "Always 0: no host is refused."),
        col("COUNT_NO_AUTH_PLUGIN_ERRORS", I64, "Clients that support no authentication plugin.", |r| count(r.no_auth_plugin_errors)),
        never("COUNT_AUTH_PLUGIN_ERRORS", "Always 0: authentication plugins are built in and report no errors."),
        col("COUNT_HANDSHAKE_ERRORS", I64, "Connections that failed during the handshake.", |r| count(r.handshake_errors)),
        never("COUNT_PROXY_USER_ERRORS", "Always 0: proxy users are not supported."),
        never("COUNT_PROXY_USER_ACL_ERRORS", "Always 0: proxy users are not supported."),
        col("COUNT_AUTHENTICATION_ERRORS", I64, "Logins with an unknown user or a wrong password.", |r| count(r.authentication_errors)),
        never("COUNT_SSL_ERRORS", "Always 0: not counted."),
        never("COUNT_MAX_USER_CONNECTIONS_ERRORS", "Always 0: there is no limit per user."),
        never("COUNT_MAX_USER_CONNECTIONS_PER_HOUR_ERRORS", "Always 0: there is no limit per user."),
        col("COUNT_DEFAULT_DATABASE_ERRORS", I64, "Connections with an unusable default database.", |r| count(r.default_database_errors)),
        never("COUNT_INIT_CONNECT_ERRORS", "Always 0: init_connect is not supported."),
        col("COUNT_LOCAL_ERRORS", I64, "Errors of the server itself, such as lack of resources.", |r| count(r.local_errors)),
        never("COUNT_ACCOUNT_LOCKED_ERRORS", "Always 0: counted as authentication errors.").since(Series::V9_7),
        never("COUNT_TEMPORARY_ACCOUNT_LOCKED_ERRORS", "Always 0: accounts are not locked for a time.").since(Series::V9_7),
        never("COUNT_UNKNOWN_ERRORS", "Always 0: every error is counted in a column above."),
        col("FIRST_SEEN", "timestamp", "When a client first connected from this address.", |r| Cell::owned(datetime(r.first_seen))),
        col("LAST_SEEN", "timestamp", "When a client last connected from this address.", |r| Cell::owned(datetime(r.last_seen))),
        null("FIRST_ERROR_SEEN", "timestamp", "When an error was first counted.", |r| Cell::opt(r.first_error_seen.map(datetime))),
        null("LAST_ERROR_SEEN", "timestamp", "When an error was last counted.", |r| Cell::opt(r.last_error_seen.map(datetime))),
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
