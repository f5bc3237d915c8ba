//! Schema `mysql`: what clients ask for at connect.

use crate::catalog::{Account, Cell, Column, Database, Key, Spec, Table, Variable, col, null};

const NY: &str = "enum('N','Y')";

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
        |r| ny(r.writer),
    ),
    col(
        "Update_priv",
        NY,
        "Whether it may update, setup tables included.",
        |r| ny(r.writer),
    ),
    col(
        "Delete_priv",
        NY,
        "Whether it may delete.",
        |r| ny(r.writer),
    ),
    col(
        "Create_priv",
        NY,
        "Whether it may create.",
        |r| ny(r.writer),
    ),
    col("Drop_priv", NY, "Whether it may drop and truncate.", |r| {
        ny(r.writer)
    }),
    col(
        "Process_priv",
        NY,
        "Whether it may see other connections.",
        |_| ny(true),
    ),
    col("Super_priv", NY, "Whether it may end them.", |r| {
        ny(r.writer)
    }),
    col("plugin", "char(64)", "How it authenticates.", |r| {
        r.plugin.as_str().into()
    }),
    null("authentication_string", "text", "Never shown.", |_| {
        Cell::Null
    }),
    col("password_expired", NY, "Always N.", |_| ny(false)),
    col("account_locked", NY, "Always N.", |_| ny(false)),
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
    col("Select_priv", NY, "Whether it may read.", |_| ny(true)),
    col("Insert_priv", NY, "Whether it may insert.", |r| {
        ny(r.account.writer)
    }),
    col("Update_priv", NY, "Whether it may update.", |r| {
        ny(r.account.writer)
    }),
    col("Delete_priv", NY, "Whether it may delete.", |r| {
        ny(r.account.writer)
    }),
    col("Create_priv", NY, "Whether it may create.", |r| {
        ny(r.account.writer)
    }),
    col("Drop_priv", NY, "Whether it may drop.", |r| {
        ny(r.account.writer)
    }),
];

static DBS: Spec<Grant> = Spec::new(
    "mysql",
    "db",
    "What each account may do to each database.",
    &[DB],
    |view, _| {
        let databases = view.source.databases();
        let grants = view.source.accounts().into_iter().flat_map(move |account| {
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

/// The tables of this file.
pub static TABLES: &[&[&dyn Table]] = &[&[&DBS, &TIME_ZONE_NAME, &USERS]];
