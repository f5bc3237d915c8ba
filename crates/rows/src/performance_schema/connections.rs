//! accounts, users and hosts: present and past connections.

use std::sync::Arc;

use tare_reader::ConnectionTable;

use crate::cell::Cell;
use crate::describe::{Column, I64, Key, Spec, Table, U64, col, null};
use tare_mysql::series::Series;

/// The connections of an account, a user or a host.
#[derive(Debug, Clone, Default)]
pub struct Connections {
    /// The user; NULL for threads without an account.
    pub user: Option<Arc<str>>,
    /// The host; NULL for threads without an account.
    pub host: Option<Arc<str>>,
    /// Connected now.
    pub current: i64,
    /// Connected ever.
    pub total: i64,
}

#[rustfmt::skip] // One column, one line.
const USER: Column<Connections> =
    null("USER", "char(32)", "The user; NULL if none.", |r: &Connections| Cell::opt(r.user.as_deref())).in_mariadb("char(128)").binary();
#[rustfmt::skip] // One column, one line.
const HOST: Column<Connections> = null("HOST", "char(60)", "The host; NULL if none.", |r: &Connections| Cell::opt(r.host.as_deref()))
    .in_9_7("char(255)").in_mariadb("char(255)");
#[rustfmt::skip] // One column, one line.
const COUNTS: &[Column<Connections>] = &[
    col("CURRENT_CONNECTIONS", I64, "Connections open now.", |r| r.current.into()),
    col("TOTAL_CONNECTIONS", I64, "Connections since the start.", |r| r.total.into()),
    col("MAX_SESSION_CONTROLLED_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
    col("MAX_SESSION_TOTAL_MEMORY", U64, MEMORY, |_| 0_u64.into()).since(Series::V9_7),
];
const MEMORY: &str = "Always 0: the maximum of a session is not recorded.";

static ACCOUNTS: Spec<Connections> = Spec::new(
    "performance_schema",
    "accounts",
    "Connections by account.",
    &[&[USER, HOST], COUNTS],
    |view, _| view.snapshot.accounts(),
)
.keys(&[Key::Unique("ACCOUNT", &["USER", "HOST"])])
.expect(50)
.truncate(|view| {
    view.snapshot
        .truncate_connections(ConnectionTable::Accounts)
});

static USERS: Spec<Connections> = Spec::new(
    "performance_schema",
    "users",
    "Connections by user.",
    &[&[USER], COUNTS],
    |view, _| view.snapshot.users(),
)
.keys(&[Key::Unique("USER", &["USER"])])
.expect(50)
.truncate(|view| view.snapshot.truncate_connections(ConnectionTable::Users));

static HOSTS: Spec<Connections> = Spec::new(
    "performance_schema",
    "hosts",
    "Connections by host.",
    &[&[HOST], COUNTS],
    |view, _| view.snapshot.hosts(),
)
.keys(&[Key::Unique("HOST", &["HOST"])])
.expect(50)
.truncate(|view| view.snapshot.truncate_connections(ConnectionTable::Hosts));

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&ACCOUNTS, &USERS, &HOSTS];
