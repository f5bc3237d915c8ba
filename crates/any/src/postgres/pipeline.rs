//! The messages of a connection that wait for their replies, as statements.
//!
//! A statement begins when the message has arrived that contains it: a simple query, or the first of Parse,
//! Bind, Describe and Execute. It ends when its completion was written. The server writes it with the other
//! replies to the message or the pipeline, or as soon as its buffer is full. So several statements of one
//! message begin together, and end one by one, as the commands of a pipeline do.
//!
//! Replies name no message: the server answers in the order of the messages. After an error it skips messages
//! up to the next Sync, except after that of a simple query.

use std::rc::Rc;
use std::{mem, ptr};

use engine::Command as State;
use engine::idle;

use super::commands::{Command, Commands, commands};
use super::pending::{Queue, Rest, Step};
use super::replies::{self, Reply};
use super::requests::{self, Message};
use super::running::{Copy, Running};
use super::session::Parameters;
use super::statements::{Budget, Portal, Source, StoredText};
use super::tokens;
use super::transactions::Transactions;
use crate::session::{MAX_PENDING, Protocol, Session};

mod execution;

use execution::Execution;

/// SQLSTATE.
const SYNTAX_ERROR: &[u8] = b"42601";

/// The statements of a connection.
pub struct Connection {
    commands: &'static Commands,
    requests: requests::Parser,
    replies: replies::Parser,
    is_open: bool,
    /// Whether nothing is read any more.
    is_lost: bool,
    /// Whether the server skips messages up to a Sync.
    is_skipping: bool,
    /// Whether the server reads a COPY's data, and ignores Sync.
    is_copying: bool,
    /// Whether the session has begun: the server has said that it waits for a request.
    has_begun: bool,
    pending: Queue,
    running: Option<Running>,
    /// The execution that runs, if it was read as one and its messages are not in `pending`.
    execution: Option<Execution>,
    budget: Budget,
    parameters: Parameters,
    transactions: Transactions,
    session: Session,
}

impl Connection {
    /// Those of a connection that has this session. `None` before the start.
    pub fn new(session: Session) -> Option<Self> {
        Some(Self {
            commands: commands()?,
            requests: requests::Parser::default(),
            replies: replies::Parser::default(),
            is_open: false,
            is_lost: false,
            is_skipping: false,
            is_copying: false,
            has_begun: false,
            pending: Queue::default(),
            running: None,
            execution: None,
            budget: Budget::default(),
            parameters: Parameters::default(),
            transactions: Transactions::default(),
            session,
        })
    }
}

impl Protocol for Connection {
    /// The process that accepts the connection does not serve it: see `receive`.
    fn open(&mut self) {}

    /// The session begins within TLS. Before it, the client has only requested it, or begun its handshake.
    fn encrypt(&mut self) {
        self.is_lost = false;
        self.requests = requests::Parser::default();
        self.replies = replies::Parser::default();
        self.session.encrypt();
    }

    fn is_lost(&self) -> bool {
        self.is_lost
    }

    fn receive(&mut self, bytes: &[u8]) {
        if !mem::replace(&mut self.is_open, true) {
            self.session.serve_by_thread();
        }
        let since = idle::now();
        if self.begin_execution(bytes, since) {
            return;
        }
        let mut parser = mem::take(&mut self.requests);
        match parser.read(bytes, |message| self.arrive(message, since)) {
            Ok(()) if !self.is_lost => self.requests = parser,
            _ => self.lose_track(),
        }
    }

    fn send(&mut self, bytes: &[u8]) {
        if self.end_execution(bytes) {
            return;
        }
        let mut parser = mem::take(&mut self.replies);
        match parser.read(bytes, |reply| self.answer(&reply)) {
            Ok(()) if !self.is_lost => self.replies = parser,
            _ => self.lose_track(),
        }
    }

    fn lose_track(&mut self) {
        self.is_lost = true;
        self.discard_running();
        self.execution = None;
        self.pending = Queue::default();
        self.requests = requests::Parser::default();
        self.replies = replies::Parser::default();
        self.transactions = Transactions::default();
        if self.is_open {
            self.session.set_state(State::Sleep);
        }
    }
}

impl Connection {
    /// A message has arrived.
    fn arrive(&mut self, message: Message, since: u64) {
        if self.is_lost {
            return;
        }
        if self.pending.len() == MAX_PENDING {
            return self.lose_track();
        }
        match message {
            Message::Encryption => return self.replies.await_encryption(),
            Message::Startup(parameters) => {
                if !self.parameters.begin(&parameters) {
                    self.lose_track();
                }
                return;
            }
            Message::Sync if self.is_copying => return,
            Message::Sync => self.is_skipping = false,
            Message::CopyEnd if mem::take(&mut self.is_copying) || self.pending.is_empty() => {
                return;
            }
            _ if self.is_skipping => return,
            _ => {}
        }
        let step = match message {
            Message::Query(text, is_cut) => self.query(text, is_cut),
            Message::Parse(name, text) => {
                let source = self.source(text);
                let change = self.pending.statements.set(name, Some(Rc::clone(&source)));
                Step::Parse(source, change)
            }
            Message::Bind(portal, statement) => {
                let source = self.pending.statements.get(statement);
                let source = source.unwrap_or_else(|| self.unknown());
                let new = Portal::new(&source);
                Step::Bind(source, self.pending.portals.set(portal, Some(Rc::new(new))))
            }
            Message::Describe(b'S', name) => {
                let source = self.pending.statements.get(name);
                Step::Describe(source.unwrap_or_else(|| self.unknown()))
            }
            Message::Describe(_, name) => Step::Describe(Rc::clone(&self.portal(name).source)),
            Message::Execute(portal) => Step::Execute(self.portal(portal)),
            Message::Close(b'S', name) => {
                Step::CloseStatement(self.pending.statements.set(name, None))
            }
            Message::Close(_, name) => Step::ClosePortal(self.pending.portals.set(name, None)),
            Message::Sync => Step::Sync,
            Message::FunctionCall => Step::FunctionCall,
            Message::CopyEnd => Step::CopyEnd,
            Message::Terminate => Step::Terminate,
            Message::Encryption | Message::Startup(_) => return,
        };
        self.pending.push(step, since);
        if self.pending.len() == 1 && self.has_begun {
            self.begin_request();
        }
    }

    fn begin_request(&mut self) {
        self.session.set_state(State::Query);
        self.run_first();
    }

    /// A simple query, whose statements are separated.
    fn query(&self, text: &[u8], is_cut: bool) -> Step {
        let Some(text) = self.parameters.decode(text) else {
            return Step::Query(Some(self.unread()), Rest::default());
        };
        match self.next_part(tokens::trim(&text)) {
            Some((first, rest)) => {
                let text = (!rest.is_empty()).then(|| StoredText::new(rest, &self.budget));
                Step::Query(
                    Some(first),
                    Rest {
                        text,
                        at: 0,
                        is_cut,
                    },
                )
            }
            // An empty one.
            None => Step::Query(Some(self.source_of(&text)), Rest::default()),
        }
    }

    /// The first statement of a text that is not empty, and the text behind it.
    fn next_part<'t>(&self, mut text: &'t str) -> Option<(Rc<Source>, &'t str)> {
        while !text.is_empty() {
            let (part, rest) = tokens::split(text, self.parameters.has_escapes());
            let source = self.source_of(part);
            if !ptr::eq(source.command, &self.commands.empty) {
                return Some((source, rest));
            }
            text = rest;
        }
        None
    }

    /// The statement of a Parse. One that has several fails, whatever its first words are.
    fn source(&self, text: &[u8]) -> Rc<Source> {
        let Some(text) = self.parameters.decode(text) else {
            return self.unread();
        };
        let text = tokens::trim(&text);
        let (_, rest) = tokens::split(text, self.parameters.has_escapes());
        let mut source = self.read(text);
        source.is_secret |= !rest.is_empty();
        Rc::new(source)
    }

    fn source_of(&self, text: &str) -> Rc<Source> {
        Rc::new(self.read(text))
    }

    fn read(&self, text: &str) -> Source {
        let has_escapes = self.parameters.has_escapes();
        Source::new(text, has_escapes, self.commands, &self.budget)
    }

    fn unknown(&self) -> Rc<Source> {
        Rc::new(Source::unknown(self.commands, &self.budget))
    }

    fn unread(&self) -> Rc<Source> {
        Rc::new(Source::unread(self.commands, &self.budget))
    }

    fn portal(&self, name: &[u8]) -> Rc<Portal> {
        let portal = self.pending.portals.get(name);
        portal.unwrap_or_else(|| Rc::new(Portal::new(&self.unknown())))
    }

    /// Begins the statement of the first message.
    fn run_first(&mut self) {
        while let Some(first) = self.pending.first() {
            let source = match &first.step {
                Step::CopyEnd => {
                    self.pending.pop();
                    continue;
                }
                Step::Terminate => return self.lose_track(),
                Step::Query(None, _) => return,
                Step::CloseStatement(_) | Step::ClosePortal(_) => return,
                Step::Sync => return self.end_group(),
                Step::FunctionCall => &self.unknown(),
                Step::Query(Some(source), _)
                | Step::Parse(source, _)
                | Step::Bind(source, _)
                | Step::Describe(source) => source,
                Step::Execute(portal) => &portal.source,
            };
            if let Some(running) = &self.running
                && Rc::ptr_eq(&running.source, source)
            {
                return;
            }
            let (source, since) = (Rc::clone(source), first.since);
            self.end_group();
            self.running = Some(self.start(source, since));
            return;
        }
        self.end_group();
        self.pending.shrink();
        self.session.set_state(State::Sleep);
    }

    /// Starts the statement of the first message.
    fn start(&mut self, source: Rc<Source>, since: u64) -> Running {
        let command = match self.pending.first().map(|first| &first.step) {
            Some(Step::FunctionCall) => &self.commands.function_call,
            Some(Step::Execute(portal)) if portal.is_suspended.get() => {
                self.commands.of_tag("FETCH")
            }
            _ => source.command,
        };
        self.start_as(command, source, since)
    }

    fn start_as(&mut self, command: &Command, source: Rc<Source>, since: u64) -> Running {
        self.transactions.begin(self.commands, command);
        Running::start(command, source, since, &mut self.session)
    }

    /// The running statement, or one that begins now: the server has answered it, whatever the text is.
    fn take_running(&mut self) -> Running {
        match self.running.take() {
            Some(running) => running,
            None => {
                let since = self.pending.first().map_or(0, |first| first.since);
                self.start(self.unknown(), since)
            }
        }
    }

    /// No Execute belongs to the running statement.
    fn end_group(&mut self) {
        if let Some(running) = self.running.take() {
            running.end_unexecuted(self.commands, &mut self.session);
        }
    }

    fn discard_running(&mut self) {
        if let Some(running) = self.running.take() {
            running.discard();
        }
    }

    /// The server has answered.
    fn answer(&mut self, reply: &Reply) {
        if self.is_lost {
            return;
        }
        match *reply {
            Reply::Encryption(true) | Reply::CopyBoth => return self.lose_track(),
            Reply::Encryption(false) => return,
            Reply::Authenticated => return self.parameters.authenticate(&mut self.session),
            Reply::Parameter(name, value) => {
                return self.parameters.set(name, value, &mut self.session);
            }
            Reply::Warning => {
                if let Some(running) = &mut self.running {
                    running.warnings += 1;
                }
                return;
            }
            Reply::Ready(_) if !mem::replace(&mut self.has_begun, true) => {
                // A client may send requests before it is accepted.
                if !self.pending.is_empty() {
                    self.begin_request();
                }
                return;
            }
            Reply::Error(state, message, rows) => return self.fail(state, message, rows),
            Reply::Ready(state) => return self.end_request(state),
            _ => {}
        }
        let Some(first) = self.pending.first() else {
            return;
        };
        let is_query = matches!(first.step, Step::Query(..));
        match (reply, &first.step) {
            (Reply::Parsed, Step::Parse(..)) => {
                if let Some(running) = &mut self.running {
                    running.is_parsed = true;
                }
            }
            (Reply::Bound, Step::Bind(..)) => {}
            (Reply::Closed, Step::CloseStatement(_) | Step::ClosePortal(_)) => {}
            (Reply::Description, Step::Describe(_)) => {}
            // The rows of a simple query.
            (Reply::Description, _) => return,
            (Reply::CopyIn, _) => return self.begin_copy(),
            (Reply::CopyOut, _) => {
                if let Some(running) = &mut self.running {
                    running.copy = Copy::Out;
                }
                return;
            }
            (Reply::FunctionResult, Step::FunctionCall) => return self.take_running().end(0, 0),
            (&Reply::Complete(tag, rows), Step::Query(..)) => {
                self.complete(tag, rows);
                return self.run_next_part();
            }
            (&Reply::Complete(tag, rows), Step::Execute(portal)) => match portal.is_suspended.get()
            {
                true => self.take_running().end(rows, 0),
                false => self.complete(tag, rows),
            },
            (&Reply::Suspended(rows), Step::Execute(portal)) => {
                portal.is_suspended.set(true);
                self.take_running().end(rows, 0);
            }
            (Reply::Empty, Step::Query(..) | Step::Execute(_)) => {
                let running = self.take_running();
                running.refine(&self.commands.empty);
                running.end(0, 0);
                if is_query {
                    return;
                }
            }
            _ => return self.lose_track(),
        }
        self.pending.pop();
        self.run_first();
    }

    /// A statement is done, and this is its tag: `INSERT 0 5`.
    fn complete(&mut self, tag: &[u8], sent: u64) {
        let running = self.take_running();
        let source = Rc::clone(&running.source);
        let name = running.complete(self.commands, tag, sent);
        self.transactions.follow(name, &source);
        match name {
            "DEALLOCATE ALL" | "DISCARD ALL" => self.pending.deallocate(None),
            "DEALLOCATE" if let Some(name) = source.last_name() => {
                self.pending.deallocate(Some(name.as_bytes()));
            }
            _ => {}
        }
    }

    /// Begins the next statement of a simple query, if its text has one.
    fn run_next_part(&mut self) {
        let Some(first) = self.pending.first_mut() else {
            return;
        };
        let Step::Query(next, rest) = &mut first.step else {
            return;
        };
        let (mut rest, since) = (mem::take(rest), first.since);
        *next = None;
        let text = rest.as_str().unwrap_or_default();
        let Some((source, behind)) = self.next_part(text) else {
            return;
        };
        rest.at += text.len() - behind.len();
        self.running = Some(self.start(Rc::clone(&source), since));
        if let Some(first) = self.pending.first_mut() {
            first.step = Step::Query(Some(source), rest);
        }
    }

    /// The server reads a COPY's data.
    fn begin_copy(&mut self) {
        if let Some(running) = &mut self.running {
            running.copy = Copy::In;
        }
        self.is_copying = self.pending.begin_copy();
    }

    /// The server has answered by an error.
    fn fail(&mut self, state: &[u8], message: &[u8], rows: u64) {
        self.is_copying = false;
        self.transactions.fail();
        let Some(first) = self.pending.first().filter(|_| self.has_begun) else {
            // The end of the connection.
            return;
        };
        let since = first.since;
        // It may quote the text behind the statement: the server reads all of it before the first one begins.
        let is_secret = match &first.step {
            Step::Query(_, rest) if state == SYNTAX_ERROR => self.may_have_secret(rest),
            _ => false,
        };
        let (is_skipping, running) = match first.step {
            Step::Query(..) | Step::FunctionCall => (false, Some(self.take_running())),
            // The transaction of the statements before it could not be committed.
            Step::Sync => {
                let running = self.start(self.unknown(), since);
                running.refine(self.commands.of_tag("COMMIT"));
                (false, Some(running))
            }
            Step::CloseStatement(_) | Step::ClosePortal(_) | Step::CopyEnd => {
                (true, self.running.take())
            }
            _ => (true, Some(self.take_running())),
        };
        if let Some(running) = running {
            let message = self.parameters.decode(message).filter(|_| !is_secret);
            running.fail(state, message.as_deref(), rows);
        }
        if let Some(first) = self.pending.first_mut()
            && matches!(first.step, Step::Query(..))
        {
            first.step = Step::Query(None, Rest::default());
        }
        if is_skipping {
            self.is_skipping = self.pending.skip();
            self.run_first();
        }
    }

    /// Whether a statement that has not begun may have a secret.
    fn may_have_secret(&self, rest: &Rest) -> bool {
        let Some(mut text) = rest.as_str().filter(|_| !rest.is_cut) else {
            return true;
        };
        while let Some((source, behind)) = self.next_part(text) {
            if source.is_secret {
                return true;
            }
            text = behind;
        }
        false
    }

    /// The server waits for a request.
    fn end_request(&mut self, state: u8) {
        self.discard_running();
        self.transactions.settle(self.commands, state);
        self.pending.end_request();
        // Portals end with their transaction.
        if state == b'I' && self.pending.is_empty() {
            self.pending.portals.clear();
        }
        self.run_first();
    }
}

#[cfg(test)]
mod tests;
