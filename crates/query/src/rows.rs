//! The rows of a statement that runs, on their way to a [`Sink`].

use rusqlite::types::Value;
use tare_dialect::plan::Sql;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::column::{Column, WireType};
use tare_store::Cursor;

use crate::columns::{TypeLookup, Types, describe};
use crate::result::{Rows, owned};

/// The receiver of a result: the columns, then the rows.
pub trait Sink {
    /// The columns follow: those received before are out of date.
    fn describe(&mut self);
    /// A column.
    fn column(&mut self, column: &Column<'_>);
    /// Rows follow, of these types.
    fn begin(&mut self, types: &[WireType]);
    /// The current row of the cursor.
    ///
    /// # Errors
    /// The sink takes no more rows: the statement ends with this error.
    fn row(&mut self, cursor: &Cursor<'_>, types: &[WireType]) -> Result<()>;
}

/// Steps through the rows of a statement whose parameters are bound, and counts them.
///
/// # Errors
/// The statement's, or the sink's.
pub fn each_row<S: Sink>(
    cursor: &mut Cursor<'_>,
    sql: &Sql,
    types: &mut Types,
    lookup: TypeLookup<'_>,
    sink: &mut S,
) -> Result<u64> {
    let mut row = cursor.step()?;
    let version = cursor.reprepared() + 1;
    if types.version != version || types.guessed {
        sink.describe();
        describe(cursor, &sql.columns, types, lookup, row, &mut |column| {
            sink.column(column);
        });
        types.version = version;
    }
    sink.begin(&types.wire);
    let mut rows = 0;
    while row {
        rows += 1;
        sink.row(cursor, &types.wire)?;
        row = cursor.step()?;
    }
    Ok(rows)
}

/// 1329, a warning: SELECT ... INTO has no row, and the variables stay as they are.
pub const NO_DATA: &str = "No data - zero rows fetched, selected, or processed";

/// The one row of SELECT ... INTO.
#[derive(Debug)]
pub struct SingleRow {
    width: usize,
    /// The values, once the row was taken.
    pub row: Option<Vec<Value>>,
}

impl SingleRow {
    /// For this number of variables.
    pub fn of(width: usize) -> Self {
        Self { width, row: None }
    }

    /// Takes the current row of the cursor.
    ///
    /// # Errors
    /// 1222 where it has another number of columns, 1172 where it is the second.
    pub fn take(&mut self, cursor: &Cursor<'_>) -> Result<()> {
        if cursor.columns() != self.width {
            return Err(SqlError::new(
                1222,
                "The used SELECT statements have a different number of columns",
            ));
        }
        if self.row.is_some() {
            return Err(SqlError::new(1172, "Result consisted of more than one row"));
        }
        self.row = Some((0..self.width).map(|i| owned(cursor.value(i))).collect());
        Ok(())
    }
}

impl Sink for Rows {
    fn describe(&mut self) {
        self.names.clear();
    }

    fn column(&mut self, column: &Column<'_>) {
        self.names.push(column.name.to_owned());
    }

    fn begin(&mut self, types: &[WireType]) {
        self.wire = types.iter().copied().map(Some).collect();
    }

    fn row(&mut self, cursor: &Cursor<'_>, types: &[WireType]) -> Result<()> {
        let values = (0..types.len()).map(|i| owned(cursor.value(i)));
        self.rows.push(values.collect());
        Ok(())
    }
}
