//! A client's connection: its session, and the commands in it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::Command as State;
use engine::statement::Statement;
use engine::thread::{self, ConnectionType, ThreadSession};
use tare_image::CommandProtocol;

use crate::descriptors::Access;
use crate::names::classes;
use crate::{memcache, resp};

/// The most commands of a connection that have no reply yet. A client that sends more and reads nothing
/// must not fill the memory; its further commands are not read.
pub const MAX_PENDING: usize = 1 << 16;
/// The most bytes of memory for their arguments. Further commands have no text.
pub const MAX_STORED_BYTES: usize = 1 << 20;
/// An empty list of pending commands keeps the memory for so many.
pub const MAX_SPARE: usize = 1024;

/// One end of a socket.
pub enum Address {
    /// IP address and port.
    Ip(IpAddr, u16),
    /// A Unix socket.
    Unix,
    /// Of another family.
    Other,
}

/// A connection whose commands are read.
pub struct Client {
    session: Option<ThreadSession>,
    is_recorded: bool,
    commands: Box<dyn Protocol>,
}

/// What a client sends and gets, as commands. All functions are called in the client's session.
pub trait Protocol {
    /// The connection begins.
    fn open(&mut self);
    /// The program has read these bytes.
    fn receive(&mut self, bytes: &[u8]);
    /// The program has written these bytes.
    fn send(&mut self, bytes: &[u8]);
    /// From now on nothing is read. Commands without a reply end.
    fn lose_track(&mut self);
    /// Whether nothing is read any more.
    fn is_lost(&self) -> bool;
    /// Whether all commands that run may end without a reply.
    fn is_quiet(&self) -> bool {
        false
    }
    /// The thread that serves a quiet connection has polled again.
    fn end_quiet(&mut self) {}
}

// SAFETY: of the parts only the running statement is bound to a thread. It is bound to the session's place
// in the segment, which any thread can enter, and is used only in the session (`in_session`): the engine
// compares the place with that of the calling thread.
unsafe impl Send for Client {}

/// The number of the last connection.
static LAST_CONNECTION: AtomicU64 = AtomicU64::new(0);

impl Client {
    /// A connection from this address.
    pub fn new(address: &Address, protocol: CommandProtocol) -> Self {
        let mut session = classes().map(|classes| ThreadSession::new(classes.session));
        let is_recorded = session.as_ref().is_some_and(|session| session.id() != 0);
        let place = Session::new(address, is_recorded);
        if let Some(session) = &mut session
            && is_recorded
        {
            session.set_processlist_id(LAST_CONNECTION.fetch_add(1, Ordering::Relaxed) + 1);
            let _entered = session.enter();
            thread::set_connection_type(match address {
                Address::Ip(..) => ConnectionType::TcpIp,
                Address::Unix | Address::Other => ConnectionType::Socket,
            });
        }
        let commands: Box<dyn Protocol> = match protocol {
            CommandProtocol::Redis => Box::new(resp::pipeline::Commands::new(place)),
            CommandProtocol::Memcached => Box::new(memcache::pipeline::Commands::new(place)),
        };
        let mut client = Self {
            session,
            is_recorded,
            commands,
        };
        client.in_session(|commands| commands.open());
        client
    }

    /// Calls `work` in the session. If it has no place, `work` is called all the same.
    #[inline]
    pub fn in_session<T>(&mut self, work: impl FnOnce(&mut dyn Protocol) -> T) -> T {
        let _entered = match &mut self.session {
            Some(session) if self.is_recorded => Some(session.enter()),
            _ => None,
        };
        work(&mut *self.commands)
    }

    /// Bytes were read or written.
    pub fn moved(&mut self, access: Access, bytes: &[u8]) {
        if self.commands.is_lost() {
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
        self.in_session(|commands| commands.lose_track());
    }

    /// Whether all commands that run may end without a reply.
    pub fn is_quiet(&self) -> bool {
        self.commands.is_quiet()
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Its commands were executed: the program closes the connection.
        self.lose_track();
    }
}

/// A client's session in the segment, as its commands change it.
pub struct Session {
    /// Whether the session has a place of its own: a statement can run there while others run elsewhere.
    is_recorded: bool,
    host: String,
    user: Option<String>,
    /// Buffers.
    text: String,
    shape: String,
}

impl Session {
    pub fn new(address: &Address, is_recorded: bool) -> Self {
        let host = match address {
            Address::Ip(ip, _) if !ip.is_loopback() => ip.to_string(),
            Address::Ip(..) | Address::Unix | Address::Other => "localhost".to_owned(),
        };
        Self {
            is_recorded,
            host,
            user: None,
            text: String::new(),
            shape: String::new(),
        }
    }

    /// Whether a statement can run in it while others run elsewhere.
    pub fn is_recorded(&self) -> bool {
        self.is_recorded
    }

    pub fn set_user(&mut self, user: &str) {
        if self.is_recorded && self.user.as_deref() != Some(user) {
            self.user = Some(user.to_owned());
            thread::set_account(user, &self.host);
        }
    }

    pub fn set_database(&self, name: &str) {
        if self.is_recorded {
            thread::set_db(name);
        }
    }

    pub fn set_state(&self, state: State) {
        if self.is_recorded {
            thread::set_command(state);
        }
    }

    /// Sets the attributes that are not empty.
    pub fn set_attributes(&self, attributes: &[(&str, &str)]) {
        if !self.is_recorded {
            return;
        }
        let lines = attributes.iter().filter(|(_, value)| !value.is_empty());
        let lines: Vec<String> = lines
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        thread::set_attributes(&lines.join("\n"));
    }

    /// Sets a statement's text and its normalised form, where they are recorded.
    pub fn describe(
        &mut self,
        statement: &Statement,
        write_text: impl FnOnce(&mut String),
        write_shape: impl FnOnce(&mut String),
    ) {
        if !statement.is_recorded() {
            return;
        }
        self.text.clear();
        write_text(&mut self.text);
        statement.text_only(&self.text);
        if statement.wants_digest() && !statement.is_active() {
            self.shape.clear();
            write_shape(&mut self.shape);
            statement.digest_by_shape(&self.shape, &self.text);
        }
    }
}

/// MySQL's number for errors that have none: ER_UNKNOWN_ERROR.
const UNKNOWN_ERROR: u32 = 1105;

/// A statement was answered by an error with this text.
pub fn fail(statement: &Statement, text: &str) {
    statement.error(UNKNOWN_ERROR, "HY000", text);
}
