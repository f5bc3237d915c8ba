//! Schema `mysql`: what clients ask for at connect.

use super::performance_schema::nothing::{Nothing, always, nothing};
use crate::catalog::{Account, Cell, Column, Database, Key, Spec, Table, Variable, col, null};

const NY: &str = "enum('N','Y')";
const LIMIT: &str = "int(11) unsigned";

fn ny(yes: bool) -> Cell<'static> {
    Cell::text(if yes { "Y" } else { "N" })
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
    col(
        "Insert_priv",
        NY,
        "Whether it may insert.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Update_priv",
        NY,
        "Whether it may update, setup tables included.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Delete_priv",
        NY,
        "Whether it may delete.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Create_priv",
        NY,
        "Whether it may create.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Drop_priv",
        NY,
        "Whether it may drop and truncate.",
        |r: &Account| ny(r.writer),
    ),
    col("Reload_priv", NY, "Whether it may flush.", |r: &Account| {
        ny(r.writer)
    }),
    col(
        "Shutdown_priv",
        NY,
        "Whether it may shut the server down.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Process_priv",
        NY,
        "Whether it may see other connections.",
        |_| ny(true),
    ),
    col(
        "File_priv",
        NY,
        "Whether it may read and write files.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Grant_priv",
        NY,
        "Whether it may grant what it may.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "References_priv",
        NY,
        "Whether it may refer to other tables.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Index_priv",
        NY,
        "Whether it may make indexes.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Alter_priv",
        NY,
        "Whether it may alter tables.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Show_db_priv",
        NY,
        "Whether it may see all databases.",
        |_| ny(true),
    ),
    col(
        "Super_priv",
        NY,
        "Whether it may end other connections and set global variables.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Create_tmp_table_priv",
        NY,
        "Whether it may create temporary tables.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Lock_tables_priv",
        NY,
        "Whether it may lock tables.",
        |r: &Account| ny(r.writer),
    ),
    col("Execute_priv", NY, "Whether it may call routines.", |_| {
        ny(true)
    }),
    col(
        "Repl_slave_priv",
        NY,
        "Whether it may replicate.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Repl_client_priv",
        NY,
        "Whether it may ask about replication.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Create_view_priv",
        NY,
        "Whether it may create views.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Show_view_priv",
        NY,
        "Whether it may see views' definitions.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Create_routine_priv",
        NY,
        "Whether it may create routines.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Alter_routine_priv",
        NY,
        "Whether it may alter routines.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Create_user_priv",
        NY,
        "Whether it may create accounts.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Event_priv",
        NY,
        "Whether it may create events.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Trigger_priv",
        NY,
        "Whether it may create triggers.",
        |r: &Account| ny(r.writer),
    ),
    col(
        "Create_tablespace_priv",
        NY,
        "Whether it may create tablespaces.",
        |r: &Account| ny(r.writer),
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
    col(
        "Create_role_priv",
        NY,
        "Whether it may create roles.",
        |r| ny(r.writer),
    ),
    col("Drop_role_priv", NY, "Whether it may drop roles.", |r| {
        ny(r.writer)
    }),
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
    col("Select_priv", NY, "Whether it may read.", |r: &Grant| {
        ny(r.account.writer)
    }),
    col("Insert_priv", NY, "Whether it may insert.", |r: &Grant| {
        ny(r.account.writer)
    }),
    col("Update_priv", NY, "Whether it may update.", |r: &Grant| {
        ny(r.account.writer)
    }),
    col("Delete_priv", NY, "Whether it may delete.", |r: &Grant| {
        ny(r.account.writer)
    }),
    col("Create_priv", NY, "Whether it may create.", |r: &Grant| {
        ny(r.account.writer)
    }),
    col("Drop_priv", NY, "Whether it may drop.", |r: &Grant| {
        ny(r.account.writer)
    }),
    col(
        "Grant_priv",
        NY,
        "Whether it may grant what it may.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "References_priv",
        NY,
        "Whether it may refer to other tables.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Index_priv",
        NY,
        "Whether it may make indexes.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Alter_priv",
        NY,
        "Whether it may alter tables.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Create_tmp_table_priv",
        NY,
        "Whether it may create temporary tables.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Lock_tables_priv",
        NY,
        "Whether it may lock tables.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Create_view_priv",
        NY,
        "Whether it may create views.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Show_view_priv",
        NY,
        "Whether it may see views' definitions.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Create_routine_priv",
        NY,
        "Whether it may create routines.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Alter_routine_priv",
        NY,
        "Whether it may alter routines.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Execute_priv",
        NY,
        "Whether it may call routines.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Event_priv",
        NY,
        "Whether it may create events.",
        |r: &Grant| ny(r.account.writer),
    ),
    col(
        "Trigger_priv",
        NY,
        "Whether it may create triggers.",
        |r: &Grant| ny(r.account.writer),
    ),
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

/// A name that some clients join on and that has no rows here.
const EMPTY_NAME: &[Column<Variable>] = &[
    col("Name", "char(64)", "The name.", |r| r.name.as_str().into()),
    col(
        "Time_zone_id",
        "int(10) unsigned",
        "The zone's number.",
        |r| r.value.as_str().into(),
    ),
];

static TIME_ZONE_NAME: Spec<Variable> = Spec::new(
    "mysql",
    "time_zone_name",
    "Named time zones: none is loaded, times are UTC.",
    &[EMPTY_NAME],
    |_, _| Ok(Box::new(std::iter::empty())),
)
.keys(&[Key::Primary(&["Name"])])
.expect(1);

const HOST: (&str, &str, &str) = ("Host", "char(60)", "The host part of the account.");

static TABLES_PRIV: Spec<Nothing> = Spec::new(
    "mysql",
    "tables_priv",
    "Rights in single tables: always empty, there are none.",
    &[&[
        always(HOST.0, HOST.1, HOST.2),
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Table_name", "char(64)", "The table."),
        always("Grantor", "char(93)", "Who has granted them."),
        always("Timestamp", "timestamp", "When."),
        always(
            "Table_priv",
            "set('Select','Insert','Update','Delete','Create','Drop','Grant','References','Index','Alter','Create View','Show view','Trigger')",
            "The rights.",
        ),
        always("Column_priv", COLUMN_PRIV, "The rights in its columns."),
    ]],
    nothing,
)
.keys(&[Key::Primary(&["Host", "Db", "User", "Table_name"])])
.expect(1);

const COLUMN_PRIV: &str = "set('Select','Insert','Update','References')";

static COLUMNS_PRIV: Spec<Nothing> = Spec::new(
    "mysql",
    "columns_priv",
    "Rights in single columns: always empty, there are none.",
    &[&[
        always(HOST.0, HOST.1, HOST.2),
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Table_name", "char(64)", "The table."),
        always("Column_name", "char(64)", "The column."),
        always("Timestamp", "timestamp", "When they were granted."),
        always("Column_priv", COLUMN_PRIV, "The rights."),
    ]],
    nothing,
)
.keys(&[Key::Primary(&[
    "Host",
    "Db",
    "User",
    "Table_name",
    "Column_name",
])])
.expect(1);

static PROCS_PRIV: Spec<Nothing> = Spec::new(
    "mysql",
    "procs_priv",
    "Rights to single routines: always empty, there are none.",
    &[&[
        always(HOST.0, HOST.1, HOST.2),
        always("Db", "char(64)", "The database."),
        always("User", "char(32)", "The user."),
        always("Routine_name", "char(64)", "The routine."),
        always(
            "Routine_type",
            "enum('FUNCTION','PROCEDURE')",
            "What it is.",
        ),
        always("Grantor", "char(93)", "Who has granted them."),
        always(
            "Proc_priv",
            "set('Execute','Alter Routine','Grant')",
            "The rights.",
        ),
        always("Timestamp", "timestamp", "When."),
    ]],
    nothing,
)
.keys(&[Key::Primary(&[
    "Host",
    "Db",
    "User",
    "Routine_name",
    "Routine_type",
])])
.expect(1);

static GENERAL_LOG: Spec<Nothing> = Spec::new(
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
    nothing,
)
.expect(1);

static SLOW_LOG: Spec<Nothing> = Spec::new(
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
    nothing,
)
.expect(1);

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
