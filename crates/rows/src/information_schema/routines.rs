//! PROCESSLIST; and what clients ask for that a server without stored programs, partitions and
//! plugins has none of.

use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::record::thread::Thread;

const PROCESSLIST_COLUMNS: &[Column<Thread>] = &[
    col(
        "ID",
        "bigint(21) unsigned",
        "The connection's number.",
        |r| Cell::opt(r.processlist_id),
    ),
    col("USER", "varchar(32)", "The client's user.", |r: &Thread| {
        r.user.as_deref().unwrap_or("unauthenticated user").into()
    })
    .binary(),
    col("HOST", "varchar(64)", "The client's host.", |r| {
        r.host.as_deref().unwrap_or("").into()
    }),
    null("DB", "varchar(64)", "The default database.", |r| {
        Cell::opt(r.db.as_deref())
    }),
    col(
        "COMMAND",
        "varchar(16)",
        "Query, Sleep and the like.",
        |r| r.command.unwrap_or("").into(),
    ),
    col("TIME", "int(7)", "Seconds in this command.", |r| {
        r.time_s.unwrap_or(0).into()
    }),
    null("STATE", "varchar(64)", "The stage.", |r| {
        Cell::opt(r.state.as_deref())
    }),
    null(
        "INFO",
        "varchar(65535)",
        "The statement that it runs.",
        |r| Cell::opt(r.info.as_deref()),
    ),
];

static PROCESSLIST: Spec<Thread> = Spec::new(
    "information_schema",
    "PROCESSLIST",
    "The connections, from performance_schema.threads.",
    &[PROCESSLIST_COLUMNS],
    |view, _| {
        let threads = view.snapshot.threads(&crate::filter::Filter::all())?;
        Ok(Box::new(threads.filter(|t| t.processlist_id.is_some())))
    },
)
.expect(100);

/// The row type of tables that never have rows.
enum Never {}

macro_rules! empty {
    ($($static:ident $name:literal $doc:literal: $($column:literal $type:literal,)*;)*) => {
        $(static $static: Spec<Never> = Spec::new(
            "information_schema",
            $name,
            $doc,
            &[&[$(null($column, $type, "Never shown: the table has no rows.", |r: &Never| match *r {})),*]],
            |_, _| Ok(Box::new(std::iter::empty())),
        )
        .expect(1);)*
        /// The tables of this file.
        pub static TABLES: &[&dyn Table] = &[&PROCESSLIST, $(&$static),*];
    };
}

empty! {
    TRIGGERS "TRIGGERS" "Triggers: there are none that MySQL would know.":
        "TRIGGER_CATALOG" "varchar(64)", "TRIGGER_SCHEMA" "varchar(64)", "TRIGGER_NAME" "varchar(64)",
        "EVENT_MANIPULATION" "enum('INSERT','UPDATE','DELETE')", "EVENT_OBJECT_CATALOG" "varchar(64)",
        "EVENT_OBJECT_SCHEMA" "varchar(64)", "EVENT_OBJECT_TABLE" "varchar(64)",
        "ACTION_ORDER" "int(10) unsigned", "ACTION_CONDITION" "binary(0)", "ACTION_STATEMENT" "longtext",
        "ACTION_ORIENTATION" "varchar(3)", "ACTION_TIMING" "enum('BEFORE','AFTER')",
        "ACTION_REFERENCE_OLD_TABLE" "binary(0)", "ACTION_REFERENCE_NEW_TABLE" "binary(0)",
        "ACTION_REFERENCE_OLD_ROW" "varchar(3)", "ACTION_REFERENCE_NEW_ROW" "varchar(3)",
        "CREATED" "timestamp(2)", "SQL_MODE" "text", "DEFINER" "varchar(93)",
        "CHARACTER_SET_CLIENT" "varchar(64)", "COLLATION_CONNECTION" "varchar(64)",
        "DATABASE_COLLATION" "varchar(64)",;
    EVENTS "EVENTS" "Scheduled events: there are none.":
        "EVENT_CATALOG" "varchar(64)", "EVENT_SCHEMA" "varchar(64)", "EVENT_NAME" "varchar(64)",
        "DEFINER" "varchar(93)", "TIME_ZONE" "varchar(64)", "EVENT_BODY" "varchar(3)",
        "EVENT_DEFINITION" "longtext", "EVENT_TYPE" "varchar(9)", "EXECUTE_AT" "datetime",
        "INTERVAL_VALUE" "varchar(256)", "INTERVAL_FIELD" "varchar(18)", "SQL_MODE" "text",
        "STARTS" "datetime", "ENDS" "datetime", "STATUS" "varchar(18)", "ON_COMPLETION" "varchar(12)",
        "CREATED" "timestamp", "LAST_ALTERED" "timestamp", "LAST_EXECUTED" "datetime",
        "EVENT_COMMENT" "varchar(2048)", "ORIGINATOR" "int(10) unsigned",
        "CHARACTER_SET_CLIENT" "varchar(64)", "COLLATION_CONNECTION" "varchar(64)",
        "DATABASE_COLLATION" "varchar(64)",;
    PARTITIONS "PARTITIONS" "Partitions: there are none.":
        "TABLE_CATALOG" "varchar(64)", "TABLE_SCHEMA" "varchar(64)", "TABLE_NAME" "varchar(64)",
        "PARTITION_NAME" "varchar(64)", "SUBPARTITION_NAME" "varchar(64)",
        "PARTITION_ORDINAL_POSITION" "int(10) unsigned", "SUBPARTITION_ORDINAL_POSITION" "int(10) unsigned",
        "PARTITION_METHOD" "varchar(13)", "SUBPARTITION_METHOD" "varchar(13)",
        "PARTITION_EXPRESSION" "varchar(2048)", "SUBPARTITION_EXPRESSION" "varchar(2048)",
        "PARTITION_DESCRIPTION" "text", "TABLE_ROWS" "bigint(21) unsigned",
        "AVG_ROW_LENGTH" "bigint(21) unsigned", "DATA_LENGTH" "bigint(21) unsigned",
        "MAX_DATA_LENGTH" "bigint(21) unsigned", "INDEX_LENGTH" "bigint(21) unsigned",
        "DATA_FREE" "bigint(21) unsigned", "CREATE_TIME" "timestamp", "UPDATE_TIME" "datetime",
        "CHECK_TIME" "datetime", "CHECKSUM" "bigint(21)", "PARTITION_COMMENT" "text",
        "NODEGROUP" "varchar(256)", "TABLESPACE_NAME" "varchar(259)",;
    SCHEMA_PRIVILEGES "SCHEMA_PRIVILEGES" "Privileges on single databases: there are none; USER_PRIVILEGES has all.":
        "GRANTEE" "varchar(292)", "TABLE_CATALOG" "varchar(512)", "TABLE_SCHEMA" "varchar(64)",
        "PRIVILEGE_TYPE" "varchar(64)", "IS_GRANTABLE" "varchar(3)",;
    TABLE_PRIVILEGES "TABLE_PRIVILEGES" "Privileges on single tables: there are none; USER_PRIVILEGES has all.":
        "GRANTEE" "varchar(292)", "TABLE_CATALOG" "varchar(512)", "TABLE_SCHEMA" "varchar(64)",
        "TABLE_NAME" "varchar(64)", "PRIVILEGE_TYPE" "varchar(64)", "IS_GRANTABLE" "varchar(3)",;
    COLUMN_PRIVILEGES "COLUMN_PRIVILEGES" "Privileges on single columns: there are none; USER_PRIVILEGES has all.":
        "GRANTEE" "varchar(292)", "TABLE_CATALOG" "varchar(512)", "TABLE_SCHEMA" "varchar(64)",
        "TABLE_NAME" "varchar(64)", "COLUMN_NAME" "varchar(64)", "PRIVILEGE_TYPE" "varchar(64)",
        "IS_GRANTABLE" "varchar(3)",;
}
