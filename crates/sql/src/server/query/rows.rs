//! The rows of a statement, on their way to the client.

use mysql_common::constants::StatusFlags;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::bytes::put_lenenc;
use tare_mysql::wire::column::WireType;
use tare_mysql::wire::reply;
use tare_mysql::wire::value::{Value, put_binary, put_text};

use super::Bind;
use super::columns::{Known, describe, wire_in};
use super::transaction::single_statement;
use crate::dialect::plan::Sql;
use crate::server::metrics;
use crate::server::points;
use crate::server::session::{Columns, Session};
use crate::server::socket::PacketWriter;
use crate::server::status::Counter;
use crate::server::tables::Rows;
use crate::storage::statement::{Cursor, StatementId};

/// Limits on a result.
struct Limits {
    rows: u64,
    bytes: u64,
}

impl Session {
    pub(super) fn rows(
        &mut self,
        sql: &Sql,
        statement: &mut Option<StatementId>,
        columns: &mut Columns,
        bind: Bind<'_>,
        more: bool,
        binary: bool,
    ) -> Result<()> {
        self.ready(sql)?;
        if let Some(database) = &sql.writes
            && self.transaction.open
        {
            // FOR UPDATE
            self.enter(database)?;
        }
        let id = self.statement_id(sql, statement)?;
        let uses = self.uses(sql, columns, None);
        let mut status = self.status();
        status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, more);
        let deprecates_eof = self.deprecates_eof();
        let limits = Limits {
            rows: self.shared.config.max_result_rows,
            bytes: self.shared.config.max_result_bytes,
        };
        let databases = self.shared.databases.clone();
        let (connection, catalog) = if id.is_system() {
            match self.system.as_mut() {
                Some((connection, catalog)) => (Some(connection), Some(&*catalog)),
                None => (None, None),
            }
        } else {
            let catalog = self.catalog.as_ref().filter(|_| !sql.catalog.is_empty());
            (self.connection.as_mut(), catalog)
        };
        let connection = connection.ok_or_else(SqlError::interrupted)?;
        let _snapshot = catalog.map(|c| c.statement());
        let writer = &mut self.writer;
        let (mark, sequence) = (writer.mark(), writer.sequence());
        let sent_before = writer.sent();
        let single = if !self.transaction.open && !sql.databases.is_empty() {
            Some(single_statement())
        } else {
            None
        };
        tare::stage::set(&points::EXECUTING);
        let tables = &mut self.tables;
        let wait = uses.as_ref().and_then(|uses| tables.begin(uses));
        let tally = &mut self.tally;
        let result = {
            let mut cursor = connection.run(id)?;
            bind(&mut cursor)?;
            let known = |database: &str, table: &str, column: &str| {
                let defs = databases.known(database)?;
                let table = defs.tables.get(table)?;
                table.column(column).map(|c| wire_in(table, c))
            };
            let sent = send_rows(
                &mut cursor,
                sql,
                columns,
                &known,
                writer,
                status,
                deprecates_eof,
                binary,
                &limits,
            );
            let (scanned, sorts) = cursor.scan_status();
            tally.scanned = scanned > 0;
            tally.sorts = sorts as u64;
            tally.examined = scanned as u64;
            if let Some(uses) = &uses {
                let rows = Rows {
                    sent: *sent.as_ref().unwrap_or(&0),
                    scanned: scanned as u64,
                    affected: 0,
                    steps: if uses.counts_steps() {
                        cursor.steps()
                    } else {
                        0
                    },
                };
                tables.end(uses, wait, rows);
            }
            sent
        };
        columns.uses = uses;
        if !self.transaction.open {
            self.tables.release();
        }
        match result {
            Ok(n) => {
                self.tally.sent = n;
                self.tally.examined = self.tally.examined.max(n);
                if let Some(single) = single {
                    single.commit();
                    metrics::TRX_NL_RO_COMMITS.add(1);
                    self.registration.status().add(Counter::HandlerCommit, 1);
                }
                let found = match &sql.found_rows {
                    None => n as i64,
                    Some(count) => self.count(count, id.is_system()).unwrap_or(n as i64),
                };
                self.state.set_found_rows(found);
                self.state.set_row_count(-1);
                let warnings = self.state.warnings.count();
                if deprecates_eof {
                    reply::result_end(&mut self.writer, status, warnings);
                } else {
                    reply::eof(&mut self.writer, status, warnings);
                }
                Ok(())
            }
            Err(error) => {
                // What has not been sent yet is taken back; otherwise the error follows the rows.
                if writer.sent() == sent_before {
                    writer.rewind(mark, sequence);
                }
                Err(self.after_error(error))
            }
        }
    }
}

impl Session {
    /// What a `SELECT count(*)` finds.
    fn count(&mut self, sql: &str, system: bool) -> Option<i64> {
        let connection = if system {
            &mut self.system.as_mut()?.0
        } else {
            self.connection.as_mut()?
        };
        connection.db().query_row(sql, [], |r| r.get(0)).ok()
    }
}

/// Steps through the rows and writes them. The caller ends the result.
#[allow(clippy::too_many_arguments)]
fn send_rows(
    cursor: &mut Cursor<'_>,
    sql: &Sql,
    columns: &mut Columns,
    known: Known<'_>,
    writer: &mut PacketWriter,
    status: StatusFlags,
    deprecates_eof: bool,
    binary: bool,
    limits: &Limits,
) -> Result<u64> {
    let mut row = cursor.step()?;
    let version = cursor.reprepared() + 1;
    if columns.version != version || columns.guessed {
        describe(cursor, sql, columns, known, row);
        columns.version = version;
    }
    put_lenenc(writer.begin(), columns.wire.len() as u64);
    writer.end();
    writer.replay(&columns.packets);
    if !deprecates_eof {
        reply::eof(writer, status, 0);
    }
    let mut rows = 0;
    let start = writer.sent();
    while row {
        rows += 1;
        if binary {
            put_binary_row(cursor, &columns.wire, writer.begin());
        } else {
            let out = writer.begin();
            for (i, wire) in columns.wire.iter().enumerate() {
                put_text(out, cursor.value(i), wire);
            }
        }
        writer.end();
        writer
            .flush_if_full()
            .map_err(|_| SqlError::interrupted())?;
        if (limits.rows > 0 && rows > limits.rows)
            || (limits.bytes > 0 && writer.sent() - start > limits.bytes)
        {
            return Err(SqlError::new(
                1104,
                "The SELECT would give more rows or bytes than this server's limit on a result; narrow it with WHERE or LIMIT",
            ));
        }
        row = cursor.step()?;
    }
    Ok(rows)
}

#[inline]
fn put_binary_row(cursor: &Cursor<'_>, wire: &[WireType], out: &mut Vec<u8>) {
    out.push(0);
    let nulls = out.len();
    out.resize(nulls + (wire.len() + 9) / 8, 0);
    for (i, wire) in wire.iter().enumerate() {
        match cursor.value(i) {
            Value::Null => out[nulls + (i + 2) / 8] |= 1 << ((i + 2) % 8),
            value => put_binary(out, value, wire),
        }
    }
}
