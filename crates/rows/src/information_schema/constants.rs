//! ENGINES, PLUGINS, CHARACTER_SETS, COLLATIONS, USER_PRIVILEGES.

use tare_mysql::charset::{self, Charset, Collation};

use crate::cell::Cell;
use crate::describe::{Spec, Table, col, null};
use tare_mysql::account::Account;

struct Engine {
    name: &'static str,
    support: &'static str,
    comment: &'static str,
    transactions: &'static str,
}

#[rustfmt::skip] // One engine, one line.
const ENGINES_: [Engine; 2] = [
    Engine { name: "SQLite", support: "DEFAULT", comment: "SQLite databases in write-ahead-log mode", transactions: "YES" },
    Engine { name: "PERFORMANCE_SCHEMA", support: "YES", comment: "Performance Schema", transactions: "NO" },
];

#[rustfmt::skip] // One column, one line.
static ENGINES: Spec<&'static Engine> = Spec::new(
    "information_schema",
    "ENGINES",
    "The storage engines.",
    &[&[
        col("ENGINE", "varchar(64)", "The storage engine.", |r: &&'static Engine| r.name.into()),
        col("SUPPORT", "varchar(8)", "YES, or DEFAULT for the default storage engine.", |r| r.support.into()),
        col("COMMENT", "varchar(80)", "A description.", |r| r.comment.into()),
        null("TRANSACTIONS", "varchar(3)", "Whether it supports transactions.", |r| r.transactions.into()),
        null("XA", "varchar(3)", "Always NO.", |_| Cell::text("NO")),
        null("SAVEPOINTS", "varchar(3)", "Whether it supports savepoints.", |r| r.transactions.into()),
    ]],
    |_, _| Ok(Box::new(ENGINES_.iter())),
)
.expect(2);

#[rustfmt::skip] // One column, one line.
static COLLATIONS: Spec<&'static Collation> = Spec::new(
    "information_schema",
    "COLLATIONS",
    "The available collations.",
    &[&[
        col("COLLATION_NAME", "varchar(64)", "The collation.", |r: &&'static Collation| r.name.into()),
        col("CHARACTER_SET_NAME", "varchar(64)", "The character set.", |r| r.charset.into()),
        col("ID", "bigint(20) unsigned", "Its number in the protocol.", |r| r.id.into()),
        col("IS_DEFAULT", "varchar(3)", "Yes if it is its character set's default.", |r| Cell::text(if r.default { "Yes" } else { "" })),
        col("IS_COMPILED", "varchar(3)", "Always Yes.", |_| Cell::text("Yes")),
        col("SORTLEN", "int(10) unsigned", "The memory factor for sorting, as in MySQL.", |r| r.sortlen.into()),
        col("PAD_ATTRIBUTE", "enum('PAD SPACE','NO PAD')", "PAD SPACE if trailing spaces are ignored, else NO PAD.", |r| r.pad.into()),
    ]],
    |_, _| Ok(Box::new(charset::COLLATIONS.iter())),
)
.expect(13);

#[rustfmt::skip] // One column, one line.
static APPLICABILITY: Spec<&'static Collation> = Spec::new(
    "information_schema",
    "COLLATION_CHARACTER_SET_APPLICABILITY",
    "The character set of each collation.",
    &[&[
        col("COLLATION_NAME", "varchar(64)", "The collation.", |r: &&'static Collation| r.name.into()),
        col("CHARACTER_SET_NAME", "varchar(64)", "The character set.", |r| r.charset.into()),
    ]],
    |_, _| Ok(Box::new(charset::COLLATIONS.iter())),
)
.expect(13);

#[rustfmt::skip] // One column, one line.
static CHARACTER_SETS: Spec<&'static Charset> = Spec::new(
    "information_schema",
    "CHARACTER_SETS",
    "The available character sets.",
    &[&[
        col("CHARACTER_SET_NAME", "varchar(64)", "The character set.", |r: &&'static Charset| r.name.into()),
        col("DEFAULT_COLLATE_NAME", "varchar(64)", "The default collation.", |r| r.collation.into()),
        col("DESCRIPTION", "varchar(2048)", "A description.", |r| r.description.into()),
        col("MAXLEN", "int(10) unsigned", "The most bytes that a character takes.", |r| r.bytes.into()),
    ]],
    |_, _| Ok(Box::new(charset::CHARSETS.iter())),
)
.expect(5);

struct Privilege {
    account: Account,
    name: &'static str,
}

#[rustfmt::skip] // One column, one line.
static USER_PRIVILEGES: Spec<Privilege> = Spec::new(
    "information_schema",
    "USER_PRIVILEGES",
    "The global privileges of each account.",
    &[&[
        col("GRANTEE", "varchar(292)", "The account.", |r: &Privilege| format!("'{}'@'{}'", r.account.user, r.account.host).into()),
        col("TABLE_CATALOG", "varchar(512)", "Always def.", |_| Cell::text("def")),
        col("PRIVILEGE_TYPE", "varchar(64)", "The privilege.", |r| r.name.into()),
        col("IS_GRANTABLE", "varchar(3)", "Whether it may be passed on.", |r| Cell::text(if r.account.rights.all { "YES" } else { "NO" })),
    ]],
    |view, _| {
        let of = |account: Account| {
            let privilege = |name| Privilege {
                account: account.clone(),
                name,
            };
            let held = account.rights.global().into_iter();
            held.map(privilege).collect::<Vec<_>>()
        };
        let all: Vec<_> = view.source.accounts().into_iter().flat_map(of).collect();
        Ok(Box::new(all.into_iter()))
    },
)
.expect(10);

struct Plugin {
    name: &'static str,
    kind: &'static str,
    what: &'static str,
}

#[rustfmt::skip] // One plugin, one line.
const PLUGINS_: [Plugin; 4] = [
    Plugin { name: "mysql_native_password", kind: "AUTHENTICATION", what: "Native MySQL authentication" },
    Plugin { name: "caching_sha2_password", kind: "AUTHENTICATION", what: "Caching sha2 authentication" },
    Plugin { name: "SQLite", kind: "STORAGE ENGINE", what: "SQLite databases in write-ahead-log mode" },
    Plugin { name: "PERFORMANCE_SCHEMA", kind: "STORAGE ENGINE", what: "Performance Schema" },
];

#[rustfmt::skip] // One column, one line.
static PLUGINS: Spec<&'static Plugin> = Spec::new(
    "information_schema",
    "PLUGINS",
    "Parts of the server, listed as MySQL lists its plugins.",
    &[&[
        col("PLUGIN_NAME", "varchar(64)", "The plugin.", |r: &&'static Plugin| r.name.into()),
        col("PLUGIN_VERSION", "varchar(20)", "Always 1.0.", |_| Cell::text("1.0")),
        col("PLUGIN_STATUS", "varchar(10)", "Always ACTIVE.", |_| Cell::text("ACTIVE")),
        col("PLUGIN_TYPE", "varchar(80)", "The type, such as STORAGE ENGINE or AUTHENTICATION.", |r| r.kind.into()),
        col("PLUGIN_TYPE_VERSION", "varchar(20)", "Always 1.0.", |_| Cell::text("1.0")),
        null("PLUGIN_LIBRARY", "varchar(64)", "Always NULL: plugins are built in.", |_| Cell::Null),
        null("PLUGIN_LIBRARY_VERSION", "varchar(20)", "Always NULL: plugins are built in.", |_| Cell::Null),
        null("PLUGIN_AUTHOR", "varchar(64)", "The authors of Tare.", |_| Cell::text("Tare")),
        null("PLUGIN_DESCRIPTION", "longtext", "A description.", |r| r.what.into()),
        null("PLUGIN_LICENSE", "varchar(80)", "The licence of Tare.", |_| Cell::text("MIT OR Apache-2.0")),
        col("LOAD_OPTION", "varchar(64)", "Always FORCE.", |_| Cell::text("FORCE")),
    ]],
    |_, _| Ok(Box::new(PLUGINS_.iter())),
)
.expect(4);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &PLUGINS,
    &APPLICABILITY,
    &CHARACTER_SETS,
    &COLLATIONS,
    &ENGINES,
    &USER_PRIVILEGES,
];
