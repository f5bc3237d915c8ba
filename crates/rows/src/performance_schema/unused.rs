//! Tables of features that the server does not have: there for who asks, and empty.

use tare_mysql::series::Series::V9_7;

use crate::describe::{BINARY, Key, Table, YES_NO};
use crate::empty::{Empty, always, maybe};

#[rustfmt::skip] // One column, one line.
static INNODB_REDO_LOG_FILES: Empty = Empty::new(
    "performance_schema",
    "innodb_redo_log_files",
    "InnoDB's redo log. Always empty: log_status tells of the databases' write-ahead logs.",
    &[&[
        always("FILE_ID", "bigint(20)", "The file's number."),
        always("FILE_NAME", "varchar(2000)", "Its path."),
        always("START_LSN", "bigint(20)", "Where it begins."),
        always("END_LSN", "bigint(20)", "Where it ends."),
        always("SIZE_IN_BYTES", "bigint(20)", "Its size."),
        always("IS_FULL", "tinyint", "Whether nothing more is written to it."),
        always("CONSUMER_LEVEL", "int(11)", "How many consumers still need it."),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static KEYRING_COMPONENT_STATUS: Empty = Empty::new(
    "performance_schema",
    "keyring_component_status",
    "The keyring. Always empty: there is none.",
    &[&[
        always("STATUS_KEY", "varchar(256)", "What is told."),
        always("STATUS_VALUE", "varchar(1024)", "Its value."),
    ]],
)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static KEYRING_KEYS: Empty = Empty::new(
    "performance_schema",
    "keyring_keys",
    "The keys in the keyring. Always empty: there is none.",
    &[&[
        always("KEY_ID", "varchar(255)", "The key.").collate(BINARY),
        maybe("KEY_OWNER", "varchar(255)", "Whose it is.").collate(BINARY),
        maybe("BACKEND_KEY_ID", "varchar(255)", "Its name in the keyring's own store.").collate(BINARY),
    ]],
)
.collate(BINARY)
.since(V9_7);

#[rustfmt::skip] // One column, one line.
static TEMPORARY_ACCOUNT_LOCKS: Empty = Empty::new(
    "performance_schema",
    "temporary_account_locks",
    "Accounts that are locked after failed logins. Always empty: accounts are not locked for a time.",
    &[&[
        always("USER", "char(32)", "The user.").collate(BINARY),
        always("HOST", "char(255)", "The host."),
        always("LOCKED", YES_NO, "Whether it is locked."),
        always("FAILED_LOGIN_ATTEMPTS", "int(11)", "How many failed logins lock it."),
        always("REMAINING_LOGIN_ATTEMPTS", "int(11)", "How many are left."),
        always("PASSWORD_LOCK_TIME", "int(11)", "For how many days it is locked."),
        maybe("LOCKED_SINCE", "date", "Since when it is locked."),
        maybe("LOCKED_UNTIL", "date", "Until when it is locked."),
    ]],
)
.keys(&[Key::Unique("ACCOUNT", &["USER", "HOST"])])
.since(V9_7);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &INNODB_REDO_LOG_FILES,
    &KEYRING_COMPONENT_STATUS,
    &KEYRING_KEYS,
    &TEMPORARY_ACCOUNT_LOCKS,
];
