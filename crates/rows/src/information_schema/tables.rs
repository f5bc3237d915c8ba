//! TABLES and VIEWS.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use tare_mysql::schema::TARE;
use tare_mysql::table::{Figures, Size, TableDef};

use super::all_tables::{AnyTable, tables_of};
use crate::cell::Cell;
use crate::describe::{Column, Meta, Spec, Table, col, null};
use crate::filter::Filter;
use crate::show;
use crate::source::Source;
use crate::time::{datetime, timestamp_of_seconds};
use crate::view::View;

/// The sizes of the tables of a database, which are counted at the first use.
struct Sizes {
    source: Arc<dyn Source>,
    database: String,
    counted: OnceLock<Arc<HashMap<String, Figures>>>,
}

impl Sizes {
    fn of(&self, table: &str) -> Figures {
        let counted = || self.source.figures(&self.database);
        let counted = self.counted.get_or_init(counted);
        counted.get(table).copied().unwrap_or_default()
    }
}

pub(super) struct Row {
    sizes: Arc<Sizes>,
    schema: String,
    collation: String,
    started: String,
    table: AnyTable,
}

impl Row {
    fn user(&self) -> Option<&TableDef> {
        match &self.table {
            AnyTable::User(table) => Some(table),
            AnyTable::Catalog(_) => None,
        }
    }

    fn base(&self) -> Option<&TableDef> {
        self.user().filter(|t| t.view.is_none())
    }

    /// Figures of a user's table.
    fn figures(&self) -> Figures {
        match self.base() {
            Some(table) => self.sizes.of(&table.name),
            None => Figures::default(),
        }
    }

    fn size(&self) -> Option<Size> {
        self.figures().size
    }

    /// Whether it is a system table, which this crate describes and no file stores. It takes no bytes.
    fn is_virtual(&self) -> bool {
        matches!(self.table, AnyTable::Catalog(_)) && !self.is_view()
    }

    /// A figure of its pages.
    pub(super) fn pages(&self, of: impl Fn(Size) -> u64) -> Cell<'_> {
        match self.is_virtual() {
            true => 0u64.into(),
            false => Cell::opt(self.size().map(of)),
        }
    }

    /// 0 for what is not counted of a table.
    fn zero(&self) -> Cell<'_> {
        match self.is_virtual() || self.base().is_some() {
            true => 0u64.into(),
            false => Cell::Null,
        }
    }

    pub(super) fn schema(&self) -> Cell<'_> {
        self.schema.as_str().into()
    }

    pub(super) fn name(&self) -> &str {
        match &self.table {
            AnyTable::User(table) => &table.name,
            AnyTable::Catalog(table) => table.name(),
        }
    }

    fn is_view(&self) -> bool {
        match &self.table {
            AnyTable::User(t) => t.view.is_some(),
            AnyTable::Catalog(t) => t.view_definition().is_some(),
        }
    }

    /// Tables of performance_schema whose texts all have a fixed length.
    fn has_rows_of_one_length(&self) -> bool {
        let AnyTable::Catalog(table) = &self.table else {
            return false;
        };
        let varies = |column: Meta| {
            ["varchar", "text", "blob", "json"]
                .iter()
                .any(|of| column.column_type.contains(of))
        };
        table.schema() == "performance_schema" && !table.columns().into_iter().any(varies)
    }

    fn definition(&self) -> Option<&str> {
        match &self.table {
            AnyTable::User(t) => t.view.as_deref(),
            AnyTable::Catalog(t) => t.view_definition(),
        }
    }

    fn unless_view<'c>(&self, value: impl Into<Cell<'c>>) -> Cell<'c> {
        match self.is_view() {
            true => Cell::Null,
            false => value.into(),
        }
    }

    fn row_format(&self) -> Cell<'_> {
        self.unless_view(match self.has_rows_of_one_length() {
            true => "Fixed",
            false => "Dynamic",
        })
    }

    pub(super) fn table_rows(&self) -> Cell<'_> {
        match &self.table {
            AnyTable::User(_) => Cell::opt(self.size().map(|size| size.rows)),
            AnyTable::Catalog(t) if self.is_virtual() && t.schema() != "information_schema" => {
                t.expect().into()
            }
            AnyTable::Catalog(_) => Cell::Null,
        }
    }

    fn auto_increment(&self) -> Cell<'_> {
        let counts = self.base().is_some_and(|t| t.auto_increment().is_some());
        Cell::opt(counts.then(|| self.figures().next_id.unwrap_or(1)))
    }

    pub(super) fn create_time(&self) -> Cell<'_> {
        match &self.table {
            AnyTable::User(_) => {
                let created = self.figures().created;
                Cell::opt(
                    created.map(|at| timestamp_of_seconds(at.max(0).unsigned_abs() * 1_000_000)),
                )
            }
            AnyTable::Catalog(_) => self.started.as_str().into(),
        }
    }

    /// As SHOW CREATE VIEW prints it.
    fn security(&self) -> Cell<'_> {
        Cell::text(match self.user() {
            Some(_) => "DEFINER",
            None => "INVOKER",
        })
    }

    fn definer(&self) -> Cell<'_> {
        Cell::text(match self.user() {
            Some(_) => "root@localhost",
            None => "mysql.sys@localhost",
        })
    }

    fn comment(&self) -> &str {
        match &self.table {
            _ if self.is_view() => "VIEW",
            AnyTable::User(t) => &t.comment,
            AnyTable::Catalog(t) if t.schema() == TARE => t.doc(),
            AnyTable::Catalog(_) => "",
        }
    }

    fn kind(&self) -> &'static str {
        match &self.table {
            _ if self.is_view() => "VIEW",
            AnyTable::Catalog(t) if t.schema() == "information_schema" => "SYSTEM VIEW",
            _ => "BASE TABLE",
        }
    }

    fn engine(&self) -> Option<&'static str> {
        match &self.table {
            AnyTable::User(t) => t.view.is_none().then_some("SQLite"),
            AnyTable::Catalog(t) => show::engine(*t),
        }
    }
}

pub(super) const BIG: &str = "bigint(21) unsigned";
/// MySQL's type of ROW_FORMAT.
const FORMAT: &str = "enum('Fixed','Dynamic','Compressed','Redundant','Compact','Paged')";

pub(super) fn bytes_per_row(size: Size) -> u64 {
    size.data_bytes.checked_div(size.rows).unwrap_or(0)
}

#[rustfmt::skip] // One column, one line.
const COLUMNS: &[Column<Row>] = &[
    col("TABLE_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The table.", |r| r.name().into()),
    col("TABLE_TYPE", "enum('BASE TABLE','VIEW','SYSTEM VIEW')", "BASE TABLE, VIEW or SYSTEM VIEW.", |r| r.kind().into()),
    null("ENGINE", "varchar(64)", "The storage engine.", |r| Cell::opt(r.engine())),
    null("VERSION", "int(2)", "Always 10, as in MySQL.", |r| r.unless_view(10_i64)),
    null("ROW_FORMAT", FORMAT, "The row format.", Row::row_format),
    null("TABLE_ROWS", BIG, "Its rows, which are estimated in the system schemas; NULL if unknown.", Row::table_rows),
    null("AVG_ROW_LENGTH", BIG, "DATA_LENGTH / TABLE_ROWS; NULL if unknown.", |r| r.pages(bytes_per_row)),
    null("DATA_LENGTH", BIG, "Bytes of the rows' pages; 0 in system schemas; NULL if counting takes 1 s.", |r| r.pages(|s| s.data_bytes)),
    null("MAX_DATA_LENGTH", BIG, "Always 0: no limit is known.", Row::zero),
    null("INDEX_LENGTH", BIG, "Bytes of the pages of the indexes; 0 or NULL as DATA_LENGTH is.", |r| r.pages(|s| s.index_bytes)),
    null("DATA_FREE", BIG, "Always 0: not counted by table.", Row::zero),
    null("AUTO_INCREMENT", BIG, "The next number of the AUTO_INCREMENT column; NULL without one.", Row::auto_increment),
    null("CREATE_TIME", "timestamp", "When it was created; NULL for a view, and for a table of an earlier version.", Row::create_time),
    null("UPDATE_TIME", "datetime", "Always NULL: not recorded.", |_| Cell::Null),
    null("CHECK_TIME", "datetime", "Always NULL: not recorded.", |_| Cell::Null),
    null("TABLE_COLLATION", "varchar(64)", "The default collation.", |r| r.unless_view(r.collation.as_str())),
    null("CHECKSUM", "bigint(21)", "Always NULL: not computed.", |_| Cell::Null),
    null("CREATE_OPTIONS", "varchar(256)", "Always empty.", |r| r.unless_view("")),
    null("TABLE_COMMENT", "text", "The comment; VIEW for a view; for schema tare, what the table shows.", |r| r.comment().into()),
];

pub(super) fn rows(view: &View, filter: &Filter) -> Vec<Row> {
    let started = datetime(view.snapshot.started());
    let mut sizes: Vec<Arc<Sizes>> = Vec::new();
    let row = |(database, table): (crate::source::Database, AnyTable)| {
        // The tables of a database follow one another.
        if sizes.last().is_none_or(|s| s.database != database.name) {
            sizes.push(Arc::new(Sizes {
                source: view.source.clone(),
                database: database.name.clone(),
                counted: OnceLock::new(),
            }));
        }
        let sizes = sizes.last().map(Arc::clone)?;
        Some(Row {
            sizes,
            schema: database.name,
            collation: match &table {
                AnyTable::Catalog(table) => table.collation().map(Into::into),
                AnyTable::User(_) => None,
            }
            .unwrap_or(database.collation),
            started: started.clone(),
            table,
        })
    };
    tables_of(view, filter)
        .into_iter()
        .filter_map(row)
        .collect()
}

static TABLES_: Spec<Row> = Spec::new(
    "information_schema",
    "TABLES",
    "The tables and views.",
    &[COLUMNS],
    |view, filter| Ok(Box::new(rows(view, filter).into_iter())),
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"])
.expect(200);

#[rustfmt::skip] // One column, one line.
const VIEW_COLUMNS: &[Column<Row>] = &[
    col("TABLE_CATALOG", "varchar(64)", "Always def.", |_| Cell::text("def")),
    col("TABLE_SCHEMA", "varchar(64)", "The database.", |r| r.schema.as_str().into()),
    col("TABLE_NAME", "varchar(64)", "The view.", |r| r.name().into()),
    null("VIEW_DEFINITION", "longtext", "The view's SELECT.", |r| Cell::opt(r.definition())),
    col("CHECK_OPTION", "enum('NONE','LOCAL','CASCADED')", "Always NONE.", |_| Cell::text("NONE")),
    col("IS_UPDATABLE", "enum('NO','YES')", "Always NO.", |_| Cell::text("NO")),
    null("DEFINER", "varchar(93)", "mysql.sys for a view of sys, else root.", Row::definer),
    null("SECURITY_TYPE", "varchar(7)", "INVOKER for a view of sys, else DEFINER.", Row::security),
    col("CHARACTER_SET_CLIENT", "varchar(64)", "Always utf8mb4.", |_| Cell::text("utf8mb4")),
    col("COLLATION_CONNECTION", "varchar(64)", "The database's collation.", |r| r.collation.as_str().into()),
];

static VIEWS: Spec<Row> = Spec::new(
    "information_schema",
    "VIEWS",
    "The views.",
    &[VIEW_COLUMNS],
    |view, filter| {
        Ok(Box::new(
            rows(view, filter).into_iter().filter(Row::is_view),
        ))
    },
)
.filters(&["TABLE_SCHEMA", "TABLE_NAME"])
.expect(10);

/// The tables of this file.
pub static TABLES: &[&dyn Table] = &[&TABLES_, &VIEWS];
