//! Reads the packets with which a server answers a command.

use super::classes::command;
use super::login::capability as has;
use super::packets::{Fields, NotUnderstood, Packet};
use super::results::{Done, EOF, ERROR, Failure, status};

/// What a server answers to a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// A result set, an OK packet, or the request for a file.
    Query,
    /// The number of a prepared statement, and definitions.
    Prepare,
    /// Definitions of columns.
    Fields,
    /// Rows.
    Fetch,
    /// One packet: OK or EOF.
    One,
    /// One packet with a text.
    Text,
    /// Packets of the authentication.
    Login,
    /// Nothing.
    Nothing,
    /// What is no answer, until the connection ends.
    Stream,
}

impl Shape {
    /// That of the answer to this command.
    pub fn of(number: u8) -> Self {
        match number {
            command::QUERY | command::PROCESS_INFO | command::EXECUTE | command::BULK_EXECUTE => {
                Self::Query
            }
            command::PREPARE => Self::Prepare,
            command::FIELD_LIST => Self::Fields,
            command::FETCH => Self::Fetch,
            command::STATISTICS => Self::Text,
            command::CHANGE_USER => Self::Login,
            command::QUIT | command::LONG_DATA | command::CLOSE => Self::Nothing,
            command::BINLOG_DUMP
            | command::BINLOG_DUMP_GTID
            | command::TABLE_DUMP
            | command::CLONE
            | command::SUBSCRIBE => Self::Stream,
            _ => Self::One,
        }
    }
}

/// What a packet completes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply<'b> {
    /// A statement is prepared, with this number.
    Prepared(u32, u64),
    /// The server waits for a file.
    File,
    /// A result of so many rows, or none.
    Result(Option<u64>, Done<'b>),
    /// An error behind so many rows.
    Failed(Failure, u64),
}

#[derive(Clone, Copy, Debug, Default)]
enum State {
    /// The first packet of a result.
    #[default]
    First,
    /// So many packets with definitions, and the prepared statement's number and warnings.
    Definitions(u64, u32, u64),
    /// So many packets with definitions, and an end, precede rows.
    Columns(u64),
    /// So many rows were read.
    Rows(u64),
}

/// Reads replies.
#[derive(Debug, Default)]
pub struct Replies {
    state: State,
}

/// The longest packet that ends rows, where the end is an EOF packet.
const MAX_EOF_BYTES: u64 = 8;
/// From this length on a packet is a row, although its first byte is that of an end.
const MIN_LONG_ROW_BYTES: u64 = 0xff_ffff;
/// Packets shorter than this are no OK packets.
const MIN_OK_BYTES: u64 = 7;
/// The first byte of a request for a file.
const FILE: u8 = 0xfb;

impl Replies {
    /// Reads a packet of the answer to a command. `None`: more packets have to come. `capabilities`: of client
    /// and server.
    pub fn read<'b>(
        &mut self,
        packet: &Packet<'b>,
        shape: Shape,
        capabilities: u64,
    ) -> Result<Option<Reply<'b>>, NotUnderstood> {
        let has_eof = capabilities & has::DEPRECATE_EOF == 0;
        let is_end = packet.first() == EOF
            && match has_eof {
                true => packet.length <= MAX_EOF_BYTES,
                false => packet.length < MIN_LONG_ROW_BYTES,
            };
        if packet.first() == ERROR && !matches!(self.state, State::Definitions(..)) {
            let Some(failure) = Failure::parse(packet.body) else {
                return Ok(None);
            };
            let rows = match std::mem::take(&mut self.state) {
                State::Rows(rows) => rows,
                _ => 0,
            };
            return Ok(Some(Reply::Failed(failure, rows)));
        }
        let tracks = capabilities & has::SESSION_TRACK != 0;
        let ok = || Done::parse_ok(packet.body, tracks).ok_or(NotUnderstood);
        let end = || match has_eof || packet.length < MIN_OK_BYTES {
            true => Done::parse_eof(packet.body).ok_or(NotUnderstood),
            false => ok(),
        };
        match (self.state, shape) {
            (_, Shape::Nothing | Shape::Stream) => Err(NotUnderstood),
            (State::First, Shape::Query) => self.read_first(packet, capabilities),
            (State::First, Shape::Prepare) => self.read_prepared(packet, capabilities),
            (State::First, Shape::Fields) => match is_end {
                true => Ok(Some(Reply::Result(None, end()?))),
                false => Ok(None),
            },
            (State::First, Shape::Text) => Ok(Some(Reply::Result(None, Done::default()))),
            (State::First, Shape::One) => match packet.first() {
                0 => Ok(Some(Reply::Result(None, ok()?))),
                EOF => Ok(Some(Reply::Result(None, end()?))),
                _ => Err(NotUnderstood),
            },
            (State::First, Shape::Login) => match packet.first() {
                0 => Ok(Some(Reply::Result(None, ok()?))),
                // The authentication goes on.
                1 | 2 | EOF => Ok(None),
                _ => Err(NotUnderstood),
            },
            (State::Definitions(left, id, warnings), _) => {
                self.state = State::Definitions(left - 1, id, warnings);
                Ok(self.end_definitions())
            }
            (State::Columns(0), _) => {
                if !is_end {
                    return Err(NotUnderstood);
                }
                let done = end()?;
                // A cursor's rows are fetched by later commands.
                if done.status & status::CURSOR_EXISTS != 0 {
                    self.state = State::First;
                    return Ok(Some(Reply::Result(Some(0), done)));
                }
                self.state = State::Rows(0);
                Ok(None)
            }
            (State::Columns(left), _) => {
                self.state = match left - 1 {
                    0 if !has_eof => State::Rows(0),
                    left => State::Columns(left),
                };
                Ok(None)
            }
            (State::Rows(rows), _) if is_end => {
                self.state = State::First;
                Ok(Some(Reply::Result(Some(rows), end()?)))
            }
            (State::Rows(rows), _) => {
                self.state = State::Rows(rows + 1);
                Ok(None)
            }
            (State::First, Shape::Fetch) => {
                self.state = State::Rows(0);
                self.read(packet, shape, capabilities)
            }
        }
    }

    /// The first packet of a result.
    fn read_first<'b>(
        &mut self,
        packet: &Packet<'b>,
        capabilities: u64,
    ) -> Result<Option<Reply<'b>>, NotUnderstood> {
        let is_short = packet.length < MIN_OK_BYTES;
        let mut fields = Fields(packet.body);
        let has_all = match packet.first() {
            0 if !is_short => {
                let tracks = capabilities & has::SESSION_TRACK != 0;
                let done = Done::parse_ok(packet.body, tracks).ok_or(NotUnderstood)?;
                return Ok(Some(Reply::Result(None, done)));
            }
            FILE => return Ok(Some(Reply::File)),
            // Whether definitions follow is in front of their number.
            _ if capabilities & has::OPTIONAL_METADATA != 0 => fields.number(1) != Some(0),
            _ => true,
        };
        let columns = fields.length().filter(|&columns| columns != 0 && is_short);
        let columns = columns.ok_or(NotUnderstood)?;
        let has_all = match capabilities & has::CACHE_METADATA {
            0 => has_all,
            // It is behind it.
            _ => fields.number(1) != Some(0),
        };
        let has_eof = capabilities & has::DEPRECATE_EOF == 0;
        self.state = match has_all {
            true => State::Columns(columns),
            false if has_eof => State::Columns(0),
            false => State::Rows(0),
        };
        Ok(None)
    }

    /// The first packet of the answer to a Prepare.
    fn read_prepared<'b>(
        &mut self,
        packet: &Packet<'b>,
        capabilities: u64,
    ) -> Result<Option<Reply<'b>>, NotUnderstood> {
        let has_eof = u64::from(capabilities & has::DEPRECATE_EOF == 0);
        let mut fields = Fields(packet.body);
        let mut read = || {
            let is_ok = fields.number(1)? == 0;
            let id = fields.number(4)? as u32;
            let (columns, parameters) = (fields.number(2)?, fields.number(2)?);
            fields.bytes(1)?;
            let warnings = fields.number(2).unwrap_or(0);
            let has_all = match capabilities & has::OPTIONAL_METADATA {
                0 => true,
                _ => fields.number(1) != Some(0),
            };
            let count = |definitions: u64| match (definitions, has_all) {
                (0, _) => 0,
                (definitions, true) => definitions + has_eof,
                (_, false) => has_eof,
            };
            let packets = count(columns) + count(parameters);
            is_ok.then_some(State::Definitions(packets, id, warnings))
        };
        self.state = read().ok_or(NotUnderstood)?;
        Ok(self.end_definitions())
    }

    /// The prepared statement, if all definitions were read.
    fn end_definitions<'b>(&mut self) -> Option<Reply<'b>> {
        let State::Definitions(0, id, warnings) = self.state else {
            return None;
        };
        self.state = State::First;
        Some(Reply::Prepared(id, warnings))
    }
}
