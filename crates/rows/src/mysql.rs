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
    col(name, NY, doc, |r| ny(r.rights.all))
}

/// A right that writers have in a database.
const fn right_here(name: &'static str, doc: &'static str) -> Column<Grant> {
    col(name, NY, doc, |r| ny(r.account.rights.all))
}

const USER: &[Column<Account>] = &[
    col("Host", "char(60)", "The host part of the account.", |r| {
        r.host.as_str().into()
    }),
    col("User", "char(32)", "The user.", |r: &Account| {
        r.user.as_str().into()
    })
    .binary(),
    col("Select_priv", NY, "SELECT privilege.", |r| {
        ny(r.rights.may_read_data())
    }),
    right("Insert_priv", "INSERT privilege."),
    right("Update_priv", "UPDATE privilege, setup tables included."),
    right("Delete_priv", "DELETE privilege."),
    right("Create_priv", "CREATE privilege."),
    right("Drop_priv", "DROP privilege, which includes TRUNCATE."),
    right("Reload_priv", "RELOAD privilege."),
    right("Shutdown_priv", "SHUTDOWN privilege."),
    col("Process_priv", NY, "PROCESS privilege.", |r| {
        ny(r.rights.may_see_others())
    }),
    right("File_priv", "FILE privilege."),
    right("Grant_priv", "GRANT OPTION."),
    right("References_priv", "REFERENCES privilege."),
    right("Index_priv", "INDEX privilege."),
    right("Alter_priv", "ALTER privilege."),
    right("Show_db_priv", "SHOW DATABASES privilege."),
    col(
        "Super_priv",
        NY,
        "SUPER privilege: sets global variables and changes setup tables.",
        |r| ny(r.rights.may_set()),
    ),
    right(
        "Create_tmp_table_priv",
        "CREATE TEMPORARY TABLES privilege.",
    ),
    right("Lock_tables_priv", "LOCK TABLES privilege."),
    col(
        "Execute_priv",
        NY,
        "EXECUTE privilege: calls what schema sys has.",
        |r| ny(r.rights.may_read()),
    ),
    right("Repl_slave_priv", "REPLICATION SLAVE privilege."),
    right("Repl_client_priv", "REPLICATION CLIENT privilege."),
    right("Create_view_priv", "CREATE VIEW privilege."),
    right("Show_view_priv", "SHOW VIEW privilege."),
    right("Create_routine_priv", "CREATE ROUTINE privilege."),
    right("Alter_routine_priv", "ALTER ROUTINE privilege."),
    right("Create_user_priv", "CREATE USER privilege."),
    right("Event_priv", "EVENT privilege."),
    right("Trigger_priv", "TRIGGER privilege."),
    right("Create_tablespace_priv", "CREATE TABLESPACE privilege."),
    col(
        "ssl_type",
        "enum('','ANY','X509','SPECIFIED')",
        "ANY where the account has to encrypt.",
        |r| Cell::text(if r.ssl { "ANY" } else { "" }),
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
    col("plugin", "char(64)", "The authentication plugin.", |r| {
        r.plugin.as_str().into()
    }),
    null(
        "authentication_string",
        "text",
        "Always NULL: never shown.",
        |_| Cell::Null,
    ),
    col("password_expired", NY, "Always N.", |_| ny(false)),
    null(
        "password_last_changed",
        "timestamp",
        "Always NULL: not recorded.",
        |_| Cell::Null,
    ),
    null(
        "password_lifetime",
        "smallint(5) unsigned",
        "Always NULL: passwords do not expire.",
        |_| Cell::Null,
    ),
    col("account_locked", NY, "Whether it may not connect.", |r| {
        ny(r.locked)
    }),
    right("Create_role_priv", "CREATE ROLE privilege."),
    right("Drop_role_priv", "DROP ROLE privilege."),
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
    col("Select_priv", NY, "SELECT privilege.", |r| {
        ny(r.account.rights.may_read_data())
    }),
    right_here("Insert_priv", "INSERT privilege."),
    right_here("Update_priv", "UPDATE privilege."),
    right_here("Delete_priv", "DELETE privilege."),
    right_here("Create_priv", "CREATE privilege."),
    right_here("Drop_priv", "DROP privilege."),
    right_here("Grant_priv", "GRANT OPTION."),
    right_here("References_priv", "REFERENCES privilege."),
    right_here("Index_priv", "INDEX privilege."),
    right_here("Alter_priv", "ALTER privilege."),
    right_here(
        "Create_tmp_table_priv",
        "CREATE TEMPORARY TABLES privilege.",
    ),
    right_here("Lock_tables_priv", "LOCK TABLES privilege."),
    right_here("Create_view_priv", "CREATE VIEW privilege."),
    right_here("Show_view_priv", "SHOW VIEW privilege."),
    right_here("Create_routine_priv", "CREATE ROUTINE privilege."),
    right_here("Alter_routine_priv", "ALTER ROUTINE privilege."),
    right_here("Execute_priv", "EXECUTE privilege."),
    right_here("Event_priv", "EVENT privilege."),
    right_here("Trigger_priv", "TRIGGER privilege."),
];

static DBS: Spec<Grant> = Spec::new(
    "mysql",
    "db",
    "The privileges of each account on each database.",
    &[DB],
    |view, _| {
        let databases = view.source.databases();
        // Who reads the system schemas alone has no rights in the users' databases.
        let writers = view.source.accounts().into_iter();
        let writers = writers.filter(|a| a.rights.may_read_data());
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
    "Named time zones. Always empty: none are loaded.",
    &[&[
        always("Name", "char(64)", "The variable's name."),
        always("Time_zone_id", "int(10) unsigned", "The zone's number."),
    ]],
)
.keys(&[Key::Primary(&["Name"])]);

const HOST: Meta = always("Host", "char(60)", "The host part of the account.");

#[rustfmt::skip] // One column, one line.
static TABLES_PRIV: Empty = Empty::new(
    "mysql",
    "tables_priv",
    "Table privileges. Always empty: privileges are global.",
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
    "Column privileges. Always empty: privileges are global.",
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
    "Routine privileges. Always empty: privileges are global.",
    &[&[
        HOST,
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Routine_name", "char(64)", "The routine."),
        always("Routine_type", "enum('FUNCTION','PROCEDURE')", "FUNCTION or PROCEDURE."),
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
    "The general query log. Always empty: nothing is logged; see events_statements_history_long.",
    &[&[
        always("event_time", "timestamp(6)", "When."),
        always("user_host", "mediumtext", "Who."),
        always("thread_id", "bigint(21) unsigned", "The connection's number."),
        always("server_id", "int(10) unsigned", "@@server_id."),
        always("command_type", "varchar(64)", "The command."),
        always("argument", "mediumblob", "The statement."),
    ]],
);

#[rustfmt::skip] // One column, one line.
static SLOW_LOG: Empty = Empty::new(
    "mysql",
    "slow_log",
    "The slow query log. Always empty: nothing is logged; see events_statements_history_long.",
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
        always("thread_id", "bigint(21) unsigned", "The connection's number."),
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
