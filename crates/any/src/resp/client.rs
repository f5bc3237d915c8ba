//! A client's connection: its session, its commands that run, its user, name and database.
//!
//! A command begins when the poll returned after which it was read, and ends when its reply was written: the
//! time that it waited in the program's own queue counts. Commands of a pipeline begin together and end one
//! by one. The first one is a running statement of the session; the others become statements when their turn
//! comes.

use std::collections::VecDeque;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::statement::{self, Statement};
use engine::thread::{self, ConnectionType, ThreadSession};
use engine::{Command as State, idle};

use super::commands::{self, Command, Effect};
use super::replies::{self, Reply};
use super::requests::{self, Request};
use super::text;
use crate::calls::woken;
use crate::descriptors::Access;
use crate::hooks::Address;
use crate::names::classes;

/// A session, and what runs in it.
pub struct Client {
    session: Option<ThreadSession>,
    commands: Commands,
}

/// A command that was read and has had no reply.
struct Pending {
    command: &'static Command,
    request: Request,
    /// When it arrived.
    since: u64,
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

pub struct Commands {
    requests: requests::Parser,
    replies: replies::Parser,
    mode: Replies,
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
    /// Whether the session has a place of its own: a statement can run there while others run elsewhere.
    has_session: bool,
    host: String,
    user: String,
    name: String,
    library: [String; 2],
    /// Buffers.
    text: String,
    shape: String,
}

// SAFETY: of the parts only `running` is bound to a thread. It is bound to the session's place in the segment,
// which any thread can enter, and is used only in the session (`Client::in_session`): the engine compares the
// place with that of the calling thread.
unsafe impl Send for Client {}

/// The user before AUTH.
const DEFAULT_USER: &str = "default";
/// The most commands of a connection that wait for replies or for EXEC. A client that sends more and reads
/// nothing must not fill the memory; its further commands are not read.
const MAX_PENDING: usize = 1 << 18;
/// The most bytes of memory for their arguments. Further commands have no text.
const MAX_STORED_BYTES: usize = 1 << 20;
/// An empty list of pending commands keeps the memory for so many.
const MAX_SPARE: usize = 1024;

/// The number of the last connection.
static LAST_CONNECTION: AtomicU64 = AtomicU64::new(0);

impl Client {
    /// A connection from this address.
    pub fn new(address: &Address) -> Self {
        let host = match address {
            Address::Ip(ip, _) if ip.is_loopback() => "localhost".to_owned(),
            Address::Ip(ip, _) => ip.to_string(),
            Address::Unix | Address::Other => "localhost".to_owned(),
        };
        let mut session = classes().map(|classes| ThreadSession::new(classes.session));
        let commands = Commands {
            requests: requests::Parser::default(),
            replies: replies::Parser::default(),
            mode: Replies::On,
            is_lost: false,
            is_subscribed: false,
            running: None,
            pending: VecDeque::new(),
            queued: None,
            stored: 0,
            has_session: session.as_ref().is_some_and(|session| session.id() != 0),
            host,
            user: String::new(),
            name: String::new(),
            library: Default::default(),
            text: String::new(),
            shape: String::new(),
        };
        if let Some(session) = &mut session
            && commands.has_session
        {
            session.set_processlist_id(LAST_CONNECTION.fetch_add(1, Ordering::Relaxed) + 1);
            let _entered = session.enter();
            thread::set_connection_type(match address {
                Address::Ip(..) => ConnectionType::TcpIp,
                Address::Unix | Address::Other => ConnectionType::Socket,
            });
        }
        let mut client = Self { session, commands };
        client.in_session(|commands| {
            commands.set_user(DEFAULT_USER);
            commands.set_database("0");
            commands.set_state(State::Sleep);
        });
        client
    }

    /// Calls `work` in the session. If it has no place, `work` is called all the same.
    #[inline]
    pub fn in_session<T>(&mut self, work: impl FnOnce(&mut Commands) -> T) -> T {
        let _entered = match &mut self.session {
            Some(session) if self.commands.has_session => Some(session.enter()),
            _ => None,
        };
        work(&mut self.commands)
    }

    /// Bytes were read or written.
    pub fn moved(&mut self, access: Access, bytes: &[u8]) {
        if self.commands.is_lost {
            return;
        }
        self.in_session(|commands| match access {
            Access::In => commands.receive(bytes),
            Access::Out => commands.send(bytes),
            Access::Other(_) => {}
        });
    }

    /// Bytes were moved that nobody saw.
    pub fn lose_track(&mut self) {
        self.in_session(Commands::lose_track);
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Its commands were executed: the program closes the connection.
        self.in_session(Commands::lose_track);
    }
}

impl Commands {
    fn receive(&mut self, bytes: &[u8]) {
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
        let mut parser = mem::take(&mut self.replies);
        match parser.read(bytes, |reply| self.end(&reply)) {
            Ok(()) => self.replies = parser,
            Err(_) => self.lose_track(),
        }
    }

    /// From now on nothing is read. Commands without a reply end.
    fn lose_track(&mut self) {
        self.is_lost = true;
        while let Some(pending) = self.pending.pop_front() {
            self.finish(pending, None);
        }
        drop(self.end_transaction());
        self.pending = VecDeque::new();
        self.requests = requests::Parser::default();
        self.replies = replies::Parser::default();
        self.set_state(State::Sleep);
    }

    /// A command has arrived.
    fn begin(&mut self, mut request: Request) {
        let Some(command) = commands::find(&request).filter(|_| !self.is_lost) else {
            return;
        };
        let since = match woken() {
            0 => idle::now(),
            woken => woken,
        };
        let is_silent = self.is_silent(command, &request);
        if command.effect == Effect::Stream {
            self.mode = Replies::Stream;
        }
        match self.stored + request.size() {
            stored if stored <= MAX_STORED_BYTES => self.stored = stored,
            _ => request = Request::default(),
        }
        self.pending.push_back(Pending {
            command,
            request,
            since,
            is_silent,
        });
        let queued = self.queued.as_ref().map_or(0, Vec::len);
        if self.pending.len() + queued > MAX_PENDING {
            self.lose_track();
        } else if self.pending.len() == 1 {
            self.set_state(State::Query);
            self.run_first();
        }
    }

    /// Whether a command ends without a reply.
    fn is_silent(&mut self, command: &Command, request: &Request) -> bool {
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
                if self.has_session {
                    let running = self.start(0);
                    self.running = running;
                }
                return;
            }
            if let Some(silent) = self.pending.pop_front() {
                self.finish(silent, None);
            }
        }
        if self.pending.capacity() > MAX_SPARE {
            self.pending = VecDeque::new();
        }
        self.set_state(State::Sleep);
    }

    /// Starts the statement of a pending command.
    fn start(&mut self, number: usize) -> Option<Statement> {
        let pending = self.pending.get(number)?;
        Some(start(pending, true, (&mut self.text, &mut self.shape)))
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
        if let Some(first) = self.pending.pop_front() {
            self.finish(first, Some(reply));
            self.run_first();
        }
    }

    /// Ends a command, which is pending no more. `None`: it gets no reply.
    fn finish(&mut self, pending: Pending, reply: Option<&Reply>) {
        let statement = match self.running.take() {
            Some(statement) => statement,
            None => start(&pending, true, (&mut self.text, &mut self.shape)),
        };
        self.stored -= pending.request.size();
        let Some(reply) = reply else {
            return;
        };
        if reply.is_error() {
            fail(&statement, pending.command, &reply.line);
            if pending.command.effect == Effect::Exec {
                drop(self.end_transaction());
            }
            return;
        }
        if let Some(queued) = &mut self.queued
            && reply.line == "QUEUED"
        {
            statement.discard();
            self.stored += pending.request.size();
            queued.push(pending);
            return;
        }
        if pending.command.effect == Effect::Exec {
            self.execute(reply);
        }
        drop(statement);
        self.follow(&pending);
    }

    /// Counts the commands of a transaction, within its EXEC.
    fn execute(&mut self, reply: &Reply) {
        let queued = self.end_transaction();
        // Otherwise none was executed: a watched key has changed.
        if reply.elements != queued.len() as u64 {
            return;
        }
        for (number, pending) in (0u64..).zip(&queued) {
            let statement = start(pending, false, (&mut self.text, &mut self.shape));
            if let Some((_, text)) = reply.errors.iter().find(|(element, _)| *element == number) {
                fail(&statement, pending.command, text);
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
            Effect::Auth if request.count() == 2 => self.set_user(DEFAULT_USER),
            Effect::Auth => self.set_user(&text(1)),
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
            Effect::Multi => self.queued = Some(Vec::new()),
            Effect::Discard => drop(self.end_transaction()),
            Effect::Reset => {
                drop(self.end_transaction());
                self.is_subscribed = false;
                self.name.clear();
                self.set_attributes();
                self.set_user(DEFAULT_USER);
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
                    self.set_user(&user);
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

    fn set_user(&mut self, user: &str) {
        if self.has_session && self.user != user {
            user.clone_into(&mut self.user);
            thread::set_account(user, &self.host);
        }
    }

    fn set_database(&self, number: &str) {
        if self.has_session {
            thread::set_db(&format!("db{number}"));
        }
    }

    fn set_state(&self, state: State) {
        if self.has_session {
            thread::set_command(state);
        }
    }

    fn set_attributes(&self) {
        if !self.has_session {
            return;
        }
        let [library, version] = &self.library;
        let attributes = [
            ("program_name", &self.name),
            ("_client_name", library),
            ("_client_version", version),
        ];
        let lines = attributes.iter().filter(|(_, value)| !value.is_empty());
        let lines: Vec<String> = lines
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        thread::set_attributes(&lines.join("\n"));
    }
}

/// Starts a command's statement. `has_waited`: it began when it arrived, otherwise now.
fn start(
    pending: &Pending,
    has_waited: bool,
    (text, shape): (&mut String, &mut String),
) -> Statement {
    let class = pending.command.class;
    let statement = match has_waited {
        true => statement::start_since(class, pending.since),
        false => statement::start(class),
    };
    if statement.is_recorded() && pending.request.count() != 0 {
        text::write_text(pending.command, &pending.request, text);
        statement.text_only(text);
        if statement.wants_digest() && !statement.is_active() {
            text::write_shape(pending.command, &pending.request, shape);
            statement.digest_by_shape(shape, text);
        }
    }
    statement
}

/// MySQL's number for errors that have none: ER_UNKNOWN_ERROR.
const UNKNOWN_ERROR: u32 = 1105;

/// The command was answered by an error. Its text may quote what is secret; the first word is the error's code.
fn fail(statement: &Statement, command: &Command, text: &str) {
    let end = match command.is_secret {
        true => text.find(' ').unwrap_or(text.len()),
        false => text.len(),
    };
    statement.error(UNKNOWN_ERROR, "HY000", &text[..end]);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client() -> Client {
        commands::create("test");
        Client::new(&Address::Unix)
    }

    #[test]
    fn a_client_that_reads_no_reply_takes_bounded_memory() {
        let mut client = client();
        let argument = format!("$128\r\n{}\r\n", "x".repeat(128));
        let long = format!("*64\r\n{}", argument.repeat(64));
        for _ in 0..1000 {
            client.moved(Access::In, long.as_bytes());
        }
        let commands = &client.commands;
        assert!(commands.stored <= MAX_STORED_BYTES && commands.stored > MAX_STORED_BYTES / 2);
        assert_eq!(commands.pending.len(), 1000);
        // Replies give the memory back.
        client.moved(Access::Out, "-ERR no\r\n".repeat(1000).as_bytes());
        assert_eq!(
            (client.commands.stored, client.commands.pending.len()),
            (0, 0)
        );
        client.moved(Access::In, "PING\r\n".repeat(MAX_PENDING).as_bytes());
        assert_eq!(client.commands.pending.len(), MAX_PENDING);
        client.moved(Access::In, "PING\r\n".repeat(1000).as_bytes());
        let commands = &client.commands;
        assert!(commands.is_lost && commands.pending.capacity() == 0);
        assert_eq!(commands.stored, 0);
    }

    #[test]
    fn a_transaction_without_an_end_takes_bounded_memory() {
        let mut client = client();
        client.moved(Access::In, b"MULTI\r\n");
        client.moved(Access::Out, b"+OK\r\n");
        for _ in 0..MAX_PENDING {
            assert!(!client.commands.is_lost);
            client.moved(Access::In, b"GET user:17\r\n");
            client.moved(Access::Out, b"+QUEUED\r\n");
        }
        client.moved(Access::In, b"GET user:17\r\n");
        assert!(client.commands.is_lost && client.commands.queued.is_none());
        assert_eq!(client.commands.stored, 0);
    }
}
