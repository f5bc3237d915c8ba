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
    pending: VecDeque<Pending>,
    /// Commands of the transaction that MULTI has begun.
    queued: Option<Vec<Pending>>,
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
            pending: VecDeque::new(),
            queued: None,
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
            thread::serve_session();
        }
        let pending = &self.pending;
        (self.progress).read(|| is_executed && pending.is_empty());
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
        let mut parser = mem::take(&mut self.replies);
        match parser.read(bytes, |reply| self.end(reply)) {
            Ok(()) => self.replies = parser,
            Err(_) => self.lose_track(),
        }
    }

    fn lose_track(&mut self) {
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
        let (pending, running) = (&self.pending, &self.running);
        self.progress.write(|| {
            running.is_some() && pending.front().is_some_and(|first| first.executed != 0)
        });
    }

    /// A command has arrived.
    fn begin(&mut self, request: &mut Request) {
        let Some(command) = commands::find(request).filter(|_| !self.is_lost) else {
            return;
        };
        let queued = self.queued.as_ref().map_or(0, Vec::len);
        if self.pending.len() + queued == MAX_PENDING {
            return self.lose_track();
        }
        self.has_begun |= !command.begins_session();
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
        let (command, request) = (self.command, &self.request);
        let statement = match has_waited {
            true => statement::start_since(command.class, self.since),
            false => statement::start(command.class),
        };
        if has_waited && self.executed != 0 {
            stages::enter_execution(self.since, self.executed);
        }
        if request.count() != 0 {
            session.describe(
                &statement,
                |text| text::write_text(command, request, text),
                |shape| text::write_shape(command, request, shape),
            );
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use crate::session::Address;

    fn commands() -> Commands {
        commands::create("test");
        Commands::new(Session::new(&Address::Unix, false), -1)
    }

    #[test]
    fn a_client_that_reads_no_reply_takes_bounded_memory() {
        let mut commands = commands();
        let argument = format!("$128\r\n{}\r\n", "x".repeat(128));
        let long = format!("*64\r\n{}", argument.repeat(64));
        for _ in 0..1000 {
            commands.receive(long.as_bytes());
        }
        assert!(commands.stored <= MAX_STORED_BYTES && commands.stored > MAX_STORED_BYTES / 2);
        assert_eq!(commands.pending.len(), 1000);
        // Replies give the memory back.
        commands.send("-ERR no\r\n".repeat(1000).as_bytes());
        assert_eq!((commands.stored, commands.pending.len()), (0, 0));
        commands.receive("PING\r\n".repeat(MAX_PENDING).as_bytes());
        assert_eq!(commands.pending.len(), MAX_PENDING);
        commands.receive("PING\r\n".repeat(1000).as_bytes());
        assert!(commands.is_lost && commands.pending.capacity() == 0);
        assert_eq!(commands.stored, 0);
    }

    #[test]
    fn any_requests_and_replies_leave_bounded_memory() {
        let requests: &[&[u8]] = &[
            b"GET k\r\n",
            b"MULTI\r\n",
            b"EXEC\r\n",
            b"DISCARD\r\n",
            b"RESET\r\n",
            b"SUBSCRIBE c\r\n",
            b"CLIENT REPLY OFF\r\n",
            b"CLIENT REPLY SKIP\r\n",
            b"CLIENT REPLY ON\r\n",
            b"CLIENT SETNAME n\r\n",
            b"HELLO 3 AUTH a b SETNAME\r\n",
            b"AUTH\r\n",
            b"SELECT\r\n",
            b"MONITOR\r\n",
            b"*2\r\n$3\r\nGET\r\n$1\r\nk\r\n",
            b"\0\xff",
        ];
        let replies: &[&[u8]] = &[
            b"+OK\r\n",
            b"+QUEUED\r\n",
            b"-ERR no\r\n",
            b"*1\r\n-ERR no\r\n",
            b"*2\r\n+OK\r\n-ERR no\r\n",
            b"*-1\r\n",
            b"*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nx\r\n",
            b">2\r\n+invalidate\r\n*0\r\n",
            b"\0\xff",
        ];
        for seed in 0..3000 {
            let (mut random, mut commands) = (Random::new(seed), commands());
            commands.open();
            for _ in 0..12 {
                match random.below(2) {
                    0 => commands.receive(&random.bytes(requests, 3)),
                    _ => commands.send(&random.bytes(replies, 4)),
                }
                let queued = commands.queued.iter().flatten();
                let stored = commands.pending.iter().chain(queued);
                let stored: usize = stored.map(|pending| pending.request.size()).sum();
                assert_eq!(commands.stored, stored, "{seed}");
            }
            commands.lose_track();
            assert!(
                commands.pending.is_empty() && commands.queued.is_none() && commands.stored == 0
            );
        }
    }

    #[test]
    fn errors_of_a_transaction_belong_to_their_commands() {
        let mut commands = commands();
        commands.receive(b"MULTI\r\n");
        commands.send(b"+OK\r\n");
        commands.receive(&b"INCR k\r\n".repeat(MAX_PENDING - 1));
        commands.send(&b"+QUEUED\r\n".repeat(MAX_PENDING - 1));
        assert_eq!(
            commands.queued.as_ref().map(Vec::len),
            Some(MAX_PENDING - 1)
        );
        commands.receive(b"EXEC\r\n");
        // In linear time.
        let mut reply = format!("*{}\r\n", MAX_PENDING - 1);
        reply.push_str(&"-ERR no\r\n".repeat(MAX_PENDING - 1));
        commands.send(reply.as_bytes());
        assert!(commands.pending.is_empty() && commands.queued.is_none());
    }

    #[test]
    fn a_transaction_without_an_end_takes_bounded_memory() {
        let mut commands = commands();
        commands.receive(b"MULTI\r\n");
        commands.send(b"+OK\r\n");
        for _ in 0..MAX_PENDING {
            assert!(!commands.is_lost);
            commands.receive(b"GET user:17\r\n");
            commands.send(b"+QUEUED\r\n");
        }
        commands.receive(b"GET user:17\r\n");
        assert!(commands.is_lost && commands.queued.is_none());
        assert_eq!(commands.stored, 0);
    }
}
