//! Tables and programs: what was counted for each.

use tare_layout::Kind;
use tare_layout::object::{ObjectType, TableLock};
use tare_layout::sizes;
use tare_mysql::series::Series;
use tare_reader::line::{Cells, EMPTY_TIME_LINE, add};
use tare_reader::objects::{Program, Table};

use super::host::Host;
use super::summaries::{stat, statement_sums};
use super::{RowsResult, Snapshot, none};
use crate::record::event::Stat;
use crate::record::object::{Named, ObjectWaits, TableIo, TableLocks};
use crate::record::prepared;

/// The tables and programs of a segment at one moment.
pub(super) struct Tables {
    tables: Vec<Table>,
    programs: Vec<Program>,
}

pub(super) fn named(
    kind: ObjectType,
    schema: &std::sync::Arc<str>,
    name: &std::sync::Arc<str>,
) -> Named {
    Named {
        kind: kind.text(),
        schema: schema.clone(),
        name: name.clone(),
    }
}

fn sum<'a>(lines: impl IntoIterator<Item = &'a Cells>) -> Cells {
    let mut sum = EMPTY_TIME_LINE;
    for line in lines {
        add(Kind::TableIo, 0, &mut sum, line);
    }
    sum
}

/// A lock's line, or what was done to a table's rows.
fn figure(host: &Host, cells: &Cells) -> Stat {
    stat(&host.clock, Kind::TableIo, cells)
}

fn io(host: &Host, table: &Table, index: Option<std::sync::Arc<str>>, row: &[Cells; 4]) -> TableIo {
    TableIo {
        named: named(table.kind, &table.schema, &table.name),
        index,
        all: figure(host, &sum(row)),
        read: figure(host, &row[0]),
        write: figure(host, &sum(&row[1..])),
        each: [0, 1, 2, 3].map(|i| figure(host, &row[i])),
    }
}

fn all_indexes(table: &Table) -> [Cells; 4] {
    let of = |i: usize| table.io.iter().map(move |(_, row)| &row[i]);
    [0, 1, 2, 3].map(|i| sum(of(i).chain([&table.unnamed[i]])))
}

impl Snapshot {
    fn tables(&self, host: &Host) -> &Tables {
        self.tables.get_or_init(|| {
            let banks = host.banks();
            let rows = banks.object_rows();
            Tables {
                tables: banks.tables(&rows),
                programs: banks.programs(&rows),
            }
        })
    }

    /// The tables that the summaries of a series list: MariaDB omits those that setup_objects does not count.
    fn summed<'a>(&'a self, host: &Host, series: Series) -> impl Iterator<Item = &'a Table> {
        let tables = self.tables(host).tables.iter();
        tables.filter(move |table| table.is_counted || !series.is_mariadb())
    }

    /// table_io_waits_summary_by_table.
    pub fn table_io(&self, series: Series) -> RowsResult<TableIo> {
        let Some(host) = &self.host else {
            return none();
        };
        let row = |table: &Table| io(host, table, None, &all_indexes(table));
        let rows: Vec<_> = self.summed(host, series).map(row).collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// table_io_waits_summary_by_index_usage.
    pub fn index_io(&self, series: Series) -> RowsResult<TableIo> {
        let Some(host) = &self.host else {
            return none();
        };
        let mut rows = Vec::new();
        for table in self.summed(host, series) {
            for (index, row) in &table.io {
                rows.push(io(host, table, index.clone(), row));
            }
        }
        Ok(Box::new(rows.into_iter()))
    }

    /// table_lock_waits_summary_by_table.
    pub fn table_locks(&self, series: Series) -> RowsResult<TableLocks> {
        let Some(host) = &self.host else {
            return none();
        };
        if host.has_none_of(sizes::TABLE_LOCKS) {
            return none();
        }
        let row = |table: &Table| {
            let of = |read: bool| {
                let wanted = TableLock::ALL
                    .iter()
                    .filter(move |lock| lock.is_read() == read);
                figure(host, &sum(wanted.map(|lock| &table.locks[*lock as usize])))
            };
            TableLocks {
                named: named(table.kind, &table.schema, &table.name),
                all: figure(host, &sum(&table.locks)),
                read: of(true),
                write: of(false),
                each: table.locks.map(|lock| figure(host, &lock)),
            }
        };
        let rows: Vec<_> = self.summed(host, series).map(row).collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// objects_summary_global_by_type.
    pub fn object_waits(&self) -> RowsResult<ObjectWaits> {
        let Some(host) = &self.host else {
            return none();
        };
        let Tables { tables, programs } = self.tables(host);
        let tables = tables.iter().map(|table| ObjectWaits {
            named: named(table.kind, &table.schema, &table.name),
            all: figure(host, &sum(all_indexes(table).iter().chain(&table.locks))),
        });
        let programs = programs.iter().map(|program| ObjectWaits {
            named: named(program.kind, &program.schema, &program.name),
            all: figure(host, &program.row[0]),
        });
        let rows: Vec<_> = tables.chain(programs).collect();
        Ok(Box::new(rows.into_iter()))
    }

    /// events_statements_summary_by_program.
    pub fn programs(&self) -> RowsResult<prepared::Program> {
        let Some(host) = &self.host else {
            return none();
        };
        let row = |program: &Program| prepared::Program {
            named: named(program.kind, &program.schema, &program.name),
            calls: figure(host, &program.row[0]),
            sums: statement_sums(&host.clock, Kind::Statement, &program.row[1..]),
        };
        let rows: Vec<_> = self.tables(host).programs.iter().map(row).collect();
        Ok(Box::new(rows.into_iter()))
    }
}
