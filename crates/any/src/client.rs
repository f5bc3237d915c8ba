//! A client's connection: its session, and the commands in it.

use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering};

use engine::thread::{self, ThreadSession};
use tare_image::CommandProtocol;

use crate::descriptors::Access;
use crate::names::classes;
use crate::session::{Address, Protocol, Session};
use crate::tls::{self, Encryption};
use crate::{http, memcache, mysql, postgres, resp};

/// A connection whose commands are read.
pub struct Client {
    /// `None`: a thread of its own is its session.
    session: Option<ThreadSession>,
    is_recorded: bool,
    /// If what the socket carries is encrypted.
    encryption: Option<Encryption>,
    commands: Box<dyn Protocol>,
}

// SAFETY: counted references (Rc) are to what is within the client. Of the other parts only the running
// statement is bound to a thread, if that is the session: no other one serves the connection. Otherwise it is
// bound to the session's place in the segment, which any thread can enter, and is used only in the session
// (`in_session`): the engine compares the place with that of the calling thread.
unsafe impl Send for Client {}

/// The number of the last connection.
static LAST_CONNECTION: AtomicU64 = AtomicU64::new(0);

impl Client {
    /// A connection from this address. `None` before the start.
    pub fn new(address: &Address, protocol: CommandProtocol) -> Option<Self> {
        let classes = classes()?;
        if protocol == CommandProtocol::Postgres {
            // The process that will serve it is not forked yet. Its only thread is the session.
            let session = Session::new(address, true);
            return Some(Self {
                session: None,
                is_recorded: false,
                encryption: None,
                commands: Box::new(postgres::pipeline::Connection::new(session)?),
            });
        }
        let mut session = ThreadSession::new(classes.session);
        let is_recorded = session.id() != 0;
        if is_recorded {
            session.set_processlist_id(LAST_CONNECTION.fetch_add(1, Ordering::Relaxed) + 1);
            session.run(|| thread::set_connection_type(address.connection_type()));
        }
        let place = Session::new(address, is_recorded);
        let commands: Box<dyn Protocol> = match protocol {
            CommandProtocol::Redis => Box::new(resp::pipeline::Commands::new(place)),
            CommandProtocol::Http => Box::new(http::pipeline::Requests::new(place)),
            CommandProtocol::Mysql => Box::new(mysql::pipeline::Connection::new(place)?),
            CommandProtocol::Memcached => Box::new(memcache::pipeline::Commands::new(place)),
            // Handled above: its connections have no session here.
            CommandProtocol::Postgres => return None,
        };
        let mut client = Self {
            session: Some(session),
            is_recorded,
            encryption: None,
            commands,
        };
        client.in_session(|commands| commands.open());
        Some(client)
    }

    /// Calls `work` in the session. If it has no place, `work` is called all the same.
    #[inline]
    pub fn in_session<T>(&mut self, work: impl FnOnce(&mut dyn Protocol) -> T) -> T {
        let commands = &mut *self.commands;
        match &mut self.session {
            Some(session) if self.is_recorded => session.run(|| work(commands)),
            _ => work(commands),
        }
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

    /// The calling thread has read or written the socket. If it was the TLS library, all that the socket
    /// carries is encrypted from now on.
    #[inline]
    pub fn detect_encryption(&mut self, socket: c_int) {
        let Some(ssl) = tls::record(socket) else {
            return;
        };
        match &mut self.encryption {
            Some(encryption) => encryption.replace(ssl),
            None => {
                self.encryption = Some(Encryption::new(ssl));
                self.in_session(|commands| commands.encrypt());
            }
        }
    }

    pub fn is_encrypted(&self) -> bool {
        self.encryption.is_some()
    }

    /// What the socket carries, if this connection of the TLS library encrypts it.
    pub fn encryption_of(&self, ssl: usize) -> Option<&Encryption> {
        self.encryption
            .as_ref()
            .filter(|encryption| encryption.is_of(ssl))
    }

    /// Bytes were written that nobody saw.
    pub fn send_unseen(&mut self, bytes: u64) {
        if bytes != 0 && !self.commands.is_lost() {
            self.in_session(|commands| commands.send_unseen(bytes));
        }
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
