//! COM_STMT_*: prepared statements of the protocol.

use std::sync::Arc;

use mysql_common::constants::{CapabilityFlags, StatusFlags};
use tare::digest::Digest;

use super::attributes::{self, PARAMETER_COUNT_AVAILABLE};
use super::text::{digest_verb, record};
use crate::command::limits::apply_limits;
use crate::errors::{invalid_text, malformed_packet, packet_too_large};
use crate::execute;
use crate::execute::columns::describe_prepared;
use crate::execute::prepare::{self, Answer, Run};
use crate::points;
use crate::session::{Client, Columns, PreparedCount, PreparedStatement, Session, Tally};
use crate::status::{Counter, Request};
use tare_dialect::admin::What;
use tare_dialect::plan::Action;
use tare_mysql::error::{Result, SYNTAX, SqlError};
use tare_mysql::memory;
use tare_mysql::secret::redact;
use tare_mysql::wire::bytes::Cursor as Bytes;
use tare_mysql::wire::column::{Column, WireType};
use tare_mysql::wire::packets::put_packet;
use tare_mysql::wire::params::{self, Param};
use tare_mysql::wire::reply;
use tare_mysql::wire::value::Value;
use tare_store::Cursor;

/// COM_STMT_PREPARE.
pub fn prepare(session: &mut Session, body: &[u8]) -> Result<()> {
    let text = std::str::from_utf8(body).map_err(|_| invalid_text())?;
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || c == ';' || c == '\0');
    let _limits = apply_limits(session, "");
    let point = tare::statement::start(&points::COM_PREPARE);
    tare::stage::set(&points::STARTING);
    let redacted = redact(text);
    let verb = digest_verb(session.shared.config.series, "PREPARE");
    if verb.is_empty() {
        point.text(&redacted);
    }
    session.registration.begin("Prepare", &redacted);
    let status = session.registration.status();
    status.add(Counter::Queries, 1);
    status.request(Request::Prepare);
    session.tally = Tally::default();
    let result = prepare_text(session, text, &redacted, &point);
    let result = session.reword(result);
    let is_read = !matches!(&result, Err(error) if error.code == SYNTAX);
    if is_read && !verb.is_empty() && point.is_recorded() {
        point.prepared_with_verb(verb, &redacted, &Digest::with_verb(verb, &redacted));
    }
    record(session, &point, verb, &redacted, &result);
    session
        .registration
        .end_query(session.settings.long_query_time);
    result
}

fn prepare_text(
    session: &mut Session,
    text: &str,
    redacted: &str,
    point: &tare::statement::Statement,
) -> Result<()> {
    let count = PreparedCount::reserve(&session.shared)?;
    let generation = session.generation(text);
    let plan = prepare::translate(session, text, generation)?;
    session.state.warnings.clear();
    execute::warn_of_deprecated(session, &plan);
    prepare::check_preparable(&plan.action)?;
    let params = plan.params;
    let id = session.statements.next_id();
    let digest = Digest::of(redacted);
    let mut prepared = PreparedStatement {
        text: text.into(),
        digest,
        executes: None,
        database: session.state.database(),
        plan: Arc::new(plan),
        statement: None,
        columns: Columns::of(Some(digest)),
        types: Vec::new(),
        long: vec![None; params],
        long_error: None,
        instance: tare::prepared::Prepared::new(u64::from(id), None, redacted),
        _count: count,
    };
    point.prepares(&prepared.instance);
    // Preparing it now finds the statement's errors and its number of columns.
    let plan = prepared.plan.clone();
    prepared.statement = prepare::prepare_now(session, &plan.action)?;
    if let (Action::Rows(sql), Some(id)) = (&plan.action, prepared.statement) {
        describe_prepared(
            &mut session.connections,
            id,
            sql,
            &mut prepared.columns,
            session.client.charset,
        )?;
    }
    let types = prepare::parameters(session, text, params)?;
    send_prepared(
        &mut session.client,
        session.transaction.status(),
        (id, session.state.warnings.count()),
        &types,
        &prepared.columns,
    );
    // The types were guessed without a row.
    prepared.columns.types.version = 0;
    session.statements.prepared.insert(id, Box::new(prepared));
    Ok(())
}

/// Sends the client the statement's number, its parameters and its columns.
fn send_prepared(
    client: &mut Client,
    status: StatusFlags,
    (id, warnings): (u32, u16),
    params: &[WireType],
    columns: &Columns,
) {
    let deprecates_eof = client.deprecates_eof();
    let charset = client.charset;
    let writer = &mut client.writer;
    let out = writer.begin();
    out.push(0);
    out.extend_from_slice(&id.to_le_bytes());
    out.extend_from_slice(&(columns.types.wire.len() as u16).to_le_bytes());
    out.extend_from_slice(&(params.len() as u16).to_le_bytes());
    out.push(0);
    out.extend_from_slice(&warnings.to_le_bytes());
    writer.end();
    let mut parameters = Vec::new();
    for wire in params {
        let column = Column {
            schema: "",
            table: "",
            org_table: "",
            name: "?",
            org_name: "",
            wire: *wire,
        };
        put_packet(&mut parameters, |out| column.put(out, charset));
    }
    for packets in [&parameters, &columns.packets] {
        if !packets.is_empty() {
            writer.replay(packets);
            if !deprecates_eof {
                reply::eof(writer, status, 0);
            }
        }
    }
}

/// COM_STMT_EXECUTE.
pub fn execute(session: &mut Session, body: &[u8]) -> Result<()> {
    let traceparent = attribute(session, body);
    session.trace.set_attribute(traceparent);
    session.trace.publish(&session.state.user_variables);
    let point = tare::statement::start(&points::COM_EXECUTE);
    tare::stage::set(&points::STARTING);
    tare::thread::set_command(tare::Command::Execute);
    let mut cursor = Bytes::new(body);
    let (Some(id), Some(flags), Some(_iterations)) = (cursor.u32(), cursor.u8(), cursor.u32())
    else {
        return Err(malformed_packet());
    };
    // Taken out of the session, so that both can be borrowed mutably.
    let Some(mut prepared) = session.statements.prepared.remove(&id) else {
        return Err(SqlError::unknown_handler(id, "mysqld_stmt_execute"));
    };
    let text = prepared.text.clone();
    let _limits = apply_limits(session, &text);
    let redacted = redact(&text);
    let verb = digest_verb(session.shared.config.series, "EXECUTE");
    if point.is_recorded() {
        let digest = *prepared
            .executes
            .get_or_insert_with(|| Digest::with_verb(verb, &redacted));
        point.prepared_with_verb(verb, &redacted, &digest);
    }
    point.executes(&prepared.instance);
    session.registration.begin("Execute", &redacted);
    let status = session.registration.status();
    status.add(Counter::Questions, 1);
    status.add(Counter::Queries, 1);
    status.request(Request::Execute);
    session.tally = Tally::default();
    let result = run(session, &mut prepared, cursor, flags);
    let result = session.reword(result);
    record(session, &point, verb, &redacted, &result);
    session
        .registration
        .end_query(session.settings.long_query_time);
    tare::thread::set_command(tare::Command::Sleep);
    for long in &mut prepared.long {
        *long = None;
    }
    session.statements.prepared.insert(id, prepared);
    result
}

fn run(
    session: &mut Session,
    prepared: &mut PreparedStatement,
    mut cursor: Bytes<'_>,
    flags: u8,
) -> Result<()> {
    if let Some(error) = prepared.long_error.take() {
        return Err(error);
    }
    refresh(session, prepared)?;
    let params = prepared.plan.params;
    let sent = has_attributes(session).then_some(flags);
    let nulls = read_types(prepared, &mut cursor, sent)?;
    let plan = prepared.plan.clone();
    let (types, long) = (&prepared.types, &prepared.long);
    let mut bind = |statement: &mut Cursor<'_>| {
        let mut values = cursor.clone();
        for i in 0..params {
            if nulls[i / 8] & (1 << (i % 8)) != 0 {
                statement.bind(i + 1, Value::Null)?;
                continue;
            }
            let param = match &long[i] {
                Some(data) => params::bytes(data),
                None => params::read(&mut values, types[i]).ok_or_else(malformed_packet)?,
            };
            match param {
                Param::Value(value) => statement.bind(i + 1, value)?,
                Param::Owned(text) => statement.bind(i + 1, Value::Text(text.as_bytes()))?,
            }
        }
        Ok(())
    };
    // SQLite's plan does not depend on the values.
    let is_explain =
        matches!(&plan.action, Action::Show(show) if matches!(show.what, What::Explain(..)));
    if !matches!(
        plan.action,
        Action::Rows(_) | Action::Write(..) | Action::Call(_)
    ) && !is_explain
        && params > 0
    {
        return Err(SqlError::unsupported("parameters in this statement"));
    }
    let run = Run {
        statement: &mut prepared.statement,
        columns: &mut prepared.columns,
        bind: &mut bind,
        answer: Answer {
            more: false,
            binary: true,
        },
    };
    execute::run(session, &plan, run)
}

/// Translates a statement again if a schema has changed since.
fn refresh(session: &mut Session, prepared: &mut PreparedStatement) -> Result<()> {
    let generation = session.generation(&prepared.text);
    if prepared.plan.generation == generation {
        return Ok(());
    }
    let database = prepared.database.as_deref();
    let plan = prepare::translate_in(session, &prepared.text, database, generation)?;
    if let Some(old) = prepared.statement.take() {
        session.connections.close(old);
    }
    prepared.plan = Arc::new(plan);
    prepared.columns = Columns::of(Some(prepared.digest));
    prepared.instance.reprepared();
    session.registration.status().reprepared();
    Ok(())
}

/// Whether the client may send query attributes.
fn has_attributes(session: &Session) -> bool {
    let capabilities = session.client.capabilities;
    capabilities.contains(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES)
}

/// The query attribute `traceparent` of an execution.
fn attribute(session: &Session, body: &[u8]) -> Option<String> {
    let mut cursor = Bytes::new(body);
    let (id, flags, _iterations) = (cursor.u32()?, cursor.u8()?, cursor.u32()?);
    if !has_attributes(session) || flags & PARAMETER_COUNT_AVAILABLE == 0 {
        return None;
    }
    let prepared = session.statements.prepared.get(&id)?;
    let count = usize::try_from(cursor.lenenc()?).ok()?;
    if count <= prepared.plan.params {
        return None;
    }
    let nulls = cursor.take(count.div_ceil(8))?;
    if cursor.u8()? != 1 {
        return None;
    }
    let named = attributes::read_types(&mut cursor, count)?;
    attributes::read_traceparent(&mut cursor, nulls, &named, &prepared.long)?
}

/// Reads the bitmap of NULL parameters, and stores the types, which come with the first execution. A client that may
/// send attributes, whose flags these are, sends the number of both, and names. Attributes follow the parameters.
fn read_types<'b>(
    prepared: &mut PreparedStatement,
    cursor: &mut Bytes<'b>,
    sent: Option<u8>,
) -> Result<&'b [u8]> {
    let params = prepared.plan.params;
    let has_block = sent.is_some_and(|flags| flags & PARAMETER_COUNT_AVAILABLE != 0);
    if params == 0 && !has_block {
        return Ok(&[]);
    }
    let count = match sent {
        Some(_) => cursor
            .lenenc()
            .and_then(|count| usize::try_from(count).ok()),
        None => Some(params),
    };
    let count = count
        .filter(|count| *count >= params)
        .ok_or_else(malformed_packet)?;
    if count == 0 {
        return Ok(&[]);
    }
    let nulls = cursor
        .take(count.div_ceil(8))
        .ok_or_else(malformed_packet)?;
    match cursor.u8() {
        Some(1) if sent.is_some() => {
            let named = attributes::read_types(cursor, count).ok_or_else(malformed_packet)?;
            let types = named.iter().take(params).map(|(of, _)| *of);
            prepared.types = types.collect();
        }
        Some(1) => {
            prepared.types.clear();
            for _ in 0..params {
                let (Some(code), Some(flags)) = (cursor.u8(), cursor.u8()) else {
                    return Err(malformed_packet());
                };
                prepared.types.push((code, flags & 0x80 != 0));
            }
        }
        Some(0) if count == params && prepared.types.len() == params => {}
        _ => return Err(malformed_packet()),
    }
    Ok(nulls)
}

/// COM_STMT_SEND_LONG_DATA.
pub fn append_long_data(session: &mut Session, body: &[u8]) {
    session.registration.status().request(Request::SendLongData);
    let mut cursor = Bytes::new(body);
    let (Some(id), Some(index)) = (cursor.u32(), cursor.u16()) else {
        return;
    };
    let limit = session.shared.config.max_allowed_packet;
    let Some(prepared) = session.statements.prepared.get_mut(&id) else {
        return;
    };
    match prepared.long.get_mut(usize::from(index)) {
        Some(slot) => {
            let data = slot.get_or_insert_default();
            let len = data.len() + cursor.rest().len();
            if len > limit {
                prepared.long_error = Some(packet_too_large());
            } else if len > data.capacity() && !memory::admit(2 * len) {
                prepared.long_error = Some(memory::exhausted());
            } else {
                data.extend_from_slice(cursor.rest());
            }
        }
        None => {
            prepared.long_error = Some(SqlError::new(
                1210,
                "Incorrect arguments to mysqld_stmt_send_long_data",
            ))
        }
    }
}

/// COM_STMT_RESET.
pub fn reset(session: &mut Session, body: &[u8]) -> Result<()> {
    session.registration.status().add(Counter::Queries, 1);
    session.registration.status().request(Request::Reset);
    let id = body
        .try_into()
        .map(u32::from_le_bytes)
        .map_err(|_| malformed_packet())?;
    let prepared = session
        .statements
        .prepared
        .get_mut(&id)
        .ok_or_else(|| SqlError::unknown_handler(id, "mysqld_stmt_reset"))?;
    for long in &mut prepared.long {
        *long = None;
    }
    prepared.long_error = None;
    session.send_ok();
    Ok(())
}

/// COM_STMT_CLOSE.
pub fn close(session: &mut Session, body: &[u8]) {
    let point = tare::statement::start(&points::COM_CLOSE_STMT);
    session.registration.status().add(Counter::Queries, 1);
    session.registration.status().request(Request::Close);
    let Ok(id) = body.try_into().map(u32::from_le_bytes) else {
        return;
    };
    let verb = digest_verb(session.shared.config.series, "DEALLOCATE");
    if let Some(prepared) = session.statements.prepared.get(&id)
        && !verb.is_empty()
        && point.is_recorded()
    {
        let redacted = redact(&prepared.text);
        point.prepared_with_verb(verb, &redacted, &Digest::with_verb(verb, &redacted));
    }
    close_one(session, id);
}

/// Closes all prepared statements, as when the connection is reset.
pub fn close_all(session: &mut Session) {
    let ids: Vec<u32> = session.statements.prepared.keys().copied().collect();
    for id in ids {
        close_one(session, id);
    }
}

fn close_one(session: &mut Session, id: u32) {
    let Some(prepared) = session.statements.prepared.remove(&id) else {
        return;
    };
    if let Some(statement) = prepared.statement {
        session.connections.close(statement);
    }
}
