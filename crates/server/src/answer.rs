//! Sends a result that is in memory to the client.

use mysql_common::constants::StatusFlags;
use rusqlite::types::Value;

use super::execute::prepare::Answer;
use super::session::Session;
use super::socket::PacketWriter;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::bytes::put_lenenc;
use tare_mysql::wire::column::{Column, TextCharset, WireType};
use tare_mysql::wire::packets::put_packet;
use tare_mysql::wire::reply;
use tare_mysql::wire::value::{put_binary_row, put_text};
use tare_query::result::{Rows, borrowed};

/// Sends a result.
pub fn send(session: &mut Session, rows: &Rows, answer: Answer) -> Result<()> {
    let wire: Vec<WireType> = (0..rows.names.len()).map(|i| rows.type_of(i)).collect();
    let mut status = session.transaction.status();
    status.set(StatusFlags::SERVER_MORE_RESULTS_EXISTS, answer.more);
    let deprecates_eof = session.client.deprecates_eof();
    let charset = session.client.charset;
    let writer = &mut session.client.writer;
    put_lenenc(writer.begin(), rows.names.len() as u64);
    writer.end();
    writer.replay(&definitions(rows, &wire, charset));
    if !deprecates_eof {
        reply::eof(writer, status, 0);
    }
    for row in &rows.rows {
        put(writer, row, &wire, answer.binary);
        writer
            .flush_if_full()
            .map_err(|_| SqlError::interrupted())?;
    }
    // SHOW WARNINGS reports none itself: a client that prints warnings would repeat it for ever.
    let warnings = 0;
    if deprecates_eof {
        reply::result_end(writer, status, warnings);
    } else {
        reply::eof(writer, status, warnings);
    }
    session.state.set_found_rows(rows.rows.len() as i64);
    Ok(())
}

fn definitions(rows: &Rows, wire: &[WireType], charset: TextCharset) -> Vec<u8> {
    let mut packets = Vec::new();
    for (i, (name, wire)) in rows.names.iter().zip(wire).enumerate() {
        let definition = rows.definitions.get(i);
        let column = Column {
            schema: definition.map_or("", |d| d.schema),
            table: definition.map_or("", |d| d.table),
            org_table: definition.map_or("", |d| d.org_table),
            name,
            org_name: definition
                .filter(|d| !d.table.is_empty())
                .map_or("", |d| d.org_name.unwrap_or(name)),
            wire: *wire,
        };
        put_packet(&mut packets, |out| column.put(out, charset));
    }
    packets
}

fn put(writer: &mut PacketWriter, row: &[Value], wire: &[WireType], binary: bool) {
    let out = writer.begin();
    if binary {
        put_binary_row(out, wire, |i| borrowed(&row[i]));
    } else {
        for (value, wire) in row.iter().zip(wire) {
            put_text(out, borrowed(value), wire);
        }
    }
    writer.end();
}
