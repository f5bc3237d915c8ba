//! Schema `mysql`: what clients ask for at connect.

use crate::cell::Cell;
use crate::describe::{Column, Key, Meta, Spec, Table, col, null};
use crate::empty::{Empty, always};
use crate::source::{Account, Database};

const NY: &str = "enum('N','Y')";
const LIMIT: &str = "int(11) unsigned";

fn ny(yes: bool) -> Cell<'static> {
    Cell::text(if yes { "Y" } else { "N" })
}

/// A right that writers have everywhere.
const fn right(name: &'static str, doc: &'static str) -> Column<Account> {
    col(name, NY, doc, |r| ny(r.writer))
}

/// A right that writers have in a database.
const fn right_here(name: &'static str, doc: &'static str) -> Column<Grant> {
    col(name, NY, doc, |r| ny(r.account.writer))
}

const USER: &[Column<Account>] = &[
    col("Host", "char(60)", "The host part of the account.", |r| {
        r.host.as_str().into()
    }),
    col("User", "char(32)", "The user.", |r: &Account| {
        r.user.as_str().into()
    })
    .binary(),
    col("Select_priv", NY, "Whether it may read.", |_| ny(true)),
    right("Insert_priv", "Whether it may insert."),
    right(
        "Update_priv",
        "Whether it may update, setup tables included.",
    ),
    right("Delete_priv", "Whether it may delete."),
    right("Create_priv", "Whether it may create."),
    right("Drop_priv", "Whether it may drop and truncate."),
    right("Reload_priv", "Whether it may flush."),
    right("Shutdown_priv", "Whether it may shut the server down."),
    col(
        "Process_priv",
        NY,
        "Whether it may see other connections.",
        |_| ny(true),
    ),
    right("File_priv", "Whether it may read and write files."),
    right("Grant_priv", "Whether it may grant what it may."),
    right("References_priv", "Whether it may refer to other tables."),
    right("Index_priv", "Whether it may make indexes."),
    right("Alter_priv", "Whether it may alter tables."),
    col(
        "Show_db_priv",
        NY,
        "Whether it may see all databases.",
        |_| ny(true),
    ),
    right(
        "Super_priv",
        "Whether it may end other connections and set global variables.",
    ),
    right(
        "Create_tmp_table_priv",
        "Whether it may create temporary tables.",
    ),
    right("Lock_tables_priv", "Whether it may lock tables."),
    col("Execute_priv", NY, "Whether it may call routines.", |_| {
        ny(true)
    }),
    right("Repl_slave_priv", "Whether it may replicate."),
    right("Repl_client_priv", "Whether it may ask about replication."),
    right("Create_view_priv", "Whether it may create views."),
    right("Show_view_priv", "Whether it may see views' definitions."),
    right("Create_routine_priv", "Whether it may create routines."),
    right("Alter_routine_priv", "Whether it may alter routines."),
    right("Create_user_priv", "Whether it may create accounts."),
    right("Event_priv", "Whether it may create events."),
    right("Trigger_priv", "Whether it may create triggers."),
    right(
        "Create_tablespace_priv",
        "Whether it may create tablespaces.",
    ),
    col(
        "ssl_type",
        "enum('','ANY','X509','SPECIFIED')",
        "Always empty: TLS is not asked for.",
        |_| "".into(),
    ),
    col("ssl_cipher", "blob", "Always empty.", |_| "".into()),
    col("x509_issuer", "blob", "Always empty.", |_| "".into()),
    col("x509_subject", "blob", "Always empty.", |_| "".into()),
    col("max_questions", LIMIT, "Always 0: no limit.", |_| {
        Cell::Unsigned(0)
    }),
    col("max_updates", LIMIT, "Always 0: no limit.", |_| {
        Cell::Unsigned(0)
    }),
    col("max_connections", LIMIT, "Always 0: no limit.", |_| {
        Cell::Unsigned(0)
    }),
    col("max_user_connections", LIMIT, "Always 0: no limit.", |_| {
        Cell::Unsigned(0)
    }),
    col("plugin", "char(64)", "How it authenticates.", |r| {
        r.plugin.as_str().into()
    }),
    null("authentication_string", "text", "Never shown.", |_| {
        Cell::Null
    }),
    col("password_expired", NY, "Always N.", |_| ny(false)),
    null("password_last_changed", "timestamp", "Not kept.", |_| {
        Cell::Null
    }),
    null(
        "password_lifetime",
        "smallint(5) unsigned",
        "Always NULL: no limit.",
        |_| Cell::Null,
    ),
    col("account_locked", NY, "Always N.", |_| ny(false)),
    right("Create_role_priv", "Whether it may create roles."),
    right("Drop_role_priv", "Whether it may drop roles."),
    null(
        "Password_reuse_history",
        "smallint(5) unsigned",
        "Always NULL.",
        |_| Cell::Null,
    ),
    null(
        "Password_reuse_time",
        "smallint(5) unsigned",
        "Always NULL.",
        |_| Cell::Null,
    ),
    null("Password_require_current", NY, "Always NULL.", |_| {
        Cell::Null
    }),
    null("User_attributes", "json", "Always NULL.", |_| Cell::Null),
];

static USERS: Spec<Account> = Spec::new(
    "mysql",
    "user",
    "The accounts that may connect.",
    &[USER],
    |view, _| Ok(Box::new(view.source.accounts().into_iter())),
)
.keys(&[Key::Primary(&["Host", "User"])])
.expect(2);

struct Grant {
    account: Account,
    database: Database,
}

const DB: &[Column<Grant>] = &[
    col("Host", "char(60)", "The host part of the account.", |r| {
        r.account.host.as_str().into()
    }),
    col("Db", "char(64)", "The database.", |r| {
        r.database.name.as_str().into()
    }),
    col("User", "char(32)", "The user.", |r: &Grant| {
        r.account.user.as_str().into()
    })
    .binary(),
    right_here("Select_priv", "Whether it may read."),
    right_here("Insert_priv", "Whether it may insert."),
    right_here("Update_priv", "Whether it may update."),
    right_here("Delete_priv", "Whether it may delete."),
    right_here("Create_priv", "Whether it may create."),
    right_here("Drop_priv", "Whether it may drop."),
    right_here("Grant_priv", "Whether it may grant what it may."),
    right_here("References_priv", "Whether it may refer to other tables."),
    right_here("Index_priv", "Whether it may make indexes."),
    right_here("Alter_priv", "Whether it may alter tables."),
    right_here(
        "Create_tmp_table_priv",
        "Whether it may create temporary tables.",
    ),
    right_here("Lock_tables_priv", "Whether it may lock tables."),
    right_here("Create_view_priv", "Whether it may create views."),
    right_here("Show_view_priv", "Whether it may see views' definitions."),
    right_here("Create_routine_priv", "Whether it may create routines."),
    right_here("Alter_routine_priv", "Whether it may alter routines."),
    right_here("Execute_priv", "Whether it may call routines."),
    right_here("Event_priv", "Whether it may create events."),
    right_here("Trigger_priv", "Whether it may create triggers."),
];

static DBS: Spec<Grant> = Spec::new(
    "mysql",
    "db",
    "What each account may do to each database.",
    &[DB],
    |view, _| {
        let databases = view.source.databases();
        // Who may only read has no rights in the user's databases.
        let writers = view.source.accounts().into_iter().filter(|a| a.writer);
        let grants = writers.flat_map(move |account| {
            let grant = |d: &Database| Grant {
                account: account.clone(),
                database: d.clone(),
            };
            databases.iter().map(grant).collect::<Vec<_>>()
        });
        Ok(Box::new(grants.collect::<Vec<_>>().into_iter()))
    },
)
.keys(&[Key::Primary(&["Host", "Db", "User"])])
.expect(10);

#[rustfmt::skip] // One column, one line.
static TIME_ZONE_NAME: Empty = Empty::new(
    "mysql",
    "time_zone_name",
    "Named time zones: none is loaded, times are UTC.",
    &[&[
        always("Name", "char(64)", "The name."),
        always("Time_zone_id", "int(10) unsigned", "The zone's number."),
    ]],
)
.keys(&[Key::Primary(&["Name"])]);

const HOST: Meta = always("Host", "char(60)", "The host part of the account.");

#[rustfmt::skip] // One column, one line.
static TABLES_PRIV: Empty = Empty::new(
    "mysql",
    "tables_priv",
    "Rights in single tables: always empty, there are none.",
    &[&[
        HOST,
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Table_name", "char(64)", "The table."),
        always("Grantor", "char(93)", "Who has granted them."),
        always("Timestamp", "timestamp", "When."),
        always("Table_priv", "set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger')", "The rights."),
        always("Column_priv", COLUMN_PRIV, "The rights in its columns."),
    ]],
)
.keys(&[Key::Primary(&["Host", "Db", "User", "Table_name"])]);

const COLUMN_PRIV: &str = "set('Select','Insert','Update','References')";

#[rustfmt::skip] // One column, one line.
static COLUMNS_PRIV: Empty = Empty::new(
    "mysql",
    "columns_priv",
    "Rights in single columns: always empty, there are none.",
    &[&[
        HOST,
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Table_name", "char(64)", "The table."),
        always("Column_name", "char(64)", "The column."),
        always("Timestamp", "timestamp", "When they were granted."),
        always("Column_priv", COLUMN_PRIV, "The rights."),
    ]],
)
.keys(&[Key::Primary(&["Host", "Db", "User", "Table_name", "Column_name"])]);

#[rustfmt::skip] // One column, one line.
static PROCS_PRIV: Empty = Empty::new(
    "mysql",
    "procs_priv",
    "Rights to single routines: always empty, there are none.",
    &[&[
        HOST,
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Routine_name", "char(64)", "The routine."),
        always("Routine_type", "enum('FUNCTION','PROCEDURE')", "What it is."),
        always("Grantor", "char(93)", "Who has granted them."),
        always("Proc_priv", "set('Execute','Alter Routine','Grant')", "The rights."),
        always("Timestamp", "timestamp", "When."),
    ]],
)
.keys(&[Key::Primary(&["Host", "Db", "User", "Routine_name", "Routine_type"])]);

#[rustfmt::skip] // One column, one line.
static GENERAL_LOG: Empty = Empty::new(
    "mysql",
    "general_log",
    "Statements: always empty, nothing is logged. See events_statements_history_long.",
    &[&[
        always("event_time", "timestamp(6)", "When."),
        always("user_host", "mediumtext", "Who."),
        always("thread_id", "bigint(21) unsigned", "The connection."),
        always("server_id", "int(10) unsigned", "@@server_id."),
        always("command_type", "varchar(64)", "The command."),
        always("argument", "mediumblob", "The statement."),
    ]],
);

#[rustfmt::skip] // One column, one line.
static SLOW_LOG: Empty = Empty::new(
    "mysql",
    "slow_log",
    "Slow statements: always empty, nothing is logged. See events_statements_history_long.",
    &[&[
        always("start_time", "timestamp(6)", "When."),
        always("user_host", "mediumtext", "Who."),
        always("query_time", "time(6)", "How long it ran."),
        always("lock_time", "time(6)", "How long it waited for locks."),
        always("rows_sent", "int(11)", "Rows sent."),
        always("rows_examined", "int(11)", "Rows looked at."),
        always("db", "varchar(512)", "The database."),
        always("last_insert_id", "int(11)", "LAST_INSERT_ID()."),
        always("insert_id", "int(11)", "The AUTO_INCREMENT value."),
        always("server_id", "int(10) unsigned", "@@server_id."),
        always("sql_text", "mediumblob", "The statement."),
        always("thread_id", "bigint(21) unsigned", "The connection."),
    ]],
);

/// The tables of this file.
pub static TABLES: &[&[&dyn Table]] = &[&[
    &COLUMNS_PRIV,
    &DBS,
    &GENERAL_LOG,
    &PROCS_PRIV,
    &SLOW_LOG,
    &TABLES_PRIV,
    &TIME_ZONE_NAME,
    &USERS,
]];
