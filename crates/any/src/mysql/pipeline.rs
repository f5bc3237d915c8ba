//! The commands of a connection, as statements.
//!
//! A statement begins when its command has arrived, and ends when the last packet of its result was written. The
//! server answers in the order of the commands. One text may have several statements, each with a result of its
//! own; they begin together, and end one by one.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::mem;

use engine::Command as State;
use engine::idle;
use engine::prepared::Prepared;
use engine::statement::Statement;

use super::attributes;
use super::classes::{Classes, classes, command};
use super::login::{Login, capability as has};
use super::packets::{Fields, Packet, Packets};
use super::prepared::{PreparedStatement, PreparedStatements};
use super::replies::{Replies, Reply, Shape};
use super::results::{Done, Failure, status};
use super::running::Running;
use super::session::{Client, NotRead, Phase};
use super::trace::RequestTrace;
use crate::session::{MAX_STORED_BYTES, Protocol, Session};

/// Bytes of a client's packet that are stored: of a longer text the first part is read.
const MAX_TEXT_BYTES: usize = 1 << 16;
/// The most commands of a connection that have no reply yet.
const MAX_PENDING: usize = 1024;
/// The most bytes of a database's name.
const MAX_NAME_BYTES: usize = 256;
/// Bytes of a server's packet that are stored.
const MAX_REPLY_BYTES: usize = 4096;

/// A command that was read and has had no reply.
struct Pending {
    number: u8,
    /// When it arrived.
    since: u64,
    arguments: Arguments,
    /// The query attribute.
    traceparent: Option<String>,
}

/// What is stored of a command.
enum Arguments {
    None,
    /// A text: what has not begun of it, and whether its end is missing. `None`: it is not read.
    Text(Option<String>, bool),
    /// The number of a prepared statement.
    Statement(u32),
    /// A database.
    Database(String),
    /// Another user.
    User(Box<Login>),
    /// An option.
    Option(u16),
}

/// The statements of a connection.
pub struct Connection {
    classes: &'static Classes,
    requests: Packets,
    responses: Packets,
    replies: Replies,
    client: Client,
    /// Whether nothing is read any more.
    is_lost: bool,
    /// Whether the client sends a file.
    is_sending_file: bool,
    pending: VecDeque<Pending>,
    /// Bytes of texts of pending commands.
    stored: usize,
    running: Option<Running>,
    prepared: PreparedStatements,
    /// The memory of a text for the next one.
    spare: String,
    trace: RequestTrace,
    /// Whether parameters were sent before their statement is executed.
    has_long_data: bool,
}

impl Connection {
    /// Those of a connection that has this session. `None` before the start.
    pub fn new(session: Session) -> Option<Self> {
        Some(Self {
            classes: classes()?,
            requests: Packets::default(),
            responses: Packets::default(),
            replies: Replies::default(),
            client: Client::new(session),
            is_lost: false,
            is_sending_file: false,
            pending: VecDeque::new(),
            stored: 0,
            running: None,
            prepared: PreparedStatements::default(),
            spare: String::new(),
            trace: RequestTrace::default(),
            has_long_data: false,
        })
    }
}

impl Protocol for Connection {
    fn open(&mut self) {
        self.client.session.set_state(State::Connect);
    }

    /// The client has requested it, and answers to the greeting within TLS.
    fn encrypt(&mut self) {
        if self.client.encrypt().is_err() {
            self.lose_track();
        }
    }

    fn repeat(&mut self, is_recorded: bool) {
        self.client.repeat(is_recorded);
        self.trace.repeat();
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn abandon(&mut self) -> Option<Statement> {
        self.running.take().map(Running::into_statement)
    }

    fn receive(&mut self, mut bytes: &[u8]) {
        // What it sends before the greeting, or without the TLS that it has announced, is not read.
        if matches!(self.client.phase, Phase::Greeting | Phase::Tls) {
            return self.lose_track();
        }
        let since = idle::now();
        let mut packets = mem::take(&mut self.requests);
        loop {
            let limit = match self.is_sending_file {
                true => 0,
                false => MAX_TEXT_BYTES,
            };
            let Some(packet) = packets.next(&mut bytes, limit) else {
                break;
            };
            self.arrive(&packet, since);
            if self.is_lost {
                return;
            }
        }
        self.requests = packets;
    }

    fn send(&mut self, mut bytes: &[u8]) {
        let mut packets = mem::take(&mut self.responses);
        while let Some(packet) = packets.next(&mut bytes, MAX_REPLY_BYTES) {
            self.answer(&packet);
            if self.is_lost {
                return;
            }
        }
        self.responses = packets;
    }

    fn lose_track(&mut self) {
        self.is_lost = true;
        if let Some(running) = self.running.take() {
            running.discard();
        }
        self.pending = VecDeque::new();
        self.requests = Packets::default();
        self.responses = Packets::default();
        self.prepared.clear();
        self.spare = String::new();
        self.client.session.set_state(State::Sleep);
    }
}

impl Connection {
    /// A packet of the client has arrived.
    fn arrive(&mut self, packet: &Packet, since: u64) {
        let result = match self.client.phase {
            Phase::Greeting | Phase::Tls => Err(NotRead),
            Phase::Response => self.client.respond(packet),
            Phase::Login => Ok(()),
            Phase::Commands => return self.arrive_command(packet, since),
        };
        if result.is_err() {
            self.lose_track();
        }
    }

    fn arrive_command(&mut self, packet: &Packet, since: u64) {
        if self.is_sending_file {
            // An empty packet ends the file.
            self.is_sending_file = packet.length != 0;
            return;
        }
        let is_login = |pending: &Pending| Shape::of(pending.number) == Shape::Login;
        if packet.sequence != 0 && self.pending.front().is_some_and(is_login) {
            return;
        }
        let Some((&number, body)) = packet.body.split_first() else {
            return self.lose_track();
        };
        if packet.sequence != 0 || self.pending.len() == MAX_PENDING {
            return self.lose_track();
        }
        let Some((arguments, traceparent)) = self.read_arguments(number, body, packet.is_cut())
        else {
            return self.lose_track();
        };
        self.pending.push_back(Pending {
            number,
            since,
            arguments,
            traceparent,
        });
        if self.pending.len() == 1 {
            self.run_first();
        }
    }

    /// The arguments, and the query attribute `traceparent`. `None`: they are malformed.
    fn read_arguments(
        &mut self,
        number: u8,
        body: &[u8],
        is_cut: bool,
    ) -> Option<(Arguments, Option<String>)> {
        let has_attributes = self.client.capabilities & has::QUERY_ATTRIBUTES != 0;
        let mut traceparent = None;
        let mut fields = Fields(body);
        let arguments = match number {
            command::QUERY => {
                let text = match has_attributes {
                    false => Some(body),
                    true => attributes::read_query(body).map(|(text, attribute)| {
                        traceparent = attribute;
                        text
                    }),
                };
                Arguments::Text(text.and_then(|body| self.store(body)), is_cut)
            }
            command::EXECUTE => {
                let id = fields.number(4)? as u32;
                let has_long_data = std::mem::take(&mut self.has_long_data);
                if has_attributes && !has_long_data {
                    traceparent = attributes::read_execution(&mut fields);
                }
                Arguments::Statement(id)
            }
            command::LONG_DATA => {
                self.has_long_data = true;
                Arguments::Statement(fields.number(4)? as u32)
            }
            command::PREPARE => Arguments::Text(self.store(body), is_cut),
            command::CLOSE | command::FETCH | command::BULK_EXECUTE => {
                Arguments::Statement(fields.number(4)? as u32)
            }
            command::INIT_DB => {
                let name = &body[..body.len().min(MAX_NAME_BYTES)];
                Arguments::Database(String::from_utf8_lossy(name).into_owned())
            }
            // The packets of its authentication follow, and no command does before the reply.
            command::CHANGE_USER if self.pending.is_empty() => Arguments::User(Box::new(
                Login::parse_change(body, self.client.capabilities)?,
            )),
            command::CHANGE_USER => return None,
            command::SET_OPTION => Arguments::Option(fields.number(2)? as u16),
            _ => Arguments::None,
        };
        Some((arguments, traceparent))
    }

    /// Stores a text, if it is read and there is space.
    fn store(&mut self, bytes: &[u8]) -> Option<String> {
        if self.client.is_ambiguous || self.stored + bytes.len() > MAX_STORED_BYTES {
            return None;
        }
        let decoded = String::from_utf8_lossy(bytes);
        let mut text = mem::take(&mut self.spare);
        text.clear();
        text.push_str(match &decoded {
            Cow::Borrowed(text) => text,
            Cow::Owned(text) => text,
        });
        self.stored += text.len();
        Some(text)
    }

    /// Begins the first command, and ends those without a reply.
    fn run_first(&mut self) {
        while let Some(first) = self.pending.front_mut() {
            let (number, since) = (first.number, first.since);
            let arguments = mem::replace(&mut first.arguments, Arguments::None);
            self.trace.attribute = first.traceparent.take();
            self.trace.publish(self.client.session.is_recorded());
            self.client.session.set_state(state_of(number));
            let (running, arguments) = self.start(number, arguments, since);
            if let Some(first) = self.pending.front_mut() {
                first.arguments = arguments;
            }
            match Shape::of(number) {
                Shape::Nothing => {
                    running.end();
                    self.pop_first();
                }
                // What follows is no reply to a statement.
                Shape::Stream => {
                    running.end();
                    return self.lose_track();
                }
                _ => {
                    self.running = Some(running);
                    return;
                }
            }
        }
        self.client.session.set_state(State::Sleep);
    }

    /// Starts a command's statement. Returns also what is needed when it ends.
    fn start(&mut self, number: u8, arguments: Arguments, since: u64) -> (Running, Arguments) {
        let class = self.classes.of_command(number);
        match arguments {
            Arguments::Text(Some(text), is_cut) if number == command::QUERY => {
                let (running, rest) = self.start_next(&text, since);
                let rest = text.len() - rest;
                let text = self.discard_start(text, rest);
                (running, Arguments::Text(Some(text), is_cut))
            }
            Arguments::Text(None, is_cut) if number == command::QUERY => {
                let running = Running::start(self.classes.query, since);
                (running, Arguments::Text(None, is_cut))
            }
            Arguments::Text(Some(text), is_cut) => {
                let running = Running::start_prepare(class, &self.client.text(&text), since);
                (running, Arguments::Text(Some(text), is_cut))
            }
            Arguments::Statement(id) => {
                let running = match self.prepared.get(id) {
                    None => Running::start(class, since),
                    Some(prepared) => {
                        let running = Running::start_prepared(class, prepared, since);
                        match number {
                            command::EXECUTE | command::BULK_EXECUTE => running.execute(prepared),
                            command::CLOSE => running.close(prepared),
                            _ => {}
                        }
                        running
                    }
                };
                if number == command::CLOSE {
                    self.prepared.remove(id);
                }
                (running, Arguments::Statement(id))
            }
            arguments => (Running::start(class, since), arguments),
        }
    }

    /// Starts a text's first statement. Returns the number of bytes behind it.
    fn start_next(&mut self, text: &str, since: u64) -> (Running, usize) {
        let (first, rest) = self.client.split(text);
        self.trace.publish(self.client.session.is_recorded());
        let running = Running::start_text(self.classes, &first, since);
        self.trace.assign(first.text);
        (running, rest.len())
    }

    /// Removes the first bytes of a text.
    fn discard_start(&mut self, mut text: String, count: usize) -> String {
        self.stored -= count;
        if count == text.len() {
            text.clear();
            if text.capacity() <= MAX_SPARE_TEXT {
                self.spare = text;
            }
            return String::new();
        }
        text.drain(..count);
        text
    }

    /// Removes the first command.
    fn pop_first(&mut self) {
        if let Some(Pending {
            arguments: Arguments::Text(Some(text), _),
            ..
        }) = self.pending.pop_front()
        {
            let length = text.len();
            self.discard_start(text, length);
        }
    }

    /// A packet of the server was written.
    fn answer(&mut self, packet: &Packet) {
        let result = match self.client.phase {
            Phase::Greeting => self.client.greet(packet),
            Phase::Response | Phase::Tls => Err(NotRead),
            Phase::Login => self.client.authenticate(packet),
            Phase::Commands => return self.answer_command(packet),
        };
        if result.is_err() {
            self.lose_track();
        }
    }

    fn answer_command(&mut self, packet: &Packet) {
        let Some(first) = self.pending.front() else {
            // The server says why it ends the connection, or what it says is not understood.
            return self.lose_track();
        };
        let shape = Shape::of(first.number);
        match self.replies.read(packet, shape, self.client.capabilities) {
            Ok(None) => {}
            Ok(Some(Reply::File)) => self.is_sending_file = true,
            Ok(Some(Reply::Result(rows, done))) => self.end_result(rows, &done),
            Ok(Some(Reply::Prepared(id, warnings))) => self.end_prepare(id, warnings),
            Ok(Some(Reply::Failed(failure, rows))) => self.fail(&failure, rows),
            Err(_) => self.lose_track(),
        }
    }

    /// A result has ended.
    fn end_result(&mut self, rows: Option<u64>, done: &Done) {
        self.is_sending_file = false;
        let Some(running) = &mut self.running else {
            return self.lose_track();
        };
        running.add_result(rows, done);
        let has_more = done.status & status::MORE_RESULTS != 0;
        let (rest, is_cut) = match self.pending.front().map(|first| &first.arguments) {
            Some(Arguments::Text(text, is_cut)) => (text.as_deref().unwrap_or(""), *is_cut),
            _ => ("", false),
        };
        // A procedure may have several results with rows.
        let is_next = match running.is_call() {
            true => rows.is_none(),
            false => !rest.is_empty() || is_cut,
        };
        if has_more && !is_next {
            return self.client.follow(done);
        }
        if let Some(running) = self.running.take() {
            let effect = running.end();
            self.client.apply(effect);
        }
        self.client.follow(done);
        match has_more {
            true => self.run_next(),
            false => {
                self.apply_command();
                self.pop_first();
                self.run_first();
            }
        }
    }

    /// Begins the next statement of a text.
    fn run_next(&mut self) {
        let Some(first) = self.pending.front_mut() else {
            return self.lose_track();
        };
        let since = first.since;
        let Arguments::Text(text, is_cut) = &mut first.arguments else {
            return self.lose_track();
        };
        let is_cut = *is_cut;
        let text = text.take().unwrap_or_default();
        let (running, text) = match text.is_empty() {
            // The text's end is not stored.
            true => (Running::start(self.classes.query, since), text),
            false => {
                let (running, rest) = self.start_next(&text, since);
                let count = text.len() - rest;
                (running, self.discard_start(text, count))
            }
        };
        self.running = Some(running);
        if let Some(first) = self.pending.front_mut() {
            first.arguments = Arguments::Text(Some(text), is_cut);
        }
    }

    /// The first command has succeeded.
    fn apply_command(&mut self) {
        let Some(first) = self.pending.front_mut() else {
            return;
        };
        match mem::replace(&mut first.arguments, Arguments::None) {
            Arguments::Database(name) => self.client.use_database(name),
            Arguments::User(login) => {
                self.prepared.clear();
                self.trace.reset();
                self.client.become_user(&login);
            }
            Arguments::Option(option) => self.client.is_multiple = option == 0,
            Arguments::None if first.number == command::RESET_CONNECTION => {
                self.prepared.clear();
                self.trace.reset();
            }
            arguments => first.arguments = arguments,
        }
    }

    /// A statement is prepared.
    fn end_prepare(&mut self, id: u32, warnings: u64) {
        let (Some(mut running), Some(first)) = (self.running.take(), self.pending.front_mut())
        else {
            return self.lose_track();
        };
        let arguments = mem::replace(&mut first.arguments, Arguments::None);
        let done = Done {
            warnings,
            ..Done::default()
        };
        running.add_result(None, &done);
        let mut statement = None;
        if let Arguments::Text(Some(text), _) = &arguments {
            let read = self.client.text(text);
            let is_secret = read.has_secret();
            let hidden = match is_secret {
                true => read.hidden(),
                false => Cow::Borrowed(&**text),
            };
            if self.prepared.has_space(&hidden) {
                let is_recorded = self.client.session.is_recorded();
                let row = is_recorded.then(|| Prepared::new(id.into(), None, &hidden));
                if let Some(row) = &row {
                    running.prepare(row);
                }
                statement = Some(PreparedStatement::new(&hidden, is_secret, row));
            }
        }
        self.prepared.insert(id, statement);
        running.end();
        if let Some(first) = self.pending.front_mut() {
            first.arguments = arguments;
        }
        self.pop_first();
        self.run_first();
    }

    /// The server has answered by an error. It does not run the rest of a text.
    fn fail(&mut self, failure: &Failure, rows: u64) {
        self.is_sending_file = false;
        let Some(running) = self.running.take() else {
            return self.lose_track();
        };
        running.fail(failure, rows, self.classes);
        self.pop_first();
        self.run_first();
    }
}

/// The memory of a text that is kept for the next one.
const MAX_SPARE_TEXT: usize = 4096;

/// The state of a session that runs a command.
fn state_of(number: u8) -> State {
    State::from_number(number.into()).unwrap_or(State::Query)
}

#[cfg(test)]
mod tests;
