//! A session of MySQL: how it begins, its user and database, and what its client's texts mean.

use engine::Command as State;
use engine::thread;

use super::login::{self, Greeting, Login, Response, capability as has};
use super::packets::Packet;
use super::results::{Done, ERROR, status};
use super::running::{Effect, Text};
use super::tokens;
use crate::session::Session;

/// How far the session has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The server's first packet follows.
    Greeting,
    /// The client's answer follows.
    Response,
    /// The client begins TLS.
    Tls,
    /// The server examines who the client is.
    Login,
    /// The client sends commands.
    Commands,
}

/// Bytes that are not understood, or that are not read.
#[derive(Debug)]
pub struct NotRead;

/// A session and its parameters.
pub struct Client {
    pub phase: Phase,
    greeting: Greeting,
    /// What client and server can do.
    pub capabilities: u64,
    login: Login,
    /// Whether a text may have several statements.
    pub is_multiple: bool,
    has_escapes: bool,
    /// Whether texts are not read.
    pub is_ambiguous: bool,
    database: String,
    pub session: Session,
}

impl Client {
    pub fn new(session: Session) -> Self {
        Self {
            phase: Phase::Greeting,
            greeting: Greeting::default(),
            capabilities: 0,
            login: Login::default(),
            is_multiple: false,
            has_escapes: true,
            is_ambiguous: false,
            database: String::new(),
            session,
        }
    }

    /// Another session takes its place.
    pub fn repeat(&mut self, is_recorded: bool) {
        self.session.repeat(is_recorded);
        if self.phase == Phase::Greeting {
            return self.session.set_state(State::Connect);
        }
        if is_recorded {
            thread::set_processlist_id(self.greeting.connection_id);
        }
        self.session.set_database(&self.database);
        self.session.set_state(State::Sleep);
    }

    /// The server has sent its first packet.
    pub fn greet(&mut self, packet: &Packet) -> Result<(), NotRead> {
        self.greeting = Greeting::parse(packet.body).ok_or(NotRead)?;
        self.phase = Phase::Response;
        if self.session.is_recorded() {
            thread::set_processlist_id(self.greeting.connection_id);
        }
        Ok(())
    }

    /// The client has answered to the greeting.
    pub fn respond(&mut self, packet: &Packet) -> Result<(), NotRead> {
        match Response::parse(packet.body, &self.greeting).ok_or(NotRead)? {
            Response::Tls => self.phase = Phase::Tls,
            Response::Login(login, capabilities) => {
                (self.login, self.capabilities) = (login, capabilities);
                self.phase = Phase::Login;
            }
        }
        Ok(())
    }

    /// What follows is within TLS.
    pub fn encrypt(&mut self) -> Result<(), NotRead> {
        self.session.encrypt();
        match self.phase {
            Phase::Tls => self.phase = Phase::Response,
            _ => return Err(NotRead),
        }
        Ok(())
    }

    /// The server has sent a packet of the authentication.
    pub fn authenticate(&mut self, packet: &Packet) -> Result<(), NotRead> {
        match packet.first() {
            0 => {}
            ERROR => return Err(NotRead),
            // It goes on.
            _ => return Ok(()),
        }
        self.phase = Phase::Commands;
        self.is_multiple = self.capabilities & has::MULTI_STATEMENTS != 0;
        let login = std::mem::take(&mut self.login);
        self.become_user(&login);
        self.session.set_state(State::Sleep);
        if let Some(done) = Done::parse_ok(packet.body, self.tracks()) {
            self.follow(&done);
        }
        match self.capabilities & (has::COMPRESS | has::ZSTD) {
            0 => Ok(()),
            _ => Err(NotRead),
        }
    }

    /// Whether the server reports changes of the session.
    fn tracks(&self) -> bool {
        self.capabilities & has::SESSION_TRACK != 0
    }

    pub fn become_user(&mut self, login: &Login) {
        self.session.set_user(&login.user);
        self.use_database(login.database.clone());
        self.is_ambiguous = login::is_ambiguous(login.charset);
        let attributes = login.attributes.iter();
        let attributes: Vec<_> = attributes
            .map(|(name, value)| (name.as_str(), value.as_str()))
            .collect();
        self.session.set_attributes(&attributes);
    }

    pub fn use_database(&mut self, name: String) {
        if self.database != name {
            self.database = name;
            self.session.set_database(&self.database);
        }
    }

    /// What a result says about the session.
    pub fn follow(&mut self, done: &Done) {
        self.has_escapes = done.status & status::NO_BACKSLASH_ESCAPES == 0;
        if let Some(name) = done.database {
            self.use_database(String::from_utf8_lossy(name).into_owned());
        }
        if let Some(charset) = done.charset {
            self.is_ambiguous = login::is_ambiguous_name(&String::from_utf8_lossy(charset));
        }
    }

    /// A text's statement has succeeded.
    pub fn apply(&mut self, effect: Effect) {
        match effect {
            Effect::None => {}
            Effect::Use(name) => self.use_database(name),
            Effect::Drop(name) if name == self.database => self.use_database(String::new()),
            Effect::Drop(_) => {}
            Effect::Charset(name) => self.is_ambiguous = login::is_ambiguous_name(&name),
        }
    }

    /// A text that the client has sent.
    pub fn text<'t>(&self, text: &'t str) -> Text<'t> {
        Text {
            text,
            has_escapes: self.has_escapes,
            is_mariadb: self.greeting.is_mariadb,
        }
    }

    /// A text's first statement, and the text behind it.
    pub fn split<'t>(&self, text: &'t str) -> (Text<'t>, &'t str) {
        let (first, rest) = match self.is_multiple {
            true => tokens::split(text, self.has_escapes),
            false => (text, ""),
        };
        (self.text(first.trim()), rest.trim_start())
    }

    #[cfg(test)]
    pub fn database(&self) -> &str {
        &self.database
    }
}
