//! The commands of a connection that run, and what they change: its user, name and database.
//!
//! A command begins when the poll returned after which it was read, and ends when its reply was written: the
//! time that it waited in the program's own queue counts. Commands of a pipeline begin together and end one
//! by one. The first one is a running statement of the session; the others become statements when their turn
//! comes. Commands of a pipeline that are read together are executed together, and have these stages together.

use std::collections::VecDeque;
use std::ffi::c_int;
use std::mem;

use engine::Command as State;
use engine::statement::{self, Statement};
use engine::thread;

use super::commands::{self, Command, Effect};
use super::replies::{self, Reply};
use super::stages::{self, Progress};
use super::{requests, text};
use crate::request::Request;
use crate::session::{MAX_PENDING, MAX_STORED_BYTES, Protocol, Session, fail, shrink};
use crate::turn;

mod only;

use only::OnlyCommand;

/// A command that was read and has had no reply.
struct Pending {
    command: &'static Command,
    request: Request,
    /// When it arrived.
    since: u64,
    /// When its execution began, 0 = its stages are not recorded.
    executed: u64,
    /// Whether it ends without a reply.
    is_silent: bool,
}

/// Whether replies are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Replies {
    On,
    /// The next command has none.
    SkipNext,
    Off,
    /// What is written is no reply, until the connection ends.
    Stream,
}

/// The commands of a connection.
pub struct Commands {
    requests: requests::Parser,
    replies: replies::Parser,
    mode: Replies,
    /// Whether it has sent a command that does not only begin its session.
    has_begun: bool,
    /// Whether what the connection sends is not understood.
    is_lost: bool,
    /// Whether messages of channels may come.
    is_subscribed: bool,
    /// The statement of the first pending command.
    running: Option<Statement>,
    /// The running command, if it was read alone and is not in `pending`.
    only: Option<OnlyCommand>,
    pending: VecDeque<Pending>,
    /// Commands of the transaction that MULTI has begun.
    queued: Option<Vec<Pending>>,
    /// The command that arrived last.
    latest: Option<&'static Command>,
    /// Bytes of memory that the arguments of pending and queued commands take.
    stored: usize,
    /// Requests whose memory serves others.
    spare: Vec<Request>,
    session: Session,
    socket: c_int,
    /// When what was read last arrived.
    since: u64,
    progress: Progress,
    name: String,
    library: [String; 2],
}

/// The most requests of a connection whose memory is kept, and the most bytes of each.
const MAX_SPARE_REQUESTS: usize = 16;
const MAX_SPARE_BYTES: usize = 512;

/// The user before AUTH.
const DEFAULT_USER: &str = "default";

impl Commands {
    /// Those of a connection that has this session, on this socket.
    pub fn new(session: Session, socket: c_int) -> Self {
        Self {
            requests: requests::Parser::default(),
            replies: replies::Parser::default(),
            mode: Replies::On,
            has_begun: false,
            is_lost: false,
            is_subscribed: false,
            running: None,
            only: None,
            pending: VecDeque::new(),
            queued: None,
            latest: None,
            stored: 0,
            spare: Vec::new(),
            session,
            socket,
            since: 0,
            progress: Progress::default(),
            name: String::new(),
            library: Default::default(),
        }
    }
}

impl Protocol for Commands {
    fn open(&mut self) {
        self.session.set_user(DEFAULT_USER);
        self.set_database("0");
        self.session.set_state(State::Sleep);
    }

    fn encrypt(&mut self) {
        self.session.encrypt();
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn may_miss(&self) -> bool {
        self.is_lost
            || self.has_begun
                && self.only.is_none()
                && self.pending.is_empty()
                && self.queued.is_none()
                && self.mode == Replies::On
                && !self.is_subscribed
                && self.requests.is_at_start()
    }

    fn is_start(&self, bytes: &[u8]) -> bool {
        requests::is_start(bytes)
    }

    fn receive(&mut self, bytes: &[u8]) {
        let arrival = turn::read(self.socket);
        self.since = arrival.since;
        let is_executed = arrival.is_executed && self.session.is_recorded();
        if is_executed {
            thread::serve_session(turn::arrived());
        }
        let (only, pending) = (&self.only, &self.pending);
        (self.progress).read(|| is_executed && only.is_none() && pending.is_empty());
        if self.begin_only(bytes) {
            return;
        }
        let mut parser = mem::take(&mut self.requests);
        match parser.read(bytes, |request| self.begin(request)) {
            Ok(()) if !self.is_lost => self.requests = parser,
            _ => self.lose_track(),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        if self.mode == Replies::Stream {
            return;
        }
        self.begin_write();
        if self.end_only(bytes) {
            return;
        }
        let mut parser = mem::take(&mut self.replies);
        match parser.read(bytes, |reply| self.end(reply)) {
            Ok(()) => self.replies = parser,
            Err(_) => self.lose_track(),
        }
    }

    fn lose_track(&mut self) {
        self.list_only();
        self.is_lost = true;
        while let Some(pending) = self.pending.pop_front() {
            self.finish(pending, None);
        }
        drop(self.end_transaction());
        self.pending = VecDeque::new();
        self.requests = requests::Parser::default();
        self.replies = replies::Parser::default();
        self.session.set_state(State::Sleep);
    }
}

impl Commands {
    /// The reply to the running statement is written.
    #[inline]
    fn begin_write(&mut self) {
        let (only, pending) = (&self.only, &self.pending);
        let running = &self.running;
        self.progress.write(|| {
            let executed = match only {
                Some(only) => Some(only.executed),
                None => pending.front().map(|first| first.executed),
            };
            running.is_some() && executed.is_some_and(|executed| executed != 0)
        });
    }

    /// A command has arrived.
    fn begin(&mut self, request: &mut Request) {
        let Some(command) = self.find(request).filter(|_| !self.is_lost) else {
            return;
        };
        let queued = self.queued.as_ref().map_or(0, Vec::len);
        if self.pending.len() + queued == MAX_PENDING {
            return self.lose_track();
        }
        self.has_begun = self.has_begun || !command.begins_session();
        let is_silent = self.follow_mode(command, request);
        if command.effect == Effect::Stream {
            self.mode = Replies::Stream;
        }
        let stored = self.stored + request.size();
        let request = match stored <= MAX_STORED_BYTES {
            true => {
                self.stored = stored;
                mem::replace(request, self.spare.pop().unwrap_or_default())
            }
            false => Request::default(),
        };
        self.pending.push_back(Pending {
            command,
            request,
            since: self.since,
            executed: match is_silent {
                true => 0,
                false => self.progress.began(),
            },
            is_silent,
        });
        if self.pending.len() == 1 {
            self.session.set_state(State::Query);
            self.run_first();
        }
    }

    /// The command of a request. Most clients send the same ones.
    #[inline]
    fn find(&mut self, request: &Request) -> Option<&'static Command> {
        if let Some(latest) = self.latest
            && latest.is_named_in(request)
        {
            return self.latest;
        }
        self.latest = commands::find(request);
        self.latest
    }

    /// Changes which commands have replies, as this one does. Returns whether it ends without a reply.
    fn follow_mode(&mut self, command: &Command, request: &Request) -> bool {
        if command.effect == Effect::Reply {
            let mode = request.argument(2);
            match mode.to_ascii_lowercase().as_slice() {
                b"off" => self.mode = Replies::Off,
                b"skip" => self.mode = Replies::SkipNext,
                _ => self.mode = Replies::On,
            }
            return self.mode != Replies::On;
        }
        match self.mode {
            Replies::On => command.effect == Effect::Stream,
            Replies::SkipNext => {
                self.mode = Replies::On;
                true
            }
            Replies::Off | Replies::Stream => true,
        }
    }

    /// Begins the statement of the first command, and ends those that get no reply.
    fn run_first(&mut self) {
        while let Some(first) = self.pending.front() {
            if !first.is_silent {
                if self.session.is_recorded() {
                    self.running = Some(first.start(true, &mut self.session));
                }
                return;
            }
            if let Some(silent) = self.pending.pop_front() {
                self.finish(silent, None);
            }
        }
        shrink(&mut self.pending);
        self.session.set_state(State::Sleep);
    }

    /// A reply was written.
    fn end(&mut self, reply: &Reply) {
        let Some(first) = self.pending.front() else {
            return;
        };
        let subscribes = first.command.effect == Effect::Subscribe;
        let is_message = reply.is_push() || self.is_subscribed && reply.is_message();
        if is_message && !subscribes {
            return;
        }
        self.begin_write();
        if let Some(first) = self.pending.pop_front() {
            self.finish(first, Some(reply));
            self.run_first();
        }
    }

    /// Ends a command, which is pending no more. `None`: it gets no reply.
    fn finish(&mut self, pending: Pending, reply: Option<&Reply>) {
        self.progress.end();
        let statement = match self.running.take() {
            Some(statement) => statement,
            None => pending.start(true, &mut self.session),
        };
        self.stored -= pending.request.size();
        let Some(reply) = reply else {
            return;
        };
        if reply.is_error() {
            pending.fail(&statement, &reply.line);
            if pending.command.effect == Effect::Exec {
                drop(self.end_transaction());
            }
            return;
        }
        if reply.line == "QUEUED" {
            statement.discard();
            // Otherwise its MULTI was not read, and nobody knows whether it will be executed.
            if let Some(queued) = &mut self.queued {
                self.stored += pending.request.size();
                queued.push(pending);
            }
            return;
        }
        if pending.command.effect == Effect::Exec {
            self.execute(reply);
        }
        drop(statement);
        self.follow(&pending);
        self.recycle(pending.request);
    }

    /// Keeps a request's memory for another one.
    fn recycle(&mut self, mut request: Request) {
        if self.spare.len() < MAX_SPARE_REQUESTS && request.size() <= MAX_SPARE_BYTES {
            request.clear();
            self.spare.push(request);
        }
    }

    /// Counts the commands of a transaction, within its EXEC.
    fn execute(&mut self, reply: &Reply) {
        let queued = self.end_transaction();
        // Otherwise none was executed: a watched key has changed.
        if reply.elements != queued.len() as u64 {
            return;
        }
        let mut errors = reply.errors.iter().peekable();
        for (number, pending) in (0u64..).zip(&queued) {
            let statement = pending.start(false, &mut self.session);
            if let Some((_, text)) = errors.next_if(|(element, _)| *element == number) {
                pending.fail(&statement, text);
            }
        }
    }

    /// Ends the transaction that MULTI has begun. Returns its commands.
    fn end_transaction(&mut self) -> Vec<Pending> {
        let queued = self.queued.take().unwrap_or_default();
        let sizes = queued.iter().map(|pending| pending.request.size());
        self.stored -= sizes.sum::<usize>();
        queued
    }

    /// Does what a command that succeeded changes for the connection.
    fn follow(&mut self, pending: &Pending) {
        let request = &pending.request;
        let text = |number| request.text(number).unwrap_or("?").to_owned();
        match pending.command.effect {
            Effect::Auth if request.count() == 2 => self.session.set_user(DEFAULT_USER),
            Effect::Auth => self.session.set_user(&text(1)),
            Effect::Hello => self.greet(request),
            Effect::Select => self.set_database(&text(1)),
            Effect::SetName => {
                self.name = text(2);
                self.set_attributes();
            }
            Effect::SetInfo => {
                match text(2).to_ascii_lowercase().as_str() {
                    "lib-name" => self.library[0] = text(3),
                    "lib-ver" => self.library[1] = text(3),
                    _ => {}
                }
                self.set_attributes();
            }
            Effect::Multi => {
                drop(self.end_transaction());
                self.queued = Some(Vec::new());
            }
            Effect::Discard => drop(self.end_transaction()),
            Effect::Reset => {
                drop(self.end_transaction());
                self.is_subscribed = false;
                self.name.clear();
                self.set_attributes();
                self.session.set_user(DEFAULT_USER);
                self.set_database("0");
            }
            Effect::Subscribe => self.is_subscribed = true,
            Effect::None | Effect::Exec | Effect::Reply | Effect::Stream => {}
        }
    }

    /// HELLO has options that AUTH and CLIENT SETNAME have as well.
    fn greet(&mut self, request: &Request) {
        let mut number = 2;
        while number < request.count() {
            match request.argument(number).to_ascii_lowercase().as_slice() {
                b"auth" => {
                    let user = request.text(number + 1).unwrap_or("?").to_owned();
                    self.session.set_user(&user);
                    number += 3;
                }
                b"setname" => {
                    self.name = request.text(number + 1).unwrap_or("?").to_owned();
                    self.set_attributes();
                    number += 2;
                }
                _ => number += 1,
            }
        }
    }

    fn set_database(&self, number: &str) {
        self.session.set_database(&format!("db{number}"));
    }

    fn set_attributes(&self) {
        let [library, version] = &self.library;
        self.session.set_attributes(&[
            ("program_name", &self.name),
            ("_client_name", library),
            ("_client_version", version),
        ]);
    }
}

impl Pending {
    /// Starts its statement. `has_waited`: it began when it arrived, otherwise now.
    fn start(&self, has_waited: bool, session: &mut Session) -> Statement {
        let Self {
            command, request, ..
        } = self;
        if has_waited {
            return start_since(command, request, (self.since, self.executed), session);
        }
        let statement = statement::start(command.class);
        describe(&statement, command, request, session);
        statement
    }

    /// Its statement was answered by an error. The text may quote what is secret; the first word is the
    /// error's code.
    fn fail(&self, statement: &Statement, text: &str) {
        let end = match self.command.is_secret {
            true => text.find(' ').unwrap_or(text.len()),
            false => text.len(),
        };
        fail(statement, &text[..end]);
    }
}

/// Starts the statement of a command that arrived at `since` and whose execution began at `executed`, 0 = its stages
/// are not recorded.
#[inline]
fn start_since(
    command: &Command,
    request: &Request,
    (since, executed): (u64, u64),
    session: &mut Session,
) -> Statement {
    let statement = statement::start_since(command.class, since);
    if executed != 0 {
        stages::enter_execution(since, executed);
    }
    describe(&statement, command, request, session);
    statement
}

#[inline]
fn describe(statement: &Statement, command: &Command, request: &Request, session: &mut Session) {
    if request.count() != 0 {
        session.describe(
            statement,
            |text| text::write_text(command, request, text),
            |shape| text::write_shape(command, request, shape),
        );
    }
}

#[cfg(test)]
mod tests;
