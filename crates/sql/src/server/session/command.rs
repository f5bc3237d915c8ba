//! The commands that a client sends.

use std::io;
use std::time::Duration;

use mysql_common::constants::CapabilityFlags;
use tare_mysql::error::{Result, SqlError};
use tare_mysql::wire::reply;

use super::{Next, Session, malformed};
use crate::dialect::split;
use crate::server::points;
use crate::server::socket::{PacketReader, ReadError};
use crate::server::status::{Com, Counter};

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

const ADMIN: Option<Com> = Com::of("admin_commands");
const CHANGE_DB: Option<Com> = Com::of("change_db");

impl Session {
    /// Reads one command and answers it.
    pub fn turn(&mut self) -> Next {
        let Some(mut reader) = self.reader.take() else {
            return Next::Quit;
        };
        let next = match reader.read(0) {
            Ok((packet, sequence)) => {
                self.writer.set_sequence(sequence);
                self.control.forget();
                match packet.split_first() {
                    Some((&code, body)) if code == com::CHANGE_USER => {
                        // More packets may follow: this one is copied out of the buffer.
                        let body = body.to_vec();
                        self.reader = Some(reader);
                        self.com_change_user(&body)
                    }
                    _ => {
                        let next = self.command(packet);
                        self.reader = Some(reader);
                        next
                    }
                }
            }
            Err(error) => return self.refuse(error, reader),
        };
        if self.control.is_gone() {
            return Next::Quit;
        }
        let flushed = self.writer.flush();
        let status = self.registration.status();
        status.set(Counter::BytesSent, self.writer.sent());
        if let Some(reader) = &self.reader {
            status.set(Counter::BytesReceived, reader.received());
        }
        match flushed {
            Ok(()) if self.control.is_killed() => Next::Quit,
            Ok(()) => next,
            Err(_) => Next::Quit,
        }
    }

    /// A packet that could not be read ends the session; the client is told why if it can be.
    fn refuse(&mut self, error: ReadError, mut reader: PacketReader) -> Next {
        let told = match error {
            ReadError::TooLarge(_) => {
                SqlError::new(1153, "Got a packet bigger than 'max_allowed_packet' bytes")
            }
            ReadError::OutOfOrder { .. } => SqlError::new(1156, "Got packets out of order"),
            ReadError::Closed => return Next::Quit,
            ReadError::Io(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                SqlError::new(
                    4031,
                    "The client was disconnected by the server because of inactivity.",
                )
            }
            ReadError::Io(_) => {
                if self.control.is_killed() {
                    SqlError::new(1053, "Server shutdown in progress")
                } else {
                    return Next::Quit;
                }
            }
        };
        self.writer.set_sequence(1);
        reply::error(&mut self.writer, &told, true);
        if self.writer.flush().is_ok() && told.code == 1153 {
            // A client that is still sending would see a reset instead of the error.
            self.stream.shutdown(std::net::Shutdown::Write);
            reader.drain(Duration::from_millis(500), 512 << 20);
        }
        Next::Quit
    }

    fn command(&mut self, packet: &[u8]) -> Next {
        let Some((&code, body)) = packet.split_first() else {
            return self.fail(&SqlError::new(1047, "Unknown command"));
        };
        let class = match code {
            com::QUERY | com::STMT_EXECUTE | com::STMT_PREPARE => None,
            com::STMT_CLOSE => Some(&points::COM_CLOSE_STMT),
            com::STMT_SEND_LONG_DATA => Some(&points::COM_LONG_DATA),
            com::STMT_RESET => Some(&points::COM_RESET_STMT),
            com::QUIT => Some(&points::COM_QUIT),
            com::PING => Some(&points::COM_PING),
            com::INIT_DB => Some(&points::COM_INIT_DB),
            com::FIELD_LIST => Some(&points::COM_FIELD_LIST),
            com::STATISTICS => Some(&points::COM_STATISTICS),
            com::RESET_CONNECTION => Some(&points::COM_RESET_CONNECTION),
            com::SET_OPTION => Some(&points::COM_SET_OPTION),
            com::DEBUG => Some(&points::COM_DEBUG),
            com::PROCESS_INFO | com::PROCESS_KILL | com::REFRESH => None,
            _ => Some(&points::COM_ERROR),
        };
        if matches!(
            code,
            com::PING | com::STATISTICS | com::DEBUG | com::RESET_CONNECTION | com::SET_OPTION
        ) {
            self.registration.status().command(ADMIN);
        }
        let _point = class.map(tare::statement::start);
        let result = match code {
            com::QUERY => self.com_query(body),
            com::STMT_EXECUTE => self.com_execute(body),
            com::STMT_PREPARE => self.com_prepare(body),
            com::STMT_CLOSE => {
                // Has no answer.
                self.com_close(body);
                return Next::Continue;
            }
            com::STMT_SEND_LONG_DATA => {
                // Has no answer either; COM_STMT_EXECUTE will tell what went wrong.
                self.com_long_data(body);
                return Next::Continue;
            }
            com::STMT_RESET => self.com_reset_statement(body),
            com::QUIT => {
                self.registration.say_goodbye();
                return Next::Quit;
            }
            com::PING => {
                self.ok();
                Ok(())
            }
            com::INIT_DB => self.com_init_db(body),
            com::FIELD_LIST => self.com_field_list(body),
            com::STATISTICS => {
                let text = self.shared.statistics();
                self.writer.begin().extend_from_slice(text.as_bytes());
                self.writer.end();
                Ok(())
            }
            com::PROCESS_INFO => self.text_query("SHOW PROCESSLIST"),
            com::PROCESS_KILL => match body.try_into().map(u32::from_le_bytes) {
                Ok(id) => self.text_query(&format!("KILL {id}")),
                Err(_) => Err(malformed()),
            },
            com::REFRESH => self.com_refresh(body),
            com::RESET_CONNECTION => {
                self.reset();
                self.ok();
                Ok(())
            }
            com::SET_OPTION => match body.first() {
                Some(&option @ (0 | 1)) => {
                    self.capabilities
                        .set(CapabilityFlags::CLIENT_MULTI_STATEMENTS, option == 0);
                    let status = self.status();
                    reply::eof(&mut self.writer, status, 0);
                    Ok(())
                }
                _ => Err(malformed()),
            },
            com::DEBUG => {
                let status = self.status();
                reply::eof(&mut self.writer, status, 0);
                Ok(())
            }
            _ => Err(SqlError::new(1047, "Unknown command")),
        };
        match result {
            Ok(()) => Next::Continue,
            Err(error) => self.fail(&error),
        }
    }

    fn com_query(&mut self, body: &[u8]) -> Result<()> {
        let text = split::text(body)
            .ok_or_else(|| SqlError::new(1300, "Invalid utf8mb4 character string"))?;
        self.text_query(&text)
    }

    /// Bits that FLUSH has names for: MySQL's REFRESH_*.
    fn com_refresh(&mut self, body: &[u8]) -> Result<()> {
        let &bits = body.first().ok_or_else(malformed)?;
        let named = [
            (1, "PRIVILEGES"),
            (2, "LOGS"),
            (4, "TABLES"),
            (8, "HOSTS"),
            (16, "STATUS"),
        ];
        let what = named.iter().filter(|(bit, _)| bits & bit != 0);
        self.flush(&what.map(|(_, name)| (*name).to_owned()).collect::<Vec<_>>())?;
        self.ok();
        Ok(())
    }

    fn com_init_db(&mut self, body: &[u8]) -> Result<()> {
        let name = std::str::from_utf8(body).map_err(|_| malformed())?;
        self.registration.status().command(CHANGE_DB);
        self.use_database(name)?;
        self.ok();
        Ok(())
    }

    fn com_field_list(&mut self, body: &[u8]) -> Result<()> {
        let end = body.iter().position(|&b| b == 0).ok_or_else(malformed)?;
        let table = std::str::from_utf8(&body[..end]).map_err(|_| malformed())?;
        self.field_list(table)
    }

    fn com_change_user(&mut self, body: &[u8]) -> Next {
        self.registration.status().command(ADMIN);
        self.reset();
        match crate::server::auth::change_user(self, body) {
            Ok(()) => {
                self.ok();
                Next::Continue
            }
            Err(error) => {
                self.fail(&error);
                Next::Quit
            }
        }
    }
}
