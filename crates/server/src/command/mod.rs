//! The commands that a client sends.

mod attributes;
mod limits;
mod prepared;
mod text;

pub use self::text::digest_verb;

use std::time::Duration;

use mysql_common::constants::{CapabilityFlags, StatusFlags};

use self::text::run_text;
use super::errors::{PACKET_TOO_LARGE, invalid_text, malformed_packet, packet_too_large};
use super::execute::flush::flush;
use super::login;
use super::points;
use super::session::{Client, Next, Session, Transaction};
use super::show;
use super::socket::{PacketReader, ReadError};
use super::status::{Counter, Request};
use super::transaction;
use tare_dialect::plan::Command;
use tare_dialect::split;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::interrupt;
use tare_mysql::memory;
use tare_mysql::wire::reply;
use tare_store::Control;
use tare_sys::procedures::ProcedureState;

/// The commands' codes.
mod com {
    use mysql_common::constants::Command;

    pub const DEBUG: u8 = Command::COM_DEBUG as u8;
    pub const FIELD_LIST: u8 = Command::COM_FIELD_LIST as u8;
    pub const INIT_DB: u8 = Command::COM_INIT_DB as u8;
    pub const PING: u8 = Command::COM_PING as u8;
    pub const PROCESS_INFO: u8 = Command::COM_PROCESS_INFO as u8;
    pub const PROCESS_KILL: u8 = Command::COM_PROCESS_KILL as u8;
    pub const QUERY: u8 = Command::COM_QUERY as u8;
    pub const QUIT: u8 = Command::COM_QUIT as u8;
    pub const REFRESH: u8 = Command::COM_REFRESH as u8;
    pub const RESET_CONNECTION: u8 = Command::COM_RESET_CONNECTION as u8;
    pub const SET_OPTION: u8 = Command::COM_SET_OPTION as u8;
    pub const STATISTICS: u8 = Command::COM_STATISTICS as u8;
    pub const STMT_CLOSE: u8 = Command::COM_STMT_CLOSE as u8;
    pub const STMT_EXECUTE: u8 = Command::COM_STMT_EXECUTE as u8;
    pub const STMT_PREPARE: u8 = Command::COM_STMT_PREPARE as u8;
    pub const STMT_RESET: u8 = Command::COM_STMT_RESET as u8;
    pub const STMT_SEND_LONG_DATA: u8 = Command::COM_STMT_SEND_LONG_DATA as u8;
    pub const CHANGE_USER: u8 = Command::COM_CHANGE_USER as u8;
}

/// Reads and answers one command. What is allocated meanwhile counts as the session's.
pub fn serve_one(session: &mut Session) -> Next {
    let Some(mut memory) = session.memory.take() else {
        return Next::Quit;
    };
    let limit = session.settings.memory_limit;
    memory.set_limit(limit.unwrap_or(session.shared.config.connection_memory_limit));
    let served = memory::serve_session(memory);
    let next = serve_command(session);
    session.memory = served.end();
    next
}

fn serve_command(session: &mut Session) -> Next {
    let Some(mut reader) = session.client.reader.take() else {
        return Next::Quit;
    };
    let _interruptible;
    let next = match reader.read(0) {
        Ok((packet, sequence)) => {
            session.client.writer.set_sequence(sequence);
            session.control.reset();
            _interruptible = interrupt::begin_statement(&session.control);
            session.control.set_working(true);
            match packet.split_first() {
                Some((&code, body)) if code == com::CHANGE_USER => {
                    // The login may read more packets into the buffer, so this packet is copied.
                    let body = body.to_vec();
                    session.client.reader = Some(reader);
                    com_change_user(session, &body)
                }
                _ => {
                    let next = run_instrumented_command(session, packet);
                    session.client.reader = Some(reader);
                    next
                }
            }
        }
        Err(error) => return refuse(&mut session.client, &session.control, error, reader),
    };
    session.control.set_working(false);
    if session.control.is_gone() {
        return Next::Quit;
    }
    // Sending the rest of the answer is not limited by the statement's time.
    session.control.start(Duration::ZERO);
    let flushed = session.client.writer.flush();
    let status = session.registration.status();
    status.set(Counter::BytesSent, session.client.writer.sent());
    if let Some(reader) = &mut session.client.reader {
        status.set(Counter::BytesReceived, reader.received());
        reader.free_large_buffers();
    }
    match flushed {
        Ok(()) if session.control.is_killed() => Next::Quit,
        Ok(()) => next,
        Err(_) => Next::Quit,
    }
}

/// Ends the session because of a packet that could not be read; reports why if the client can be reached.
fn refuse(
    client: &mut Client,
    control: &Control,
    error: ReadError,
    mut reader: PacketReader,
) -> Next {
    let sql_error = match error {
        ReadError::TooLarge(_) => packet_too_large(),
        ReadError::OutOfOrder { .. } => SqlError::new(1156, "Got packets out of order"),
        ReadError::Closed => return Next::Quit,
        ReadError::Memory(error) => error,
        ReadError::Idle => SqlError::new(
            4031,
            "The client was disconnected by the server because of inactivity. See wait_timeout and \
             interactive_timeout for configuring this behavior.",
        ),
        ReadError::Stalled => SqlError::new(1159, "Got timeout reading communication packets"),
        ReadError::Io(_) => {
            if control.is_killed() {
                SqlError::new(1053, "Server shutdown in progress")
            } else {
                return Next::Quit;
            }
        }
    };
    client.writer.set_sequence(1);
    reply::error(&mut client.writer, &sql_error, true);
    if client.writer.flush().is_ok() && sql_error.code == PACKET_TOO_LARGE {
        // A client that is still sending would see a reset instead of the error.
        client.stream.shutdown(std::net::Shutdown::Write);
        reader.drain(Duration::from_millis(500), 512 << 20);
    }
    Next::Quit
}

/// The instrument of a command. Commands that run statements have their own.
fn instrument_of(code: u8) -> Option<&'static tare::Class> {
    Some(match code {
        com::QUERY | com::STMT_EXECUTE | com::STMT_PREPARE | com::STMT_CLOSE => return None,
        com::PROCESS_INFO | com::PROCESS_KILL | com::REFRESH => return None,
        com::STMT_SEND_LONG_DATA => &points::COM_LONG_DATA,
        com::STMT_RESET => &points::COM_RESET_STMT,
        com::QUIT => &points::COM_QUIT,
        com::PING => &points::COM_PING,
        com::INIT_DB => &points::COM_INIT_DB,
        com::FIELD_LIST => &points::COM_FIELD_LIST,
        com::STATISTICS => &points::COM_STATISTICS,
        com::RESET_CONNECTION => &points::COM_RESET_CONNECTION,
        com::SET_OPTION => &points::COM_SET_OPTION,
        com::DEBUG => &points::COM_DEBUG,
        _ => &points::COM_ERROR,
    })
}

fn run_instrumented_command(session: &mut Session, packet: &[u8]) -> Next {
    let Some((&code, body)) = packet.split_first() else {
        return session.send_error(&SqlError::new(1047, "Unknown command"));
    };
    if matches!(
        code,
        com::PING | com::STATISTICS | com::DEBUG | com::RESET_CONNECTION | com::SET_OPTION
    ) {
        session.registration.status().request(Request::Admin);
    }
    if !matches!(code, com::QUERY | com::STMT_EXECUTE) {
        session.trace.set_attribute(None);
        session.trace.publish(&session.state.user_variables);
    }
    let _point = instrument_of(code).map(tare::statement::start);
    match run_command_body(session, code, body) {
        Ok(next) => next,
        Err(error) => session.send_error(&error),
    }
}

fn run_command_body(session: &mut Session, code: u8, body: &[u8]) -> Result<Next> {
    match code {
        com::QUERY => com_query(session, body)?,
        com::STMT_EXECUTE => prepared::execute(session, body)?,
        com::STMT_PREPARE => prepared::prepare(session, body)?,
        // These two have no answer: the next COM_STMT_EXECUTE reports their errors.
        com::STMT_CLOSE => prepared::close(session, body),
        com::STMT_SEND_LONG_DATA => prepared::append_long_data(session, body),
        com::STMT_RESET => prepared::reset(session, body)?,
        com::QUIT => {
            session.registration.mark_quit();
            return Ok(Next::Quit);
        }
        com::PING => session.send_ok(),
        com::INIT_DB => com_init_db(session, body)?,
        com::FIELD_LIST => com_field_list(session, body)?,
        com::STATISTICS => {
            let text = session.shared.statistics();
            let writer = &mut session.client.writer;
            writer.begin().extend_from_slice(text.as_bytes());
            writer.end();
        }
        com::PROCESS_INFO => run_text(session, "SHOW PROCESSLIST")?,
        com::PROCESS_KILL => {
            let id = body.try_into().map_err(|_| malformed_packet())?;
            run_text(session, &format!("KILL {}", u32::from_le_bytes(id)))?;
        }
        com::REFRESH => com_refresh(session, body)?,
        com::RESET_CONNECTION => {
            reset_session(session);
            session.send_ok();
        }
        com::SET_OPTION => com_set_option(session, body)?,
        com::DEBUG => send_eof(&mut session.client, session.transaction.status()),
        _ => return Err(SqlError::new(1047, "Unknown command")),
    }
    Ok(Next::Continue)
}

fn send_eof(client: &mut Client, status: StatusFlags) {
    reply::eof(&mut client.writer, status, 0);
}

/// Resets everything except the account and the database.
fn reset_session(session: &mut Session) {
    transaction::roll_back(session);
    session.statements.empty_cache(&mut session.connections);
    prepared::close_all(session);
    session.statements.named.clear();
    session.locks.tables.clear();
    session.procedures = ProcedureState::default();
    session.state.reset();
    session.transaction = Transaction::of(&session.state);
    session.settings.read(&session.state);
    session.client.apply_timeouts(&session.state);
    session.client.apply_charset(&session.state, None);
    // It fails only for lack of memory, which the next statement will report.
    let _ = session.connections.apply_foreign_key_checks();
}

fn com_set_option(session: &mut Session, body: &[u8]) -> Result<()> {
    let Some(&option @ (0 | 1)) = body.first() else {
        return Err(malformed_packet());
    };
    session
        .client
        .capabilities
        .set(CapabilityFlags::CLIENT_MULTI_STATEMENTS, option == 0);
    send_eof(&mut session.client, session.transaction.status());
    Ok(())
}

fn com_query(session: &mut Session, body: &[u8]) -> Result<()> {
    let has_attributes =
        (session.client.capabilities).contains(CapabilityFlags::CLIENT_QUERY_ATTRIBUTES);
    let (body, traceparent) = match has_attributes {
        true => attributes::read_query(body).ok_or_else(malformed_packet)?,
        false => (body, None),
    };
    session.trace.set_attribute(traceparent);
    let text = split::text(body).ok_or_else(invalid_text)?;
    run_text(session, &text)
}

/// COM_REFRESH: its bits, MySQL's REFRESH_*, are options of FLUSH.
fn com_refresh(session: &mut Session, body: &[u8]) -> Result<()> {
    let &bits = body.first().ok_or_else(malformed_packet)?;
    let named = [
        (1, "PRIVILEGES"),
        (2, "LOGS"),
        (4, "TABLES"),
        (8, "HOSTS"),
        (16, "STATUS"),
    ];
    let what = named.iter().filter(|(bit, _)| bits & bit != 0);
    flush(
        session,
        &what.map(|(_, name)| (*name).to_owned()).collect::<Vec<_>>(),
    )?;
    session.send_ok();
    Ok(())
}

fn com_init_db(session: &mut Session, body: &[u8]) -> Result<()> {
    let name = std::str::from_utf8(body).map_err(|_| malformed_packet())?;
    session.registration.status().command(Command::ChangeDb);
    session.use_database(name)?;
    session.send_ok();
    Ok(())
}

fn com_field_list(session: &mut Session, body: &[u8]) -> Result<()> {
    let end = body
        .iter()
        .position(|&b| b == 0)
        .ok_or_else(malformed_packet)?;
    let table = std::str::from_utf8(&body[..end]).map_err(|_| malformed_packet())?;
    show::field_list(session, table)
}

fn com_change_user(session: &mut Session, body: &[u8]) -> Next {
    session.registration.status().request(Request::Admin);
    reset_session(session);
    match login::change_user(session, body) {
        Ok(()) => {
            session.send_ok();
            Next::Continue
        }
        Err(error) => {
            session.send_error(&error);
            Next::Quit
        }
    }
}
