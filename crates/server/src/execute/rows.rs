//! Runs a SELECT and sends its rows to the client.

use mysql_common::constants::StatusFlags;

use super::prepare::{self, Bind, Run};
use crate::metrics;
use crate::points;
use crate::session::{Columns, Connections, Rows, Session, Uses};
use crate::socket::PacketWriter;
use crate::status::Counter;
use crate::transaction::{self, begin_single_statement};
use tare_dialect::plan::Sql;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::bytes::put_lenenc;
use tare_mysql::wire::column::{Column, TextCharset, WireType};
use tare_mysql::wire::packets::put_packet;
use tare_mysql::wire::reply;
use tare_mysql::wire::types::wire_in;
use tare_mysql::wire::value::{put_binary_row, put_text};
use tare_query::catalog::take_lookups;
use tare_query::rows::{Sink, each_row};
use tare_store::{Control, Cursor, StatementId};

/// The form and the limits of a result.
struct Form {
    status: StatusFlags,
    deprecates_eof: bool,
    binary: bool,
    /// The most rows; 0 is no limit.
    most_rows: u64,
    /// The most bytes; 0 is no limit.
    most_bytes: u64,
}

/// Runs a SELECT.
pub fn rows(session: &mut Session, sql: &Sql, run: Run<'_>) -> Result<()> {
    prepare::start(session, sql)?;
    transaction::lock_rows(session, sql)?;
    let id = prepare::ensure_prepared(
        &mut session.connections,
        &session.registration,
        sql,
        run.statement,
    )?;
    let uses = prepare::table_uses(
        &mut session.connections,
        &mut session.tables,
        sql,
        run.columns,
        None,
    );
    let mut status = session.transaction.status();
    status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, run.answer.more);
    let form = Form {
        status,
        deprecates_eof: session.client.deprecates_eof(),
        binary: run.answer.binary,
        most_rows: session.shared.config.max_result_rows,
        most_bytes: session.shared.config.max_result_bytes,
    };
    let writer = &session.client.writer;
    let (mark, sequence, sent_before) = (writer.mark(), writer.sequence(), writer.sent());
    let snapshot = session
        .connections
        .with_catalog(id, sql)?
        .1
        .map(|c| c.statement());
    let single =
        (!session.transaction.open && !sql.databases.is_empty()).then(begin_single_statement);
    let result = send(
        session,
        sql,
        id,
        uses.as_deref(),
        run.columns,
        run.bind,
        &form,
    );
    run.columns.uses = uses;
    session.release();
    let sent = match result {
        Ok(sent) => sent,
        Err(error) => {
            // The error replaces rows that are still in the buffer, and follows those that were sent.
            let writer = &mut session.client.writer;
            if writer.sent() == sent_before {
                writer.rewind(mark, sequence);
            }
            return Err(transaction::handle_error(session, error));
        }
    };
    if let Some(single) = single {
        single.commit();
        metrics::TRX_NL_RO_COMMITS.add(1);
        session.registration.status().add(Counter::HandlerCommit, 1);
    }
    end(session, sql, id, sent, &form);
    drop(snapshot);
    Ok(())
}

/// Sends the rows and counts the work. Returns the number of rows.
fn send(
    session: &mut Session,
    sql: &Sql,
    id: StatementId,
    uses: Option<&Uses>,
    columns: &mut Columns,
    bind: Bind<'_>,
    form: &Form,
) -> Result<u64> {
    let databases = session.shared.databases.clone();
    let connection = session.connections.with(id)?;
    tare::stage::set(&points::EXECUTING);
    let wait = uses.and_then(|uses| session.tables.begin(uses));
    let mut cursor = connection.run(id)?;
    bind(&mut cursor)?;
    let column_type = |database: &str, table: &str, column: &str| {
        let defs = databases.cached_definitions(database)?;
        let table = defs.tables.get(table)?;
        table.column(column).map(|c| wire_in(table, c))
    };
    let charset = session.client.charset;
    if columns.charset != charset {
        columns.charset = charset;
        columns.types.version = 0;
    }
    let Columns { types, packets, .. } = columns;
    let mut sink = ClientSink {
        writer: &mut session.client.writer,
        packets,
        charset,
        form,
        control: &session.control,
        rows: 0,
        start: 0,
    };
    // Lookups by the server itself do not count for the statement.
    take_lookups();
    let sent = each_row(&mut cursor, sql, types, &column_type, &mut sink);
    let lookups = take_lookups();
    if lookups > 0 {
        let status = session.registration.status();
        status.add(Counter::HandlerReadKey, lookups);
    }
    let (scanned, sorts) = cursor.scan_status();
    let rows = *sent.as_ref().unwrap_or(&0);
    session.tally.sent = rows;
    session.tally.scanned = scanned > 0;
    session.tally.sorts = sorts as u64;
    // A scan counts its steps from row to row.
    let scanned_rows = scanned as u64 + u64::from(scanned > 0);
    session.tally.examined = rows.max(scanned_rows);
    if let Some(uses) = uses {
        let rows = Rows {
            sent: rows,
            scanned: scanned as u64,
            affected: 0,
            steps: match uses.counts_steps() {
                true => cursor.steps(),
                false => 0,
            },
        };
        session.tables.end(uses, wait, rows);
        if let Some(rows) = uses.looked_up(rows) {
            session.tally.examined = rows;
            session.tally.looked_up = Some(rows);
        } else {
            let work = uses.work(rows);
            if !uses.is_empty() {
                session.tally.examined = work.examined;
            }
            session.tally.work = Some(work);
        }
    }
    sent
}

/// Sends the end of a result.
fn end(session: &mut Session, sql: &Sql, id: StatementId, sent: u64, form: &Form) {
    let found_rows = match &sql.found_rows {
        None => sent as i64,
        Some(sql) => count(&mut session.connections, sql, id).unwrap_or(sent as i64),
    };
    session.state.set_found_rows(found_rows);
    session.state.set_row_count(-1);
    let warnings = session.state.warnings.count();
    let writer = &mut session.client.writer;
    if form.deprecates_eof {
        reply::result_end(writer, form.status, warnings);
    } else {
        reply::eof(writer, form.status, warnings);
    }
}

/// The result of a `SELECT count(*)`.
fn count(connections: &mut Connections, sql: &str, id: StatementId) -> Option<i64> {
    let connection = connections.with(id).ok()?;
    connection.number(sql).ok()
}

/// Sends rows to a client.
struct ClientSink<'s> {
    writer: &'s mut PacketWriter,
    /// The column definitions as packets.
    packets: &'s mut Vec<u8>,
    charset: TextCharset,
    form: &'s Form,
    control: &'s Control,
    rows: u64,
    /// The bytes that were sent before the first row.
    start: u64,
}

impl Sink for ClientSink<'_> {
    fn describe(&mut self) {
        self.packets.clear();
    }

    fn column(&mut self, column: &Column<'_>) {
        put_packet(self.packets, |out| column.put(out, self.charset));
    }

    fn begin(&mut self, types: &[WireType]) {
        put_lenenc(self.writer.begin(), types.len() as u64);
        self.writer.end();
        self.writer.replay(self.packets);
        if !self.form.deprecates_eof {
            reply::eof(self.writer, self.form.status, 0);
        }
        self.start = self.writer.sent();
    }

    #[inline]
    fn row(&mut self, cursor: &Cursor<'_>, types: &[WireType]) -> Result<()> {
        // A SLEEP that is interrupted ends with its row.
        if self.rows > 0 && self.control.is_interrupted() {
            return Err(SqlError::interrupted());
        }
        let out = self.writer.begin();
        if self.form.binary {
            put_binary_row(out, types, |i| cursor.value(i));
        } else {
            for (i, wire) in types.iter().enumerate() {
                put_text(out, cursor.value(i), wire);
            }
        }
        self.writer.end();
        self.writer
            .flush_if_full()
            .map_err(|_| SqlError::interrupted())?;
        self.rows += 1;
        let Form {
            most_rows,
            most_bytes,
            ..
        } = *self.form;
        if (most_rows > 0 && self.rows > most_rows)
            || (most_bytes > 0 && self.writer.sent() - self.start > most_bytes)
        {
            return Err(SqlError::new(
                1104,
                "The SELECT returns more rows or bytes than this server's limit on a result; narrow it with \
                 WHERE or LIMIT",
            ));
        }
        Ok(())
    }
}
