//! INNODB_TRX, INNODB_TABLES, INNODB_TABLESPACES and others: transactions and files of the storage engine, under
//! the names that tools query. The engine is SQLite.

use std::sync::Arc;

use tare_mysql::series::Series::V9_7;
use tare_mysql::table::TableDef;

use super::all_tables::{AnyTable, tables_of};
use crate::cell::Cell;
use crate::describe::{Column, Spec, Table, col, null};
use crate::filter::Filter;
use crate::record::thread::Thread;
use crate::record::transaction::Transaction;
use crate::snapshot::Which;
use crate::time::datetime;
use crate::view::View;

const BIG: &str = "bigint(21) unsigned";

/// An open transaction, and the thread that runs it.
struct Trx {
    transaction: Transaction,
    thread: Option<Thread>,
    started: Option<String>,
}

impl Trx {
    /// SQLite numbers none: the event's number within its thread distinguishes them.
    fn id(&self) -> u64 {
        let event = &self.transaction.event;
        let id = self.transaction.trx_id;
        id.unwrap_or(event.thread_id << 32 | event.event_id)
    }

    fn processlist_id(&self) -> u64 {
        let thread = self.thread.as_ref();
        thread.and_then(|thread| thread.processlist_id).unwrap_or(0)
    }

    fn read_only(&self) -> Cell<'_> {
        Cell::Signed((self.transaction.access_mode == Some("READ ONLY")).into())
    }

    fn autocommit(&self) -> Cell<'_> {
        Cell::Signed(self.transaction.autocommit.into())
    }
}

#[rustfmt::skip] // One column, one line.
const TRX: &[Column<Trx>] = &[
    col("trx_id", BIG, "The transaction's number.", |r| Cell::Unsigned(r.id())),
    col("trx_state", "varchar(13)", "Always RUNNING.", |_| Cell::text("RUNNING")),
    col("trx_started", "datetime", "When the transaction started.", |r| Cell::opt(r.started.as_deref())),
    null("trx_requested_lock_id", "varchar(126)", "Always NULL: not recorded.", |_| Cell::Null),
    null("trx_wait_started", "datetime", "Always NULL: not recorded.", |_| Cell::Null),
    col("trx_weight", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_mysql_thread_id", BIG, "The connection's number.", |r| r.processlist_id().into()),
    null("trx_query", "varchar(1024)", "The statement that is running.", |r| Cell::opt(r.thread.as_ref().and_then(|t| t.info.as_deref()))),
    null("trx_operation_state", "varchar(64)", "The current stage.", |r| Cell::opt(r.thread.as_ref().and_then(|t| t.state.as_deref()))),
    col("trx_tables_in_use", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_tables_locked", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_lock_structs", BIG, "Always 0: SQLite locks whole databases.", |_| Cell::Unsigned(0)),
    col("trx_lock_memory_bytes", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_rows_locked", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_rows_modified", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_concurrency_tickets", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_isolation_level", "varchar(16)", "The isolation level.", |r| r.transaction.isolation_level.unwrap_or("SERIALIZABLE").into()),
    col("trx_unique_checks", "int(1)", "Always 1.", |_| Cell::Signed(1)),
    col("trx_foreign_key_checks", "int(1)", "Always 1.", |_| Cell::Signed(1)),
    null("trx_last_foreign_key_error", "varchar(256)", "Always NULL: not recorded.", |_| Cell::Null),
    col("trx_adaptive_hash_latched", "int(1)", "Always 0.", |_| Cell::Signed(0)),
    col("trx_adaptive_hash_timeout", BIG, "Always 0.", |_| Cell::Unsigned(0)),
    col("trx_is_read_only", "int(1)", "1 if its access mode is READ ONLY, else 0.", Trx::read_only),
    col("trx_autocommit_non_locking", "int(1)", "1 for a single statement under autocommit.", Trx::autocommit),
    null("trx_schedule_weight", BIG, "Always NULL: not recorded.", |_| Cell::Null).since(V9_7),
];

fn open_transactions(view: &View) -> Result<Vec<Trx>, tare_mysql::error::SqlError> {
    let all = Filter::all();
    let threads: Vec<Thread> = view.snapshot.threads(&all)?.collect();
    let now = std::time::SystemTime::now();
    let open = view
        .snapshot
        .transactions(Which::Current, &all)?
        .filter(|t| t.state == Some("ACTIVE"));
    Ok(open
        .map(|transaction| {
            let thread = threads
                .iter()
                .find(|t| t.thread_id == transaction.event.thread_id)
                .cloned();
            let running = transaction
                .event
                .timer_wait
                .map(|ps| std::time::Duration::from_nanos(ps / 1000));
            Trx {
                started: running.and_then(|d| now.checked_sub(d)).map(datetime),
                transaction,
                thread,
            }
        })
        .collect())
}

static INNODB_TRX: Spec<Trx> = Spec::new(
    "information_schema",
    "INNODB_TRX",
    "The open transactions, from events_transactions_current.",
    &[TRX],
    |view, _| Ok(Box::new(open_transactions(view)?.into_iter())),
)
.expect(10);

/// A table of a user, with its number and its database's number.
struct UserTable {
    id: u64,
    space: u64,
    schema: String,
    table: Arc<TableDef>,
}

fn stored(view: &View) -> Vec<UserTable> {
    let mut spaces: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for (database, table) in tables_of(view, &Filter::all()) {
        let AnyTable::User(table) = table else {
            continue;
        };
        if table.view.is_some() {
            continue;
        }
        if spaces.last() != Some(&database.name) {
            spaces.push(database.name.clone());
        }
        all.push(UserTable {
            id: all.len() as u64 + 1,
            space: spaces.len() as u64,
            schema: database.name,
            table,
        });
    }
    all
}

#[rustfmt::skip] // One column, one line.
const TABLES_: &[Column<UserTable>] = &[
    col("TABLE_ID", BIG, "The number that identifies it.", |r| r.id.into()),
    col("NAME", "varchar(655)", "The table, as database/table.", |r| format!("{}/{}", r.schema, r.table.name).into()),
    col("FLAG", "int(11)", "Always 0.", |_| Cell::Signed(0)),
    col("N_COLS", "int(11)", "The number of columns.", |r| Cell::Signed(r.table.columns.len() as i64)),
    col("SPACE", "bigint(20)", "The SPACE of the database's file.", |r| r.space.into()),
    null("ROW_FORMAT", "varchar(12)", "Always Dynamic.", |_| Cell::text("Dynamic")),
    col("ZIP_PAGE_SIZE", "int(11) unsigned", "Always 0.", |_| Cell::Unsigned(0)),
    null("SPACE_TYPE", "varchar(10)", "Always General: a database is one file.", |_| Cell::text("General")),
    col("INSTANT_COLS", "int(11)", "Always 0.", |_| Cell::Signed(0)),
];

static INNODB_TABLES: Spec<UserTable> = Spec::new(
    "information_schema",
    "INNODB_TABLES",
    "The tables, as InnoDB's data dictionary would list them.",
    &[TABLES_],
    |view, _| Ok(Box::new(stored(view).into_iter())),
)
.expect(50);

#[rustfmt::skip] // One column, one line.
const TABLESTATS: &[Column<UserTable>] = &[
    col("TABLE_ID", BIG, "The number that identifies it.", |r| r.id.into()),
    col("NAME", "varchar(193)", "The table, as database/table.", |r| format!("{}/{}", r.schema, r.table.name).into()),
    col("STATS_INITIALIZED", "varchar(193)", "Always Uninitialized.", |_| Cell::text("Uninitialized")),
    col("NUM_ROWS", BIG, "Always 0: unknown.", |_| Cell::Unsigned(0)),
    col("CLUST_INDEX_SIZE", BIG, "Always 0: unknown.", |_| Cell::Unsigned(0)),
    col("OTHER_INDEX_SIZE", BIG, "Always 0: unknown.", |_| Cell::Unsigned(0)),
    col("MODIFIED_COUNTER", BIG, "Always 0: not counted.", |_| Cell::Unsigned(0)),
    col("AUTOINC", BIG, "Always 0: unknown.", |_| Cell::Unsigned(0)),
    col("REF_COUNT", "int(11)", "Always 0.", |_| Cell::Signed(0)),
];

static INNODB_TABLESTATS: Spec<UserTable> = Spec::new(
    "information_schema",
    "INNODB_TABLESTATS",
    "Statistics of the tables in INNODB_TABLES.",
    &[TABLESTATS],
    |view, _| Ok(Box::new(stored(view).into_iter())),
)
.expect(50);

/// A column, or an index, of a stored table.
struct Part {
    table_id: u64,
    id: u64,
    position: u64,
    name: String,
    space: u64,
    kind: i64,
    fields: i64,
    nullable: bool,
}

#[rustfmt::skip] // One column, one line.
const COLUMNS_: &[Column<Part>] = &[
    col("TABLE_ID", BIG, "The TABLE_ID of the table.", |r| r.table_id.into()),
    col("NAME", "varchar(193)", "The column.", |r| r.name.as_str().into()),
    col("POS", BIG, "The position, from 0.", |r| r.position.into()),
    col("MTYPE", "int(11)", "The engine's type. Always 0: unknown.", |_| Cell::Signed(0)),
    col("PRTYPE", "int(11)", "256 if the column is NOT NULL, else 0.", |r| Cell::Signed(if r.nullable { 0 } else { 256 })),
    col("LEN", "int(11)", "Always 0.", |_| Cell::Signed(0)),
    col("HAS_DEFAULT", "int(1)", "Always 0.", |_| Cell::Signed(0)),
    null("DEFAULT_VALUE", "text", "Always NULL.", |_| Cell::Null),
];

static INNODB_COLUMNS: Spec<Part> = Spec::new(
    "information_schema",
    "INNODB_COLUMNS",
    "The columns of the tables in INNODB_TABLES.",
    &[COLUMNS_],
    |view, _| {
        let mut parts = Vec::new();
        for table in stored(view) {
            for (i, column) in table.table.columns.iter().enumerate() {
                parts.push(Part {
                    table_id: table.id,
                    id: 0,
                    position: i as u64,
                    name: column.name.clone(),
                    space: table.space,
                    kind: 0,
                    fields: 0,
                    nullable: column.nullable,
                });
            }
        }
        Ok(Box::new(parts.into_iter()))
    },
);

fn indexes(view: &View) -> Vec<(Part, Vec<String>)> {
    let mut parts = Vec::new();
    for table in stored(view) {
        for index in &table.table.indexes {
            let kind = match (index.name.as_str(), index.unique) {
                ("PRIMARY", _) => 3,
                (_, true) => 2,
                _ => 0,
            };
            let part = Part {
                table_id: table.id,
                id: parts.len() as u64 + 1,
                position: 0,
                name: index.name.clone(),
                space: table.space,
                kind,
                fields: index.columns.len() as i64,
                nullable: false,
            };
            parts.push((part, index.columns.clone()));
        }
    }
    parts
}

#[rustfmt::skip] // One column, one line.
const INDEXES: &[Column<Part>] = &[
    col("INDEX_ID", BIG, "The number that identifies it.", |r| r.id.into()),
    col("NAME", "varchar(193)", "The index.", |r| r.name.as_str().into()),
    col("TABLE_ID", BIG, "The TABLE_ID of the table.", |r| r.table_id.into()),
    col("TYPE", "int(11)", "3 for the primary key, 2 for a unique index, 0 for any other.", |r| Cell::Signed(r.kind)),
    col("N_FIELDS", "int(11)", "The number of columns.", |r| Cell::Signed(r.fields)),
    col("PAGE_NO", "int(11)", "Always 0: unknown.", |_| Cell::Signed(0)),
    col("SPACE", "int(11)", "The SPACE of the database's file.", |r| r.space.into()),
    col("MERGE_THRESHOLD", "int(11)", "Always 0.", |_| Cell::Signed(0)),
];

static INNODB_INDEXES: Spec<Part> = Spec::new(
    "information_schema",
    "INNODB_INDEXES",
    "The indexes of the tables in INNODB_TABLES.",
    &[INDEXES],
    |view, _| Ok(Box::new(indexes(view).into_iter().map(|(part, _)| part))),
);

#[rustfmt::skip] // One column, one line.
const FIELDS: &[Column<Part>] = &[
    col("INDEX_ID", BIG, "The INDEX_ID of the index.", |r| r.id.into()),
    col("NAME", "varchar(193)", "The column.", |r| r.name.as_str().into()),
    col("POS", BIG, "The position, from 0.", |r| r.position.into()),
];

static INNODB_FIELDS: Spec<Part> = Spec::new(
    "information_schema",
    "INNODB_FIELDS",
    "The columns of the indexes in INNODB_INDEXES.",
    &[FIELDS],
    |view, _| {
        let fields = indexes(view).into_iter().flat_map(|(index, columns)| {
            let field = move |(i, name): (usize, String)| Part {
                table_id: index.table_id,
                id: index.id,
                position: i as u64,
                name,
                space: index.space,
                kind: 0,
                fields: 0,
                nullable: false,
            };
            columns.into_iter().enumerate().map(field)
        });
        Ok(Box::new(fields.collect::<Vec<_>>().into_iter()))
    },
);

/// A database's file.
pub(super) struct Space {
    id: u64,
    pub(super) name: String,
    version: String,
}

pub(super) fn spaces(view: &View) -> Vec<Space> {
    let space = |(i, name): (usize, String)| Space {
        id: i as u64 + 1,
        name,
        version: view.source.engine_version().to_owned(),
    };
    view.source
        .databases()
        .into_iter()
        .enumerate()
        .map(space)
        .collect()
}

#[rustfmt::skip] // One column, one line.
const SPACES: &[Column<Space>] = &[
    col("SPACE", "int(11) unsigned", "The number that identifies it.", |r| r.id.into()),
    col("NAME", "varchar(655)", "The database.", |r| r.name.as_str().into()),
    col("FLAG", "int(11) unsigned", "Always 0.", |_| Cell::Unsigned(0)),
    null("ROW_FORMAT", "varchar(22)", "Always Any.", |_| Cell::text("Any")),
    col("PAGE_SIZE", "int(11) unsigned", "The page size: SQLite's default.", |_| Cell::Unsigned(4096)),
    col("ZIP_PAGE_SIZE", "int(11) unsigned", "Always 0.", |_| Cell::Unsigned(0)),
    null("SPACE_TYPE", "varchar(10)", "Always General.", |_| Cell::text("General")),
    col("FS_BLOCK_SIZE", "int(11) unsigned", "Always 4096.", |_| Cell::Unsigned(4096)),
    col("FILE_SIZE", BIG, "Always 0: unknown.", |_| Cell::Unsigned(0)),
    col("ALLOCATED_SIZE", BIG, "Always 0: unknown.", |_| Cell::Unsigned(0)),
    col("SERVER_VERSION", "varchar(10)", "SQLite's version.", |r| r.version.as_str().into()),
    col("SPACE_VERSION", "int(11) unsigned", "Always 1.", |_| Cell::Unsigned(1)),
    null("ENCRYPTION", "varchar(1)", "Always N.", |_| Cell::text("N")),
];

static INNODB_TABLESPACES: Spec<Space> = Spec::new(
    "information_schema",
    "INNODB_TABLESPACES",
    "The databases' files, as tablespaces.",
    &[SPACES],
    |view, _| Ok(Box::new(spaces(view).into_iter())),
)
.expect(10);

#[rustfmt::skip] // One column, one line.
const DATAFILES: &[Column<Space>] = &[
    null("SPACE", "varbinary(256)", "The number that identifies it.", |r| Cell::owned(r.id.to_string())),
    col("PATH", "varchar(512)", "The file, in the data directory.", |r| format!("{}.db", r.name).into()),
];

static INNODB_DATAFILES: Spec<Space> = Spec::new(
    "information_schema",
    "INNODB_DATAFILES",
    "The paths of the databases' files.",
    &[DATAFILES],
    |view, _| Ok(Box::new(spaces(view).into_iter())),
)
.expect(10);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[
    &INNODB_COLUMNS,
    &INNODB_DATAFILES,
    &INNODB_FIELDS,
    &INNODB_INDEXES,
    &INNODB_TABLES,
    &INNODB_TABLESPACES,
    &INNODB_TABLESTATS,
    &INNODB_TRX,
];
