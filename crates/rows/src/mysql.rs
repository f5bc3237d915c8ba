//! Schema `mysql`: accounts and their privileges.

use crate::cell::Cell;
use crate::describe::{Column, Key, Spec, Table, col, null};
use crate::source::Database;
use tare_mysql::account::Account;

const YES_NO_TYPE: &str = "enum('N','Y')";
const LIMIT_TYPE: &str = "int(11) unsigned";
/// The collations of MySQL's tables: of hosts, of names, and of other texts.
const HOST: &str = "ascii_general_ci";
const NAME: &str = "utf8mb3_bin";
const TEXT: &str = "utf8mb3_general_ci";

fn yes_no(yes: bool) -> Cell<'static> {
    Cell::text(if yes { "Y" } else { "N" })
}

/// A right that writers have everywhere.
const fn right(name: &'static str, doc: &'static str) -> Column<Account> {
    col(name, YES_NO_TYPE, doc, |r: &Account| yes_no(r.rights.all))
        .default("N")
        .collate(TEXT)
}

/// A right that writers have in a database.
const fn right_here(name: &'static str, doc: &'static str) -> Column<Grant> {
    col(name, YES_NO_TYPE, doc, |r: &Grant| {
        yes_no(r.account.rights.all)
    })
    .default("N")
    .collate(TEXT)
}

#[rustfmt::skip] // One column, one line.
const USER: &[Column<Account>] = &[
    col("Host", "char(60)", "The host part of the account.", |r: &Account| r.host.as_str().into()).in_9_7("char(255)").collate(HOST).default(""),
    col("User", "char(32)", "The user.", |r: &Account| r.user.as_str().into()).collate(NAME).default(""),
    col("Select_priv", YES_NO_TYPE, "SELECT privilege.", |r: &Account| yes_no(r.rights.may_read_data())).default("N").collate(TEXT),
    right("Insert_priv", "INSERT privilege."),
    right("Update_priv", "UPDATE privilege, setup tables included."),
    right("Delete_priv", "DELETE privilege."),
    right("Create_priv", "CREATE privilege."),
    right("Drop_priv", "DROP privilege, which includes TRUNCATE."),
    right("Reload_priv", "RELOAD privilege."),
    right("Shutdown_priv", "SHUTDOWN privilege."),
    col("Process_priv", YES_NO_TYPE, "PROCESS privilege.", |r: &Account| yes_no(r.rights.may_see_others())).default("N").collate(TEXT),
    right("File_priv", "FILE privilege."),
    right("Grant_priv", "GRANT OPTION."),
    right("References_priv", "REFERENCES privilege."),
    right("Index_priv", "INDEX privilege."),
    right("Alter_priv", "ALTER privilege."),
    right("Show_db_priv", "SHOW DATABASES privilege."),
    col("Super_priv", YES_NO_TYPE, "SUPER privilege: sets global variables and changes setup tables.", |r: &Account| yes_no(r.rights.may_set())).default("N").collate(TEXT),
    right("Create_tmp_table_priv", "CREATE TEMPORARY TABLES privilege."),
    right("Lock_tables_priv", "LOCK TABLES privilege."),
    col("Execute_priv", YES_NO_TYPE, "EXECUTE privilege: calls what schema sys has.", |r: &Account| yes_no(r.rights.may_read())).default("N").collate(TEXT),
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
    col("ssl_type", "enum('','ANY','X509','SPECIFIED')", "ANY if it has to encrypt.", |r: &Account| Cell::text(if r.ssl { "ANY" } else { "" })).default("").collate(TEXT),
    col("ssl_cipher", "blob", "Always empty.", |_| "".into()),
    col("x509_issuer", "blob", "Always empty.", |_| "".into()),
    col("x509_subject", "blob", "Always empty.", |_| "".into()),
    col("max_questions", LIMIT_TYPE, "Always 0: no limit.", |_: &Account| Cell::Unsigned(0)).default("0"),
    col("max_updates", LIMIT_TYPE, "Always 0: no limit.", |_: &Account| Cell::Unsigned(0)).default("0"),
    col("max_connections", LIMIT_TYPE, "Always 0: no limit.", |_: &Account| Cell::Unsigned(0)).default("0"),
    col("max_user_connections", LIMIT_TYPE, "Always 0: no limit.", |_: &Account| Cell::Unsigned(0)).default("0"),
    col("plugin", "char(64)", "The authentication plugin.", |r: &Account| r.plugin.as_str().into()).default("caching_sha2_password").collate(NAME),
    null("authentication_string", "text", "Always NULL: it is secret.", |_: &Account| Cell::Null).collate(NAME),
    col("password_expired", YES_NO_TYPE, "Always N.", |_: &Account| yes_no(false)).default("N").collate(TEXT),
    null("password_last_changed", "timestamp", "Always NULL: not recorded.", |_| Cell::Null),
    null("password_lifetime", "smallint(5) unsigned", "Always NULL: passwords do not expire.", |_| Cell::Null),
    col("account_locked", YES_NO_TYPE, "Whether it may not connect.", |r: &Account| yes_no(r.locked)).default("N").collate(TEXT),
    right("Create_role_priv", "CREATE ROLE privilege."),
    right("Drop_role_priv", "DROP ROLE privilege."),
    null("Password_reuse_history", "smallint(5) unsigned", "Always NULL.", |_| Cell::Null),
    null("Password_reuse_time", "smallint(5) unsigned", "Always NULL.", |_| Cell::Null),
    null("Password_require_current", YES_NO_TYPE, "Always NULL.", |_: &Account| Cell::Null).collate(TEXT),
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
.collate(NAME)
.expect(2);

struct Grant {
    account: Account,
    database: Database,
}

#[rustfmt::skip] // One column, one line.
const DB: &[Column<Grant>] = &[
    col("Host", "char(60)", "The host part of the account.", |r: &Grant| r.account.host.as_str().into()).in_9_7("char(255)").collate(HOST).default(""),
    col("Db", "char(64)", "The database.", |r: &Grant| r.database.name.as_str().into()).collate(NAME).default(""),
    col("User", "char(32)", "The user.", |r: &Grant| r.account.user.as_str().into()).collate(NAME).default(""),
    col("Select_priv", YES_NO_TYPE, "SELECT privilege.", |r: &Grant| yes_no(r.account.rights.may_read_data())).default("N").collate(TEXT),
    right_here("Insert_priv", "INSERT privilege."),
    right_here("Update_priv", "UPDATE privilege."),
    right_here("Delete_priv", "DELETE privilege."),
    right_here("Create_priv", "CREATE privilege."),
    right_here("Drop_priv", "DROP privilege."),
    right_here("Grant_priv", "GRANT OPTION."),
    right_here("References_priv", "REFERENCES privilege."),
    right_here("Index_priv", "INDEX privilege."),
    right_here("Alter_priv", "ALTER privilege."),
    right_here("Create_tmp_table_priv", "CREATE TEMPORARY TABLES privilege."),
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
        let databases: Vec<_> = view
            .source
            .databases()
            .into_iter()
            .map(Database::new)
            .collect();
        // An account that may read only the system schemas has no rights in the users' databases.
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
.keys_in_9_7(&[
    Key::Primary(&["Host", "User", "Db"]),
    Key::Plain("User", &["User"]),
])
.collate(NAME)
.expect(10);

/// The tables of this file.
pub static TABLES: &[&[&dyn Table]] = &[&[&DBS, &USERS]];
