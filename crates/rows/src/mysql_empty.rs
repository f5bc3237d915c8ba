//! Tables of schema `mysql` that have no rows here: dumps, exporters and consoles ask for them.

use crate::describe::{Key, Table};
use crate::empty::{Empty, always, maybe};

const NY: &str = "enum('N','Y')";

#[rustfmt::skip] // One column, one line.
static FUNC: Empty = Empty::new(
    "mysql",
    "func",
    "Loadable functions. Always empty: none can be loaded.",
    &[&[
        always("name", "char(64)", "The function."),
        always("ret", "tinyint(1)", "What it returns."),
        always("dl", "char(128)", "Its library."),
        always("type", "enum('function','aggregate')", "What it is."),
    ]],
)
.keys(&[Key::Primary(&["name"])]);

#[rustfmt::skip] // One column, one line.
static GLOBAL_GRANTS: Empty = Empty::new(
    "mysql",
    "global_grants",
    "Dynamic privileges. Always empty: there are none.",
    &[&[
        always("USER", "char(32)", "The user."),
        always("HOST", "char(60)", "The host part of the account."),
        always("PRIV", "char(32)", "The privilege."),
        always("WITH_GRANT_OPTION", NY, "Whether it may be passed on."),
    ]],
)
.keys(&[Key::Primary(&["USER", "HOST", "PRIV"])]);

#[rustfmt::skip] // One column, one line.
static HELP_TOPIC: Empty = Empty::new(
    "mysql",
    "help_topic",
    "Texts of HELP. Always empty: none are loaded.",
    &[&[
        always("help_topic_id", "int(10) unsigned", "The topic's number."),
        always("name", "char(64)", "The topic."),
        always("help_category_id", "smallint(5) unsigned", "Its category."),
        always("description", "text", "The text."),
        always("example", "text", "An example."),
        always("url", "text", "Where to read more."),
    ]],
)
.keys(&[Key::Primary(&["help_topic_id"])]);

#[rustfmt::skip] // One column, one line.
static INNODB_INDEX_STATS: Empty = Empty::new(
    "mysql",
    "innodb_index_stats",
    "InnoDB's statistics of indexes. Always empty: tables are SQLite's.",
    &[&[
        always("database_name", "varchar(64)", "The database."),
        always("table_name", "varchar(199)", "The table."),
        always("index_name", "varchar(64)", "The index."),
        always("last_update", "timestamp", "When they were taken."),
        always("stat_name", "varchar(64)", "What is told."),
        always("stat_value", "bigint(20) unsigned", "How much it is."),
        maybe("sample_size", "bigint(20) unsigned", "Pages looked at."),
        always("stat_description", "varchar(1024)", "What it means."),
    ]],
)
.keys(&[Key::Primary(&["database_name", "table_name", "index_name", "stat_name"])]);

#[rustfmt::skip] // One column, one line.
static INNODB_TABLE_STATS: Empty = Empty::new(
    "mysql",
    "innodb_table_stats",
    "InnoDB's statistics of tables. Always empty: tables are SQLite's.",
    &[&[
        always("database_name", "varchar(64)", "The database."),
        always("table_name", "varchar(199)", "The table."),
        always("last_update", "timestamp", "When they were taken."),
        always("n_rows", "bigint(20) unsigned", "Rows."),
        always("clustered_index_size", "bigint(20) unsigned", "Pages of the primary key."),
        always("sum_of_other_index_sizes", "bigint(20) unsigned", "Pages of the others."),
    ]],
)
.keys(&[Key::Primary(&["database_name", "table_name"])]);

#[rustfmt::skip] // One column, one line.
static ROLE_EDGES: Empty = Empty::new(
    "mysql",
    "role_edges",
    "Which role is granted to whom. Always empty: there are no roles.",
    &[&[
        always("FROM_HOST", "char(60)", "The host part of the role."),
        always("FROM_USER", "char(32)", "The role."),
        always("TO_HOST", "char(60)", "The host part of the account."),
        always("TO_USER", "char(32)", "The user."),
        always("WITH_ADMIN_OPTION", NY, "Whether it may be passed on."),
    ]],
)
.keys(&[Key::Primary(&["FROM_HOST", "FROM_USER", "TO_HOST", "TO_USER"])]);

#[rustfmt::skip] // One column, one line.
static SLAVE_MASTER_INFO: Empty = Empty::new(
    "mysql",
    "slave_master_info",
    "Sources of replication. Always empty: there is none.",
    &[&[
        always("Number_of_lines", "int(10) unsigned", "Lines of the former file."),
        always("Master_log_name", "text", "The binary log that is read."),
        always("Master_log_pos", "bigint(20) unsigned", "The place in it."),
        maybe("Host", "char(64)", "The source's host."),
        maybe("User_name", "text", "The account."),
        maybe("User_password", "text", "Its password."),
        always("Port", "int(10) unsigned", "The source's port."),
        always("Connect_retry", "int(10) unsigned", "Seconds between attempts."),
        always("Enabled_ssl", "tinyint(1)", "Whether TLS is used."),
        maybe("Ssl_ca", "text", "The authority's certificate."),
        maybe("Ssl_capath", "text", "The directory of authorities."),
        maybe("Ssl_cert", "text", "The certificate."),
        maybe("Ssl_cipher", "text", "The cipher."),
        maybe("Ssl_key", "text", "The key."),
        always("Ssl_verify_server_cert", "tinyint(1)", "Whether the source's certificate is checked."),
        always("Heartbeat", "float", "Seconds between heartbeats."),
        maybe("Bind", "text", "The interface."),
        maybe("Ignored_server_ids", "text", "Servers that are left out."),
        maybe("Uuid", "text", "The source's UUID."),
        always("Retry_count", "bigint(20) unsigned", "Attempts."),
        maybe("Ssl_crl", "text", "The list of revoked certificates."),
        maybe("Ssl_crlpath", "text", "The directory of such lists."),
        always("Enabled_auto_position", "tinyint(1)", "Whether GTIDs tell the place."),
        always("Channel_name", "char(64)", "The channel."),
        maybe("Tls_version", "text", "The versions of TLS."),
        maybe("Public_key_path", "text", "The source's public key."),
        always("Get_public_key", "tinyint(1)", "Whether it is asked for."),
    ]],
)
.keys(&[Key::Primary(&["Channel_name"])]);

/// The tables of this file.
pub static TABLES: &[&[&dyn Table]] = &[&[
    &FUNC,
    &GLOBAL_GRANTS,
    &HELP_TOPIC,
    &INNODB_INDEX_STATS,
    &INNODB_TABLE_STATS,
    &ROLE_EDGES,
    &SLAVE_MASTER_INFO,
]];
